#include "ops/indexing.hpp"

#include <algorithm>
#include <string>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>

#include "ops/elementwise_family.hpp"
#include "ops/kernels/indexing.hpp"
#include "ops/selection.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {
namespace {

kernels::PickSizes sizes_of(const Places& places, const Shape& table, const Shape& indices) {
  return {.batch = size_of_axes(table, 0, places.batch),
          .outer = size_of_axes(table, places.batch, places.axis),
          .extent = places.extent,
          .count = size_of_axes(indices, places.batch, indices.rank()),
          .inner = size_of_axes(table, places.axis + 1, table.rank())};
}

/// "[2, 0]"
std::string text_of(std::span<const std::int64_t> position) {
  std::string text = "[";
  for (const std::int64_t i : position) text += (text.size() == 1 ? "" : ", ") + std::to_string(i);
  return text + "]";
}

/// A shape as the caller of take_along_axis sees it: the last axis back in its place.
Shape with_last_at(const Shape& shape, int place) {
  Shape moved;
  const Order order = Order::moving(shape.rank(), shape.rank() - 1, place);
  for (int i = 0; i < shape.rank(); ++i) moved.push_back(shape[order[i]]);
  return moved;
}

[[noreturn]] void refuse_index(const Places& places, const Tensor& table, const Tensor& indices, std::int64_t index,
                               std::int64_t number) {
  const Shape& all = core::physical_shape(indices)->shape;
  Shape seen;
  std::vector<std::int64_t> position;
  std::vector<std::int64_t> example;
  std::int64_t stride = core::physical_shape(indices)->size;
  for (int i = 0; i < all.rank(); ++i) {
    const bool hidden = places.hidden_index.contains(i);
    stride /= all[i].extent();
    (hidden ? example : position).push_back(number / stride % all[i].extent());
    if (!hidden) seen.push_back(all[i]);
  }
  Shape seen_table = without_axes(core::physical_shape(table)->shape, places.hidden_table);
  if (places.shown_index_axis >= 0) {
    std::rotate(position.begin() + places.shown_index_axis, position.end() - 1, position.end());
    seen = with_last_at(seen, places.shown_index_axis);
    seen_table = with_last_at(seen_table, places.shown_axis);
  }
  const auto described = [](const Tensor& x, const Shape& shape) {
    return std::string(name(core::object_of(x)->dtype)) + ' ' + shape.to_string();
  };
  throw ValueError(std::string(places.who) + ": the index " + std::to_string(index) +
                   (position.empty() ? "" : " at " + text_of(position)) +
                   (example.empty() ? "" : " of example " + text_of(example)) + " is outside axis " +
                   std::to_string(places.shown_axis) + " with its " + std::to_string(places.extent) +
                   " elements; got " + described(table, seen_table) + ", indices " + described(indices, seen) +
                   "; indices in a tensor are counted from 0, and never from the end");
}

/// Calls f with the indices, which have been checked, and with how many sets of them there are.
template <class F>
void with_indices(const Places& places, const Tensor& table, const Tensor& indices, F&& f) {
  const Repeated picked(indices, places.batch);
  const std::int64_t n = core::physical_shape(picked.dense)->size;
  const auto run = [&]<class Index>(const Index* values) {
    // An index beyond a repeated one is the same again, so the first wrong one stands among the first repetition.
    const std::int64_t bad = kernels::first_outside(values, n, places.extent);
    if (bad != n) refuse_index(places, table, indices, static_cast<std::int64_t>(values[bad]), bad);
    f(values, picked.count);
  };
  if (core::object_of(picked.dense)->dtype == DType::i32)
    run(core::elements<const std::int32_t>(picked.dense));
  else
    run(core::elements<const std::int64_t>(picked.dense));
}

}  // namespace

Places Places::with_batch_axis() const {
  Places result = with_table_axis();
  ++result.batch;
  result.hidden_index = hidden_index.shifted();
  result.hidden_index.insert(0);
  return result;
}

Places Places::with_table_axis() const {
  Places result = *this;
  ++result.axis;
  result.hidden_table = hidden_table.shifted();
  result.hidden_table.insert(0);
  return result;
}

Places Places::with_index_axis() const {
  Places result = *this;
  result.hidden_index = AxisSet::single(batch);
  for (int i = 0; i + 1 < Shape::max_rank; ++i)
    if (hidden_index.contains(i)) result.hidden_index.insert(i < batch ? i : i + 1);
  return result;
}

Tensor scattered(const Places& places, const Tensor& ct, const Tensor& indices) {
  const auto dims = core::visible_dims(ct);
  const int picks = core::visible_rank(indices) - places.batch;
  Shape table;
  for (int i = 0; i < places.axis; ++i) table.push_back(dims[static_cast<std::size_t>(i)].extent());
  table.push_back(places.extent);
  for (std::size_t i = static_cast<std::size_t>(places.axis + picks); i < dims.size(); ++i)
    table.push_back(dims[i].extent());
  return core::dispatch(ScatterAdd(places), zeros(table, core::object_of(ct)->dtype), ct, indices);
}

