// Functions made of pieces: absolute value, sign, rounding, clipping.
#pragma once

#include <cmath>

#include "ops/arithmetic.hpp"
#include "ops/generic.hpp"

namespace tlaloc::inline v0::ops {

/// nan stays nan.
template <class T>
kernels::Lanes<T> sign(kernels::Lanes<T> x) {
  return kernels::select(x > 0, 1, kernels::select(x < 0, -1, kernels::select(x == 0, 0, x)));
}

struct Abs : Elementwise<Abs, 1> {
  static constexpr OpInfo info{.name = "abs"};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return kernels::abs(x);
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return sign(x);
  }
};

inline constexpr std::string_view constant_in_pieces = "it is constant almost everywhere";

struct Sign : Elementwise<Sign, 1> {
  static constexpr OpInfo info{.name = "sign"};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::string_view not_differentiable = constant_in_pieces;
  template <class V>
  static V value(V x) {
    return sign(x);
  }
};

struct Floor : Elementwise<Floor, 1> {
  static constexpr OpInfo info{.name = "floor"};
  static constexpr std::string_view not_differentiable = constant_in_pieces;
  template <class V>
  static V value(V x) {
    return kernels::floor(x);
  }
};

struct Ceil : Elementwise<Ceil, 1> {
  static constexpr OpInfo info{.name = "ceil"};
  static constexpr std::string_view not_differentiable = constant_in_pieces;
  template <class V>
  static V value(V x) {
    return kernels::ceil(x);
  }
};

struct Round : Elementwise<Round, 1> {
  static constexpr OpInfo info{.name = "round"};
  static constexpr std::string_view not_differentiable = constant_in_pieces;
  template <class V>
  static V value(V x) {
    return kernels::round_even(x);
  }
};

/// The quotient rounded down. The rounded quotient a / b may be the next whole number already, so it is the exact
/// remainder that counts. Integers divided by 0 are refused before.
template <std::floating_point T>
T floor_of_quotient(T a, T b) {
  if (b == 0) return a / b;
  const T remainder = std::fmod(a, b);
  T quotient = (a - remainder) / b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(T{0}, a / b);
  return std::nearbyint(quotient);
}
template <std::integral T>
T floor_of_quotient(T a, T b) {
  if (b == 0) return 0;
  // The most negative number has no opposite; as everywhere, integers wrap around.
  if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

struct FloorDivide : Elementwise<FloorDivide, 2> {
  using Family = Elementwise<FloorDivide, 2>;
  static constexpr OpInfo info{.name = "floor_divide", .inputs = 2};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::string_view not_differentiable = constant_in_pieces;

  /// ValueError for integers divided by 0.
  Tensor eval(const Tensor& a, const Tensor& b) const;

  template <class T>
  static kernels::Lanes<T> value(kernels::Lanes<T> a, kernels::Lanes<T> b) {
    for (int lane = 0; lane < kernels::Lanes<T>::width; ++lane) a.r[lane] = floor_of_quotient<T>(a.r[lane], b.r[lane]);
    return a;
  }
};

/// nan where any of the three is nan. x keeps the cotangent at a bound; where the bounds cross, the upper one wins.
struct Clip : Elementwise<Clip, 3> {
  static constexpr OpInfo info{.name = "clip", .inputs = 3};
  static constexpr Domain domain = Domain::numbers;
  static constexpr core::Needs all = input(0) | input(1) | input(2);
  static constexpr std::array needs{all, all, all};
  template <class V>
  static V value(V x, V low, V high) {
    const V raised = kernels::select((x < low) | (low != low), low, x);
    return kernels::select((raised > high) | (high != high), high, raised);
  }
  template <int I>
  static auto partial(const auto& x, const auto& low, const auto& high, const auto&) {
    if constexpr (I == 0)
      return choose(x < low, 0.0, choose(x > high, 0.0, 1.0));
    else if constexpr (I == 1)
      return choose(x < low, choose(low > high, 0.0, 1.0), 0.0);
    else
      return choose(low > high, 1.0, choose(x > high, 1.0, 0.0));
  }
};

struct ClipToNumbers : Elementwise<ClipToNumbers, 1> {
  static constexpr OpInfo info{.name = "clip"};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{input(0)};

  Number low;
  Number high;

  ClipToNumbers(Number least, Number most) : low(least), high(most) {}

  template <class T>
  kernels::Lanes<T> value(kernels::Lanes<T> x) const {
    return Clip::value(x, kernels::Lanes<T>(low.as<T>()), kernels::Lanes<T>(high.as<T>()));
  }
  template <int>
  auto partial(const auto& x, const auto& y) const {
    return Clip::partial<0>(x, low.real, high.real, y);
  }
};

}  // namespace tlaloc::inline v0::ops
