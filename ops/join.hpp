// concat: several tensors one after the other.
#pragma once

#include <vector>

#include "ops/internal.hpp"

namespace tlaloc::inline v0::ops {

struct Concat : BroadcastBatching<Concat> {
  static constexpr OpInfo info{.name = "concat", .inputs = core::any_number};
  static constexpr std::array needs{nothing};
  int axis;
  std::vector<std::int64_t> extents;  // along the axis, one an input

  Concat(int which, std::vector<std::int64_t> each) : axis(which), extents(std::move(each)) {}

  Tensor eval(std::span<const Tensor> in) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  Concat batched(std::int64_t) const { return {axis + 1, extents}; }
};

}  // namespace tlaloc::inline v0::ops
