#include "ops/align.hpp"

#include <algorithm>

#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>

#include "ops/selection.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {

std::string got(std::span<const Tensor* const> in) {
  std::string text = "; got ";
  for (std::size_t i = 0; i < in.size(); ++i) text += (i == 0 ? "" : ", ") + core::describe(*in[i]);
  return text;
}

void require_defined(std::string_view op, std::span<const Tensor* const> in) {
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!in[i]->defined())
      throw ValueError(std::string(op) + ": argument " + std::to_string(i) + " is the empty tensor" + got(in) +
                       "; assign a value to it first (it may have been moved from)");
}

Tensor as_dtype(const Tensor& x, DType dtype) {
  const DType own = core::object_of(x)->dtype;
  return own == dtype ? x : core::dispatch(Cast{own, dtype}, x);
}

Tensor as_float(std::string_view op, const Tensor& x) {
  require_defined(op, x);
  return is_float(core::object_of(x)->dtype) ? x : as_dtype(x, DType::f32);
}

Tensor as_number(std::string_view op, const Tensor& x) {
  require_defined(op, x);
  return core::object_of(x)->dtype == DType::boolean ? as_dtype(x, DType::i32) : x;
}

DType promote(std::string_view op, DType a, DType b, std::span<const Tensor* const> in) {
  if (a != b && is_float(a) && is_float(b))
    throw DTypeError(std::string(op) + ": f32 and f64 do not mix" + got(in) +
                     "; cast one of them: cast(x, DType::f64) or cast(x, DType::f32)");
  return std::max(a, b);
}

DType promote(DType dtype, const Scalar& number) {
  if (is_float(dtype)) return dtype;
  if (number.is_float()) return DType::f32;
  // A number that i32 does not hold would become another one.
  const bool fits_i32 = number.whole() == static_cast<std::int32_t>(number.whole());
  return fits_i32 ? std::max(dtype, DType::i32) : DType::i64;
}

bool names_are_on() { return core::thread_state().names_off == 0; }

void check_names(std::string_view op, const Tensor& x, const Shape& result) {
  if (!names_are_on()) return;
  for (int i = 0; i < result.rank(); ++i)
    if (result[i].axis().named() && result.position(result[i].axis()) != i)
      throw AxisError(std::string(op) + ": the result would have the axis " + result[i].axis().name() + " twice" +
                      got(x) + "; no tensor has one name twice");
}

int resolve_axis(std::string_view op, const Tensor& x, AxisRef axis) {
  const auto dims = core::visible_dims(x);
  if (axis.by_name()) {
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i].axis() == axis.axis()) return static_cast<int>(i);
    const auto& mapped = core::thread_state().axes;
    if (std::find(mapped.begin() + 1, mapped.begin() + 1 + core::thread_state().depth, axis.axis()) !=
        mapped.begin() + 1 + core::thread_state().depth)
      throw AxisError(std::string(op) + ": the axis " + axis.axis().name() + " is mapped by a running vmap" + got(x) +
                      "; inside, a tensor is one example's: use the axis on what the mapped function returns");
    throw AxisError(std::string(op) + ": there is no axis " + axis.axis().name() + got(x) +
                    "; name one of its axes, or number it from 0 (or from -1, the last)");
  }
  const auto rank = static_cast<std::int64_t>(dims.size());
  const std::int64_t number = axis.number() < 0 ? axis.number() + rank : axis.number();
  if (number < 0 || number >= rank)
    throw AxisError(std::string(op) + ": axis " + std::to_string(axis.number()) + " is not one of the " +
                    std::to_string(rank) + " axes" + got(x) +
                    (rank == 0
                         ? "; a tensor of rank 0 has no axis"
                         : "; axes are numbered from " + std::to_string(-rank) + " to " + std::to_string(rank - 1)));
  return static_cast<int>(number);
}

AxisSet resolve_axes(std::string_view op, const Tensor& x, const AxisList& axes) {
  if (axes.all()) return AxisSet::first(core::visible_rank(x));
  AxisSet set;
  for (const AxisRef axis : axes.list()) {
    const int number = resolve_axis(op, x, axis);
    if (set.contains(number))
      throw AxisError(std::string(op) + ": axis " + std::to_string(number) + " is given twice" + got(x) +
                      "; give every axis once");
    set.insert(number);
  }
  return set;
}

