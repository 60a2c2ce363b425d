// The one contraction: matmul, dot and outer are spellings of it.
#pragma once

#include "ops/axes.hpp"
#include "ops/internal.hpp"

namespace tlaloc::inline v0::ops {

/// Sums products over pairs of axes, pairing others. The result has the paired (batch) axes first, then what remains of
/// `a`, then what remains of `b`, each in its order.
///
/// A batch axis of one operand alone is one more axis that remains, so a shared operand is never repeated and its
/// cotangent comes summed over the batch.
struct Contract {
  static constexpr OpInfo info{.name = "matmul", .inputs = 2};
  static constexpr std::array needs{input(1), input(0)};

  /// Axis [i] of one operand goes with axis [i] of the other.
  Order a_batch, b_batch;
  Order a_summed, b_summed;

  Tensor eval(const Tensor& a, const Tensor& b) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  void batch(core::BatchCall& call) const;

 private:
  Tensor gradient_of_a(const Tensor& ct, const Tensor& b) const;
  Tensor gradient_of_b(const Tensor& ct, const Tensor& a) const;
};

}  // namespace tlaloc::inline v0::ops
