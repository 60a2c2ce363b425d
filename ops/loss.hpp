// The fused softmax cross-entropy, for labels that are rows of weights or class indices. It stands beside the
// composition of log_softmax, multiply and sum that it equals.
#pragma once

#include "ops/internal.hpp"

namespace tlaloc::inline v0::ops {

/// Inputs: logits and labels of one shape, the classes last.
struct CrossEntropy : BroadcastBatching<CrossEntropy> {
  static constexpr OpInfo info{.name = "cross_entropy", .inputs = 2};
  static constexpr std::array needs{input(0) | input(1), input(0)};

  Tensor eval(const Tensor& logits, const Tensor& labels) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  CrossEntropy batched(std::int64_t) const { return *this; }
};

/// Inputs: the cotangent, logits and labels.
struct CrossEntropyProduct : BroadcastBatching<CrossEntropyProduct> {
  static constexpr OpInfo info{.name = "cross_entropy", .inputs = 3};

  Tensor eval(const Tensor& ct, const Tensor& logits, const Tensor& labels) const;
  Tensor expand(const Tensor& ct, const Tensor& logits, const Tensor& labels) const;
  CrossEntropyProduct batched(std::int64_t) const { return *this; }
};

/// Inputs: logits, the classes last, and i32 or i64 class indices.
struct CrossEntropyOfClasses : BroadcastBatching<CrossEntropyOfClasses> {
  static constexpr OpInfo info{.name = "cross_entropy", .inputs = 2};
  static constexpr std::array needs{input(0) | input(1), nothing};

  Tensor eval(const Tensor& logits, const Tensor& classes) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  CrossEntropyOfClasses batched(std::int64_t) const { return *this; }
};

struct CrossEntropyOfClassesProduct : BroadcastBatching<CrossEntropyOfClassesProduct> {
  static constexpr OpInfo info{.name = "cross_entropy", .inputs = 3};

  Tensor eval(const Tensor& ct, const Tensor& logits, const Tensor& classes) const;
  Tensor expand(const Tensor& ct, const Tensor& logits, const Tensor& classes) const;
  CrossEntropyOfClassesProduct batched(std::int64_t) const { return *this; }
};

}  // namespace tlaloc::inline v0::ops
