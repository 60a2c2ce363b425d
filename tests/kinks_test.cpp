// Where derivatives are a matter of choice, and where infinities and nan meet them: the values that the headers
// promise, written out by hand. Forward mode must choose as reverse mode does, and a row under vmap as it does alone.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Numbers = std::vector<double>;
using Function = std::function<Tensor(const Tensor&)>;

Tensor vector(const Numbers& values) { return from_data(values, {values.size()}); }

void expect_numbers(const Tensor& got, const Numbers& wanted, const std::string& what) {
  const Numbers values = got.to_vector<double>();
  ASSERT_EQ(values.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i]))
      EXPECT_TRUE(std::isnan(values[i])) << what << ", element " << i << " is " << values[i];
    else if (std::isinf(wanted[i]))
      EXPECT_EQ(values[i], wanted[i]) << what << ", element " << i;
    else
      EXPECT_NEAR(values[i], wanted[i], 1e-12) << what << ", element " << i;
  }
}

const Function of_relu = [](const Tensor& x) { return relu(x); };
const Function of_sqrt = [](const Tensor& x) { return sqrt(x); };
const Function of_log = [](const Tensor& x) { return log(x); };
const Function of_sigmoid = [](const Tensor& x) { return sigmoid(x); };
const Function of_tanh = [](const Tensor& x) { return tanh(x); };

/// The derivatives of sum(f(x)) by each element of x: by grad; by jvp along each element's direction; by grad and by
/// jvp under vmap, as the second of three rows whose others are shifted.
void expect_derivatives(const Function& f, const Numbers& at, const Numbers& wanted) {
  const auto total = [&](const Tensor& x) { return sum(f(x)); };
  const Tensor x = vector(at);
  expect_numbers(grad(total)(x), wanted, "grad");

  const auto direction = [&](std::size_t i) {
    Numbers unit(at.size(), 0);
    unit[i] = 1;
    return vector(unit);
  };
  const Tensor rows = stack({x + 0.25, x, x - 0.5});
  for (std::size_t i = 0; i < at.size(); ++i) {
    expect_numbers(jvp(total, x, direction(i)).second, {wanted[i]}, "jvp along " + std::to_string(i));
    const auto along = [&](const Tensor& row) { return jvp(total, row, direction(i)).second; };
    expect_numbers(select(vmap(along, in_axes(0))(rows), 0, 1), {wanted[i]},
                   "jvp under vmap along " + std::to_string(i));
  }
  expect_numbers(select(vmap(grad(total), in_axes(0))(rows), 0, 1), wanted, "grad under vmap");
}

TEST(Kinks, ReluAtZeroHasNoSlope) { expect_derivatives(of_relu, {-1, -0.0, 0, 2}, {0, 0, 0, 1}); }

TEST(Kinks, EqualOperandsOfMaximumShareTheCotangent) {
  const Tensor y = tensor<double>({3, 3, 3});
  expect_derivatives([&](const Tensor& x) { return maximum(x, y); }, {2, 3, 4}, {0, 0.5, 1});
  expect_derivatives([&](const Tensor& x) { return maximum(y, x); }, {2, 3, 4}, {0, 0.5, 1});
  expect_derivatives([](const Tensor& x) { return maximum(x, 3); }, {2, 3, 4}, {0, 0.5, 1});
}

TEST(Kinks, EqualLargestElementsShareTheCotangent) {
  const Function largest = [](const Tensor& x) { return max(x); };
  expect_derivatives(largest, {2, 5, 5, 1}, {0, 0.5, 0.5, 0});
  expect_derivatives(largest, {4, 4, 4, 4}, {0.25, 0.25, 0.25, 0.25});
  expect_derivatives([](const Tensor& x) { return max_with_indices(x, 0).values; }, {2, 5, 5, 1}, {0, 0.5, 0.5, 0});
}

