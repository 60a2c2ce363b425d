// sum, mean and prod.
#include <vector>

#include <tlaloc/elementwise.hpp>
#include <tlaloc/reduce.hpp>

#include "ops/align.hpp"
#include "ops/join.hpp"
#include "ops/kernels/reduce.hpp"
#include "ops/reductions.hpp"
#include "ops/rows.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {
namespace {

/// A kernel for all dtypes that makes i64 of integers and bools.
template <class Kernel>
Tensor accumulated(const Reduced& over, const Tensor& x, Kernel kernel) {
  const Sandwich in(x, over.axes);
  const DType dtype = core::object_of(x)->dtype;
  Tensor out = make_reduced(x, over.axes, is_float(dtype) ? dtype : DType::i64);
  const auto run = [&]<class From, class To>() {
    kernel(core::elements<const From>(in.dense), core::elements<To>(out), in.outer, in.count, in.inner);
  };
  switch (dtype) {
    case DType::boolean: run.template operator()<bool, std::int64_t>(); break;
    case DType::i32: run.template operator()<std::int32_t, std::int64_t>(); break;
    case DType::i64: run.template operator()<std::int64_t, std::int64_t>(); break;
    case DType::f32: run.template operator()<float, float>(); break;
    case DType::f64: run.template operator()<double, double>(); break;
  }
  return out;
}

/// What has the factors along its last axis: the first half, the middle one of an odd number, and the other half.
struct Halves {
  Tensor first, middle, second;

  explicit Halves(const Tensor& x) {
    const int axis = core::visible_rank(x) - 1;
    const std::int64_t count = core::visible_dims(x).back().extent();
    const auto part = [&](std::int64_t start, std::int64_t length) {
      return core::dispatch(Slice(Part{axis, start, length, 1, count}), x);
    };
    first = part(0, count / 2);
    if (count % 2 != 0) middle = part(count / 2, 1);
    second = part(count - count / 2, count / 2);
  }
};

Tensor joined(const Tensor& first, const Tensor& middle, const Tensor& second = {}) {
  std::vector<Tensor> parts;
  std::vector<std::int64_t> extents;
  for (const Tensor& part : {first, middle, second}) {
    if (!part.defined()) continue;
    parts.push_back(part);
    extents.push_back(core::visible_dims(part).back().extent());
  }
  if (parts.size() == 1) return first;
  return core::dispatch(Concat(core::visible_rank(first) - 1, std::move(extents)), std::span<const Tensor>(parts));
}

/// The factors along one axis, the last, and back.
struct Factors {
  Order order;
  Shape ordered;
  Shape flat;

  Factors(const Reduced& over, const Tensor& x) : order(reduced_last(core::visible_rank(x), over.axes)) {
    const Shape shape = shape_of(x);
    for (int i = 0; i < shape.rank(); ++i) ordered.push_back(shape[order[i]]);
    flat = without_axes(shape, over.axes);
    flat.push_back(over.removed.size());
  }
  Tensor lined_up(const Tensor& x) const {
    return core::dispatch(Reshape(ordered, flat), core::dispatch(Permute(order), x));
  }
  Tensor restored(const Tensor& y) const {
    return core::dispatch(Permute(order.inverse()), core::dispatch(Reshape(flat, ordered), y));
  }
};

bool more_than_one(const Tensor& x) { return core::visible_dims(x).back().extent() > 1; }

}  // namespace

Tensor Sum::eval(const Tensor& x) const {
  if (over.axes.empty() && is_float(core::object_of(x)->dtype)) return x;
  return accumulated(over, x, [](auto... to_kernel) { kernels::sum(to_kernel...); });
}

Tensor Prod::eval(const Tensor& x) const {
  return accumulated(over, x, [](auto... to_kernel) { kernels::prod(to_kernel...); });
}

void Prod::vjp(core::VjpCall& call) const {
  if (!call.wants(0) || over.removed.size() == 0) return;
  const Factors factors(over, call.saved.in(0));
  std::vector<Halves> levels;
  for (Tensor x = factors.lined_up(call.saved.in(0)); more_than_one(x);) {
    levels.emplace_back(x);
    x = joined(multiply(levels.back().first, levels.back().second), levels.back().middle);
  }
  const int last = factors.flat.rank() - 1;
  Tensor ct = core::dispatch(Expand(AxisSet::single(last), Shape{1}), call.cotangents[0]);
  for (; !levels.empty(); levels.pop_back()) {
    const Halves& x = levels.back();
    const std::int64_t half = core::visible_dims(x.first).back().extent();
    const std::int64_t count = core::visible_dims(ct).back().extent();
    const Tensor of_pairs = core::dispatch(Slice(Part{last, 0, half, 1, count}), ct);
    Tensor middle;
    if (count > half) middle = core::dispatch(Slice(Part{last, half, 1, 1, count}), ct);
    ct = joined(ct_mul(of_pairs, x.second), middle, ct_mul(of_pairs, x.first));
  }
  call.gradients[0] = factors.restored(ct);
}

void Prod::jvp(core::JvpCall& call) const {
  if (over.removed.size() == 0) return;
  const Factors factors(over, call.in[0]);
  Tensor x = factors.lined_up(call.in[0]);
  Tensor tangent = factors.lined_up(call.tangents[0]);
  while (more_than_one(x)) {
    const Halves of(x);
    const Halves along(tangent);
    tangent = joined(add(ct_mul(along.first, of.second), ct_mul(along.second, of.first)), along.middle);
    x = joined(multiply(of.first, of.second), of.middle);
  }
  const AxisSet last = AxisSet::single(factors.flat.rank() - 1);
  call.out_tangents[0] = core::dispatch(Reshape(shape_of(tangent), without_axes(factors.flat, last)), tangent);
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {

Tensor sum(const Tensor& x, const AxisList& axes, Keep keep) {
  const ops::Reduced over = ops::reduced("sum", x, axes);
  return ops::kept(over.sum(x), over, keep);
}

Tensor mean(const Tensor& x, const AxisList& axes, Keep keep) {
  const Tensor numbers = ops::as_float("mean", x);
  const ops::Reduced over = ops::reduced("mean", numbers, axes);
  return divide(ops::kept(over.sum(numbers), over, keep), static_cast<double>(over.removed.size()));
}

Tensor prod(const Tensor& x, const AxisList& axes, Keep keep) {
  const ops::Reduced over = ops::reduced("prod", x, axes);
  return ops::kept(core::dispatch(ops::Prod(over), x), over, keep);
}

}  // namespace tlaloc::inline v0
