#include "ops/reductions.hpp"

#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/reduce.hpp>

#include "ops/align.hpp"
#include "ops/arithmetic.hpp"
#include "ops/kernels/reduce.hpp"
#include "ops/kernels/softmax.hpp"
#include "ops/rows.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {
namespace {

DType dtype_of_tensor(const Tensor& x) { return core::object_of(x)->dtype; }

Tensor make_reduced(const Tensor& x, AxisSet axes, DType dtype) {
  return core::make_dense(without_axes(core::physical_shape(x)->shape, axes), dtype);
}

}  // namespace

Tensor Reduced::expand(const Tensor& y) const { return core::dispatch(Expand(axes, removed), y); }
Tensor Reduced::sum(const Tensor& x) const { return core::dispatch(Sum(*this), x); }

Tensor Sum::eval(const Tensor& x) const {
  if (over.axes.empty() && is_float(dtype_of_tensor(x))) return x;
  const Sandwich in(x, over.axes);
  const DType dtype = dtype_of_tensor(x);
  Tensor out = make_reduced(x, over.axes, is_float(dtype) ? dtype : DType::i64);
  const auto run = [&]<class From, class To>() {
    kernels::sum(core::elements<const From>(in.dense), core::elements<To>(out), in.outer, in.count, in.inner);
  };
  switch (dtype) {
    case DType::boolean: run.operator()<bool, std::int64_t>(); break;
    case DType::i32: run.operator()<std::int32_t, std::int64_t>(); break;
    case DType::i64: run.operator()<std::int64_t, std::int64_t>(); break;
    case DType::f32: run.operator()<float, float>(); break;
    case DType::f64: run.operator()<double, double>(); break;
  }
  return out;
}

Tensor Max::eval(const Tensor& x) const {
  const Sandwich in(x, over.axes);
  Tensor out = make_reduced(x, over.axes, dtype_of_tensor(x));
  with_type<Domain::numbers>(dtype_of_tensor(x), [&]<class T>() {
    kernels::max(core::elements<const T>(in.dense), core::elements<T>(out), in.outer, in.count, in.inner);
  });
  return out;
}

Tensor Max::share(const Reduced& over, const Tensor& x, const Tensor& y) {
  const Tensor largest = cast(equal(x, over.expand(y)), dtype_of_tensor(x));
  return divide(largest, over.expand(over.sum(largest)));
}

void Max::vjp(core::VjpCall& call) const {
  if (call.wants(0))
    call.gradients[0] =
        ct_mul(over.expand(call.cotangents[0]), share(over, call.saved.in(0), call.saved.out()));
}

void Max::jvp(core::JvpCall& call) const {
  call.out_tangents[0] = over.sum(ct_mul(call.tangents[0], share(over, call.in[0], call.out[0])));
}

std::array<Tensor, 2> MaxWithIndices::eval(const Tensor& x) const {
  const Sandwich in(x, over.axes);
  Tensor values = make_reduced(x, over.axes, dtype_of_tensor(x));
  Tensor indices = make_reduced(x, over.axes, DType::i64);
  with_type<Domain::numbers>(dtype_of_tensor(x), [&]<class T>() {
    kernels::max_with_indices(core::elements<const T>(in.dense), core::elements<T>(values),
                              core::elements<std::int64_t>(indices), in.outer, in.count, in.inner);
  });
  return {std::move(values), std::move(indices)};
}

void MaxWithIndices::vjp(core::VjpCall& call) const {
  if (call.wants(0) && call.cotangents[0].defined())
    call.gradients[0] =
        ct_mul(over.expand(call.cotangents[0]), Max::share(over, call.saved.in(0), call.saved.out(0)));
}

void MaxWithIndices::jvp(core::JvpCall& call) const {
  call.out_tangents[0] = over.sum(ct_mul(call.tangents[0], Max::share(over, call.in[0], call.out[0])));
}

Tensor LogSumExp::eval(const Tensor& x) const {
  const Sandwich in(x, over.axes);
  Tensor out = make_reduced(x, over.axes, dtype_of_tensor(x));
  with_type<Domain::floats>(dtype_of_tensor(x), [&]<class T>() {
    kernels::logsumexp(core::elements<const T>(in.dense), core::elements<T>(out), in.outer, in.count, in.inner);
  });
  return out;
}

void LogSumExp::vjp(core::VjpCall& call) const {
  if (call.wants(0))
    call.gradients[0] =
        core::dispatch(LogSumExpProduct(over), call.cotangents[0], call.saved.in(0), call.saved.out());
}

void LogSumExp::jvp(core::JvpCall& call) const {
  const Tensor weight = core::dispatch(SoftmaxWeight{}, call.in[0], over.expand(call.out[0]));
  call.out_tangents[0] = over.sum(ct_mul(call.tangents[0], weight));
}

Tensor LogSumExpProduct::eval(const Tensor& ct, const Tensor& x, const Tensor& y) const {
  const Rows in(x, over.axes);
  const Tensor cotangents = ops::contiguous(ct);
  const Tensor sums = ops::contiguous(y);
  Tensor out = in.make_like();
  with_type<Domain::floats>(dtype_of_tensor(x), [&]<class T>() {
    kernels::logsumexp_backward(core::elements<const T>(in.dense()), core::elements<const T>(sums),
                                core::elements<const T>(cotangents), core::elements<T>(out), in.rows(), in.count());
  });
  return in.restored(out);
}

Tensor LogSumExpProduct::expand(const Tensor& ct, const Tensor& x, const Tensor& y) const {
  return ct_mul(over.expand(ct), core::dispatch(SoftmaxWeight{}, x, over.expand(y)));
}

