#include "ops/contraction.hpp"

#include <cstring>

#include "ops/arithmetic.hpp"
#include "ops/kernels/contract.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {
namespace {

/// The axes of a tensor of that rank that are in neither list, ascending.
Order remaining(int rank, const Order& batch, const Order& summed) {
  AxisSet taken;
  for (int i = 0; i < batch.rank; ++i) taken.insert(batch[i]);
  for (int i = 0; i < summed.rank; ++i) taken.insert(summed[i]);
  Order rest;
  for (int i = 0; i < rank; ++i)
    if (!taken.contains(i)) rest.push_back(i);
  return rest;
}

/// The numbers begin, begin + 1, ... of `count` axes.
Order run(int begin, int count) {
  Order order;
  for (int i = 0; i < count; ++i) order.push_back(begin + i);
  return order;
}

/// Several axes of one operand, seen as one. Axes are added innermost first.
struct Group {
  std::int64_t extent = 1;
  std::int64_t stride = 1;
  bool is_one_run = true;  // false: no one stride runs through the axes

  void add_outer(std::int64_t axis_extent, std::int64_t axis_stride) {
    if (axis_extent == 1) return;
    if (extent == 1)
      stride = axis_stride;
    else
      is_one_run &= axis_stride == stride * extent;
    extent *= axis_extent;
  }
};

/// An operand as a batch of matrices, copied only when its strides cannot say it.
struct Matrices {
  Tensor copy;
  const std::byte* data;
  Group batch, rows, columns;

  Matrices(const Tensor& x, const Order& batch_axes, const Order& row_axes, const Order& column_axes) {
    const Shape& shape = core::physical_shape(x)->shape;
    const core::Strides strides = core::strides_of(x);
    const auto merge = [&](Group& group, const Order& axes) {
      for (int i = axes.rank - 1; i >= 0; --i) group.add_outer(shape[axes[i]].extent(), strides[axes[i]]);
    };
    merge(batch, batch_axes);
    merge(rows, row_axes);
    merge(columns, column_axes);
    data = core::object_of(x)->data;
    if (batch.is_one_run && rows.is_one_run && columns.is_one_run) [[likely]]
      return;
    Order order;
    for (const Order* axes : {&batch_axes, &row_axes, &column_axes})
      for (int i = 0; i < axes->rank; ++i) order.push_back((*axes)[i]);
    copy = ops::contiguous(Permute(order).eval(x));
    data = core::object_of(copy)->data;
    columns.stride = 1;
    rows.stride = columns.extent;
    batch.stride = rows.extent * columns.extent;
  }
};

/// Integers are rare and small here: the plain loop.
template <class T>
void contract_integers(const kernels::ContractShape& s, const T* a, const T* b, T* c) {
  using Wrapping = std::make_unsigned_t<T>;
  for (std::int64_t p = 0; p < s.batch; ++p)
    for (std::int64_t i = 0; i < s.m; ++i)
      for (std::int64_t j = 0; j < s.n; ++j) {
        Wrapping total = 0;
        for (std::int64_t k = 0; k < s.k; ++k)
          total += static_cast<Wrapping>(a[p * s.a_batch + i * s.a_row + k * s.a_col]) *
                   static_cast<Wrapping>(b[p * s.b_batch + k * s.b_row + j * s.b_col]);
        *c++ = static_cast<T>(total);
      }
}

/// x with axis i of it taken from axis source[i].
Tensor reordered(Tensor x, const Order& source) {
  return source.is_identity() ? std::move(x) : core::dispatch(Permute(source), x);
}

}  // namespace

