// The vector math against the C library in higher precision: every single-precision function over a sweep of all bit
// patterns and around every special number, every double-precision one on a sample against long double; the largest
// error may not exceed the bound its header states. And no result may depend on where in a vector its element stands.
#include "ops/kernels/math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace tlaloc {
namespace {

using kernels::Lanes;
namespace math = kernels::math;

template <class T>
using Reference = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class T>
struct Function {
  const char* name;
  double bound;  // in ULP
  Lanes<T> (*lanes)(Lanes<T>);
  T (*scalar)(T);
  Reference<T> (*reference)(Reference<T>);
};

template <class R>
R reference_sigmoid(R x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

template <class R>
R reference_softplus(R x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

template <class T>
std::vector<Function<T>> functions() {
  using L = Lanes<T>;
  using R = Reference<T>;
  constexpr bool single = std::is_same_v<T, float>;
  return {
      {"exp", single ? 1.1 : 1.0, [](L x) { return math::exp(x); }, [](T x) { return math::exp(x); },
       [](R x) { return std::exp(x); }},
      {"expm1", single ? 1.5 : 1.0, [](L x) { return math::expm1(x); }, [](T x) { return math::expm1(x); },
       [](R x) { return std::expm1(x); }},
      {"log", 1.0, [](L x) { return math::log(x); }, [](T x) { return math::log(x); }, [](R x) { return std::log(x); }},
      {"log1p", single ? 1.6 : 1.0, [](L x) { return math::log1p(x); }, [](T x) { return math::log1p(x); },
       [](R x) { return std::log1p(x); }},
      {"softplus", 2.0, [](L x) { return math::softplus(x); }, [](T x) { return math::softplus(x); },
       [](R x) { return reference_softplus(x); }},
      {"log_sigmoid", 2.0, [](L x) { return math::log_sigmoid(x); }, [](T x) { return math::log_sigmoid(x); },
       [](R x) { return -reference_softplus(-x); }},
      {"tanh", single ? 1.3 : 1.1, [](L x) { return math::tanh(x); }, [](T x) { return math::tanh(x); },
       [](R x) { return std::tanh(x); }},
      {"sigmoid", 2.5, [](L x) { return math::sigmoid(x); }, [](T x) { return math::sigmoid(x); },
       [](R x) { return reference_sigmoid(x); }},
      {"sqrt", 0.5, [](L x) { return math::sqrt(x); }, [](T x) { return math::sqrt(x); },
       [](R x) { return std::sqrt(x); }},
      {"rsqrt", 1.5, [](L x) { return math::rsqrt(x); }, [](T x) { return math::rsqrt(x); },
       [](R x) { return 1 / std::sqrt(x); }},
      {"sin", single ? 1.6 : 1.0, [](L x) { return math::sin(x); }, [](T x) { return math::sin(x); },
       [](R x) { return std::sin(x); }},
      {"cos", single ? 1.6 : 1.0, [](L x) { return math::cos(x); }, [](T x) { return math::cos(x); },
       [](R x) { return std::cos(x); }},
      {"erf", 1.2, [](L x) { return math::erf(x); }, [](T x) { return math::erf(x); }, [](R x) { return std::erf(x); }},
  };
}

/// How far `got` is from `want`, in units in the last place of T around `want`. Where either is infinite or nan, or
/// `want` is 0, the two must be the same, with the same sign.
template <class T>
double ulps_between(T got, Reference<T> want) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<T>;
  const T rounded = static_cast<T>(want);
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : wrong;
  if (std::signbit(got) != std::signbit(want)) return wrong;
  if (std::isinf(got) || std::isinf(rounded)) return got == rounded ? 0 : wrong;
  if (want == 0) return got == 0 ? 0 : wrong;
  int exponent = 0;
  std::frexp(want, &exponent);
  const int unit = std::max(exponent, Limits::min_exponent) - Limits::digits;
  return static_cast<double>(std::abs(std::ldexp(static_cast<Reference<T>>(got) - want, -unit)));
}

/// The worst of what it has been shown.
template <class T>
class Worst {
 public:
  void see(T x, T got, Reference<T> want) {
    const double ulps = ulps_between(got, want);
    if (!(ulps > ulps_)) return;
    ulps_ = ulps;
    std::ostringstream where;
    where << std::hexfloat << "at x = " << x << ": " << got << " instead of " << want;
    where_ = where.str();
  }
  double ulps() const { return ulps_; }
  const std::string& where() const { return where_; }

 private:
  double ulps_ = 0;
  std::string where_;
};

template <class T>
Worst<T> worst_of(const Function<T>& function, const std::vector<T>& xs) {
  constexpr auto width = static_cast<std::size_t>(Lanes<T>::width);
  Worst<T> worst;
  for (std::size_t i = 0; i < xs.size(); i += width) {
    const auto count = std::min(width, xs.size() - i);
    std::array<T, width> got;
    function.lanes(Lanes<T>::load(&xs[i], static_cast<int>(count))).store(got.data());
    for (std::size_t lane = 0; lane < count; ++lane)
      worst.see(xs[i + lane], got[lane], function.reference(static_cast<Reference<T>>(xs[i + lane])));
  }
  return worst;
}

/// Numbers at which a formula, a table or a range of one of the functions may begin or end.
template <class T>
std::vector<T> special_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers{0,
                         Limits::denorm_min(),
                         Limits::min(),
                         Limits::epsilon(),
                         Limits::max(),
                         Limits::infinity(),
                         Limits::quiet_NaN()};
  for (const double x : {0.25,
                         0.5,
                         0.625,
                         0.7071067811865476,
                         1.0,
                         1.4142135623730951,
                         2.0,
                         4.0,
                         10.0,
                         15.0,
                         20.0,
                         0.34657359027997264,
                         0.6931471805599453,
                         16.635532,
                         17.328679,
                         36.7,
                         37.4,
                         87.33654,
                         88.37626,
                         88.72284,
                         89.0,
                         103.27893,
                         103.97208,
                         104.0,
                         708.3964,
                         709.782712893384,
                         744.4400719213812,
                         745.1332191019411,
                         746.0,
                         131072.0,
                         8388608.0,
                         16777216.0,
                         1e6,
                         1e14,
                         1e15,
                         1e18,
                         1e30})
    numbers.push_back(static_cast<T>(x));
  for (int quarters = 1; quarters < 64; ++quarters) numbers.push_back(static_cast<T>(quarters * 0.7853981633974483));
  for (int exponent = 5; exponent < Limits::max_exponent; exponent += exponent < 24 ? 1 : 31)
    numbers.push_back(static_cast<T>(std::round(std::ldexp(0.6, exponent)) * 1.5707963267948966));
  for (const T x : std::vector<T>(numbers)) numbers.push_back(-x);
  return numbers;
}

/// `x` and the numbers whose bit patterns are up to `reach` away.
template <class T>
void push_neighbours(std::vector<T>& xs, T x, int reach) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for (int offset = -reach; offset <= reach; ++offset)
    xs.push_back(std::bit_cast<T>(std::bit_cast<Bits>(x) + static_cast<Bits>(offset)));
}