TEST(Kinks, MaxAlongAnAxisSharesWithinEachLine) {
  const auto total = [](const Tensor& x) { return sum(max(x, 1) * tensor<double>({1, 10})); };
  expect_numbers(grad(total)(tensor<double>({{1, 1, 0}, {2, 7, 7}})), {0.5, 0.5, 0, 0, 5, 5}, "grad");
}

TEST(Kinks, PositionsOfTheLargestAreTheFirstAndNanWins) {
  const ValuesAndIndices equal = max_with_indices(tensor<double>({2, 5, 5, 1}), 0);
  EXPECT_EQ(equal.indices.item<std::int64_t>(), 1);
  const ValuesAndIndices with_nan = max_with_indices(tensor<double>({2, nan, 5, nan}), 0);
  EXPECT_EQ(with_nan.indices.item<std::int64_t>(), 1);
  EXPECT_TRUE(std::isnan(with_nan.values.item<double>()));
  EXPECT_TRUE(std::isnan(max(tensor<double>({nan, 1})).item<double>()));
  EXPECT_TRUE(std::isnan(max(tensor<double>({1, nan})).item<double>()));
}

TEST(Kinks, SqrtAtZeroIsInfinitelySteep) { expect_derivatives(of_sqrt, {0, 4}, {inf, 0.25}); }

TEST(Kinks, LogAtZeroIsInfinitelySteep) { expect_derivatives(of_log, {0, 2}, {inf, 0.5}); }

TEST(ZeroCotangent, TimesAnyPartialIsZero) {
  const Tensor y = tensor<double>({0.0});
  for (const Function& steep : {of_sqrt, of_log})
    expect_numbers(grad([&](const Tensor& x) { return sum(steep(x) * 0.0); })(y), {0}, "grad");
  const auto [dx, dy] = grad([](const Tensor& a, const Tensor& b) { return sum(a / b) * 0.0; }, argnums<0, 1>)(y, y);
  expect_numbers(dx, {0}, "by the numerator");
  expect_numbers(dy, {0}, "by the denominator");
}

// A-where
TEST(ZeroCotangent, WhereIsRightAsItIsWritten) {
  const Function f = [](const Tensor& x) { return where(x > 0, sqrt(x), 2 * x); };
  expect_derivatives(f, {4, 0, -3}, {0.25, 2, 2});
  expect_derivatives([](const Tensor& x) { return where(x > 0, sqrt(x), 0.0); }, {4, 0, -3}, {0.25, 0, 0});
  expect_derivatives([](const Tensor& x) { return where(x == 0, 0.0, 1 / x); }, {0, 2}, {0, -0.25});
  expect_derivatives([](const Tensor& x) { return where(x > 0, log(x), x); }, {-1, 0, 1}, {1, 1, 1});
}

// A-clamp
TEST(ZeroCotangent, InactiveSideOfMaximumAsksForNothing) {
  const auto f = [](const Tensor& x, const Tensor& y) { return sum(maximum(sqrt(x * x + y * y), 0.1)); };
  const auto gradients = grad(f, argnums<0, 1>);
  const Tensor x = tensor<double>({0, 0.3});
  const Tensor y = tensor<double>({0, 0.4});
  const auto [dx, dy] = gradients(x, y);
  expect_numbers(dx, {0, 0.6}, "by x");
  expect_numbers(dy, {0, 0.8}, "by y");
  EXPECT_DOUBLE_EQ(f(tensor<double>({0}), tensor<double>({0})).item<double>(), 0.1);
  const auto [vx, vy] = vmap(gradients, in_axes(0))(x, y);
  expect_numbers(vx, {0, 0.6}, "by x under vmap");
  expect_numbers(vy, {0, 0.8}, "by y under vmap");
  expect_numbers(jvp(f, std::tuple(x, y), std::tuple(ones_like(x), Tensor())).second, {0.6}, "jvp along x");
}

