// The public functions that take elements by index and add to them.
#include <tlaloc/indexing.hpp>

#include <algorithm>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/structure.hpp>

#include "ops/align.hpp"
#include "ops/indexing.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0 {
namespace {

using Operands = std::span<const Tensor* const>;

void check_index_type(std::string_view op, const Tensor& indices, Operands in) {
  const DType dtype = core::object_of(indices)->dtype;
  if (dtype == DType::i32 || dtype == DType::i64) return;
  throw DTypeError(
      std::string(op) + ": indices are i32 or i64, not " + std::string(name(dtype)) + ops::got(in) +
      (dtype == DType::boolean ? "; where() chooses by a mask" : "; cast them: cast(indices, DType::i64)"));
}

/// The shape of what is taken: the axis gives way to those of the indices.
Shape picked_shape(std::string_view op, const Shape& x, int axis, const Shape& indices, Operands in) {
  Shape shape;
  for (int i = 0; i < axis; ++i) shape.push_back(x[i]);
  for (const Dim dim : indices) shape.push_back(dim);
  for (int i = axis + 1; i < x.rank(); ++i) shape.push_back(x[i]);
  if (ops::names_are_on())
    for (int i = 0; i < shape.rank(); ++i)
      if (shape[i].axis().named() && shape.position(shape[i].axis()) != i)
        throw AxisError(std::string(op) + ": what is taken would have the axis " + shape[i].axis().name() + " twice" +
                        ops::got(in) + "; take_along_axis() pairs equal axes; rename one if every pair is meant");
  return shape;
}

Tensor taken(std::string_view op, const Tensor& x, const Tensor& indices, AxisRef axis, Operands in) {
  check_index_type(op, indices, in);
  const int along = ops::resolve_axis(op, x, axis);
  const Shape shape = ops::shape_of(x);
  picked_shape(op, shape, along, ops::shape_of(indices), in);
  const ops::Places places{.batch = 0, .axis = along, .extent = shape[along].extent(), .who = op, .shown_axis = along};
  return core::dispatch(ops::Gather(places), x, indices);
}

bool all_named(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](Dim dim) { return dim.axis().named(); });
}

/// The axis of the indices that runs along axis `along` of x, when all axes have names.
int index_axis_by_name(const Shape& x, int along, const Shape& indices, Operands in) {
  if (const int same = indices.position(x[along].axis()); same >= 0) return same;
  int own = -1;
  for (int i = 0; i < indices.rank(); ++i) {
    if (x.position(indices[i].axis()) >= 0) continue;
    if (own >= 0)
      throw AxisError("take_along_axis: the indices have the axes " + indices[own].axis().name() + " and " +
                      indices[i].axis().name() + ", which the tensor lacks" + ops::got(in) +
                      "; one of them can run along " + x[along].axis().name() + "; take() has no such limit");
    own = i;
  }
  if (own < 0)
    throw AxisError("take_along_axis: no axis of the indices runs along " + x[along].axis().name() + ops::got(in) +
                    "; call it so, or by a name that the tensor lacks");
  return own;
}

/// The shape that the axes beside the one taken along have in common.
Shape common_rest(const Shape& x, const Shape& indices, bool by_name, Operands in) {
  constexpr std::string_view op = "take_along_axis";
  const auto refuse_extents = [&](Dim a, Dim b) {
    return ShapeError(std::string(op) + ": extents " + std::to_string(a.extent()) + " and " +
                      std::to_string(b.extent()) + " meet in one place" + ops::got(in) +
                      "; all axes but the one taken along have equal extents" +
                      (by_name ? "" : ", or an extent of 1 that stretches"));
  };
  if (by_name) {
    const auto contains = [](const Shape& outer, const Shape& inner) {
      return std::all_of(inner.begin(), inner.end(), [&](Dim dim) { return outer.position(dim.axis()) >= 0; });
    };
    const bool from_x = contains(x, indices);
    if (!from_x && !contains(indices, x))
      throw AxisError(std::string(op) + ": neither operand has all the axes of the other" + ops::got(in) +
                      "; broadcast_to() says it when every pair is meant");
    const Shape& widest = from_x ? x : indices;
    for (const Dim dim : from_x ? indices : x)
      if (const Dim other = widest[widest.position(dim.axis())]; other != dim) throw refuse_extents(other, dim);
    return widest;
  }
  Shape rest = x;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim a = x[i];
    const Dim b = indices[i];
    if (ops::names_are_on() && a.axis().named() && b.axis().named() && a.axis() != b.axis())
      throw AxisError(std::string(op) + ": the axes " + a.axis().name() + " and " + b.axis().name() +
                      " meet in one place" + ops::got(in) + "; permute one operand, or name all axes");
    if (a.extent() != b.extent() && a.extent() != 1 && b.extent() != 1) throw refuse_extents(a, b);
    rest[i] = Dim(a.axis().named() ? a.axis() : b.axis(), a.extent() == 1 ? b.extent() : a.extent());
  }
  return rest;
}

