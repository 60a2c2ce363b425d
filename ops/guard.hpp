// guard(mask, x): x where the mask is true; elsewhere the first active example's values, with no gradient.
#pragma once

#include "ops/internal.hpp"

namespace tlaloc::inline v0::ops {

/// The mask's dimensions are the first ones of x. At least one of its elements is true.
struct Guard : BroadcastBatching<Guard> {
  static constexpr OpInfo info{.name = "guard", .inputs = 2};
  static constexpr std::array needs{nothing, input(0)};

  Tensor eval(const Tensor& mask, const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  Guard batched(std::int64_t) const { return {}; }
};

}  // namespace tlaloc::inline v0::ops
