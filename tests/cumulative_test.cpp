// Running sums and products: zeros, infinities, directions, and recurrences long enough for every way the kernels run.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/both_modes.hpp"

namespace {

using namespace both_modes;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Operation = Tensor (*)(const Tensor&, AxisRef, Reverse);

/// f(before, x) along the middle of [outer, count, inner], beginning with x itself.
template <class T, class F>
std::vector<T> reference(const std::vector<T>& x, std::size_t outer, std::size_t count, std::size_t inner, bool reverse,
                         const F& f) {
  std::vector<T> y = x;
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i)
      for (std::size_t k = 1; k < count; ++k) {
        const auto at = [&](std::size_t n) { return (o * count + (reverse ? count - 1 - n : n)) * inner + i; };
        y[at(k)] = f(y[at(k - 1)], x[at(k)]);
      }
  return y;
}

double log_add(double a, double b) {
  if (a == b && std::isinf(a)) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

Doubles numbers(std::size_t count, double low, double high) {
  Doubles values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(low + (high - low) * (0.5 + 0.5 * std::sin(1.7 * static_cast<double>(i * i + 1))));
  return values;
}

// Every extent around the vector width on every axis, so that bundles are full, partial, in blocks and across them.
TEST(Cumulative, AgreesWithLoops) {
  struct Way {
    Operation op;
    double (*f)(double, double);
    double low, high;
  };
  const Way ways[] = {{&cumsum, [](double a, double b) { return a + b; }, -1, 1},
                      {&cumprod, [](double a, double b) { return a * b; }, 0.6, 1.4},
                      {&logcumsumexp, &log_add, -3, 3}};
  for (const Way& way : ways)
    for (const std::int64_t outer : {1, 3, 9})
      for (const std::int64_t count : {1, 2, 17})
        for (const std::int64_t inner : {1, 2, 5, 8, 19})
          for (const Reverse reverse : {Reverse::no, Reverse::yes}) {
            const Doubles x = numbers(static_cast<std::size_t>(outer * count * inner), way.low, way.high);
            const Doubles wanted = reference(x, static_cast<std::size_t>(outer), static_cast<std::size_t>(count),
                                             static_cast<std::size_t>(inner), reverse == Reverse::yes, way.f);
            const Tensor in = from_data(x, {outer, count, inner});
            SCOPED_TRACE(in.shape().to_string());
            expect_near(values_of(way.op(in, 1, reverse)), wanted, 1e-13);
            expect_near(values_of(way.op(cast(in, DType::f32), 1, reverse)), wanted, 2e-5);
            // The same through views.
            expect_near(values_of(permute(way.op(permute(in, {2, 0, 1}), 2, reverse), {1, 2, 0})), wanted, 1e-13);
          }
}

TEST(Cumulative, LongEnoughToBeShared) {
  const Doubles x = numbers(64 * 1024, -1, 1);
  const auto plus = [](double a, double b) { return a + b; };
  expect_near(values_of(cumsum(from_data(x, {64, 1024}), 1)), reference(x, 64, 1024, 1, false, plus), 1e-12);
  expect_near(values_of(cumsum(from_data(x, {1024, 64}), 0, Reverse::yes)), reference(x, 1, 1024, 64, true, plus),
              1e-12);
}

TEST(Cumulative, IntegersAndBoolsAreI64) {
  const Tensor x = tensor<std::int32_t>({2, 3, 4});
  EXPECT_TRUE(array_equal(cumsum(x, 0), tensor<std::int64_t>({2, 5, 9})));
  EXPECT_TRUE(array_equal(cumprod(x, 0, Reverse::yes), tensor<std::int64_t>({24, 12, 4})));
  EXPECT_TRUE(array_equal(cumsum(tensor<bool>({true, false, true}), 0), tensor<std::int64_t>({1, 1, 2})));
  EXPECT_EQ(logcumsumexp(x, 0).dtype(), DType::f32);
  // Wraps around, as add does.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(array_equal(cumsum(tensor<std::int64_t>({most, 1}), 0),
                          tensor<std::int64_t>({most, std::numeric_limits<std::int64_t>::min()})));
}

