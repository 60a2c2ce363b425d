// Products: sums over shared axes.
#pragma once

#include <span>

#include <tlaloc/export.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

/// The matrix product, as NumPy's matmul: the last axis of `a` with the last but one of `b` (or its only one); axes
/// before those are batch axes, which broadcast from the right. The two contracted axes must have equal extents and, if
/// both are named, the same name. Integers are multiplied as integers.
///     matmul(x [batch 16, feature 4], w [feature 4, hidden 8])   // [batch 16, hidden 8]
TLALOC_API Tensor matmul(const Tensor& a, const Tensor& b);

/// The sum of products over one axis, or several, that both have by that name; other names they share are batch axes.
/// The result has the shared axes, then what remains of `a`, then what remains of `b`. Unnamed axes are never shared.
///     dot(x [batch 16, feature 4], w [hidden 8, feature 4], feature)   // [batch 16, hidden 8]
TLALOC_API Tensor dot(const Tensor& a, const Tensor& b, Axis axis);
TLALOC_API Tensor dot(const Tensor& a, const Tensor& b, std::span<const Axis> axes);

/// Every element of `a` times every element of `b`: [axes of a..., axes of b...]. AxisError when a name would appear
/// twice.
TLALOC_API Tensor outer(const Tensor& a, const Tensor& b);

}  // namespace tlaloc::inline v0
