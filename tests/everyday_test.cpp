// The everyday operations where a derivative jumps, does not exist or is lost to rounding: each a small program with
// the right answer, derived by hand. What holds for every operation everywhere is in the op table.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

using Doubles = std::vector<double>;
using Function = std::function<Tensor(const Tensor&)>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor number(double value) { return tensor<double>(value); }
double value_of(const Tensor& x) { return x.item<double>(); }
Doubles values_of(const Tensor& x) { return x.to_vector<double>(); }

/// Equal, or within a relative tolerance; infinities and nan equal to themselves only.
void expect_near(const Doubles& values, const Doubles& expected, double tolerance) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(expected[i]))
      EXPECT_TRUE(values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i])))
          << values[i] << " instead of " << expected[i] << " at " << i;
    else
      EXPECT_NEAR(values[i], expected[i], tolerance * std::abs(expected[i])) << "at " << i;
  }
}

/// The gradient of sum(f) at x by reverse mode, by forward mode a direction at a time, and in a batch of two; all the
/// same.
Doubles gradient(const Function& f, const Tensor& x) {
  const Function total = [&](const Tensor& v) { return sum(f(v)); };
  const Doubles reverse = values_of(grad(total)(x));
  const Tensor units = reshape(eye(x.size(), DType::f64), [&] {
    Shape shape{x.size()};
    for (const Dim dim : x.shape()) shape.push_back(dim);
    return shape;
  }());
  expect_near(values_of(vmap([&](const Tensor& v) { return jvp(total, x, v).second; })(units)), reverse, 1e-14);
  Doubles twice = reverse;
  twice.insert(twice.end(), reverse.begin(), reverse.end());
  expect_near(values_of(vmap(grad(total))(stack({x, x}))), twice, 1e-14);
  return reverse;
}