Tensor Softmax::eval(const Tensor& x) const {
  const Rows in(x, along.axes);
  Tensor out = in.make_like();
  with_type<Domain::floats>(dtype_of_tensor(x), [&]<class T>() {
    kernels::softmax(core::elements<const T>(in.dense()), core::elements<T>(out), in.rows(), in.count());
  });
  return in.restored(out);
}

Tensor SoftmaxProduct::eval(const Tensor& y, const Tensor& ct) const {
  const Rows in(y, along.axes);
  const Rows cotangents(ct, along.axes);
  Tensor out = in.make_like();
  with_type<Domain::floats>(dtype_of_tensor(y), [&]<class T>() {
    kernels::softmax_backward(core::elements<const T>(in.dense()), core::elements<const T>(cotangents.dense()),
                              core::elements<T>(out), in.rows(), in.count());
  });
  return in.restored(out);
}

Tensor SoftmaxProduct::expand(const Tensor& y, const Tensor& ct) const {
  const Tensor weighted = ct_mul(ct, y);
  return subtract(weighted, multiply(y, along.expand(along.sum(weighted))));
}

Tensor LogSoftmax::eval(const Tensor& x) const {
  const Rows in(x, along.axes);
  Tensor out = in.make_like();
  with_type<Domain::floats>(dtype_of_tensor(x), [&]<class T>() {
    kernels::log_softmax(core::elements<const T>(in.dense()), core::elements<T>(out), in.rows(), in.count());
  });
  return in.restored(out);
}

void LogSoftmax::jvp(core::JvpCall& call) const {
  const Tensor& tangent = call.tangents[0];
  const Tensor mean = along.sum(ct_mul(tangent, exp(call.out[0])));
  call.out_tangents[0] = subtract(tangent, along.expand(mean));
}

Tensor LogSoftmaxProduct::eval(const Tensor& y, const Tensor& ct) const {
  const Rows in(y, along.axes);
  const Rows cotangents(ct, along.axes);
  Tensor out = in.make_like();
  with_type<Domain::floats>(dtype_of_tensor(y), [&]<class T>() {
    kernels::log_softmax_backward(core::elements<const T>(in.dense()), core::elements<const T>(cotangents.dense()),
                                  core::elements<T>(out), in.rows(), in.count());
  });
  return in.restored(out);
}

Tensor LogSoftmaxProduct::expand(const Tensor& y, const Tensor& ct) const {
  return subtract(ct, ct_mul(along.expand(along.sum(ct)), exp(y)));
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {
namespace {

ops::Reduced reduced(std::string_view op, const Tensor& x, const AxisList& axes) {
  ops::require_defined(op, x);
  const ops::AxisSet set = ops::resolve_axes(op, x, axes);
  return {set, ops::only_axes(ops::shape_of(x), set)};
}

/// The reduced axes back with extent 1, if they are to be kept.
Tensor kept(const Tensor& y, const ops::Reduced& over, Keep keep) {
  if (keep == Keep::no || over.axes.empty()) return y;
  Shape ones;
  for (const Dim dim : over.removed) ones.push_back(Dim(dim.axis(), 1));
  return core::dispatch(ops::Expand(over.axes, ones), y);
}

void refuse_empty_max(std::string_view op, const Tensor& x, const ops::Reduced& over) {
  for (const Dim dim : over.removed)
    if (dim.extent() == 0)
      throw ValueError(std::string(op) + ": the largest of no elements" + ops::got(x) +
                       "; an axis of extent 0 has no maximum");
}

}  // namespace

Tensor sum(const Tensor& x, const AxisList& axes, Keep keep) {
  const ops::Reduced over = reduced("sum", x, axes);
  return kept(over.sum(x), over, keep);
}

Tensor mean(const Tensor& x, const AxisList& axes, Keep keep) {
  const Tensor numbers = ops::as_float("mean", x);
  const ops::Reduced over = reduced("mean", numbers, axes);
  return divide(kept(over.sum(numbers), over, keep), static_cast<double>(over.removed.size()));
}

Tensor max(const Tensor& x, const AxisList& axes, Keep keep) {
  const Tensor numbers = ops::as_number("max", x);
  const ops::Reduced over = reduced("max", numbers, axes);
  refuse_empty_max("max", x, over);
  return kept(core::dispatch(ops::Max(over), numbers), over, keep);
}

ValuesAndIndices max_with_indices(const Tensor& x, AxisRef axis, Keep keep) {
  const Tensor numbers = ops::as_number("max_with_indices", x);
  const ops::Reduced over = reduced("max_with_indices", numbers, AxisList(axis));
  refuse_empty_max("max_with_indices", x, over);
  const auto [values, indices] = core::dispatch(ops::MaxWithIndices(over), numbers);
  return {kept(values, over, keep), kept(indices, over, keep)};
}

Tensor logsumexp(const Tensor& x, const AxisList& axes, Keep keep) {
  const Tensor numbers = ops::as_float("logsumexp", x);
  const ops::Reduced over = reduced("logsumexp", numbers, axes);
  return kept(core::dispatch(ops::LogSumExp(over), numbers), over, keep);
}

Tensor softmax(const Tensor& x, AxisRef axis) {
  const Tensor numbers = ops::as_float("softmax", x);
  return core::dispatch(ops::Softmax(reduced("softmax", numbers, AxisList(axis))), numbers);
}

Tensor log_softmax(const Tensor& x, AxisRef axis) {
  const Tensor numbers = ops::as_float("log_softmax", x);
  return core::dispatch(ops::LogSoftmax(reduced("log_softmax", numbers, AxisList(axis))), numbers);
}

}  // namespace tlaloc::inline v0
