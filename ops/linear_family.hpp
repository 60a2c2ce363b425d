// The family of linear operations of one operand: its tangent goes through the operation itself, its cotangent through
// the transpose.
//
//     struct Permute : Linear<Permute> {
//       static constexpr OpInfo info{.name = "permute"};
//       Order order;
//       Tensor eval(const Tensor& x) const;
//       Tensor transpose(const Tensor& ct) const;
//       Permute batched(std::int64_t extent) const;
//     };
#pragma once

#include <array>

#include "core/dispatch.hpp"
#include "ops/internal.hpp"

namespace tlaloc::inline v0::ops {

template <class Op>
struct Linear : BroadcastBatching<Op> {
  static constexpr std::array needs{nothing};

  void vjp(core::VjpCall& call) const {
    if (call.wants(0)) call.gradients[0] = self().transpose(call.cotangents[0]);
  }
  void jvp(core::JvpCall& call) const { call.out_tangents[0] = core::dispatch(self(), call.tangents[0]); }

 private:
  const Op& self() const { return static_cast<const Op&>(*this); }
};

}  // namespace tlaloc::inline v0::ops
