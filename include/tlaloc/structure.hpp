// Operations that rearrange elements: nothing is computed, and most results are views that copy nothing.
//
// An axis is said by name or by number (negative numbers count from the last). All work for every dtype and are
// differentiable for floats. All throw AxisError for an axis that is not there and ShapeError for extents that do not
// fit.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include <tlaloc/dtype.hpp>
#include <tlaloc/export.hpp>
#include <tlaloc/reduce.hpp>
#include <tlaloc/scalar.hpp>
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
/// x with two axes exchanged; with one axis at place `to`, the others in their order.
TLALOC_API Tensor swap_axes(const Tensor& x, AxisRef a, AxisRef b);
TLALOC_API Tensor move_axis(const Tensor& x, AxisRef axis, int to);
/// All elements along one axis, unnamed unless a name is given.
TLALOC_API Tensor flatten(const Tensor& x, Axis name = Axis::none);

/// `count` copies of x one after the other along an axis. ValueError when `count` is negative.
TLALOC_API Tensor tile(const Tensor& x, AxisRef axis, std::int64_t count);

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
/// x cut along an axis: into `count` equal parts, or into parts of these extents. ShapeError when they do not make up
/// the axis.
TLALOC_API std::vector<Tensor> split(const Tensor& x, AxisRef axis, std::int64_t count);
TLALOC_API std::vector<Tensor> split(const Tensor& x, AxisRef axis, std::span<const std::int64_t> extents);
inline std::vector<Tensor> split(const Tensor& x, AxisRef axis, std::initializer_list<std::int64_t> extents) {
  return split(x, axis, std::span(extents.begin(), extents.size()));
}

/// The elements in the opposite order along axes (all, unless some are given).
TLALOC_API Tensor flip(const Tensor& x, const AxisList& axes = {});
/// The elements `shift` places further on along an axis; those that leave at the end come in at the front. A negative
/// shift goes the other way.
TLALOC_API Tensor roll(const Tensor& x, AxisRef axis, std::int64_t shift);
/// x with `before` and `after` more elements along an axis, which hold `value`. The dtype stays: DTypeError for a
/// floating-point value around other types; ValueError for a negative number of elements.
TLALOC_API Tensor pad(const Tensor& x, AxisRef axis, std::int64_t before, std::int64_t after, Scalar value = 0);

/// The last two axes as matrices, [rows, columns]: the part on and below a diagonal, on and above it, with zeros
/// elsewhere. Diagonal k is k columns to the right of the main one.
TLALOC_API Tensor tril(const Tensor& x, std::int64_t diagonal = 0);
TLALOC_API Tensor triu(const Tensor& x, std::int64_t diagonal = 0);
/// A diagonal of the last two axes, along one axis in their place. It is unnamed unless a name is given.
TLALOC_API Tensor diagonal(const Tensor& x, std::int64_t offset = 0, Axis name = Axis::none);

/// 1 at the place of each class index, 0 elsewhere, along a new last axis `classes`: one_hot(y [batch 8], klass(3)) is
/// [batch 8, klass 3]. The indices are integers; ValueError for one outside [0, extent). No derivative.
TLALOC_API Tensor one_hot(const Tensor& labels, Dim classes, DType dtype = DType::f32);

/// The same elements with other names: one axis a dimension, Axis::none to drop a name.
TLALOC_API Tensor rename(const Tensor& x, std::initializer_list<Axis> axes);

/// x with its elements in row-major order without gaps, so that span() can show them.
TLALOC_API Tensor contiguous(const Tensor& x);

}  // namespace tlaloc::inline v0