std::vector<float> single_precision_sweep() {
  std::vector<float> xs;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 2003)
    xs.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  // Where the functions are neither constant nor the identity, a good deal denser.
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int i = 0; i < 200'000; ++i) {
    xs.push_back(uniform(random));
    xs.push_back(10 * uniform(random));
    xs.push_back(110 * uniform(random));
  }
  for (const float x : special_numbers<float>()) push_neighbours(xs, x, 64);
  return xs;
}

std::vector<double> double_precision_sample() {
  std::vector<double> xs;
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 50'000; ++i) {
    xs.push_back(std::bit_cast<double>(random()));
    xs.push_back(uniform(random));
    xs.push_back(10 * uniform(random));
    xs.push_back(750 * uniform(random));
  }
  for (const double x : special_numbers<double>()) push_neighbours(xs, x, 8);
  return xs;
}

TEST(MathAccuracy, SinglePrecisionStaysWithinItsBounds) {
  const auto xs = single_precision_sweep();
  for (const auto& function : functions<float>()) {
    const auto worst = worst_of(function, xs);
    EXPECT_LE(worst.ulps(), function.bound) << function.name << " " << worst.where();
  }
}

TEST(MathAccuracy, DoublePrecisionStaysWithinItsBounds) {
  const auto xs = double_precision_sample();
  for (const auto& function : functions<double>()) {
    const auto worst = worst_of(function, xs);
    EXPECT_LE(worst.ulps(), function.bound) << function.name << " " << worst.where();
  }
}

TEST(MathAccuracy, SineAndCosineNeverExceedOne) {
  const auto xs = single_precision_sweep();
  for (const float x : xs) {
    if (!std::isfinite(x)) continue;
    ASSERT_LE(std::abs(math::sin(x)), 1) << std::hexfloat << x;
    ASSERT_LE(std::abs(math::cos(x)), 1) << std::hexfloat << x;
  }
}