/// The n-th derivative of a function of one number, at a vector of them: reverse mode n times, and forward mode n
/// times.
Doubles derivative(const Function& f, int n, const Tensor& x) {
  Function backwards = f;
  Function forwards = f;
  for (int i = 0; i < n; ++i) {
    backwards = [backwards](const Tensor& v) { return grad([&](const Tensor& u) { return sum(backwards(u)); })(v); };
    forwards = [forwards](const Tensor& v) { return jvp(forwards, v, ones_like(v)).second; };
  }
  const Doubles result = values_of(backwards(x));
  expect_near(values_of(forwards(x)), result, 1e-13);
  return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Powers

TEST(Power, WholeExponentsAreExactAtZeroToEveryOrder) {
  // 5 x^0 + 3 x^1 + 2 x^2 + 4 x^3, with exponents as a tensor and as numbers.
  const Function by_tensor = [](const Tensor& x) {
    return sum(tensor<double>({5, 3, 2, 4}) * power(expand_dims(x, -1), tensor<double>({0, 1, 2, 3})), -1);
  };
  const Function by_numbers = [](const Tensor& x) {
    return 5 * power(x, 0) + 3 * power(x, 1) + 2 * power(x, 2.0) + 4 * power(x, 3);
  };
  for (const Function& p : {by_tensor, by_numbers}) {
    const Tensor zero = tensor<double>({0});
    EXPECT_EQ(values_of(p(zero)), Doubles{5});
    EXPECT_EQ(derivative(p, 1, zero), Doubles{3});
    EXPECT_EQ(derivative(p, 2, zero), Doubles{4});
    EXPECT_EQ(derivative(p, 3, zero), Doubles{24});
    EXPECT_EQ(derivative(p, 4, zero), Doubles{0});
  }
}

TEST(Power, TableOfDerivativesAtZero) {
  const Tensor exponents = tensor<double>({3, 1, 0.5, 0, -1});
  const Doubles table{0, 1, inf, 0, -inf};
  const Tensor zeros_of_all = zeros({5}, DType::f64);
  EXPECT_EQ(gradient([&](const Tensor& x) { return power(x, exponents); }, zeros_of_all), table);
  const auto slope = [](const Tensor& x, const Tensor& p) {
    return grad([&](const Tensor& v) { return power(v, p); })(x);
  };
  EXPECT_EQ(values_of(vmap(slope, in_axes(none, 0))(number(0), exponents)), table);
  std::size_t i = 0;
  for (const double p : {3.0, 1.0, 0.5, 0.0, -1.0})
    EXPECT_EQ(gradient([p](const Tensor& x) { return power(x, p); }, number(0)), Doubles{table[i++]}) << p;
}

TEST(Power, DerivativeByTheExponent) {
  const auto by_exponent = [](double x, double p) {
    return gradient([x](const Tensor& v) { return power(x, v); }, number(p))[0];
  };
  EXPECT_NEAR(by_exponent(3, 2), 9 * std::log(3.0), 1e-14);
  EXPECT_EQ(by_exponent(0, 2), 0);
  EXPECT_EQ(by_exponent(0, 0), 0);
  EXPECT_EQ(by_exponent(0, -1), -inf);
  EXPECT_TRUE(std::isnan(by_exponent(-2, 2)));
  // An exponent that nobody differentiates makes no nan.
  EXPECT_EQ(gradient(
                [](const Tensor& x) {
                  return power(x, tensor<double>({2, 3}));
                },
                tensor<double>({-2, -1})),
            (Doubles{-4, 3}));
  // d2 x^p / dx dp at p = 0 is 1 / x.
  const auto mixed =
      grad([](const Tensor& p) { return grad([&](const Tensor& x) { return power(x, p); })(number(4)); })(number(0));
  EXPECT_EQ(value_of(mixed), 0.25);
}

TEST(Power, IntegersStayIntegersAndWrapAround) {
  const Tensor x = tensor<std::int32_t>({-3, 2, 0, 7});
  EXPECT_EQ(power(x, 3).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-27, 8, 0, 343}));
  EXPECT_EQ(power(x, tensor<std::int32_t>({0, 5, 0, 1})).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, 32, 1, 7}));
  EXPECT_EQ(power(tensor<std::int64_t>(3), 40).item<std::int64_t>(), -6289078614652622815);
  EXPECT_EQ(power(x, 2.0).dtype(), DType::f32);
}

TEST(Power, RootsAndInverses) {
  EXPECT_EQ(values_of(rsqrt(tensor<double>({4, 0, inf}))), (Doubles{0.5, inf, 0}));
  EXPECT_EQ(gradient([](const Tensor& x) { return rsqrt(x); }, number(4)), Doubles{-1.0 / 16});
  EXPECT_EQ(gradient([](const Tensor& x) { return reciprocal(x); }, number(-2)), Doubles{-0.25});
}

// ---------------------------------------------------------------------------------------------------------------------
// Tails

TEST(Tails, SecondDerivativesOfSoftplus) {
  const Tensor x = tensor<double>({38, -38, 0});
  const Doubles second{3.139132792048e-17, 3.139132792048e-17, 0.25};
  expect_near(derivative([](const Tensor& v) { return softplus(v); }, 2, x), second, 1e-12);
  Doubles negated = second;
  for (double& value : negated) value = -value;
  expect_near(derivative([](const Tensor& v) { return log_sigmoid(v); }, 2, x), negated, 1e-12);
  // f''' = f'' (1 - 2 f'), which changes its sign.
  expect_near(derivative([](const Tensor& v) { return softplus(v); }, 3, x),
              {-3.139132792048e-17, 3.139132792048e-17, 0}, 1e-12);
}

