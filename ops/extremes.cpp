// max and min along axes, and where they stand.
#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/reduce.hpp>

#include "ops/align.hpp"
#include "ops/kernels/reduce.hpp"
#include "ops/reductions.hpp"
#include "ops/rows.hpp"

namespace tlaloc::inline v0::ops {

struct Largest {
  static constexpr std::string_view what = "the largest of no elements";
  static constexpr std::string_view name = "maximum";
  static void values(auto... to_kernel) { kernels::max(to_kernel...); }
  static void with_indices(auto... to_kernel) { kernels::max_with_indices(to_kernel...); }
};
struct Smallest {
  static constexpr std::string_view what = "the smallest of no elements";
  static constexpr std::string_view name = "minimum";
  static void values(auto... to_kernel) { kernels::min(to_kernel...); }
  static void with_indices(auto... to_kernel) { kernels::min_with_indices(to_kernel...); }
};

namespace {

/// How much of each entry's tangent reaches the result y.
Tensor share(const Reduced& over, const Tensor& x, const Tensor& y) {
  const Tensor chosen = cast(equal(x, over.expand(y)), core::object_of(x)->dtype);
  return divide(chosen, over.expand(over.sum(chosen)));
}

template <class Which>
void refuse_empty(std::string_view op, const Tensor& x, const Reduced& over) {
  for (const Dim dim : over.removed)
    if (dim.extent() == 0)
      throw ValueError(std::string(op) + ": " + std::string(Which::what) + got(x) + "; an axis of extent 0 has no " +
                       std::string(Which::name));
}

template <class Which>
Tensor extreme(const Tensor& x, const AxisList& axes, Keep keep) {
  constexpr std::string_view op = Extreme<Which>::info.name;
  const Tensor numbers = as_number(op, x);
  const Reduced over = reduced(op, numbers, axes);
  refuse_empty<Which>(op, x, over);
  return kept(core::dispatch(Extreme<Which>(over), numbers), over, keep);
}

template <class Which>
ValuesAndIndices extreme_with_indices(std::string_view op, const Tensor& x, AxisRef axis, Keep keep) {
  const Tensor numbers = as_number(op, x);
  const Reduced over = reduced(op, numbers, AxisList(axis));
  refuse_empty<Which>(op, x, over);
  const auto [values, indices] = core::dispatch(ExtremeWithIndices<Which>(over), numbers);
  return {kept(values, over, keep), kept(indices, over, keep)};
}

/// Positions are constants, so nobody needs to keep the values for a way back.
template <class Which>
Tensor position_of_extreme(std::string_view op, const Tensor& x, AxisRef axis, Keep keep) {
  require_defined(op, x);
  return extreme_with_indices<Which>(op, stop_gradient(x), axis, keep).indices;
}

}  // namespace

template <class Which>
Tensor Extreme<Which>::eval(const Tensor& x) const {
  const Sandwich in(x, over.axes);
  const DType dtype = core::object_of(x)->dtype;
  Tensor out = make_reduced(x, over.axes, dtype);
  with_type<Domain::numbers>(dtype, [&]<class T>() {
    Which::values(core::elements<const T>(in.dense), core::elements<T>(out), in.outer, in.count, in.inner);
  });
  return out;
}

template <class Which>
void Extreme<Which>::vjp(core::VjpCall& call) const {
  if (call.wants(0))
    call.gradients[0] = ct_mul(over.expand(call.cotangents[0]), share(over, call.saved.in(0), call.saved.out()));
}

template <class Which>
void Extreme<Which>::jvp(core::JvpCall& call) const {
  call.out_tangents[0] = over.sum(ct_mul(call.tangents[0], share(over, call.in[0], call.out[0])));
}

template <class Which>
std::array<Tensor, 2> ExtremeWithIndices<Which>::eval(const Tensor& x) const {
  const Sandwich in(x, over.axes);
  const DType dtype = core::object_of(x)->dtype;
  Tensor values = make_reduced(x, over.axes, dtype);
  Tensor indices = make_reduced(x, over.axes, DType::i64);
  with_type<Domain::numbers>(dtype, [&]<class T>() {
    Which::with_indices(core::elements<const T>(in.dense), core::elements<T>(values),
                        core::elements<std::int64_t>(indices), in.outer, in.count, in.inner);
  });
  return {std::move(values), std::move(indices)};
}

template <class Which>
void ExtremeWithIndices<Which>::vjp(core::VjpCall& call) const {
  if (call.wants(0) && call.cotangents[0].defined())
    call.gradients[0] = ct_mul(over.expand(call.cotangents[0]), share(over, call.saved.in(0), call.saved.out(0)));
}

template <class Which>
void ExtremeWithIndices<Which>::jvp(core::JvpCall& call) const {
  call.out_tangents[0] = over.sum(ct_mul(call.tangents[0], share(over, call.in[0], call.out[0])));
}

template struct Extreme<Largest>;

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {

using ops::Largest;
using ops::Smallest;

Tensor max(const Tensor& x, const AxisList& axes, Keep keep) { return ops::extreme<Largest>(x, axes, keep); }
Tensor min(const Tensor& x, const AxisList& axes, Keep keep) { return ops::extreme<Smallest>(x, axes, keep); }

ValuesAndIndices max_with_indices(const Tensor& x, AxisRef axis, Keep keep) {
  return ops::extreme_with_indices<Largest>("max_with_indices", x, axis, keep);
}
ValuesAndIndices min_with_indices(const Tensor& x, AxisRef axis, Keep keep) {
  return ops::extreme_with_indices<Smallest>("min_with_indices", x, axis, keep);
}

Tensor argmax(const Tensor& x, AxisRef axis, Keep keep) {
  return ops::position_of_extreme<Largest>("argmax", x, axis, keep);
}
Tensor argmin(const Tensor& x, AxisRef axis, Keep keep) {
  return ops::position_of_extreme<Smallest>("argmin", x, axis, keep);
}

}  // namespace tlaloc::inline v0
