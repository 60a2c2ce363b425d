#include "ops/join.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <tlaloc/error.hpp>
#include <tlaloc/structure.hpp>

#include "ops/align.hpp"
#include "ops/selection.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {

Tensor Concat::eval(std::span<const Tensor> in) const {
  const DType dtype = core::object_of(in[0])->dtype;
  Shape shape = core::physical_shape(in[0])->shape;
  const std::int64_t total = std::accumulate(extents.begin(), extents.end(), std::int64_t{0});
  shape[axis] = Dim(shape[axis].axis(), total);
  Tensor out = core::make_dense(shape, dtype);
  std::int64_t outer = 1;
  std::int64_t run = static_cast<std::int64_t>(size_of(dtype));
  for (int i = 0; i < axis; ++i) outer *= shape[i].extent();
  for (int i = axis + 1; i < shape.rank(); ++i) run *= shape[i].extent();
  std::byte* to = core::object_of(out)->data;
  for (std::size_t k = 0; k < in.size(); ++k) {
    const Tensor x = ops::contiguous(in[k]);
    const std::byte* from = core::object_of(x)->data;
    const auto bytes = static_cast<std::size_t>(extents[k] * run);
    for (std::int64_t o = 0; o < outer && bytes != 0; ++o, from += bytes)
      std::memcpy(to + o * total * run, from, bytes);
    to += bytes;
  }
  return out;
}

void Concat::vjp(core::VjpCall& call) const {
  const std::int64_t total = std::accumulate(extents.begin(), extents.end(), std::int64_t{0});
  std::int64_t start = 0;
  for (int k = 0; k < call.input_count; ++k) {
    const std::int64_t extent = extents[static_cast<std::size_t>(k)];
    if (call.wants(k))
      call.gradients[k] = core::dispatch(Slice(Part{axis, start, extent, 1, total}), call.cotangents[0]);
    start += extent;
  }
}

void Concat::jvp(core::JvpCall& call) const {
  std::vector<Tensor> tangents;
  for (std::size_t k = 0; k < call.in.size(); ++k)
    tangents.push_back(call.tangents[k].defined() ? call.tangents[k] : zero_like(call.in[k]));
  call.out_tangents[0] = core::dispatch(*this, std::span<const Tensor>(tangents));
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {

Tensor concat(std::span<const Tensor> tensors, AxisRef axis) {
  constexpr std::string_view op = "concat";
  if (tensors.empty()) throw ValueError("concat: no tensors; give at least one");
  std::vector<const Tensor*> in;
  for (const Tensor& x : tensors) in.push_back(&x);
  ops::require_defined(op, in);
  DType dtype = core::object_of(tensors[0])->dtype;
  for (const Tensor& x : tensors) dtype = ops::promote(op, dtype, core::object_of(x)->dtype, in);
  const int along = ops::resolve_axis(op, tensors[0], axis);
  const Shape first = ops::shape_of(tensors[0]);
  Shape named = first;  // a name that any of the tensors has
  std::vector<Tensor> operands;
  std::vector<std::int64_t> extents;
  for (const Tensor& x : tensors) {
    const Shape shape = ops::shape_of(x);
    bool fits = shape.rank() == first.rank();
    for (int i = 0; fits && i < shape.rank(); ++i) {
      const Axis mine = shape[i].axis();
      const Axis other = named[i].axis();
      if (ops::names_are_on() && mine != other && mine.named() && other.named())
        throw AxisError("concat: the axes " + other.name() + " and " + mine.name() + " meet in one place" +
                        ops::got(in) + "; permute the tensors to one order");
      if (!other.named()) named[i] = named[i].named(mine);
      fits = i == along || shape[i].extent() == first[i].extent();
    }
    if (!fits)
      throw ShapeError("concat: the tensors differ in more than axis " + std::to_string(along) + ops::got(in) +
                       "; all other extents must be equal");
    extents.push_back(shape[along].extent());
    operands.push_back(ops::as_dtype(x, dtype));
  }
  for (int i = 0; ops::names_are_on() && i < named.rank(); ++i)
    if (named[i].axis().named() && named.position(named[i].axis()) != i)
      throw AxisError("concat: the result would have the axis " + named[i].axis().name() + " twice" + ops::got(in) +
                      "; rename one of them");
  operands[0] = core::with_names(std::move(operands[0]), named.dims());
  return core::dispatch(ops::Concat(along, std::move(extents)), std::span<const Tensor>(operands));
}

Tensor stack(std::span<const Tensor> tensors, int at, Axis name) {
  if (tensors.empty()) throw ValueError("stack: no tensors; give at least one");
  std::vector<const Tensor*> in;
  for (const Tensor& x : tensors) in.push_back(&x);
  ops::require_defined("stack", in);
  const Shape first = ops::shape_of(tensors[0]);
  DType dtype = core::object_of(tensors[0])->dtype;
  for (const Tensor& x : tensors) {
    const Shape shape = ops::shape_of(x);
    dtype = ops::promote("stack", dtype, core::object_of(x)->dtype, in);
    const bool fits = shape.rank() == first.rank() && std::equal(shape.begin(), shape.end(), first.begin(),
                                                                 [](Dim a, Dim b) { return a.extent() == b.extent(); });
    if (!fits)
      throw ShapeError("stack: the tensors have different shapes" + ops::got(in) +
                       "; concat() joins along an axis that "
                       "they have");
  }
  const int places = first.rank() + 1;
  const int place = at < 0 ? at + places : at;
  if (place < 0 || place >= places)
    throw AxisError("stack: there is no place " + std::to_string(at) + " for a new axis" + ops::got(in) +
                    "; places go from " + std::to_string(-places) + " to " + std::to_string(places - 1));
  if (ops::names_are_on() && name.named() && first.position(name) >= 0)
    throw AxisError("stack: the tensors have the axis " + name.name() + " already" + ops::got(in) +
                    "; give the new axis another name, or join along it with concat()");
  std::vector<Tensor> expanded;
  for (const Tensor& x : tensors) expanded.push_back(expand_dims(x, place, name));
  return concat(expanded, place);
}

}  // namespace tlaloc::inline v0