TEST(Tails, LogAddExp) {
  const Function f = [](const Tensor& a) { return logaddexp(a, 0); };
  const Tensor x = tensor<double>({-800, 0, 800});
  expect_near(values_of(f(x)), {0, 0.6931471805599453, 800}, 1e-15);
  EXPECT_EQ(derivative(f, 1, x), (Doubles{0, 0.5, 1}));
  EXPECT_EQ(derivative(f, 2, x), (Doubles{0, 0.25, 0}));
  // As of two tensors, the mixed second derivative too.
  const auto slope = grad([](const Tensor& a, const Tensor& b) { return logaddexp(a, b); }, argnums<0>);
  EXPECT_NEAR(value_of(grad(slope, argnums<1>)(number(38), number(0))), -3.139132792048e-17, 1e-28);
  // Of two equal infinities.
  for (const double end : {-inf, inf}) {
    EXPECT_EQ(value_of(logaddexp(number(end), number(end))), end);
    const auto [da, db] =
        grad([](const Tensor& a, const Tensor& b) { return logaddexp(a, b); }, argnums<0, 1>)(number(end), number(end));
    EXPECT_EQ(value_of(da), 0.5);
    EXPECT_EQ(value_of(db), 0.5);
  }
  EXPECT_EQ(gradient([](const Tensor& a) { return logaddexp(a, 1); }, number(-inf)), Doubles{0});
}

TEST(Tails, ExponentialsNearZero) {
  EXPECT_EQ(value_of(log1p(number(1e-20))), 1e-20);
  EXPECT_EQ(gradient([](const Tensor& x) { return log1p(x); }, number(1e-20)), Doubles{1});
  EXPECT_NEAR(value_of(expm1(number(1e-10))), 1.00000000005e-10, 1e-25);
  expect_near(gradient([](const Tensor& x) { return expm1(x); }, number(-40)), {4.248354255292e-18}, 1e-12);
}

TEST(Tails, XLogY) {
  const auto both = grad([](const Tensor& x, const Tensor& y) { return xlogy(x, y); }, argnums<0, 1>);
  EXPECT_EQ(value_of(xlogy(number(0), number(0))), 0);
  EXPECT_TRUE(std::isnan(value_of(xlogy(number(0), number(nan)))));
  const auto [at_2_by_x, at_2_by_y] = both(number(2), number(4));
  EXPECT_EQ(value_of(at_2_by_x), std::log(4.0));
  EXPECT_EQ(value_of(at_2_by_y), 0.5);
  const auto [at_0_by_x, at_0_by_y] = both(number(0), number(0));
  EXPECT_EQ(value_of(at_0_by_x), -inf);
  EXPECT_EQ(value_of(at_0_by_y), 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Kinks

TEST(Kinks, AbsoluteValueAndSign) {
  EXPECT_EQ(gradient([](const Tensor& x) { return abs(x); }, tensor<double>({-2, 0, 3})), (Doubles{-1, 0, 1}));
  EXPECT_EQ(gradient([](const Tensor& x) { return sign(x) * x; }, tensor<double>({-2, 0, 3})), (Doubles{-1, 0, 1}));
  EXPECT_EQ(values_of(sign(tensor<double>({-2, -0.0, 0, 3}))), (Doubles{-1, 0, 0, 1}));
}

TEST(Kinks, Rounding) {
  const Tensor x = tensor<double>({-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6});
  EXPECT_EQ(values_of(round(x)), (Doubles{-2, -2, 0, 0, 2, 2, 3}));
  EXPECT_EQ(values_of(floor(x)), (Doubles{-3, -2, -1, 0, 1, 2, 2}));
  EXPECT_EQ(values_of(ceil(x)), (Doubles{-2, -1, 0, 1, 2, 3, 3}));
  EXPECT_EQ(gradient([](const Tensor& v) { return v - floor(v) + round(v) * ceil(v); }, x), Doubles(7, 1));
}

TEST(Kinks, FloorDivision) {
  const Tensor x = tensor<std::int32_t>({7, -7, 6, -6});
  EXPECT_EQ(floor_divide(x, 3).to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, -3, 2, -2}));
  EXPECT_EQ(floor_divide(x, -3).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-3, 2, -2, 2}));
  // The rounded quotient of 1 and 0.1 is 10, but ten times 0.1, as it is in binary, is more than 1.
  EXPECT_EQ(value_of(floor_divide(number(1), 0.1)), 9);
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(floor_divide(tensor<std::int32_t>(least), -1).item<std::int32_t>(), least);
  EXPECT_EQ(gradient([](const Tensor& v) { return v * floor_divide(v, 2); }, number(7)), Doubles{3});
}

