#include "ops/reductions.hpp"

#include <tlaloc/create.hpp>
#include <tlaloc/elementwise.hpp>

#include "ops/align.hpp"
#include "ops/arithmetic.hpp"
#include "ops/kernels/reduce.hpp"
#include "ops/kernels/softmax.hpp"
#include "ops/rows.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {
namespace {

DType dtype_of_tensor(const Tensor& x) { return core::object_of(x)->dtype; }

}  // namespace

Tensor Reduced::expand(const Tensor& y) const { return core::dispatch(Expand(axes, removed), y); }
Tensor Reduced::sum(const Tensor& x) const { return core::dispatch(Sum(*this), x); }

Reduced reduced(std::string_view op, const Tensor& x, const AxisList& axes) {
  require_defined(op, x);
  const AxisSet set = resolve_axes(op, x, axes);
  return {set, only_axes(shape_of(x), set)};
}

Tensor kept(const Tensor& y, const Reduced& over, Keep keep) {
  if (keep == Keep::no || over.axes.empty()) return y;
  Shape ones;
  for (const Dim dim : over.removed) ones.push_back(Dim(dim.axis(), 1));
  return core::dispatch(Expand(over.axes, ones), y);
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
    call.gradients[0] = core::dispatch(LogSumExpProduct(over), call.cotangents[0], call.saved.in(0), call.saved.out());
}

void LogSumExp::jvp(core::JvpCall& call) const {
  const Tensor weight = core::dispatch(LogSumExpProduct(over), ones_like(call.out[0]), call.in[0], call.out[0]);
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

Tensor logsumexp(const Tensor& x, const AxisList& axes, Keep keep) {
  const Tensor numbers = ops::as_float("logsumexp", x);
  const ops::Reduced over = ops::reduced("logsumexp", numbers, axes);
  return ops::kept(core::dispatch(ops::LogSumExp(over), numbers), over, keep);
}

Tensor softmax(const Tensor& x, AxisRef axis) {
  const Tensor numbers = ops::as_float("softmax", x);
  return core::dispatch(ops::Softmax(ops::reduced("softmax", numbers, AxisList(axis))), numbers);
}

Tensor log_softmax(const Tensor& x, AxisRef axis) {
  const Tensor numbers = ops::as_float("log_softmax", x);
  return core::dispatch(ops::LogSoftmax(ops::reduced("log_softmax", numbers, AxisList(axis))), numbers);
}

}  // namespace tlaloc::inline v0
