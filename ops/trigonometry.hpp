// Sine, cosine, the angle of a point, and the error function.
#pragma once

#include <numbers>

#include "ops/elementwise_family.hpp"
#include "ops/generic.hpp"
#include "ops/kernels/math.hpp"
#include "ops/kernels/math_angle.hpp"

namespace tlaloc::inline v0::ops {

struct Sin : Elementwise<Sin, 1> {
  static constexpr OpInfo info{.name = "sin"};
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return kernels::math::sin(x);
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return cos(x);
  }
};

struct Cos : Elementwise<Cos, 1> {
  static constexpr OpInfo info{.name = "cos"};
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return kernels::math::cos(x);
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return -sin(x);
  }
};

struct Erf : Elementwise<Erf, 1> {
  static constexpr OpInfo info{.name = "erf"};
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return kernels::math::erf(x);
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return (2 * std::numbers::inv_sqrtpi) * exp(-(x * x));
  }
};

/// At the origin both partials are 0: ct_mul gives 0 where its first factor is.
struct Atan2 : Elementwise<Atan2, 2> {
  static constexpr OpInfo info{.name = "atan2", .inputs = 2};
  static constexpr std::array needs{input(0) | input(1), input(0) | input(1)};
  template <class V>
  static V value(V y, V x) {
    return kernels::math::atan2(y, x);
  }
  template <int I>
  static auto partial(const auto& y, const auto& x, const auto&) {
    if constexpr (I == 0)
      return ct_mul(x, 1.0 / (x * x + y * y));
    else
      return -ct_mul(y, 1.0 / (x * x + y * y));
  }
};

}  // namespace tlaloc::inline v0::ops
