// Reductions along axes, and the functions built on them.
//
// Axes are said by name or by number; without axes, all of them; an empty list of axes reduces nothing. The reduced
// axes go away, unless Keep::yes keeps them with extent 1. All throw AxisError for an axis that is not there or is
// given twice.
#pragma once

#include <initializer_list>
#include <span>

#include <tlaloc/export.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

enum class Keep : bool { no, yes };

/// One axis, several, or all.
class AxisList {
 public:
  AxisList() : all_(true) {}
  AxisList(AxisRef axis) { list_.push_back(axis); }
  AxisList(Axis axis) : AxisList(AxisRef(axis)) {}
  template <integer I>
  AxisList(I axis) : AxisList(AxisRef(axis)) {}
  AxisList(std::initializer_list<AxisRef> axes) : list_(axes) {}

  bool all() const { return all_; }
  std::span<const AxisRef> list() const { return list_; }

 private:
  std::vector<AxisRef> list_;
  bool all_ = false;
};

/// The sum; 0 for none. Integers and bools are summed as i64.
TLALOC_API Tensor sum(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no);
/// The mean; nan for none. Integers give f32.
TLALOC_API Tensor mean(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no);
/// The product; 1 for none. Integers and bools are multiplied as i64. Derivatives are exact with zeros among the
/// factors.
TLALOC_API Tensor prod(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no);
/// The largest, the smallest; nan where there is one. ValueError for an empty axis. k equal ones get 1/k of the
/// cotangent each.
TLALOC_API Tensor max(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no);
TLALOC_API Tensor min(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no);
/// Whether any element, whether every element is true, that is, not 0; false and true for none. No derivative.
TLALOC_API Tensor any(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no);
TLALOC_API Tensor all(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no);

/// The largest or smallest along one axis and where it stands (i64): the first of equal ones; the first nan, if there
/// is one. The values' derivative is that of max or min.
struct ValuesAndIndices {
  Tensor values;
  Tensor indices;
};
TLALOC_API ValuesAndIndices max_with_indices(const Tensor& x, AxisRef axis, Keep keep = Keep::no);
TLALOC_API ValuesAndIndices min_with_indices(const Tensor& x, AxisRef axis, Keep keep = Keep::no);
/// Only where it stands. No derivative.
TLALOC_API Tensor argmax(const Tensor& x, AxisRef axis, Keep keep = Keep::no);
TLALOC_API Tensor argmin(const Tensor& x, AxisRef axis, Keep keep = Keep::no);

/// The variance: the sum of squared deviations from the mean over n - correction; nan unless n > correction. A
/// correction of 1 estimates the variance of what x is a sample of; 0 gives that of x itself (as NumPy does by
/// default). Integers give f32.
TLALOC_API Tensor var(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no, double correction = 1);
/// The standard deviation, sqrt(var). Equal elements have deviation 0 and gradient 0.
TLALOC_API Tensor stddev(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no, double correction = 1);
/// The p-norm sum(|x|^p)^(1/p), for p >= 1 or infinity (the largest |x|); ValueError for others. At a zero vector it
/// has gradient 0 for every p. Integers give f32.
TLALOC_API Tensor norm(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no, double p = 2);

/// log(sum(exp(x))) without overflow. -inf for nothing but -inf (with gradient 0), +inf where there is one (with
/// gradient shared among the +inf entries).
TLALOC_API Tensor logsumexp(const Tensor& x, const AxisList& axes = {}, Keep keep = Keep::no);
/// exp(x) / sum(exp(x)) along an axis, without overflow; nan for nothing but -inf.
TLALOC_API Tensor softmax(const Tensor& x, AxisRef axis);
/// log(softmax(x)), without the rounding that composing them has.
TLALOC_API Tensor log_softmax(const Tensor& x, AxisRef axis);

}  // namespace tlaloc::inline v0
