// Reductions that are made of others: any, all, variance, standard deviation and norms.
#include <algorithm>
#include <limits>

#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/reduce.hpp>

#include "ops/align.hpp"
#include "ops/powers.hpp"
#include "ops/reductions.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0 {
namespace {

using ops::Reduced;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The entry at position 0 of every reduced axis, as a constant.
Tensor first_entries(const Tensor& x, const Reduced& over) {
  Tensor y = stop_gradient(x);
  for (int i = 0, removed = 0; removed < over.removed.rank(); ++i)
    if (over.axes.contains(i))
      y = core::dispatch(ops::Slice(ops::Part{i, 0, 1, 1, over.removed[removed++].extent()}), y);
  const Shape from = ops::shape_of(y);
  return core::dispatch(ops::Reshape(from, ops::without_axes(from, over.axes)), y);
}

Tensor variance(const Tensor& x, const Reduced& over, double correction) {
  const std::int64_t count = over.removed.size();
  // From one of the entries on, equal entries are exactly 0, and so is their variance.
  const Tensor moved = count == 0 ? x : subtract(x, over.expand(first_entries(x, over)));
  const Tensor mean = divide(over.sum(moved), static_cast<double>(count));
  const Tensor squares = over.sum(square(subtract(moved, over.expand(mean))));
  return divide(squares, std::max(static_cast<double>(count) - correction, 0.0));
}

/// Whether x is true, in as few passes as its dtype allows.
Tensor truth(const Tensor& x) { return core::object_of(x)->dtype == DType::boolean ? x : not_equal(x, 0); }

Tensor norm_of_magnitudes(const Tensor& magnitudes, const Reduced& over, double p) {
  if (p == 1) return over.sum(magnitudes);
  for (const Dim dim : over.removed)
    if (dim.extent() == 0) return over.sum(magnitudes);
  const Tensor largest = core::dispatch(ops::Extreme<ops::Largest>(over), magnitudes);
  if (p == infinity) return largest;
  // A norm in units of its largest entry does not overflow; a constant unit changes no derivative.
  const Tensor constant = stop_gradient(largest);
  const Tensor unit = where(constant > 0.0, where(constant < infinity, constant, 1.0), 1.0);
  const Tensor powers = over.sum(power(divide(magnitudes, over.expand(unit)), p));
  return multiply(unit, core::dispatch(ops::Root(p), powers));
}

}  // namespace

Tensor any(const Tensor& x, const AxisList& axes, Keep keep) {
  const Reduced over = ops::reduced("any", x, axes);
  return ops::kept(greater(over.sum(truth(x)), 0), over, keep);
}

Tensor all(const Tensor& x, const AxisList& axes, Keep keep) {
  const Reduced over = ops::reduced("all", x, axes);
  return ops::kept(equal(over.sum(logical_not(x)), 0), over, keep);
}

Tensor var(const Tensor& x, const AxisList& axes, Keep keep, double correction) {
  const Tensor numbers = ops::as_float("var", x);
  const Reduced over = ops::reduced("var", numbers, axes);
  return ops::kept(variance(numbers, over, correction), over, keep);
}

Tensor stddev(const Tensor& x, const AxisList& axes, Keep keep, double correction) {
  const Tensor numbers = ops::as_float("stddev", x);
  const Reduced over = ops::reduced("stddev", numbers, axes);
  return ops::kept(core::dispatch(ops::Root(2), variance(numbers, over, correction)), over, keep);
}

Tensor norm(const Tensor& x, const AxisList& axes, Keep keep, double p) {
  const Tensor numbers = ops::as_float("norm", x);
  const Reduced over = ops::reduced("norm", numbers, axes);
  if (!(p >= 1))
    throw ValueError("norm: p is " + std::to_string(p) + ops::got(x) + "; a norm has a p of 1 or more, or infinity");
  const Tensor y =
      p == 2 ? core::dispatch(ops::Root(2), over.sum(square(numbers))) : norm_of_magnitudes(abs(numbers), over, p);
  return ops::kept(y, over, keep);
}

}  // namespace tlaloc::inline v0
