// Operations that rearrange elements: nothing is computed, and most results are views that copy nothing.
//
// An axis is said by name or by number (negative numbers count from the last). All work for every dtype and are
// differentiable for floats. All throw AxisError for an axis that is not there and ShapeError for extents that do not fit.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include <tlaloc/export.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

/// The same elements, in row-major order, under another shape with as many elements.
TLALOC_API Tensor reshape(const Tensor& x, const Shape& shape);

/// x with its axes in that order; every axis is named once. `transpose(x)` reverses them.
TLALOC_API Tensor permute(const Tensor& x, std::span<const AxisRef> order);
inline Tensor permute(const Tensor& x, std::initializer_list<AxisRef> order) {
  return permute(x, std::span(order.begin(), order.size()));
}
TLALOC_API Tensor transpose(const Tensor& x);

/// x repeated to `shape`. A fully named x goes to a fully named shape by name; otherwise axes align from the right and
/// an extent of 1 stretches.
TLALOC_API Tensor broadcast_to(const Tensor& x, const Shape& shape);

/// A new axis of extent 1 at place `at` of the result, unnamed unless a name is given.
TLALOC_API Tensor expand_dims(const Tensor& x, int at, Axis name = Axis::none);
/// Without an axis of extent 1; without all of them.
TLALOC_API Tensor squeeze(const Tensor& x, AxisRef axis);
TLALOC_API Tensor squeeze(const Tensor& x);

/// The tensors one after the other along an axis. They agree in everything but that axis's extent, and promote to one
/// dtype. ValueError for none.
TLALOC_API Tensor concat(std::span<const Tensor> tensors, AxisRef axis);
inline Tensor concat(std::initializer_list<Tensor> tensors, AxisRef axis) {
  return concat(std::span(tensors.begin(), tensors.size()), axis);
}
/// Tensors of one shape along a new axis at place `at` of the result.
TLALOC_API Tensor stack(std::span<const Tensor> tensors, int at = 0, Axis name = Axis::none);
inline Tensor stack(std::initializer_list<Tensor> tensors, int at = 0, Axis name = Axis::none) {
  return stack(std::span(tensors.begin(), tensors.size()), at, name);
}

/// Elements start, start + step, ... before stop along an axis, as in Python: negative positions count from the end,
/// positions outside are clipped, a negative step runs backwards. ValueError for step 0.
constexpr std::int64_t slice_end = std::numeric_limits<std::int64_t>::max();
TLALOC_API Tensor slice(const Tensor& x, AxisRef axis, std::int64_t start, std::int64_t stop = slice_end,
                        std::int64_t step = 1);
/// The part at one position of an axis, which goes away. ValueError when there is no such position.
TLALOC_API Tensor select(const Tensor& x, AxisRef axis, std::int64_t index);

/// The same elements with other names: one axis a dimension, Axis::none to drop a name.
TLALOC_API Tensor rename(const Tensor& x, std::initializer_list<Axis> axes);

/// x with its elements in row-major order without gaps, so that span() can show them.
TLALOC_API Tensor contiguous(const Tensor& x);

}  // namespace tlaloc::inline v0