TEST(Cumulative, KeepsNamesAndNegativeZero) {
  const Axis b("b"), f("f");
  const Tensor x = tensor<float>({{-0.0F, 1}, {2, 3}}, {b, f});
  const Tensor y = cumsum(x, b);
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 1, 2, 4}));
  EXPECT_TRUE(std::signbit(y.to_vector<float>()[0]));
}

TEST(Cumulative, OfNothing) {
  for (const Operation op : {Operation{&cumsum}, Operation{&cumprod}, Operation{&logcumsumexp}}) {
    for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{0}}) {
      const Tensor x = zeros(shape);
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const auto f = [&](const Tensor& v) { return op(v, axis, Reverse::no); };
        EXPECT_EQ(f(x).shape(), shape);
        EXPECT_EQ(grad([&](const Tensor& v) { return sum(f(v)); })(x).shape(), shape);
        EXPECT_EQ(jvp(f, x, x).second.shape(), shape);
        EXPECT_EQ(vmap(f)(zeros({0, 2, 3})).shape(), (axis < 2 ? Shape{0, 2, 3} : Shape{}));
      }
    }
  }
}

TEST(Cumulative, SpecialValues) {
  expect_near(values_of(logcumsumexp(tensor<double>({-inf, -inf, 0, inf, 1}), 0)), {-inf, -inf, 0, inf, inf});
  const Doubles with_nan = values_of(logcumsumexp(tensor<double>({1, nan, inf, -inf}), 0));
  EXPECT_EQ(with_nan[0], 1);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(with_nan[i])) << i;
  // Far from 0, where exp would overflow.
  expect_near(values_of(logcumsumexp(tensor<double>({1000, 1000, -1000}), 0)),
              {1000, 1000 + std::log(2.0), 1000 + std::log(2.0)});
  const Doubles products = values_of(cumprod(tensor<double>({2, 0, inf, 3}), 0));
  EXPECT_EQ(products[1], 0);
  EXPECT_TRUE(std::isnan(products[2]) && std::isnan(products[3]));
}

// ---------------------------------------------------------------------------------------------------------------------
// Derivatives

TEST(Cumulative, SumGradient) {
  const Tensor w = tensor<double>({1, 10, 100});
  EXPECT_EQ(gradient([&](const Tensor& x) { return sum(cumsum(x, 0) * w); }, tensor<double>({5, 6, 7})),
            (Doubles{111, 110, 100}));
  EXPECT_EQ(gradient([&](const Tensor& x) { return sum(cumsum(x, 0, Reverse::yes) * w); }, tensor<double>({5, 6, 7})),
            (Doubles{1, 11, 111}));
}

TEST(Cumulative, C_cumprod0) {
  const Function total = [](const Tensor& x) { return sum(cumprod(x, 0)); };
  EXPECT_EQ(gradient(total, tensor<double>({3, 0, 2, 5})), (Doubles{1, 39, 0, 0}));
  EXPECT_EQ(gradient(total, tensor<double>({2, 0, 3, 0})), (Doubles{1, 8, 0, 0}));
  EXPECT_EQ(values_of(vmap(grad(total))(tensor<double>({{3, 0, 2, 5}, {2, 0, 3, 0}}))),
            (Doubles{1, 39, 0, 0, 1, 8, 0, 0}));
  const Function backwards = [](const Tensor& x) { return sum(cumprod(x, 0, Reverse::yes)); };
  EXPECT_EQ(gradient(backwards, tensor<double>({5, 2, 0, 3})), (Doubles{0, 0, 39, 1}));
}

/// sum over k of weights[k] times the product of x[0..k] without the factors `left_out`, where k reaches them all.
double product_without(const Doubles& x, const Doubles& weights, const std::vector<std::size_t>& left_out) {
  const std::size_t from = *std::max_element(left_out.begin(), left_out.end());
  double total = 0;
  for (std::size_t k = from; k < x.size(); ++k) {
    double term = weights[k];
    for (std::size_t j = 0; j <= k; ++j)
      if (std::find(left_out.begin(), left_out.end(), j) == left_out.end()) term *= x[j];
    total += term;
  }
  return total;
}