TEST(Kinks, Minimum) {
  const auto smaller = [](const Tensor& a, const Tensor& b) { return minimum(a, b); };
  const auto [da, db] = grad(smaller, argnums<0, 1>)(number(3), number(3));
  EXPECT_EQ(value_of(da), 0.5);
  EXPECT_EQ(value_of(db), 0.5);
  EXPECT_EQ(gradient([](const Tensor& x) { return min(x); }, tensor<double>({2, 1, 5, 1})), (Doubles{0, 0.5, 0, 0.5}));
  EXPECT_EQ(gradient([](const Tensor& x) { return min_with_indices(x, 0).values; }, tensor<double>({2, 1, 5, 1})),
            (Doubles{0, 0.5, 0, 0.5}));
}

TEST(Kinks, Clip) {
  const Tensor x = tensor<double>({-2, -1, 0, 1, 2});
  const Doubles slope{0, 1, 1, 1, 0};
  EXPECT_EQ(values_of(clip(x, -1, 1)), (Doubles{-1, -1, 0, 1, 1}));
  EXPECT_EQ(gradient([](const Tensor& v) { return clip(v, -1, 1); }, x), slope);
  EXPECT_EQ(gradient([](const Tensor& v) { return clip(v, number(-1), number(1)); }, x), slope);
  EXPECT_EQ(gradient([&](const Tensor& low) { return clip(x, low, number(1)); }, number(-1)), Doubles{1});
  EXPECT_EQ(gradient([&](const Tensor& high) { return clip(x, number(-1), high); }, number(1)), Doubles{1});
  const Doubles with_nan =
      values_of(clip(tensor<double>({nan, 0, 0}), tensor<double>({0, nan, 0}), tensor<double>({1, 1, nan})));
  for (const double value : with_nan) EXPECT_TRUE(std::isnan(value));
}

