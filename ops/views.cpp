#include "ops/views.hpp"

#include <cstring>

#include "ops/kernels/elementwise.hpp"
#include "ops/reductions.hpp"

namespace tlaloc::inline v0::ops {

Tensor Expand::eval(const Tensor& x) const {
  const Shape& from = core::physical_shape(x)->shape;
  const core::Strides old = core::strides_of(x);
  core::Strides strides;
  const Shape shape = with_axes(from, axes, inserted);
  for (int i = 0, d = 0; i < shape.rank(); ++i) strides[i] = axes.contains(i) ? 0 : old[d++];
  return core::make_view(x, core::intern(shape), 0, strides);
}

Tensor Expand::transpose(const Tensor& ct) const { return core::dispatch(Sum(axes, inserted), ct); }

Tensor Permute::eval(const Tensor& x) const {
  const Shape& from = core::physical_shape(x)->shape;
  const core::Strides old = core::strides_of(x);
  core::Strides strides;
  Shape shape;
  for (int i = 0; i < from.rank(); ++i) {
    shape.push_back(from[order[i]]);
    strides[i] = old[order[i]];
  }
  return core::make_view(x, core::intern(shape), 0, strides);
}

namespace {

/// The strides under which x's elements read, in order, as `to`; false when no strides say it.
bool strides_for(const Tensor& x, const Shape& to, core::Strides& strides) {
  if (core::object_of(x)->is_dense()) {
    strides = core::dense_strides(to);
    return true;
  }
  const Shape& from = core::physical_shape(x)->shape;
  const core::Strides old = core::strides_of(x);
  int i = 0;
  int j = 0;
  // Groups of dimensions with equal products; within a group of the operand the dimensions must be one run.
  while (i < from.rank() || j < to.rank()) {
    const int begin = i;
    const int new_begin = j;
    std::int64_t have = i < from.rank() ? from[i++].extent() : 1;
    std::int64_t want = j < to.rank() ? to[j++].extent() : 1;
    while (have != want) {
      if (have < want) {
        if (i == from.rank()) return false;
        have *= from[i++].extent();
      } else {
        if (j == to.rank()) return false;
        want *= to[j++].extent();
      }
    }
    std::int64_t inner = 1;  // the stride of the group's last dimension of more than one element
    bool started = false;
    std::int64_t run = 0;
    for (int d = i - 1; d >= begin; --d) {
      if (from[d].extent() == 1) continue;
      if (started && old[d] != run) return false;
      if (!started) inner = old[d];
      started = true;
      run = old[d] * from[d].extent();
    }
    for (int d = j - 1; d >= new_begin; --d) {
      strides[d] = inner;
      inner *= to[d].extent();
    }
  }
  return true;
}

}  // namespace

Tensor Reshape::eval(const Tensor& x) const {
  core::Strides strides;
  if (core::physical_shape(x)->size != 0 && strides_for(x, to, strides))
    return core::make_view(x, core::intern(to), 0, strides);
  const Tensor dense = ops::contiguous(x);
  return core::make_view(dense, core::intern(to), 0, core::dense_strides(to));
}

Tensor Slice::eval(const Tensor& x) const {
  Shape shape = core::physical_shape(x)->shape;
  core::Strides strides = core::strides_of(x);
  const std::int64_t offset = part.count == 0 ? 0 : part.start * strides[part.axis];
  shape[part.axis] = Dim(shape[part.axis].axis(), part.count);
  strides[part.axis] *= part.step;
  return core::make_view(x, core::intern(shape), offset, strides);
}

Tensor Slice::transpose(const Tensor& ct) const { return core::dispatch(Embed(part), ct); }

Tensor Embed::eval(const Tensor& x) const {
  const Shape& from = core::physical_shape(x)->shape;
  const DType dtype = core::object_of(x)->dtype;
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  Shape shape = from;
  shape[part.axis] = Dim(from[part.axis].axis(), part.whole);
  Tensor out = core::make_dense(shape, dtype);
  std::byte* const to = core::object_of(out)->data;
  std::memset(to, 0, static_cast<std::size_t>(core::physical_shape(out)->size * element));
  const Tensor source = ops::contiguous(x);
  const std::byte* read = core::object_of(source)->data;
  std::int64_t outer = 1;
  std::int64_t run = element;
  for (int i = 0; i < part.axis; ++i) outer *= from[i].extent();
  for (int i = part.axis + 1; i < from.rank(); ++i) run *= from[i].extent();
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < part.count; ++k, read += run)
      std::memcpy(to + (o * part.whole + part.start + k * part.step) * run, read, static_cast<std::size_t>(run));
  return out;
}

}  // namespace tlaloc::inline v0::ops