Tensor broadcast_by_position(const Tensor& x, const Shape& to) {
  const Shape from = shape_of(x);
  const int added = to.rank() - from.rank();
  // AxisList of extent 1 that stretch are taken out and put in again, repeated.
  AxisSet axes = AxisSet::first(added);
  Shape kept;
  for (int i = 0; i < from.rank(); ++i) {
    if (from[i].extent() == to[added + i].extent())
      kept.push_back(from[i]);
    else
      axes.insert(added + i);
  }
  if (axes.empty()) return x;
  const Tensor squeezed = kept.rank() == from.rank() ? x : core::dispatch(Reshape(from, kept), x);
  return core::dispatch(Expand(axes, only_axes(to, axes)), squeezed);
}

namespace {

bool all_named(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](Dim dim) { return dim.axis().named(); });
}

bool contains_names(const Shape& outer, const Shape& inner) {
  return std::all_of(inner.begin(), inner.end(), [&](Dim dim) { return outer.position(dim.axis()) >= 0; });
}

std::string got_all(std::span<const Tensor> operands) {
  std::string text = "; got ";
  for (std::size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "" : ", ") + core::describe(operands[i]);
  return text;
}

void align_by_name(std::string_view op, std::span<Tensor> operands, const Shape& widest) {
  for (const Tensor& x : operands)
    for (const Dim dim : shape_of(x))
      if (const Dim there = widest[widest.position(dim.axis())]; there != dim)
        throw ShapeError(std::string(op) + ": the axis " + dim.axis().name() + " has " +
                         std::to_string(there.extent()) + " elements in one operand and " +
                         std::to_string(dim.extent()) + " in another" + got_all(operands) +
                         "; equal names need equal extents (an extent of 1 does not stretch by name: squeeze it)");
  for (Tensor& x : operands) {
    const Shape shape = shape_of(x);
    Order order;
    AxisSet missing;
    for (int i = 0; i < widest.rank(); ++i) {
      if (const int at = shape.position(widest[i].axis()); at >= 0)
        order.push_back(at);
      else
        missing.insert(i);
    }
    if (!order.is_identity()) x = core::dispatch(Permute(order), x);
    if (!missing.empty()) x = core::dispatch(Expand(missing, only_axes(widest, missing)), x);
  }
}

void align_by_position(std::string_view op, std::span<Tensor> operands, bool names_on) {
  Shape to;
  for (const Tensor& x : operands)
    if (core::visible_rank(x) > to.rank()) to = shape_of(x);
  for (const Tensor& x : operands) {
    const Shape shape = shape_of(x);
    for (int i = to.rank() - shape.rank(), j = 0; j < shape.rank(); ++i, ++j) {
      const Dim mine = shape[j];
      const Dim other = to[i];
      if (names_on && mine.axis().named() && other.axis().named() && mine.axis() != other.axis())
        throw AxisError(std::string(op) + ": the axes " + other.axis().name() + " and " + mine.axis().name() +
                        " meet in one place" + got_all(operands) +
                        "; operands with an unnamed axis align from the right: name all axes to align by name, or "
                        "permute one operand");
      if (mine.extent() != other.extent() && mine.extent() != 1 && other.extent() != 1)
        throw ShapeError(std::string(op) + ": extents " + std::to_string(other.extent()) + " and " +
                         std::to_string(mine.extent()) + " meet in one place" + got_all(operands) +
                         "; operands align from the right, and only an extent of 1 stretches");
      const std::int64_t extent = other.extent() == 1 ? mine.extent() : other.extent();
      to[i] = Dim(other.axis().named() ? other.axis() : mine.axis(), extent);
    }
  }
  if (names_on)
    for (int i = 0; i < to.rank(); ++i)
      if (to[i].axis().named() && to.position(to[i].axis()) != i)
        throw AxisError(std::string(op) + ": the result would have the axis " + to[i].axis().name() + " twice" +
                        got_all(operands) + "; rename one of them");
  for (Tensor& x : operands) x = broadcast_by_position(x, to);
}

}  // namespace

void align(std::string_view op, std::span<Tensor> operands) {
  const bool names_on = names_are_on();
  if (names_on) core::check_mapped_names(op, operands);
  bool by_name = names_on;
  for (const Tensor& x : operands) by_name &= all_named(shape_of(x));
  if (!by_name) return align_by_position(op, operands, names_on);
  Shape widest;
  for (const Tensor& x : operands)
    if (core::visible_rank(x) > widest.rank()) widest = shape_of(x);
  for (const Tensor& x : operands)
    if (!contains_names(widest, shape_of(x)))
      throw AxisError(std::string(op) + ": neither operand has all the axes of the other" + got_all(operands) +
                      "; outer() or broadcast_to() say it when every pair is meant");
  align_by_name(op, operands, widest);
}

}  // namespace tlaloc::inline v0::ops