// A-lse-inf
TEST(Infinities, LogSumExp) {
  const Function f = [](const Tensor& x) { return logsumexp(x); };
  const auto value = [&](const Numbers& x) { return f(vector(x)).item<double>(); };
  EXPECT_EQ(value({-inf, -inf}), -inf);
  expect_derivatives(f, {-inf, -inf}, {0, 0});
  EXPECT_EQ(value({-inf, 1}), 1);
  expect_derivatives(f, {-inf, 1}, {0, 1});
  EXPECT_NEAR(value({0, 1, 2}), 2.40760596444438, 1e-13);
  const double total = 1 + std::numbers::e + std::numbers::e * std::numbers::e;
  expect_derivatives(f, {0, 1, 2}, {1 / total, std::numbers::e / total, std::numbers::e * std::numbers::e / total});
  EXPECT_EQ(value({0, inf, 2}), inf);
  expect_derivatives(f, {0, inf, 2}, {0, 1, 0});
  expect_derivatives(f, {inf, 2, inf}, {0.5, 0, 0.5});
  EXPECT_TRUE(std::isnan(value({0, nan})));
  EXPECT_DOUBLE_EQ(value({1000, 1000}), 1000 + std::numbers::ln2);
  EXPECT_DOUBLE_EQ(value({-1000, -1000}), -1000 + std::numbers::ln2);
}

TEST(Infinities, LogSumExpOfASharedLine) {
  // A line of nothing but -inf beside an ordinary one.
  const auto f = [](const Tensor& x) { return sum(logsumexp(x, 1) * tensor<double>({0, 1})); };
  expect_numbers(grad(f)(tensor<double>({{-inf, -inf}, {-inf, 3}})), {0, 0, 0, 1}, "grad");
}

TEST(Infinities, Softmax) {
  expect_numbers(softmax(tensor<double>({-inf, 0, 0}), 0), {0, 0.5, 0.5}, "softmax");
  expect_numbers(softmax(tensor<double>({-inf, -inf}), 0), {nan, nan}, "softmax of -inf");
  expect_numbers(softmax(tensor<double>({1000, 1000}), 0), {0.5, 0.5}, "softmax of large");
  expect_numbers(log_softmax(tensor<double>({-1000, 0}), 0), {-1000, 0}, "log_softmax");
}

TEST(Infinities, CrossEntropyIgnoresClassesOfNoWeight) {
  const Tensor logits = tensor<double>({-inf, 1, 1});
  const Tensor labels = tensor<double>({0, 1, 0});
  EXPECT_DOUBLE_EQ(cross_entropy(logits, labels).item<double>(), std::numbers::ln2);
  const auto by_logits = grad([&](const Tensor& x) { return cross_entropy(x, labels); });
  expect_numbers(by_logits(logits), {0, -0.5, 0.5}, "grad");
  const auto of_class = [](const Tensor& x) { return cross_entropy(x, tensor<std::int64_t>(1)); };
  EXPECT_DOUBLE_EQ(of_class(logits).item<double>(), std::numbers::ln2);
  expect_numbers(grad(of_class)(logits), {0, -0.5, 0.5}, "grad by class");
}

TEST(Infinities, SigmoidAndTanhAreFlatFarOut) {
  expect_derivatives(of_sigmoid, {-1000, 1000}, {0, 0});
  expect_derivatives(of_tanh, {-1000, 1000}, {0, 0});
  expect_derivatives(of_sigmoid, {-inf, inf}, {0, 0});
}

// F-sumto
TEST(Broadcasting, GradientsAreSummedToTheOperandsShape) {
  const auto f = [](const Tensor& x, const Tensor& y, const Tensor& z) { return sum(z * square(x + y)); };
  const Tensor x = tensor<double>({{1}, {2}});
  const Tensor y = tensor<double>({{10, 20, 30}});
  const Tensor z = tensor<double>(0.5);
  EXPECT_DOUBLE_EQ(f(x, y, z).item<double>(), 1587.5);
  const auto [dx, dy, dz] = grad(f, argnums<0, 1, 2>)(x, y, z);
  EXPECT_TRUE(array_equal(dx, tensor<double>({{63}, {66}})));
  EXPECT_TRUE(array_equal(dy, tensor<double>({{23, 43, 63}})));
  EXPECT_TRUE(array_equal(dz, tensor<double>(3175)));
}

