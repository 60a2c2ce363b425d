// The interpreter behind vmap: a tensor at its level has the batch as its first dimension below it.
#pragma once

#include <cstdint>
#include <string>

#include "core/custom.hpp"
#include "core/object.hpp"
#include "core/op.hpp"

namespace tlaloc::inline v0::core {

/// Runs an operation once for the whole batch, by its batching rule.
class BatchInterpreter final : public Interpreter {
 public:
  LevelWord level = 0;
  std::int64_t extent = 0;
  Axis axis;

  bool is_mapped(const Tensor& x) const { return x.defined() && cursor_of(x) > 0 && top_note(x).level == level; }

  void apply(const OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out) override;
  Tensors apply(const CustomRef& function, const Tensors& in) override;
  std::string describe() const override { return axis.named() ? "vmap over " + axis.name() : "vmap"; }
};

}  // namespace tlaloc::inline v0::core