Tensor Gather::eval(const Tensor& table, const Tensor& indices) const {
  const Shape& from = core::physical_shape(table)->shape;
  const Shape& picks = core::physical_shape(indices)->shape;
  const Repeated tables(table, places.batch);
  const DType dtype = core::object_of(table)->dtype;
  Shape shape;
  for (int i = 0; i < places.axis; ++i) shape.push_back(from[i]);
  for (int i = places.batch; i < picks.rank(); ++i) shape.push_back(picks[i]);
  for (int i = places.axis + 1; i < from.rank(); ++i) shape.push_back(from[i]);
  Tensor out = core::make_dense(shape, dtype);
  with_indices(places, table, indices, [&](const auto* values, std::int64_t index_count) {
    kernels::gather(core::elements<const std::byte>(tables.dense), tables.count, values, index_count,
                    core::elements<std::byte>(out), sizes_of(places, from, picks), size_of(dtype));
  });
  return out;
}

void Gather::vjp(core::VjpCall& call) const {
  if (call.wants(0)) call.gradients[0] = scattered(places, call.cotangents[0], call.saved.in(1));
}

void Gather::jvp(core::JvpCall& call) const {
  call.out_tangents[0] = core::dispatch(*this, call.tangents[0], call.in[1]);
}

void Gather::batch(core::BatchCall& call) const {
  const Tensor& table = call.in[0];
  const Tensor& indices = call.in[1];
  if (!call.mapped[0]) {
    // One table for all examples: the batch is one more axis of picks, so that the table's gradient comes summed.
    const Tensor moved =
        places.batch == 0
            ? indices
            : core::dispatch(Permute(Order::moving(core::visible_rank(indices), 0, places.batch)), indices);
    const Tensor out = core::dispatch(Gather(places.with_index_axis()), table, moved);
    call.out[0] =
        places.axis == 0 ? out : core::dispatch(Permute(Order::moving(core::visible_rank(out), places.axis, 0)), out);
  } else if (!call.mapped[1] && places.batch == 0) {
    call.out[0] = core::dispatch(Gather(places.with_table_axis()), table, indices);
  } else {
    call.out[0] = core::dispatch(Gather(places.with_batch_axis()), table,
                                 call.mapped[1] ? indices : with_batch_axis(indices, call.extent));
  }
}

Tensor ScatterAdd::eval(const Tensor& table, const Tensor& updates, const Tensor& indices) const {
  const core::InternedShape* const shape = core::physical_shape(table);
  const Tensor added = ops::contiguous(updates);
  const DType dtype = core::object_of(table)->dtype;
  const kernels::PickSizes sizes = sizes_of(places, shape->shape, core::physical_shape(indices)->shape);
  Tensor out = core::make_dense(core::ShapeRef::share(shape), dtype);
  with_indices(places, table, indices, [&](const auto* values, std::int64_t index_count) {
    const core::Strides strides = core::strides_of(table);
    const kernels::Operand whole{core::object_of(table)->data, static_cast<std::int64_t>(size_of(dtype)), strides.of};
    kernels::copy(Extents(shape->shape), whole, core::object_of(out)->data);
    with_type<Domain::numbers>(dtype, [&]<class T>() {
      kernels::scatter_add(core::elements<const T>(added), values, index_count, core::elements<T>(out), sizes);
    });
  });
  return out;
}

void ScatterAdd::vjp(core::VjpCall& call) const {
  if (call.wants(1)) call.gradients[1] = core::dispatch(Gather(places), call.cotangents[0], call.saved.in(2));
  if (call.wants(0)) call.gradients[0] = std::move(call.cotangents[0]);
}

void ScatterAdd::jvp(core::JvpCall& call) const {
  const auto or_zero = [&](std::size_t i) {
    return call.tangents[i].defined() ? call.tangents[i] : zero_like(call.in[i]);
  };
  call.out_tangents[0] =
      call.tangents[1].defined() ? core::dispatch(*this, or_zero(0), call.tangents[1], call.in[2]) : call.tangents[0];
}

void ScatterAdd::batch(core::BatchCall& call) const {
  const auto with_axis = [&](std::size_t i) {
    return call.mapped[i] ? call.in[i] : with_batch_axis(call.in[i], call.extent);
  };
  const bool shared_indices = !call.mapped[2] && places.batch == 0;
  call.out[0] = core::dispatch(ScatterAdd(shared_indices ? places.with_table_axis() : places.with_batch_axis()),
                               with_axis(0), with_axis(1), shared_indices ? call.in[2] : with_axis(2));
}

}  // namespace tlaloc::inline v0::ops
