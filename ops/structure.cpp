// The public functions that rearrange.
#include <tlaloc/structure.hpp>

#include <algorithm>

#include <tlaloc/error.hpp>

#include "ops/align.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0 {
namespace {

int new_place(std::string_view op, const Tensor& x, int at) {
  const int places = core::visible_rank(x) + 1;
  const int place = at < 0 ? at + places : at;
  if (place < 0 || place >= places)
    throw AxisError(std::string(op) + ": there is no place " + std::to_string(at) + " for a new axis" + ops::got(x) +
                    "; places go from " + std::to_string(-places) + " to " + std::to_string(places - 1));
  return place;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  ops::require_defined("reshape", x);
  ops::check_names("reshape", x, shape);
  const Shape from = ops::shape_of(x);
  if (from.size() != shape.size())
    throw ShapeError("reshape: " + std::to_string(from.size()) + " elements do not fill " + shape.to_string() +
                     ops::got(x) + "; the new shape needs as many elements");
  return core::dispatch(ops::Reshape(from, shape), x);
}

Tensor permute(const Tensor& x, std::span<const AxisRef> order) {
  ops::require_defined("permute", x);
  ops::Order axes;
  ops::AxisSet seen;
  for (const AxisRef axis : order) {
    const int number = ops::resolve_axis("permute", x, axis);
    if (seen.contains(number))
      throw AxisError("permute: axis " + std::to_string(number) + " is given twice" + ops::got(x) +
                      "; give every axis once");
    seen.insert(number);
    axes.push_back(number);
  }
  if (axes.rank != core::visible_rank(x))
    throw AxisError("permute: " + std::to_string(axes.rank) + " axes are given" + ops::got(x) +
                    "; give every axis once");
  return core::dispatch(ops::Permute(axes), x);
}

Tensor transpose(const Tensor& x) {
  ops::require_defined("transpose", x);
  ops::Order axes;
  for (int i = core::visible_rank(x) - 1; i >= 0; --i) axes.push_back(i);
  return core::dispatch(ops::Permute(axes), x);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  ops::require_defined("broadcast_to", x);
  ops::check_names("broadcast_to", x, shape);
  const Shape from = ops::shape_of(x);
  const auto fully_named = [](const Shape& s) {
    return std::all_of(s.begin(), s.end(), [](Dim dim) { return dim.axis().named(); });
  };
  const auto refuse = [&](const std::string& what) {
    return "broadcast_to: " + what + ops::got(x) + " for the shape " + shape.to_string() +
           "; axes align by name when all have one, else from the right, where an extent of 1 stretches";
  };
  if (ops::names_are_on() && fully_named(from) && fully_named(shape)) {
    ops::Order order;
    ops::AxisSet missing;
    for (int i = 0; i < shape.rank(); ++i) {
      const int at = from.position(shape[i].axis());
      if (at < 0) {
        missing.insert(i);
      } else if (from[at] == shape[i]) {
        order.push_back(at);
      } else {
        throw ShapeError(refuse("the axis " + from[at].axis().name() + " has another extent"));
      }
    }
    for (const Dim dim : from)
      if (shape.position(dim.axis()) < 0) throw AxisError(refuse("the shape lacks the axis " + dim.axis().name()));
    const Tensor ordered = order.is_identity() ? x : core::dispatch(ops::Permute(order), x);
    return missing.empty() ? ordered : core::dispatch(ops::Expand(missing, ops::only_axes(shape, missing)), ordered);
  }
  const int added = shape.rank() - from.rank();
  if (added < 0) throw ShapeError(refuse("the tensor has more axes than the shape"));
  for (int i = 0; i < from.rank(); ++i) {
    const Dim own = from[i];
    const Dim wanted = shape[added + i];
    if (own.extent() != wanted.extent() && own.extent() != 1)
      throw ShapeError(refuse("axis " + std::to_string(i) + " has " + std::to_string(own.extent()) +
                              " elements, not 1 or " + std::to_string(wanted.extent())));
    if (ops::names_are_on() && own.axis().named() && wanted.axis().named() && own.axis() != wanted.axis())
      throw AxisError(
          refuse("axis " + std::to_string(i) + " is called " + own.axis().name() + ", not " + wanted.axis().name()));
  }
  const Tensor result = ops::broadcast_by_position(x, shape);
  return core::with_names(result, shape.dims());
}

Tensor expand_dims(const Tensor& x, int at, Axis name) {
  ops::require_defined("expand_dims", x);
  const int place = new_place("expand_dims", x, at);
  const ops::Expand op(ops::AxisSet::single(place), Shape{Dim(name, 1)});
  ops::check_names("expand_dims", x, ops::with_axes(ops::shape_of(x), op.axes, op.inserted));
  return core::dispatch(op, x);
}

Tensor squeeze(const Tensor& x, AxisRef axis) {
  ops::require_defined("squeeze", x);
  const int number = ops::resolve_axis("squeeze", x, axis);
  const Shape from = ops::shape_of(x);
  if (from[number].extent() != 1)
    throw ShapeError("squeeze: axis " + std::to_string(number) + " has " + std::to_string(from[number].extent()) +
                     " elements" + ops::got(x) +
                     "; only an axis of extent 1 can go; select() or a reduction takes others away");
  return core::dispatch(ops::Reshape(from, ops::without_axes(from, ops::AxisSet::single(number))), x);
}

Tensor squeeze(const Tensor& x) {
  ops::require_defined("squeeze", x);
  const Shape from = ops::shape_of(x);
  Shape to;
  for (const Dim dim : from)
    if (dim.extent() != 1) to.push_back(dim);
  return core::dispatch(ops::Reshape(from, to), x);
}

Tensor slice(const Tensor& x, AxisRef axis, std::int64_t start, std::int64_t stop, std::int64_t step) {
  ops::require_defined("slice", x);
  const int number = ops::resolve_axis("slice", x, axis);
  if (step == 0) throw ValueError("slice: the step is 0" + ops::got(x) + "; step forwards or backwards");
  const std::int64_t extent = core::visible_dims(x)[static_cast<std::size_t>(number)].extent();
  // Backwards, the default stop means "to the front", which no position says.
  const bool to_front = step < 0 && stop == slice_end;
  const auto clipped = [&](std::int64_t position) {
    if (position < 0) position += extent;
    return step > 0 ? std::clamp<std::int64_t>(position, 0, extent)
                    : std::clamp<std::int64_t>(position, -1, extent - 1);
  };
  const std::int64_t from = clipped(start);
  const std::int64_t to = to_front ? -1 : clipped(stop);
  std::int64_t count = 0;
  if (step > 0 && to > from) count = (to - from - 1) / step + 1;
  if (step < 0 && to < from) count = (to - from + 1) / step + 1;
  return core::dispatch(ops::Slice(ops::Part{number, from, count, step, extent}), x);
}

Tensor select(const Tensor& x, AxisRef axis, std::int64_t index) {
  ops::require_defined("select", x);
  const int number = ops::resolve_axis("select", x, axis);
  const Shape from = ops::shape_of(x);
  const std::int64_t extent = from[number].extent();
  const std::int64_t position = index < 0 ? index + extent : index;
  if (position < 0 || position >= extent)
    throw ValueError("select: position " + std::to_string(index) + " is outside axis " + std::to_string(number) +
                     " with its " + std::to_string(extent) + " elements" + ops::got(x) +
                     "; positions go from 0, or back from -1");
  const Tensor one = core::dispatch(ops::Slice(ops::Part{number, position, 1, 1, extent}), x);
  const Shape sliced = ops::shape_of(one);
  return core::dispatch(ops::Reshape(sliced, ops::without_axes(sliced, ops::AxisSet::single(number))), one);
}

Tensor rename(const Tensor& x, std::initializer_list<Axis> axes) {
  ops::require_defined("rename", x);
  const Shape from = ops::shape_of(x);
  if (static_cast<int>(axes.size()) != from.rank())
    throw AxisError("rename: " + std::to_string(axes.size()) + " names for " + std::to_string(from.rank()) + " axes" +
                    ops::got(x) + "; give one name an axis, Axis::none for none");
  Shape to = from;
  for (int i = 0; const Axis axis : axes) {
    to[i] = from[i].named(axis);
    ++i;
  }
  ops::check_names("rename", x, to);
  return core::dispatch(ops::Reshape(from, to), x);
}

Tensor contiguous(const Tensor& x) {
  ops::require_defined("contiguous", x);
  return core::dispatch(ops::Contiguous{}, x);
}

}  // namespace tlaloc::inline v0
