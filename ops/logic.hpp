// Operations on truth values.
#pragma once

#include "ops/internal.hpp"

namespace tlaloc::inline v0::ops {

enum class Connective : std::uint8_t { conjunction, disjunction, exclusive };

constexpr std::string_view name_of(Connective connective) {
  constexpr std::string_view names[] = {"logical_and", "logical_or", "logical_xor"};
  return names[static_cast<int>(connective)];
}

template <Connective connective>
struct Connect : BroadcastBatching<Connect<connective>> {
  static constexpr OpInfo info{.name = name_of(connective), .inputs = 2};
  static constexpr std::string_view not_differentiable = "truth values have no derivatives";

  Tensor eval(const Tensor& a, const Tensor& b) const;
  Connect batched(std::int64_t) const { return *this; }
};

struct Not : BroadcastBatching<Not> {
  static constexpr OpInfo info{.name = "logical_not"};
  static constexpr std::string_view not_differentiable = "truth values have no derivatives";

  Tensor eval(const Tensor& x) const;
  Not batched(std::int64_t) const { return *this; }
};

}  // namespace tlaloc::inline v0::ops
