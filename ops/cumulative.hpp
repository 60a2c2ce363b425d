// Running sums and products. Whatever is not linear is differentiated through one linear operation, the recurrence
// h[k] = a[k] h[k-1] + b[k], which is closed under transposition and divides nothing.
#pragma once

#include "ops/linear_family.hpp"

namespace tlaloc::inline v0::ops {

/// The axis along which something runs, and the way.
struct Run {
  int axis;
  bool reverse;

  Run batched() const { return {axis + 1, reverse}; }
  Run reversed() const { return {axis, !reverse}; }
  /// x one place later, with `fill` in the first place.
  Tensor delayed(const Tensor& x, Scalar fill) const;
};

struct CumSum : Linear<CumSum> {
  static constexpr OpInfo info{.name = "cumsum"};
  Run run;

  explicit CumSum(Run way) : run(way) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const { return core::dispatch(CumSum(run.reversed()), ct); }
  CumSum batched(std::int64_t) const { return CumSum(run.batched()); }
};

/// Inputs: a and b. h[k] = a[k] h[k-1] + b[k] in running order, or a[k-1] h[k-1] + b[k] when the factors are delayed.
/// Such recurrences carry tangents and cotangents: where h[k-1] is 0 it asks for nothing, whatever the factor.
struct Recurrence : BroadcastBatching<Recurrence> {
  static constexpr OpInfo info{.name = "cumprod", .inputs = 2};
  static constexpr std::array needs{input(0) | output(), input(0)};
  Run run;
  bool delayed;

  Recurrence(Run way, bool delayed_factors) : run(way), delayed(delayed_factors) {}
  /// Its transpose in b.
  Recurrence transposed() const { return {run.reversed(), !delayed}; }

  Tensor eval(const Tensor& a, const Tensor& b) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  Recurrence batched(std::int64_t) const { return {run.batched(), delayed}; }
};

struct CumProd : BroadcastBatching<CumProd> {
  static constexpr OpInfo info{.name = "cumprod"};
  static constexpr std::array needs{input(0) | output()};
  Run run;

  explicit CumProd(Run way) : run(way) {}

  Tensor eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  CumProd batched(std::int64_t) const { return CumProd(run.batched()); }
};

struct LogCumSumExp : BroadcastBatching<LogCumSumExp> {
  static constexpr OpInfo info{.name = "logcumsumexp"};
  static constexpr std::array needs{input(0) | output()};
  Run run;

  explicit LogCumSumExp(Run way) : run(way) {}

  Tensor eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  LogCumSumExp batched(std::int64_t) const { return LogCumSumExp(run.batched()); }
};

}  // namespace tlaloc::inline v0::ops
