// Taking elements at positions that a tensor holds, and adding to them.
//
// Indices are i32 or i64 tensors, counted from 0. One below 0 or beyond the axis is a ValueError that says which, and
// at which position it stands: unlike the number that select() takes, an index in a tensor does not count from the end.
// Other dtypes are a DTypeError.
//
// Derivatives are in the values, to every order; elements taken several times collect all their cotangents. Inside vmap
// the values, the indices or both may be mapped; a shared table is neither copied nor given a gradient per example.
#pragma once

#include <tlaloc/export.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

/// x at `indices` along an axis: the axis gives way to the axes of `indices`. AxisError when a name would appear twice.
///     take(table [vocab 100, feature 8], words [batch 16, time 10], vocab)   // [batch 16, time 10, feature 8]
TLALOC_API Tensor take(const Tensor& x, const Tensor& indices, AxisRef axis);

/// Along an axis, the elements at the indices of the same row: result[i, k] = x[i, indices[i, k]]. The axis has the
/// extent that it has in `indices`. All other axes align as in elementwise operations; by name, the axis in `indices`
/// is the one called as in x or, if there is none, the only one that x lacks.
///     take_along_axis(x, argsort(x, klass), klass)                                 // sort(x, klass)
///     take_along_axis(x [batch 16, klass 3], best [batch 16, pick 1], klass)       // [batch 16, pick 1]
TLALOC_API Tensor take_along_axis(const Tensor& x, const Tensor& indices, AxisRef axis);

/// The part of x at the position that a tensor of rank 0 holds; the axis goes away. ShapeError for another rank.
TLALOC_API Tensor select(const Tensor& x, AxisRef axis, const Tensor& index);

/// x with `updates` added at `indices` along an axis; equal indices add up. `updates` have the shape of
/// take(x, indices, axis), or stretch to it as in elementwise operations, and promote with x as in add().
///     scatter_add(zeros({3}), tensor<int>({2, 0, 2}), tensor<float>({1, 10, 100}), 0)   // {10, 0, 101}
TLALOC_API Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, AxisRef axis);

}  // namespace tlaloc::inline v0
