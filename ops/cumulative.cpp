#include "ops/cumulative.hpp"

#include <limits>

#include <tlaloc/create.hpp>
#include <tlaloc/cumulative.hpp>
#include <tlaloc/elementwise.hpp>
#include <tlaloc/structure.hpp>

#include "ops/align.hpp"
#include "ops/kernels/scan.hpp"
#include "ops/reductions.hpp"

namespace tlaloc::inline v0::ops {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

kernels::ScanSizes sizes_of(const Run& run, const Shape& shape) {
  kernels::ScanSizes sizes{.count = shape[run.axis].extent(), .reverse = run.reverse};
  for (int i = 0; i < run.axis; ++i) sizes.outer *= shape[i].extent();
  for (int i = run.axis + 1; i < shape.rank(); ++i) sizes.inner *= shape[i].extent();
  return sizes;
}

/// kernel(x, y, sizes) on dense elements of x's type, and the y of x's shape that it fills.
template <class Kernel>
Tensor scanned(const Tensor& x, const Run& run, const Kernel& kernel) {
  const Tensor dense = ops::contiguous(x);
  const core::InternedShape* const shape = core::physical_shape(x);
  Tensor out = core::make_dense(core::ShapeRef::share(shape), core::object_of(x)->dtype);
  kernel(dense, out, sizes_of(run, shape->shape));
  return out;
}

/// For f32, f64 and i64.
template <class F>
void with_sum_type(DType dtype, F&& f) {
  if (dtype == DType::i64)
    f.template operator()<std::int64_t>();
  else
    with_type<Domain::floats>(dtype, f);
}

/// By how much of itself e^y grew from the place before, and by how much it is e^x: they add up to 1 unless y is -inf.
/// Once y is +inf it grows no more.
struct Weights {
  Tensor before, own;

  Weights(const Run& run, const Tensor& x, const Tensor& y) {
    const Tensor previous = run.delayed(y, -infinity);
    before = core::dispatch(SoftmaxWeight{}, previous, y);
    own = where(equal(previous, infinity), 0, core::dispatch(SoftmaxWeight{}, x, y));
  }
};

}  // namespace

Tensor Run::delayed(const Tensor& x, Scalar fill) const {
  Shape one = shape_of(x);
  const std::int64_t extent = one[axis].extent();
  if (extent == 0) return x;
  one[axis] = Dim(1);
  const Tensor first = full(one, fill, core::object_of(x)->dtype);
  return reverse ? concat({slice(x, axis, 1), first}, axis) : concat({first, slice(x, axis, 0, extent - 1)}, axis);
}

Tensor CumSum::eval(const Tensor& x) const {
  return scanned(x, run, [](const Tensor& in, const Tensor& out, const kernels::ScanSizes& sizes) {
    with_sum_type(core::object_of(in)->dtype,
                  [&]<class T>() { kernels::cumsum(core::elements<const T>(in), core::elements<T>(out), sizes); });
  });
}

Tensor Recurrence::eval(const Tensor& a, const Tensor& b) const {
  const Tensor factors = ops::contiguous(a);
  return scanned(b, run, [&](const Tensor& in, const Tensor& out, const kernels::ScanSizes& sizes) {
    with_type<Domain::floats>(core::object_of(in)->dtype, [&]<class T>() {
      kernels::recurrence(core::elements<const T>(factors), core::elements<const T>(in), core::elements<T>(out),
                          delayed, sizes);
    });
  });
}

void Recurrence::vjp(core::VjpCall& call) const {
  if (!call.wants(0) && !call.wants(1)) return;
  const Tensor carried = core::dispatch(transposed(), call.saved.in(0), call.cotangents[0]);
  if (call.wants(0)) {
    const Tensor& h = call.saved.out();
    call.gradients[0] = delayed ? ct_mul(run.reversed().delayed(carried, 0), h) : ct_mul(carried, run.delayed(h, 0));
  }
  if (call.wants(1)) call.gradients[1] = carried;
}

void Recurrence::jvp(core::JvpCall& call) const {
  Tensor growth = call.tangents[1];
  if (call.tangents[0].defined()) {
    const Tensor& h = call.out[0];
    accumulate(growth,
               delayed ? run.delayed(ct_mul(call.tangents[0], h), 0) : ct_mul(call.tangents[0], run.delayed(h, 0)));
  }
  call.out_tangents[0] = core::dispatch(*this, call.in[0], growth);
}

Tensor CumProd::eval(const Tensor& x) const {
  return scanned(x, run, [](const Tensor& in, const Tensor& out, const kernels::ScanSizes& sizes) {
    with_sum_type(core::object_of(in)->dtype,
                  [&]<class T>() { kernels::cumprod(core::elements<const T>(in), core::elements<T>(out), sizes); });
  });
}

void CumProd::vjp(core::VjpCall& call) const {
  if (!call.wants(0)) return;
  const Tensor carried = core::dispatch(Recurrence(run, false).transposed(), call.saved.in(0), call.cotangents[0]);
  call.gradients[0] = ct_mul(carried, run.delayed(call.saved.out(), 1));
}

void CumProd::jvp(core::JvpCall& call) const {
  const Tensor growth = ct_mul(call.tangents[0], run.delayed(call.out[0], 1));
  call.out_tangents[0] = core::dispatch(Recurrence(run, false), call.in[0], growth);
}

Tensor LogCumSumExp::eval(const Tensor& x) const {
  return scanned(x, run, [](const Tensor& in, const Tensor& out, const kernels::ScanSizes& sizes) {
    with_type<Domain::floats>(core::object_of(in)->dtype, [&]<class T>() {
      kernels::logcumsumexp(core::elements<const T>(in), core::elements<T>(out), sizes);
    });
  });
}

void LogCumSumExp::vjp(core::VjpCall& call) const {
  if (!call.wants(0)) return;
  const Weights weights(run, call.saved.in(0), call.saved.out());
  const Tensor carried = core::dispatch(Recurrence(run, false).transposed(), weights.before, call.cotangents[0]);
  call.gradients[0] = ct_mul(carried, weights.own);
}

void LogCumSumExp::jvp(core::JvpCall& call) const {
  const Weights weights(run, call.in[0], call.out[0]);
  call.out_tangents[0] = core::dispatch(Recurrence(run, false), weights.before, ct_mul(call.tangents[0], weights.own));
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {
namespace {

template <class Op>
Tensor running(const Tensor& x, DType of_integers, AxisRef axis, Reverse reverse) {
  ops::require_defined(Op::info.name, x);
  const ops::Run run{ops::resolve_axis(Op::info.name, x, axis), reverse == Reverse::yes};
  return core::dispatch(Op(run), is_float(core::object_of(x)->dtype) ? x : ops::as_dtype(x, of_integers));
}

}  // namespace

Tensor cumsum(const Tensor& x, AxisRef axis, Reverse reverse) {
  return running<ops::CumSum>(x, DType::i64, axis, reverse);
}

Tensor cumprod(const Tensor& x, AxisRef axis, Reverse reverse) {
  return running<ops::CumProd>(x, DType::i64, axis, reverse);
}

Tensor logcumsumexp(const Tensor& x, AxisRef axis, Reverse reverse) {
  return running<ops::LogCumSumExp>(x, DType::f32, axis, reverse);
}

}  // namespace tlaloc::inline v0
