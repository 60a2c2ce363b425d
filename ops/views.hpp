// Operations that rearrange: their results are views of the operand wherever strides can say it.
#pragma once

#include "ops/axes.hpp"
#include "ops/linear_family.hpp"

namespace tlaloc::inline v0::ops {

/// New axes along which every element is repeated; the transpose of Sum.
struct Expand : Linear<Expand> {
  static constexpr OpInfo info{.name = "broadcast_to"};
  AxisSet axes;    // of the result
  Shape inserted;  // their dims

  Expand(AxisSet result_axes, const Shape& dims) : axes(result_axes), inserted(dims) {}
  static Expand in_front(std::int64_t extent) { return {AxisSet::single(0), Shape{extent}}; }

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const;
  Expand batched(std::int64_t) const { return {axes.shifted(), inserted}; }
};

struct Permute : Linear<Permute> {
  static constexpr OpInfo info{.name = "permute"};
  Order order;

  explicit Permute(const Order& axes) : order(axes) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const { return core::dispatch(Permute(order.inverse()), ct); }
  Permute batched(std::int64_t) const { return Permute(order.shifted()); }
};

/// The same elements in row-major order under other extents.
struct Reshape : Linear<Reshape> {
  static constexpr OpInfo info{.name = "reshape"};
  Shape from;
  Shape to;

  Reshape(const Shape& before, const Shape& after) : from(before), to(after) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const { return core::dispatch(Reshape(to, from), ct); }
  Reshape batched(std::int64_t extent) const {
    return {with_dim_in_front(extent, from), with_dim_in_front(extent, to)};
  }
};

/// The identity, with dense elements.
struct Contiguous : Linear<Contiguous> {
  static constexpr OpInfo info{.name = "contiguous"};

  Tensor eval(const Tensor& x) const { return ops::contiguous(x); }
  Tensor transpose(const Tensor& ct) const { return ct; }
  Contiguous batched(std::int64_t) const { return {}; }
};

/// A strided part along one axis: elements start, start + step, ... of which there are `count`.
struct Part {
  int axis = 0;
  std::int64_t start = 0;
  std::int64_t count = 0;
  std::int64_t step = 1;
  std::int64_t whole = 0;  // the operand's extent

  Part shifted() const { return {axis + 1, start, count, step, whole}; }
};

struct Slice : Linear<Slice> {
  static constexpr OpInfo info{.name = "slice"};
  Part part;

  explicit Slice(const Part& which) : part(which) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const;
  Slice batched(std::int64_t) const { return Slice(part.shifted()); }
};

/// The transpose of Slice: zeros with x in the part's place.
struct Embed : Linear<Embed> {
  static constexpr OpInfo info{.name = "slice"};
  Part part;

  explicit Embed(const Part& which) : part(which) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const { return core::dispatch(Slice(part), ct); }
  Embed batched(std::int64_t) const { return Embed(part.shifted()); }
};

}  // namespace tlaloc::inline v0::ops