// F-empty
TEST(Empty, ReductionsAndProducts) {
  const Tensor x = zeros({3, 0}, DType::f64);
  expect_numbers(sum(x, 1), {0, 0, 0}, "sum");
  expect_numbers(mean(x, 1), {nan, nan, nan}, "mean");
  EXPECT_THROW(max(x, 1), ValueError);
  EXPECT_EQ(softmax(x, 1).shape(), x.shape());
  expect_numbers(logsumexp(x, 1), {-inf, -inf, -inf}, "logsumexp");
  for (const Function& f : std::vector<Function>{
           [](const Tensor& v) { return sum(v, 1); }, [](const Tensor& v) { return mean(v, 1); },
           [](const Tensor& v) { return logsumexp(v, 1); }, [](const Tensor& v) { return softmax(v, 1); }})
    EXPECT_EQ(grad([&](const Tensor& v) { return sum(f(v)); })(x).shape(), x.shape());
  const Tensor some = tensor<double>({{1, 2}, {3, 4}});
  EXPECT_TRUE(array_equal(sum(some, AxisList(std::initializer_list<AxisRef>{})), some));
  EXPECT_TRUE(array_equal(matmul(zeros({2, 0}), zeros({0, 3})), contiguous(zeros({2, 3}))));
}

// D-neg, D-none, D-zero, D-flow
TEST(Mapping, AxesSizesAndBranches) {
  const Tensor x = tensor<double>({{1, 2, 3}, {4, 5, 6}});
  const auto squares = [](const Tensor& v) { return sum(v * v); };
  expect_numbers(vmap(squares, in_axes(-1))(x), {17, 29, 45}, "columns");
  expect_numbers(vmap(squares, in_axes(0))(x), {14, 77}, "rows");

  const auto identity = [](const Tensor& v) { return v; };
  const Tensor one = tensor<double>(1);
  EXPECT_THROW(vmap(identity, in_axes(none))(one), ValueError);
  expect_numbers(vmap(identity, in_axes(none), axis_size(5))(one), {1, 1, 1, 1, 1}, "copies");

  const Tensor no_rows = zeros({0, 3}, DType::f64);
  EXPECT_EQ(vmap(grad([](const Tensor& v) { return sum(exp(v)); }), in_axes(0))(no_rows).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap([](const Tensor& v) { return matmul(v, v); }, in_axes(0))(no_rows).shape(), (Shape{0}));
  EXPECT_EQ(vmap([](const Tensor& v) { return stack({v, v}); }, in_axes(0))(no_rows).shape(), (Shape{0, 2, 3}));

  const Tensor points = tensor<double>({-2, 0, 3});
  const auto bent = [](const Tensor& v) { return where(v > 0, v * v, -v); };
  expect_numbers(vmap(bent, in_axes(0))(points), {2, 0, 9}, "where");
  expect_numbers(vmap(grad(bent), in_axes(0))(points), {-1, -1, 6}, "grad of where");
  EXPECT_THROW(vmap([](const Tensor& v) { return v > 0 ? v : -v; }, in_axes(0))(points), LevelError);
}