TEST(Cumulative, ProductsSecondAndThirdDerivativesAreExactAtZeros) {
  const Doubles weights{1, -2, 3, 0.5, 2};
  const Tensor w = from_data(weights, {5});
  const Function f = [&](const Tensor& x) { return sum(cumprod(x, 0) * w); };
  for (const Doubles& x :
       {Doubles{2, 3, -1, 4, 0.5}, Doubles{2, 0, 3, 4, 5}, Doubles{0, 2, 0, 3, 0}, Doubles(5, 0.0)}) {
    const Tensor at = from_data(x, {5});
    Doubles first, second, third;
    for (std::size_t i = 0; i < 5; ++i) {
      first.push_back(product_without(x, weights, {i}));
      for (std::size_t j = 0; j < 5; ++j) {
        second.push_back(i == j ? 0 : product_without(x, weights, {i, j}));
        third.push_back(i == j || i == 1 || j == 1 ? 0 : product_without(x, weights, {i, j, 1}));
      }
    }
    EXPECT_EQ(gradient(f, at), first);
    EXPECT_EQ(hessian_of(f, at), second);
    const Tensor second_unit = tensor<double>({0, 1, 0, 0, 0});
    const Function slope = [&](const Tensor& v) { return jvp(f, v, second_unit).second; };
    EXPECT_EQ(hessian_of(slope, at), third);
    // Backwards, all the other way round.
    const auto reversed = [](const Tensor& v) { return slice(v, 0, -1, slice_end, -1); };
    const Function backwards = [&](const Tensor& v) { return sum(cumprod(v, 0, Reverse::yes) * reversed(w)); };
    EXPECT_EQ(gradient(backwards, reversed(at)), values_of(reversed(from_data(first, {5}))));
    const Tensor turned = reversed(permute(reversed(permute(from_data(second, {5, 5}), {1, 0})), {1, 0}));
    EXPECT_EQ(hessian_of(backwards, reversed(at)), values_of(turned));
  }
}

TEST(Cumulative, ZeroCotangentsAskForNothing) {
  // The infinite factor matters to nobody who is asked.
  const Function first = [](const Tensor& x) { return select(cumprod(x, 0), 0, 0); };
  EXPECT_EQ(gradient(first, tensor<double>({2, inf, nan})), (Doubles{1, 0, 0}));
}

TEST(Cumulative, A_lcse) {
  const Tensor x = tensor<double>({-inf, -inf, 0});
  EXPECT_EQ(values_of(logcumsumexp(x, 0)), (Doubles{-inf, -inf, 0}));
  EXPECT_EQ(gradient([](const Tensor& v) { return select(logcumsumexp(v, 0), 0, 2); }, x), (Doubles{0, 0, 1}));
  EXPECT_EQ(gradient([](const Tensor& v) { return select(logcumsumexp(v, 0), 0, 1); }, x), (Doubles{0, 0, 0}));
  // Backwards too.
  EXPECT_EQ(gradient([](const Tensor& v) { return select(logcumsumexp(v, 0, Reverse::yes), 0, 0); }, x),
            (Doubles{0, 0, 1}));
}

TEST(Cumulative, LogCumSumExpGradientIsSoftmaxOfEveryBeginning) {
  const Tensor x = tensor<double>({0, 1, 2});
  const Function last = [](const Tensor& v) { return select(logcumsumexp(v, 0), 0, -1); };
  expect_near(gradient(last, x), {0.09003057317038046, 0.24472847105479764, 0.6652409557748219});
  const Function total = [](const Tensor& v) { return sum(logcumsumexp(v, 0)); };
  Doubles wanted(3, 0.0);
  for (std::int64_t k = 1; k <= 3; ++k) {
    const Doubles part = values_of(softmax(slice(x, 0, 0, k), 0));
    for (std::size_t i = 0; i < part.size(); ++i) wanted[i] += part[i];
  }
  expect_near(gradient(total, x), wanted);
}