template <class T>
std::vector<std::array<T, 2>> power_arguments() {
  std::vector<std::array<T, 2>> arguments;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 200'000; ++i) {
    // Results all over the range of T, subnormal ones included.
    const double x = std::exp2(uniform(random) * (i % 3 == 0 ? 0.5 : 120));
    const double y = uniform(random) * 1.02 * std::numeric_limits<T>::max_exponent / std::abs(std::log2(x));
    arguments.push_back({static_cast<T>(x), static_cast<T>(y)});
    arguments.push_back({static_cast<T>(i % 2 == 0 ? -x : x), static_cast<T>(i % 9 - 4)});
  }
  std::vector<T> corners{1, 2, 3, 0.5, 1.5, 2.5, 4097, 8388607, 8388609, 16777215, 16777216, 1e30f};
  using Limits = std::numeric_limits<T>;
  for (const T x : {T{0}, Limits::denorm_min(), Limits::min(), Limits::max(), Limits::infinity(), Limits::quiet_NaN()})
    corners.push_back(x);
  for (const T x : std::vector<T>(corners)) corners.push_back(-x);
  for (const T x : corners)
    for (const T y : corners) arguments.push_back({x, y});
  return arguments;
}

template <class T>
void expect_power_within(double bound) {
  for (const auto& [x, y] : power_arguments<T>()) {
    const T got = math::pow(x, y);
    const auto want = std::pow(static_cast<Reference<T>>(x), static_cast<Reference<T>>(y));
    ASSERT_LE(ulps_between<T>(got, want), bound) << std::hexfloat << x << " to the power " << y << " gave " << got;
  }
}

TEST(MathAccuracy, PowerInSinglePrecision) { expect_power_within<float>(0.6); }
TEST(MathAccuracy, PowerInDoublePrecision) { expect_power_within<double>(1.0); }

template <class T>
bool same_bits(T a, T b) {
  return std::bit_cast<kernels::bits_of<T>>(a) == std::bit_cast<kernels::bits_of<T>>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// Neighbours of very different magnitudes, so that the lanes of a vector need different branches.
template <class T>
std::vector<T> mixed_magnitudes() {
  std::vector<T> xs = special_numbers<T>();
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 40'000; ++i) {
    const int exponents[] = {0, 0, 2, 2, 4, 4, 7, 20, 40, 100, -20, -120};
    xs.push_back(static_cast<T>(std::ldexp(uniform(random), exponents[random() % std::size(exponents)])));
  }
  return xs;
}

template <class T>
void expect_the_same_in_every_lane() {
  constexpr int width = Lanes<T>::width;
  const auto xs = mixed_magnitudes<T>();
  for (const auto& function : functions<T>())
    for (std::size_t i = 0; i + width <= xs.size(); i += width) {
      const auto together = function.lanes(Lanes<T>::load(&xs[i]));
      for (int lane = 0; lane < width; ++lane) {
        const T x = xs[i + static_cast<std::size_t>(lane)];
        ASSERT_TRUE(same_bits(together[lane], function.scalar(x))) << function.name << " " << std::hexfloat << x;
      }
    }
}

TEST(MathPosition, SinglePrecisionIsTheSameInEveryLane) { expect_the_same_in_every_lane<float>(); }
TEST(MathPosition, DoublePrecisionIsTheSameInEveryLane) { expect_the_same_in_every_lane<double>(); }

template <class T>
void expect_the_same_power_in_every_lane() {
  constexpr int width = Lanes<T>::width;
  const auto xs = mixed_magnitudes<T>();
  for (std::size_t i = 0; i + width + 1 <= xs.size(); i += width) {
    const auto together = math::pow(Lanes<T>::load(&xs[i]), Lanes<T>::load(&xs[i + 1]));
    for (int lane = 0; lane < width; ++lane) {
      const T x = xs[i + static_cast<std::size_t>(lane)];
      const T y = xs[i + static_cast<std::size_t>(lane) + 1];
      ASSERT_TRUE(same_bits(together[lane], math::pow(x, y))) << std::hexfloat << x << " to the power " << y;
    }
  }
}

TEST(MathPosition, PowerIsTheSameInEveryLane) {
  expect_the_same_power_in_every_lane<float>();
  expect_the_same_power_in_every_lane<double>();
}

}  // namespace
}  // namespace tlaloc