Tensor Contract::eval(const Tensor& a, const Tensor& b) const {
  const Shape& a_shape = core::physical_shape(a)->shape;
  const Shape& b_shape = core::physical_shape(b)->shape;
  const Order a_rest = remaining(a_shape.rank(), a_batch, a_summed);
  const Order b_rest = remaining(b_shape.rank(), b_batch, b_summed);
  Shape shape;
  for (int i = 0; i < a_batch.rank; ++i) {
    const Dim dim = a_shape[a_batch[i]];
    shape.push_back(dim.axis().named() ? dim : b_shape[b_batch[i]]);
  }
  for (int i = 0; i < a_rest.rank; ++i) shape.push_back(a_shape[a_rest[i]]);
  for (int i = 0; i < b_rest.rank; ++i) shape.push_back(b_shape[b_rest[i]]);
  const DType dtype = core::object_of(a)->dtype;
  Tensor out = core::make_dense(shape, dtype);

  const Matrices left(a, a_batch, a_rest, a_summed);
  const Matrices right(b, b_batch, b_summed, b_rest);
  const kernels::ContractShape sizes{.batch = left.batch.extent,
                                     .m = left.rows.extent,
                                     .n = right.columns.extent,
                                     .k = left.columns.extent,
                                     .a_batch = left.batch.stride,
                                     .a_row = left.rows.stride,
                                     .a_col = left.columns.stride,
                                     .b_batch = right.batch.stride,
                                     .b_row = right.rows.stride,
                                     .b_col = right.columns.stride};
  const auto run = [&]<class T>(auto&& kernel) {
    kernel(sizes, reinterpret_cast<const T*>(left.data), reinterpret_cast<const T*>(right.data),
           core::elements<T>(out));
  };
  const auto product = [](const auto& s, const auto* x, const auto* y, auto* z) { kernels::contract(s, x, y, z); };
  const auto integers = [](const auto& s, const auto* x, const auto* y, auto* z) { contract_integers(s, x, y, z); };
  switch (dtype) {
    case DType::f32: run.operator()<float>(product); break;
    case DType::f64: run.operator()<double>(product); break;
    case DType::i32: run.operator()<std::int32_t>(integers); break;
    default: run.operator()<std::int64_t>(integers); break;
  }
  return out;
}

// ct is [batch, rest of a, rest of b]. Contracted with b over b's rest it is [batch, rest of a, summed in b's order].
Tensor Contract::gradient_of_a(const Tensor& ct, const Tensor& b) const {
  const int b_rank = core::visible_rank(b);
  const int a_rank_rest = core::visible_rank(ct) - a_batch.rank - (b_rank - b_batch.rank - b_summed.rank);
  const Order b_rest = remaining(b_rank, b_batch, b_summed);
  Contract back;
  back.a_batch = run(0, a_batch.rank);
  back.b_batch = b_batch;
  back.a_summed = run(a_batch.rank + a_rank_rest, b_rest.rank);
  back.b_summed = b_rest;
  const Tensor result = core::dispatch(back, ct, b);

  const int a_rank = a_batch.rank + a_rank_rest + a_summed.rank;
  const Order a_rest = remaining(a_rank, a_batch, a_summed);
  Order source = Order::identity(a_rank);
  for (int i = 0; i < a_batch.rank; ++i) source.of[a_batch[i]] = static_cast<std::uint8_t>(i);
  for (int i = 0; i < a_rest.rank; ++i) source.of[a_rest[i]] = static_cast<std::uint8_t>(a_batch.rank + i);
  for (int i = 0; i < a_summed.rank; ++i) {
    int before = 0;
    for (int j = 0; j < b_summed.rank; ++j) before += b_summed[j] < b_summed[i];
    source.of[a_summed[i]] = static_cast<std::uint8_t>(a_batch.rank + a_rank_rest + before);
  }
  return reordered(result, source);
}

