// Sort: the first elements of every row in order, and where they came from. Its derivative is that of taking them
// there.
#pragma once

#include "ops/indexing.hpp"

namespace tlaloc::inline v0::ops {

/// Along the last axis. Results: the values and their i64 indices.
struct Sort : BroadcastBatching<Sort> {
  static constexpr OpInfo info{.name = "sort", .results = 2};
  static constexpr std::array needs{output(1)};
  std::int64_t extent;
  std::int64_t kept;
  bool descending;

  Sort(std::int64_t whole, std::int64_t first, bool down) : extent(whole), kept(first), descending(down) {}

  std::array<Tensor, 2> eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  Sort batched(std::int64_t) const { return *this; }

 private:
  Places places(const Tensor& indices) const;
};

}  // namespace tlaloc::inline v0::ops
