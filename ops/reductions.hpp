// Reductions: sum, prod, max, min, logsumexp, and softmax, which is what logsumexp differentiates to.
#pragma once

#include <limits>

#include <tlaloc/reduce.hpp>

#include "ops/axes.hpp"
#include "ops/elementwise_family.hpp"
#include "ops/kernels/math.hpp"
#include "ops/linear_family.hpp"

namespace tlaloc::inline v0::ops {

/// What every reduction knows: which axes go away, and what they were (so that Expand can bring them back).
struct Reduced {
  AxisSet axes;
  Shape removed;

  Reduced(AxisSet which, const Shape& dims) : axes(which), removed(dims) {}
  Reduced shifted() const { return {axes.shifted(), removed}; }
  /// A result of the reduction, repeated along the axes that went away.
  Tensor expand(const Tensor& y) const;
  Tensor sum(const Tensor& x) const;
};

/// The reduction of x along the axes that a caller names.
Reduced reduced(std::string_view op, const Tensor& x, const AxisList& axes);
/// The reduced axes back with extent 1, if they are to be kept.
Tensor kept(const Tensor& y, const Reduced& over, Keep keep);

/// The transpose of Expand. Integers and bools are summed as i64.
struct Sum : Linear<Sum> {
  static constexpr OpInfo info{.name = "sum"};
  Reduced over;

  Sum(AxisSet axes, const Shape& removed) : over(axes, removed) {}
  explicit Sum(const Reduced& reduced) : over(reduced) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const { return over.expand(ct); }
  Sum batched(std::int64_t) const { return Sum(over.shifted()); }
};

/// Differentiated as a tree of products of two, which is exact with zeros among the factors, to every order. Integers
/// and bools are multiplied as i64.
struct Prod : BroadcastBatching<Prod> {
  static constexpr OpInfo info{.name = "prod"};
  static constexpr std::array needs{input(0)};
  Reduced over;

  explicit Prod(const Reduced& reduced) : over(reduced) {}

  Tensor eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  Prod batched(std::int64_t) const { return Prod(over.shifted()); }
};

struct Largest;
struct Smallest;

/// The entry at one end of an order. k equal ones share the cotangent.
template <class Which>
struct Extreme : BroadcastBatching<Extreme<Which>> {
  static constexpr OpInfo info{.name = std::is_same_v<Which, Largest> ? "max" : "min"};
  static constexpr std::array needs{input(0) | output()};
  Reduced over;

  explicit Extreme(const Reduced& reduced) : over(reduced) {}

  Tensor eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  Extreme batched(std::int64_t) const { return Extreme(over.shifted()); }
};

template <class Which>
struct ExtremeWithIndices : BroadcastBatching<ExtremeWithIndices<Which>> {
  static constexpr OpInfo info{.name = std::is_same_v<Which, Largest> ? "max_with_indices" : "min_with_indices",
                               .results = 2};
  static constexpr std::array needs{input(0) | output(0)};
  Reduced over;  // one axis

  explicit ExtremeWithIndices(const Reduced& reduced) : over(reduced) {}

  std::array<Tensor, 2> eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  ExtremeWithIndices batched(std::int64_t) const { return ExtremeWithIndices(over.shifted()); }
};

/// exp(x - y) where y is logsumexp(x), with the limits at its infinities: 0 at y = -inf; at y = +inf, 1 where x is +inf
/// and 0 elsewhere.
struct SoftmaxWeight : Elementwise<SoftmaxWeight, 2> {
  static constexpr OpInfo info{.name = "logsumexp", .inputs = 2};
  static constexpr std::array needs{output(), output()};
  template <class T>
  static kernels::Lanes<T> value(kernels::Lanes<T> x, kernels::Lanes<T> y) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    const kernels::Lanes<T> limit = kernels::select(x == kernels::Lanes<T>(inf), 1, 0);
    return kernels::select(kernels::abs(y) == kernels::Lanes<T>(inf), limit, kernels::math::exp(x - y));
  }
  template <int I>
  static auto partial(const auto&, const auto&, const auto& weight) {
    if constexpr (I == 0)
      return weight;
    else
      return -weight;
  }
};