// a contracted with ct over a's rest is [batch, summed in a's order, rest of b].
Tensor Contract::gradient_of_b(const Tensor& ct, const Tensor& a) const {
  const int a_rank = core::visible_rank(a);
  const Order a_rest = remaining(a_rank, a_batch, a_summed);
  const int b_rank_rest = core::visible_rank(ct) - a_batch.rank - a_rest.rank;
  Contract back;
  back.a_batch = a_batch;
  back.b_batch = run(0, a_batch.rank);
  back.a_summed = a_rest;
  back.b_summed = run(a_batch.rank, a_rest.rank);
  const Tensor result = core::dispatch(back, a, ct);

  const int b_rank = b_batch.rank + b_rank_rest + b_summed.rank;
  const Order b_rest = remaining(b_rank, b_batch, b_summed);
  Order source = Order::identity(b_rank);
  for (int i = 0; i < b_batch.rank; ++i) source.of[b_batch[i]] = static_cast<std::uint8_t>(i);
  for (int i = 0; i < b_summed.rank; ++i) {
    int before = 0;
    for (int j = 0; j < a_summed.rank; ++j) before += a_summed[j] < a_summed[i];
    source.of[b_summed[i]] = static_cast<std::uint8_t>(b_batch.rank + before);
  }
  for (int i = 0; i < b_rest.rank; ++i)
    source.of[b_rest[i]] = static_cast<std::uint8_t>(b_batch.rank + b_summed.rank + i);
  return reordered(result, source);
}

void Contract::vjp(core::VjpCall& call) const {
  if (call.wants(0)) call.gradients[0] = gradient_of_a(call.cotangents[0], call.saved.in(1));
  if (call.wants(1)) call.gradients[1] = gradient_of_b(call.cotangents[0], call.saved.in(0));
}

void Contract::jvp(core::JvpCall& call) const {
  if (call.tangents[0].defined()) accumulate(call.out_tangents[0], core::dispatch(*this, call.tangents[0], call.in[1]));
  if (call.tangents[1].defined()) accumulate(call.out_tangents[0], core::dispatch(*this, call.in[0], call.tangents[1]));
}

namespace {

/// Axis numbers of an operand that has a batch axis in front now.
Order moved_right(const Order& axes) {
  Order moved;
  for (int i = 0; i < axes.rank; ++i) moved.push_back(axes[i] + 1);
  return moved;
}

}  // namespace

void Contract::batch(core::BatchCall& call) const {
  Contract op = *this;
  if (call.mapped[0]) {
    op.a_batch = moved_right(a_batch);
    op.a_summed = moved_right(a_summed);
  }
  if (call.mapped[1]) {
    op.b_batch = moved_right(b_batch);
    op.b_summed = moved_right(b_summed);
  }
  if (call.mapped[0] && call.mapped[1]) {
    op.a_batch = Order{};
    op.b_batch = Order{};
    op.a_batch.push_back(0);
    op.b_batch.push_back(0);
    for (int i = 0; i < a_batch.rank; ++i) {
      op.a_batch.push_back(a_batch[i] + 1);
      op.b_batch.push_back(b_batch[i] + 1);
    }
    call.out[0] = core::dispatch(op, call.in[0], call.in[1]);
    return;
  }
  // The mapped operand goes first, so that the batch axis is the first of the axes that remain.
  const bool swapped = call.mapped[1];
  if (swapped) {
    std::swap(op.a_batch, op.b_batch);
    std::swap(op.a_summed, op.b_summed);
  }
  const Tensor& first = call.in[swapped ? 1 : 0];
  const Tensor& second = call.in[swapped ? 0 : 1];
  const Tensor result = core::dispatch(op, first, second);
  const int paired = a_batch.rank;
  const int first_rest = core::visible_rank(first) - paired - op.a_summed.rank - 1;
  const int second_rest = core::visible_rank(second) - paired - op.b_summed.rank;
  Order source;
  source.push_back(paired);
  for (int i = 0; i < paired; ++i) source.push_back(i);
  const int after = paired + 1;
  if (swapped)
    for (int i = 0; i < second_rest; ++i) source.push_back(after + first_rest + i);
  for (int i = 0; i < first_rest; ++i) source.push_back(after + i);
  if (!swapped)
    for (int i = 0; i < second_rest; ++i) source.push_back(after + first_rest + i);
  call.out[0] = reordered(result, source);
}

}  // namespace tlaloc::inline v0::ops