Tensor with_axis_last(const Tensor& x, int axis) {
  const int rank = core::visible_rank(x);
  return axis == rank - 1 ? x : core::dispatch(ops::Permute(ops::Order::moving(rank, axis, rank - 1)), x);
}

Shape with_dim(Shape shape, Dim dim) {
  shape.push_back(dim);
  return shape;
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, AxisRef axis) {
  const Tensor* const in[] = {&x, &indices};
  ops::require_defined("take", in);
  return taken("take", x, indices, axis, in);
}

Tensor select(const Tensor& x, AxisRef axis, const Tensor& index) {
  const Tensor* const in[] = {&x, &index};
  ops::require_defined("select", in);
  if (core::visible_rank(index) != 0)
    throw ShapeError("select: the index has " + std::to_string(core::visible_rank(index)) + " axes" + ops::got(in) +
                     "; take() takes any number of elements");
  return taken("select", x, index, axis, in);
}

Tensor take_along_axis(const Tensor& x, const Tensor& indices, AxisRef axis) {
  constexpr std::string_view op = "take_along_axis";
  const Tensor* const in[] = {&x, &indices};
  ops::require_defined(op, in);
  check_index_type(op, indices, in);
  core::check_mapped_names(op, std::array{x, indices});
  const int along = ops::resolve_axis(op, x, axis);
  const Shape from = ops::shape_of(x);
  const Shape picks = ops::shape_of(indices);
  const bool by_name = ops::names_are_on() && all_named(from) && all_named(picks);
  if (!by_name && from.rank() != picks.rank())
    throw ShapeError("take_along_axis: the indices have " + std::to_string(picks.rank()) + " axes and the tensor " +
                     std::to_string(from.rank()) + ops::got(in) +
                     "; without names on all axes both have the same number (see expand_dims)");
  const int index_along = by_name ? index_axis_by_name(from, along, picks, in) : along;
  const Shape from_rest = ops::without_axes(from, ops::AxisSet::single(along));
  const Shape index_rest = ops::without_axes(picks, ops::AxisSet::single(index_along));
  const Shape rest = common_rest(from_rest, index_rest, by_name, in);
  const Dim places = from[along];
  // The axis stays, so it keeps its name unless the indices give it another.
  const Dim picked = picks[index_along].axis().named() ? picks[index_along] : picks[index_along].named(places.axis());
  const Tensor tables = broadcast_to(with_axis_last(x, along), with_dim(rest, places));
  const Tensor numbers = broadcast_to(with_axis_last(indices, index_along), with_dim(rest, picked));
  const int last = rest.rank();
  const int back = rest == from_rest || !by_name ? along : index_along;
  const ops::Places where{.batch = last,
                          .axis = last,
                          .extent = places.extent(),
                          .who = op,
                          .shown_axis = along,
                          .shown_index_axis = index_along};
  const Tensor result = core::dispatch(ops::Gather(where), tables, numbers);
  return back == last ? result : core::dispatch(ops::Permute(ops::Order::moving(last + 1, last, back)), result);
}

Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, AxisRef axis) {
  constexpr std::string_view op = "scatter_add";
  const Tensor* const in[] = {&x, &indices, &updates};
  ops::require_defined(op, in);
  check_index_type(op, indices, in);
  const int along = ops::resolve_axis(op, x, axis);
  const Shape shape = ops::shape_of(x);
  const Shape wanted = picked_shape(op, shape, along, ops::shape_of(indices), in);
  const Tensor* const values[] = {&x, &updates};
  const DType dtype =
      std::max(DType::i32, ops::promote(op, core::object_of(x)->dtype, core::object_of(updates)->dtype, values));
  Tensor operands[] = {zeros(wanted, dtype), updates};
  ops::align(op, operands);
  const Shape aligned = ops::shape_of(operands[1]);
  const bool fits = std::equal(aligned.begin(), aligned.end(), wanted.begin(), wanted.end(),
                               [](Dim a, Dim b) { return a.extent() == b.extent(); });
  if (!fits)
    throw ShapeError("scatter_add: the updates do not fit " + wanted.to_string() + ops::got(in) +
                     "; they have the shape of take(x, indices, axis), or stretch to it");
  const ops::Places places{.batch = 0, .axis = along, .extent = shape[along].extent(), .who = op, .shown_axis = along};
  return core::dispatch(ops::ScatterAdd(places), ops::as_dtype(x, dtype), ops::as_dtype(operands[1], dtype), indices);
}

}  // namespace tlaloc::inline v0
