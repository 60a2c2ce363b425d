// Exponentials and logarithms that keep their accuracy where the plain formula loses it, and so do their derivatives.
#pragma once

#include "ops/arithmetic.hpp"
#include "ops/generic.hpp"
#include "ops/kernels/math.hpp"

namespace tlaloc::inline v0::ops {

/// 1 / (1 + e^(b - a)), for numbers too. Its derivative is not y (1 - y), which is 0 long before the derivative is.
template <class T>
kernels::Lanes<T> logistic(kernels::Lanes<T> a, kernels::Also<T> b) {
  // Of two equal infinities each counts one half.
  return kernels::math::sigmoid(kernels::select(a == b, 0, a - b));
}
template <class T>
kernels::Lanes<T> logistic(double a, kernels::Lanes<T> b) {
  return logistic(kernels::Lanes<T>(a), b);
}
Tensor logistic(const Tensor& a, const Tensor& b);
Tensor logistic(const Tensor& a, Scalar b);
Tensor logistic(Scalar a, const Tensor& b);

struct Logistic : Elementwise<Logistic, 2> {
  static constexpr OpInfo info{.name = "logaddexp", .inputs = 2};
  static constexpr std::array needs{input(0) | input(1) | output(), input(0) | input(1) | output()};
  template <class V>
  static V value(V a, V b) {
    return logistic(a, b);
  }
  template <int I>
  static auto partial(const auto& a, const auto& b, const auto& y) {
    if constexpr (I == 0)
      return y * logistic(b, a);
    else
      return -(y * logistic(b, a));
  }
};

struct LogAddExp : Elementwise<LogAddExp, 2> {
  static constexpr OpInfo info{.name = "logaddexp", .inputs = 2};
  static constexpr std::array needs{input(0) | input(1), input(0) | input(1)};
  template <class V>
  static V value(V a, V b) {
    const V gap = kernels::select(a == b, 0, kernels::abs(a - b));
    return kernels::max(a, b) + kernels::math::softplus(-gap);
  }
  template <int I>
  static auto partial(const auto& a, const auto& b, const auto&) {
    if constexpr (I == 0)
      return logistic(a, b);
    else
      return logistic(b, a);
  }
};

struct Softplus : Elementwise<Softplus, 1> {
  static constexpr OpInfo info{.name = "softplus"};
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return kernels::math::softplus(x);
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return logistic(x, 0.0);
  }
};

struct LogSigmoid : Elementwise<LogSigmoid, 1> {
  static constexpr OpInfo info{.name = "log_sigmoid"};
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return kernels::math::log_sigmoid(x);
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return logistic(0.0, x);
  }
};

struct Expm1 : Elementwise<Expm1, 1> {
  static constexpr OpInfo info{.name = "expm1"};
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return kernels::math::expm1(x);
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return exp(x);
  }
};

struct Log1p : Elementwise<Log1p, 1> {
  static constexpr OpInfo info{.name = "log1p"};
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return kernels::math::log1p(x);
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return 1.0 / (1.0 + x);
  }
};

/// x log(y), and 0 at x = 0 unless y is nan. There both partials are what the formula gives: log y, and 0.
struct XLogY : Elementwise<XLogY, 2> {
  static constexpr OpInfo info{.name = "xlogy", .inputs = 2};
  static constexpr std::array needs{input(1), input(0) | input(1)};
  template <class V>
  static V value(V x, V y) {
    return kernels::select((x == V(0)) & (y == y), 0, x * kernels::math::log(y));
  }
  template <int I>
  static auto partial(const auto& x, const auto& y, const auto&) {
    if constexpr (I == 0)
      return log(y);
    else
      return ct_mul(x, 1.0 / y);
  }
};

}  // namespace tlaloc::inline v0::ops