/// The way back through logsumexp: inputs are the cotangent, x and y = logsumexp(x).
struct LogSumExpProduct : BroadcastBatching<LogSumExpProduct> {
  static constexpr OpInfo info{.name = "logsumexp", .inputs = 3};
  Reduced over;

  explicit LogSumExpProduct(const Reduced& reduced) : over(reduced) {}

  Tensor eval(const Tensor& ct, const Tensor& x, const Tensor& y) const;
  Tensor expand(const Tensor& ct, const Tensor& x, const Tensor& y) const;
  LogSumExpProduct batched(std::int64_t) const { return LogSumExpProduct(over.shifted()); }
};

struct LogSumExp : BroadcastBatching<LogSumExp> {
  static constexpr OpInfo info{.name = "logsumexp"};
  static constexpr std::array needs{input(0) | output()};
  Reduced over;

  explicit LogSumExp(const Reduced& reduced) : over(reduced) {}

  Tensor eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  LogSumExp batched(std::int64_t) const { return LogSumExp(over.shifted()); }
};

/// y * (ct - sum(ct * y)): a softmax's Jacobian, which is symmetric, times a vector.
struct SoftmaxProduct : BroadcastBatching<SoftmaxProduct> {
  static constexpr OpInfo info{.name = "softmax", .inputs = 2};
  Reduced along;  // one axis

  explicit SoftmaxProduct(const Reduced& axis) : along(axis) {}

  Tensor eval(const Tensor& y, const Tensor& ct) const;
  Tensor expand(const Tensor& y, const Tensor& ct) const;
  SoftmaxProduct batched(std::int64_t) const { return SoftmaxProduct(along.shifted()); }
};

struct Softmax : BroadcastBatching<Softmax> {
  static constexpr OpInfo info{.name = "softmax"};
  static constexpr std::array needs{output()};
  Reduced along;

  explicit Softmax(const Reduced& axis) : along(axis) {}

  Tensor eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const {
    if (call.wants(0)) call.gradients[0] = core::dispatch(SoftmaxProduct(along), call.saved.out(), call.cotangents[0]);
  }
  void jvp(core::JvpCall& call) const {
    call.out_tangents[0] = core::dispatch(SoftmaxProduct(along), call.out[0], call.tangents[0]);
  }
  Softmax batched(std::int64_t) const { return Softmax(along.shifted()); }
};

/// ct - exp(y) * sum(ct): the way back through a log-softmax.
struct LogSoftmaxProduct : BroadcastBatching<LogSoftmaxProduct> {
  static constexpr OpInfo info{.name = "log_softmax", .inputs = 2};
  Reduced along;

  explicit LogSoftmaxProduct(const Reduced& axis) : along(axis) {}

  Tensor eval(const Tensor& y, const Tensor& ct) const;
  Tensor expand(const Tensor& y, const Tensor& ct) const;
  LogSoftmaxProduct batched(std::int64_t) const { return LogSoftmaxProduct(along.shifted()); }
};

struct LogSoftmax : BroadcastBatching<LogSoftmax> {
  static constexpr OpInfo info{.name = "log_softmax"};
  static constexpr std::array needs{output()};
  Reduced along;

  explicit LogSoftmax(const Reduced& axis) : along(axis) {}

  Tensor eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const {
    if (call.wants(0))
      call.gradients[0] = core::dispatch(LogSoftmaxProduct(along), call.saved.out(), call.cotangents[0]);
  }
  void jvp(core::JvpCall& call) const;
  LogSoftmax batched(std::int64_t) const { return LogSoftmax(along.shifted()); }
};

}  // namespace tlaloc::inline v0::ops