TEST(Cumulative, LogCumSumExpSecondDerivative) {
  const Tensor x = tensor<double>({0.3, -1, 2, 0.5});
  const Function last = [](const Tensor& v) { return select(logcumsumexp(v, 0), 0, -1); };
  const Doubles p = values_of(softmax(x, 0));
  Doubles wanted;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) wanted.push_back((i == j ? p[i] : 0) - p[i] * p[j]);
  expect_near(hessian_of(last, x), wanted);
  // With -inf among the entries.
  EXPECT_EQ(hessian_of(last, tensor<double>({-inf, 0, -inf, 0})),
            (Doubles{0, 0, 0, 0, 0, 0.25, 0, -0.25, 0, 0, 0, 0, 0, -0.25, 0, 0.25}));
}

TEST(Cumulative, LogCumSumExpWithPlusInfinity) {
  // From the first +inf on the result is that one.
  const Function total = [](const Tensor& v) { return sum(logcumsumexp(v, 0)); };
  EXPECT_EQ(gradient(total, tensor<double>({0, inf, inf, 5})), (Doubles{1, 3, 0, 0}));
  // Large differences neither overflow nor lose the small term.
  expect_near(gradient(total, tensor<double>({0, 800, 0})), {1, 2, 0});
  expect_near(gradient(total, tensor<double>({800, 0, 0})), {3, 0, 0});
}

// ---------------------------------------------------------------------------------------------------------------------
// Batching and errors

TEST(Cumulative, NestedMapsAndNegativeAxes) {
  const Doubles x = numbers(2 * 3 * 4 * 5, 0.5, 1.5);
  const Tensor in = from_data(x, {2, 3, 4, 5});
  for (const Operation op : {Operation{&cumsum}, Operation{&cumprod}, Operation{&logcumsumexp}})
    for (const Reverse reverse : {Reverse::no, Reverse::yes}) {
      const auto along = [&](int axis) { return [=](const Tensor& v) { return op(v, axis, reverse); }; };
      EXPECT_EQ(values_of(vmap(vmap(along(-1)))(in)), values_of(op(in, 3, reverse)));
      EXPECT_EQ(values_of(vmap(vmap(along(0)))(in)), values_of(op(in, 2, reverse)));
      EXPECT_EQ(values_of(vmap(vmap(along(0), in_axes(-1), out_axes(-1)), in_axes(1), out_axes(1))(in)),
                values_of(op(in, 0, reverse)));
      // Gradients per example agree with those of single calls.
      const auto weighted = [&](const Tensor& v) { return sum(square(op(v, 0, reverse)) * v); };
      const Tensor flat = reshape(in, {24, 5});
      Doubles singles;
      for (std::int64_t i = 0; i < 24; ++i)
        for (const double g : values_of(grad(weighted)(select(flat, 0, i)))) singles.push_back(g);
      expect_near(values_of(vmap(grad(weighted))(flat)), singles);
      expect_near(values_of(grad([&](const Tensor& v) { return sum(vmap(weighted)(v)); })(flat)), singles);
      EXPECT_EQ(vmap(grad(weighted))(zeros({0, 3})).shape(), (Shape{0, 3}));
    }
}

TEST(Cumulative, Errors) {
  const Axis b("b");
  const Tensor x = zeros({b(3), 2});
  expect_mentions(refusal<AxisError>([&] { cumsum(x, 2); }), {"cumsum: ", "axis 2", "f32 [b 3, 2]"});
  expect_mentions(refusal<AxisError>([&] { cumprod(zeros({}), 0); }), {"cumprod: ", "rank 0"});
  expect_mentions(refusal<AxisError>([&] { logcumsumexp(x, Axis("other")); }), {"logcumsumexp: ", "other"});
  expect_mentions(refusal<ValueError>([&] { cumsum(Tensor(), 0); }), {"cumsum: ", "empty"});
  expect_mentions(refusal<AxisError>([&] { vmap([&](const Tensor& v) { return cumsum(v, b); }, b)(x); }),
                  {"cumsum: ", "mapped"});
}

}  // namespace
