// Powers and roots.
#pragma once

#include "ops/arithmetic.hpp"
#include "ops/generic.hpp"
#include "ops/kernels/math.hpp"

namespace tlaloc::inline v0::ops {

/// Small whole exponents are products, faster by far and as good.
template <std::floating_point T>
kernels::Lanes<T> power(kernels::Lanes<T> x, double exponent) {
  if (exponent == 0) return 1;
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (exponent == -1) return 1 / x;
  return kernels::math::pow(x, kernels::Lanes<T>(exponent));
}
template <std::floating_point T>
kernels::Lanes<T> power(kernels::Lanes<T> x, kernels::Lanes<T> exponent) {
  return kernels::math::pow(x, exponent);
}
/// Wraps around; exponents are not negative, which is checked before.
template <std::integral T>
T whole_power(T x, T exponent) {
  using Wrapping = std::make_unsigned_t<T>;
  auto square = static_cast<Wrapping>(x);
  Wrapping y = 1;
  for (; exponent > 0; exponent >>= 1, square *= square)
    if ((exponent & 1) != 0) y *= square;
  return static_cast<T>(y);
}

/// Its partials are exact to every order wherever the power has derivatives, whole exponents at 0 included: where the
/// factor in front is 0, ct_mul gives 0, and is differentiated as the product.
struct Power : Elementwise<Power, 2> {
  using Family = Elementwise<Power, 2>;
  static constexpr OpInfo info{.name = "power", .inputs = 2};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{input(0) | input(1), input(0) | input(1) | output()};

  /// ValueError for a negative exponent of integers.
  Tensor eval(const Tensor& x, const Tensor& exponent) const;

  template <class T>
  static kernels::Lanes<T> value(kernels::Lanes<T> x, kernels::Lanes<T> exponent) {
    if constexpr (std::is_floating_point_v<T>) {
      return power(x, exponent);
    } else {
      for (int lane = 0; lane < kernels::Lanes<T>::width; ++lane)
        x.r[lane] = whole_power<T>(x.r[lane], exponent.r[lane]);
      return x;
    }
  }
  template <int I>
  static auto partial(const auto& x, const auto& exponent, const auto& y) {
    if constexpr (I == 0)
      return ct_mul(exponent, power(x, exponent - 1.0));
    else
      return ct_mul(y, log(choose(exponent == 0, choose(x == 0, 1.0, x), x)));
  }
};

/// Of integers to a whole exponent that is not negative; else of floats.
struct PowerOfNumber : Elementwise<PowerOfNumber, 1> {
  static constexpr OpInfo info{.name = "power"};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{input(0)};

  Number exponent;

  explicit PowerOfNumber(Number number) : exponent(number) {}

  template <class T>
  kernels::Lanes<T> value(kernels::Lanes<T> x) const {
    if constexpr (std::is_floating_point_v<T>)
      return power(x, exponent.real);
    else
      return kernels::map_lanes(x, [&](T lane) { return whole_power(lane, exponent.as<T>()); });
  }
  template <int>
  auto partial(const auto& x, const auto&) const {
    return exponent.real * power(x, exponent.real == 0 ? 0.0 : exponent.real - 1);
  }
};

struct Rsqrt : Elementwise<Rsqrt, 1> {
  static constexpr OpInfo info{.name = "rsqrt"};
  static constexpr std::array needs{output()};
  template <class V>
  static V value(V x) {
    return kernels::math::rsqrt(x);
  }
  template <int>
  static auto partial(const auto&, const auto& y) {
    return -0.5 * (y * y * y);
  }
};

/// The p-th root of what is not negative, with derivative 0 at 0: the end of a norm or of a standard deviation.
struct Root : Elementwise<Root, 1> {
  static constexpr OpInfo info{.name = "norm"};
  static constexpr std::array needs{output()};

  double p;

  explicit Root(double degree) : p(degree) {}

  template <class T>
  kernels::Lanes<T> value(kernels::Lanes<T> x) const {
    return p == 2 ? kernels::math::sqrt(x) : power(x, 1 / p);
  }
  template <int>
  auto partial(const auto&, const auto& y) const {
    return choose(y == 0, 0.0, (1 / p) * power(y, 1 - p));
  }
};

}  // namespace tlaloc::inline v0::ops
