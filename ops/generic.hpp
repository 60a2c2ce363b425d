// Functions with one spelling for SIMD lanes and for tensors, so that a partial derivative is written once for both.
#pragma once

#include <tlaloc/elementwise.hpp>

#include "ops/kernels/lanes.hpp"
#include "ops/kernels/math.hpp"

namespace tlaloc::inline v0::ops {

// On tensors the public functions of these names are found.
using kernels::math::cos;
using kernels::math::exp;
using kernels::math::log;
using kernels::math::sin;

/// `yes` where the mask is true, `no` elsewhere.
template <class T>
kernels::Lanes<T> choose(kernels::Mask<T> mask, kernels::Also<T> yes, kernels::Also<T> no) {
  return kernels::select(mask, yes, no);
}
/// On tensors the mask is a bool tensor; two numbers give f32, which ct_mul() casts to the cotangent's type.
Tensor choose(const Tensor& mask, Scalar yes, Scalar no);
Tensor choose(const Tensor& mask, Scalar yes, const Tensor& no);
Tensor choose(const Tensor& mask, const Tensor& yes, Scalar no);
Tensor choose(const Tensor& mask, const Tensor& yes, const Tensor& no);

}  // namespace tlaloc::inline v0::ops
