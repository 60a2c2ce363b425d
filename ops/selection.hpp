// Operations that choose or convert: comparisons, where, cast, stop_gradient.
#pragma once

#include "ops/arithmetic.hpp"
#include "ops/internal.hpp"

namespace tlaloc::inline v0::ops {

enum class Relation : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

constexpr std::string_view name_of(Relation relation) {
  constexpr std::string_view names[] = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
  return names[static_cast<int>(relation)];
}

template <Relation relation>
struct Compare : BroadcastBatching<Compare<relation>> {
  static constexpr OpInfo info{.name = name_of(relation), .inputs = 2};
  static constexpr std::string_view not_differentiable = "a comparison is constant almost everywhere";

  Tensor eval(const Tensor& a, const Tensor& b) const;
  Compare batched(std::int64_t) const { return *this; }
};

template <Relation relation>
struct CompareWithNumber : BroadcastBatching<CompareWithNumber<relation>> {
  static constexpr OpInfo info{.name = name_of(relation)};
  static constexpr std::string_view not_differentiable = "a comparison is constant almost everywhere";
  Number number;

  explicit CompareWithNumber(Number fixed) : number(fixed) {}

  Tensor eval(const Tensor& x) const;
  CompareWithNumber batched(std::int64_t) const { return *this; }
};

/// Inputs: the condition, then what is taken where it is true, and where it is not.
struct Where : BroadcastBatching<Where> {
  static constexpr OpInfo info{.name = "where", .inputs = 3};
  static constexpr std::array needs{nothing, input(0), input(0)};

  Tensor eval(const Tensor& condition, const Tensor& yes, const Tensor& no) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  Where batched(std::int64_t) const { return *this; }
};

struct Cast : BroadcastBatching<Cast> {
  static constexpr OpInfo info{.name = "cast"};
  static constexpr std::array needs{nothing};
  DType from;
  DType to;

  Cast(DType own, DType wanted) : from(own), to(wanted) {}

  Tensor eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  Cast batched(std::int64_t) const { return *this; }
};

struct StopGradient : BroadcastBatching<StopGradient> {
  static constexpr OpInfo info{.name = "stop_gradient"};
  static constexpr std::string_view not_differentiable = "this is what it is for";

  Tensor eval(const Tensor& x) const { return x; }
  StopGradient batched(std::int64_t) const { return *this; }
};

/// Zeros of x's visible shape and dtype, without memory of their own.
Tensor zero_like(const Tensor& x);

}  // namespace tlaloc::inline v0::ops
