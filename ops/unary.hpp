// Functions of one real variable.
#pragma once

#include "ops/elementwise_family.hpp"
#include "ops/generic.hpp"
#include "ops/kernels/math.hpp"

namespace tlaloc::inline v0::ops {

struct Exp : Elementwise<Exp, 1> {
  static constexpr OpInfo info{.name = "exp"};
  static constexpr std::array needs{output()};
  template <class V>
  static V value(V x) {
    return kernels::math::exp(x);
  }
  template <int>
  static auto partial(const auto&, const auto& y) {
    return y;
  }
};

struct Log : Elementwise<Log, 1> {
  static constexpr OpInfo info{.name = "log"};
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return kernels::math::log(x);
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return 1.0 / x;
  }
};

struct Sqrt : Elementwise<Sqrt, 1> {
  static constexpr OpInfo info{.name = "sqrt"};
  static constexpr std::array needs{output()};
  template <class V>
  static V value(V x) {
    return kernels::math::sqrt(x);
  }
  template <int>
  static auto partial(const auto&, const auto& y) {
    return 0.5 / y;
  }
};

struct Tanh : Elementwise<Tanh, 1> {
  static constexpr OpInfo info{.name = "tanh"};
  static constexpr std::array needs{output()};
  template <class V>
  static V value(V x) {
    return kernels::math::tanh(x);
  }
  template <int>
  static auto partial(const auto&, const auto& y) {
    return 1.0 - y * y;
  }
};

struct Sigmoid : Elementwise<Sigmoid, 1> {
  static constexpr OpInfo info{.name = "sigmoid"};
  static constexpr std::array needs{output()};
  template <class V>
  static V value(V x) {
    return kernels::math::sigmoid(x);
  }
  template <int>
  static auto partial(const auto&, const auto& y) {
    return y * (1.0 - y);
  }
};

/// nan stays nan; the derivative at 0 is 0.
struct Relu : Elementwise<Relu, 1> {
  static constexpr OpInfo info{.name = "relu"};
  static constexpr std::array needs{output()};
  template <class V>
  static V value(V x) {
    return kernels::select((x > V(0)) | (x != x), x, 0);
  }
  template <int>
  static auto partial(const auto&, const auto& y) {
    return choose(y > 0, 1.0, 0.0);
  }
};

}  // namespace tlaloc::inline v0::ops