TEST(Kinks, Angle) {
  const auto both = grad([](const Tensor& y, const Tensor& x) { return atan2(y, x); }, argnums<0, 1>);
  const auto [dy, dx] = both(number(0), number(0));
  EXPECT_EQ(value_of(dy), 0);
  EXPECT_EQ(value_of(dx), 0);
  const auto [by_y, by_x] = both(number(1), number(2));
  EXPECT_NEAR(value_of(by_y), 0.4, 1e-15);
  EXPECT_NEAR(value_of(by_x), -0.2, 1e-15);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reductions

TEST(Reductions, ProductsWithZeros) {
  const Function f = [](const Tensor& x) { return prod(x); };
  EXPECT_EQ(gradient(f, tensor<double>({3, 0, 5})), (Doubles{0, 15, 0}));
  EXPECT_EQ(gradient(f, tensor<double>({2, 0, 0, 7})), (Doubles{0, 0, 0, 0}));
  EXPECT_EQ(gradient([](const Tensor& x) { return prod(x, 0); }, tensor<double>({0})), Doubles{1});
  // The second derivative by both zeros is the product of the others; the third by those and one more, of what is left.
  const Tensor x = tensor<double>({2, 0, 0, 7});
  const auto second = grad([&](const Tensor& a) {
    return grad([&](const Tensor& b) { return prod(stack({number(2), a, b, number(7)})); })(number(0));
  })(number(0));
  EXPECT_EQ(value_of(second), 14);
  const auto hessian_row = [&](const Tensor& v) { return select(grad(f)(v), 0, 1); };
  EXPECT_EQ(gradient(hessian_row, x), (Doubles{0, 0, 14, 0}));
  const Function third = [&](const Tensor& v) { return select(grad(hessian_row)(v), 0, 2); };
  EXPECT_EQ(gradient(third, x), (Doubles{7, 0, 0, 2}));
  // Per row, and along several axes.
  EXPECT_EQ(gradient([](const Tensor& v) { return prod(v, 1); }, tensor<double>({{3, 0, 5}, {1, 2, 3}})),
            (Doubles{0, 15, 0, 6, 3, 2}));
  EXPECT_EQ(gradient(f, tensor<double>({{3, 0, 5}, {1, 2, 3}})), (Doubles{0, 90, 0, 0, 0, 0}));
}

TEST(Reductions, EmptyOnes) {
  const Tensor none = zeros({3, 0}, DType::f64);
  EXPECT_EQ(values_of(prod(none, 1)), (Doubles{1, 1, 1}));
  EXPECT_EQ(grad([](const Tensor& x) { return sum(prod(x, 1)); })(none).shape(), (Shape{3, 0}));
  EXPECT_EQ(any(none, 1).to_vector<bool>(), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(all(none, 1).to_vector<bool>(), (std::vector<bool>{true, true, true}));
  for (const double value : values_of(var(none, 1))) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(values_of(norm(none, 1)), (Doubles{0, 0, 0}));
  EXPECT_EQ(values_of(norm(none, 1, Keep::no, inf)), (Doubles{0, 0, 0}));
}

TEST(Reductions, VarianceOfConstants) {
  // 0.1 three times has a mean that is not quite 0.1.
  for (const Tensor& x : {tensor<double>({3, 3, 3}), tensor<double>({0.1, 0.1, 0.1})}) {
    EXPECT_EQ(value_of(var(x)), 0);
    EXPECT_EQ(gradient([](const Tensor& v) { return var(v); }, x), (Doubles{0, 0, 0}));
    EXPECT_EQ(gradient([](const Tensor& v) { return stddev(v); }, x), (Doubles{0, 0, 0}));
  }
  const Tensor x = tensor<double>({1, 2, 4});
  expect_near({value_of(stddev(x))}, {1.5275252316519}, 1e-13);
  expect_near(gradient([](const Tensor& v) { return stddev(v); }, x), {-0.43643578047, -0.10910894512, 0.54554472559},
              1e-10);
  expect_near(gradient([](const Tensor& v) { return var(v); }, x), {-4.0 / 3, -1.0 / 3, 5.0 / 3}, 1e-14);
  expect_near({value_of(var(x, {}, Keep::no, 0))}, {14.0 / 9}, 1e-15);
  EXPECT_TRUE(std::isnan(value_of(var(number(5)))));
  // Far from 0 the spread is still seen.
  EXPECT_EQ(value_of(var(tensor<double>({1e9 + 1, 1e9 + 2, 1e9 + 4}), {}, Keep::no, 1)), value_of(var(x)));
}

TEST(Reductions, NormsOfZeroVectors) {
  for (const double p : {1.0, 1.5, 2.0, 3.0, inf})
    EXPECT_EQ(gradient([p](const Tensor& x) { return norm(x, {}, Keep::no, p); }, tensor<double>({0, 0, 0})),
              (Doubles{0, 0, 0}))
        << p;
  const Function squared = [](const Tensor& x) { return square(norm(x)); };
  EXPECT_EQ(gradient(squared, tensor<double>({0, 0, 0})), (Doubles{0, 0, 0}));
  expect_near(gradient(squared, tensor<double>({1, 2, 2})), {2, 4, 4}, 1e-15);
  expect_near(gradient([](const Tensor& x) { return norm(x); }, tensor<double>({3, 4})), {0.6, 0.8}, 1e-15);
  // One zero row among others.
  expect_near(gradient([](const Tensor& x) { return norm(x, 1); }, tensor<double>({{0, 0}, {3, 4}})), {0, 0, 0.6, 0.8},
              1e-15);
}

TEST(Reductions, NormsOfLargeAndInfiniteVectors) {
  expect_near({value_of(norm(tensor<double>({3e100, 4e100}), {}, Keep::no, 4))}, {1e100 * std::pow(81.0 + 256.0, 0.25)},
              1e-14);
  for (const double p : {1.0, 2.0, 3.0, inf}) {
    EXPECT_EQ(value_of(norm(tensor<double>({1, -inf}), {}, Keep::no, p)), inf) << p;
    EXPECT_TRUE(std::isnan(value_of(norm(tensor<double>({1, nan}), {}, Keep::no, p)))) << p;
  }
}

TEST(Reductions, PositionsOfExtremes) {
  const Tensor x = tensor<double>({{1, 3, 3}, {nan, 5, nan}, {2, 2, 1}});
  EXPECT_EQ(argmax(x, 1).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_EQ(argmin(x, 1).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 0, 2}));
  EXPECT_EQ(min(tensor<double>({2, 1}), 0).item<double>(), 1);
  // A position is a constant, also of something that is differentiated.
  EXPECT_EQ(gradient([](const Tensor& v) { return v * cast(argmax(v, 0), DType::f64); }, tensor<double>({1, 3, 2})),
            (Doubles{1, 1, 1}));
}

TEST(Reductions, AnyAndAllTakeNanForTrue) {
  EXPECT_TRUE(any(tensor<double>({0, nan})).item<bool>());
  EXPECT_TRUE(all(tensor<double>({1, nan})).item<bool>());
  EXPECT_FALSE(all(tensor<double>({0, nan})).item<bool>());
}

// ---------------------------------------------------------------------------------------------------------------------
// Structure

TEST(Structure, PadKeepsTangentsOutOfThePadding) {
  const Function padded = [](const Tensor& x) { return pad(x, 0, 1, 1, 7.0); };
  const Tensor x = tensor<double>({1, 2});
  EXPECT_EQ(values_of(padded(x)), (Doubles{7, 1, 2, 7}));
  EXPECT_EQ(values_of(jvp(padded, x, ones_like(x)).second), (Doubles{0, 1, 1, 0}));
  EXPECT_EQ(gradient(padded, x), (Doubles{1, 1}));
  EXPECT_TRUE(std::isnan(values_of(pad(x, 0, 1, 0, nan))[0]));
  EXPECT_TRUE(std::signbit(values_of(pad(x, 0, 1, 0, -0.0))[0]));
}

TEST(Structure, TrianglesHoldBackWhatIsNotFinite) {
  const Tensor x = tensor<double>({{1, inf}, {nan, 2}});
  EXPECT_EQ(values_of(triu(tril(x))), (Doubles{1, 0, 0, 2}));
}

TEST(Structure, OneHotPerExample) {
  const Tensor labels = tensor<std::int64_t>({2, 0});
  EXPECT_EQ(vmap([](const Tensor& y) { return one_hot(y, 3); })(labels).to_vector<float>(),
            (std::vector<float>{0, 0, 1, 1, 0, 0}));
  try {
    one_hot(tensor<std::int64_t>({0, 5}), 3);
    ADD_FAILURE() << "not refused";
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("class index 5"), std::string::npos) << error.what();
  }
}

TEST(Structure, DiagonalIsAView) {
  const Tensor x = eye(3, DType::f64) * 2;
  EXPECT_EQ(values_of(diagonal(x)), (Doubles{2, 2, 2}));
  EXPECT_EQ(gradient(
                [](const Tensor& v) {
                  return diagonal(v) * tensor<double>({1, 2, 3});
                },
                x),
            (Doubles{1, 0, 0, 0, 2, 0, 0, 0, 3}));
}

}  // namespace