// D-sizes
TEST(Mapping, DifferentSizesAreNamed) {
  const auto product = [](const Tensor& a, const Tensor& b, const Tensor& c) { return a * b * c; };
  try {
    vmap(product, in_axes(0))(zeros({4}), zeros({2}), zeros({4}));
    FAIL() << "nothing was thrown";
  } catch (const ShapeError& error) {
    const std::string message = error.what();
    for (const char* part :
         {"argument 1 has 2", "has 4", "argument 0: f32 [4]", "argument 1: f32 [2]", "argument 2: f32 [4]"})
      EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST(Constants, StopGradientStopsAtEveryLevel) {
  const auto f = [](const Tensor& x) { return sum(stop_gradient(x) * x); };
  const Tensor x = tensor<double>({2, 3});
  expect_numbers(grad(f)(x), {2, 3}, "grad");
  expect_numbers(jvp(f, x, ones_like(x)).second, {5}, "jvp");
  expect_numbers(grad([&](const Tensor& v) { return sum(grad(f)(v)); })(x), {0, 0}, "grad of grad");
  expect_numbers(vmap(grad(f), in_axes(0))(stack({x, 2 * x})), {2, 3, 4, 6}, "grad under vmap");
}

TEST(Constants, FilledLikeATensorHaveNoGradient) {
  const Tensor x = tensor<double>({2, 3});
  const auto f = [](const Tensor& v) { return sum(ones_like(v) * 2 + zeros_like(v) + full_like(v, 3)); };
  expect_numbers(grad(f)(x), {0, 0}, "grad");
  const auto constant = [](const Tensor& v) { return ones_like(v); };
  expect_numbers(vmap(constant, in_axes(0))(stack({x, x})), {1, 1, 1, 1}, "vmap");
}

TEST(Constants, ComparisonsHaveNoGradient) {
  const Tensor x = tensor<double>({2, 3});
  expect_numbers(grad([](const Tensor& v) { return sum(cast(v > 2.5, DType::f64) * v); })(x), {0, 1}, "grad");
  EXPECT_THROW(grad([](const Tensor& v) { return sum(v > 2.5); })(x), DTypeError);
}

TEST(Casts, DerivativesGoBackInTheirType) {
  const auto f = [](const Tensor& x) { return sum(square(cast(x, DType::f32)) * 3); };
  const Tensor x = tensor<double>({2, 5});
  const Tensor gradient = grad(f)(x);
  EXPECT_EQ(gradient.dtype(), DType::f64);
  expect_numbers(gradient, {12, 30}, "grad");
  const Tensor tangent = jvp(f, x, tensor<double>({1, 0})).second;
  EXPECT_EQ(tangent.dtype(), DType::f32);
  expect_numbers(tangent, {12}, "jvp");
  // Through an integer nothing passes.
  expect_numbers(grad([](const Tensor& v) { return sum(cast(cast(v, DType::i32), DType::f64) * v); })(x), {2, 5},
                 "i32");
}

TEST(Names, RulesDoNotLookAtThem) {
  // What the pull-back keeps shows an axis that is mapped while it runs.
  const Axis b{"b"}, f{"f"};
  const Tensor x = tensor<double>({{1, 2}, {3, 4}, {5, 6}}, {b, f});
  const auto [y, back] = vjp([&](const Tensor& w) { return matmul(x, w); }, tensor<double>({1, 1}, {f}));
  const Tensor gradients = vmap(back, b)(from_data(Numbers{1, 0, 0, 0, 1, 1}, {b(2), 3}));
  EXPECT_TRUE(array_equal(gradients, tensor<double>({{1, 2}, {8, 10}}, {b, f})));
}

TEST(SignedZeros, StayWhereNothingIsComputed) {
  const Tensor zero = tensor<double>({-0.0, 0.0});
  const auto signs = [](const Tensor& x) {
    std::vector<bool> result;
    for (const double number : x.to_vector<double>()) result.push_back(std::signbit(number));
    return result;
  };
  const auto pair = [](const Tensor& a, const Tensor& b) { return stack({a, b}); };
  // `zero` is shared by the examples: repeated, not added to anything.
  EXPECT_EQ(signs(vmap(pair, in_axes(0, none))(zeros({1, 2}, DType::f64), zero)),
            (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(signs(vmap([](const Tensor& x) { return x; }, in_axes(0))(zero)), (std::vector<bool>{true, false}));
  EXPECT_EQ(signs(sqrt(zero)), (std::vector<bool>{true, false}));
}

}  // namespace
