// Vector math: exp, expm1, log, log1p, softplus, log_sigmoid, tanh, sigmoid, sqrt, rsqrt, sin, cos, erf and pow on
// Lanes<float>, Lanes<double>, float and double.
//
// An element's result never depends on where it stands: a scalar is computed as lane 0 of a vector, so the end of an
// array agrees bit for bit with its body.
#pragma once

#include <concepts>
#include <type_traits>

#include "ops/kernels/lanes.hpp"
#include "ops/kernels/math_f32.hpp"
#include "ops/kernels/math_f32_special.hpp"
#include "ops/kernels/math_f64.hpp"

namespace tlaloc::inline v0::kernels::math {

/// Correctly rounded.
using kernels::sqrt;

/// 1 / sqrt(x), within 1.5 ULP.
template <class V>
[[gnu::always_inline]] inline V rsqrt(V x) {
  return 1 / sqrt(x);
}

template <std::floating_point T>
inline T exp(T x) {
  return exp(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T expm1(T x) {
  return expm1(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T log(T x) {
  return log(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T log1p(T x) {
  return log1p(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T softplus(T x) {
  return softplus(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T log_sigmoid(T x) {
  return log_sigmoid(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T tanh(T x) {
  return tanh(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T sigmoid(T x) {
  return sigmoid(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T sin(T x) {
  return sin(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T cos(T x) {
  return cos(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T erf(T x) {
  return erf(Lanes<T>(x))[0];
}
template <std::floating_point T>
inline T pow(T x, std::type_identity_t<T> y) {
  return pow(Lanes<T>(x), Lanes<T>(y))[0];
}

}  // namespace tlaloc::inline v0::kernels::math
