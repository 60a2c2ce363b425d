// Watching for the first operation that makes a nan or an infinity out of numbers that are none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tlaloc/error.hpp>
#include <tlaloc/tensor.hpp>

#include "core/op.hpp"

namespace tlaloc::inline v0::core {

/// What is thrown: a ValueError that grows on its way out. A vmap it leaves takes its example from the index and shows
/// the operation as it was called inside it; a sweep adds which operation's derivative was being computed.
class NotFinite : public ValueError {
 public:
  NotFinite(std::string what, std::string operation, std::vector<std::int64_t> index, std::string examples,
            std::string way);

  NotFinite out_of_map(const std::string& axis, const std::string& operation) const;
  NotFinite on_the_way_back(std::string_view through) const;

 private:
  std::string what_;       // "nan_check, begun at file.cpp:12: divide makes nan"
  std::string operation_;  // "got f32 [3], f32 [3]"
  std::vector<std::int64_t> index_;
  std::string examples_;  // " of example 3 along batch"
  std::string way_;       // " on the way back through tanh"
};

/// Throws NotFinite when a result holds a nan and no input does, or an infinity while all inputs are finite.
void require_finite(const OpTable& table, std::span<const Tensor> in, const Tensor* out);

}  // namespace tlaloc::inline v0::core
