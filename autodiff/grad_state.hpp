// What is behind a GradScope: the interpreter that records, its tape, and what was watched and returned.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <tlaloc/grad.hpp>

#include "autodiff/tape.hpp"
#include "core/custom.hpp"
#include "core/inline_vector.hpp"
#include "core/op.hpp"
#include "core/thread_state.hpp"

namespace tlaloc::inline v0::core {

/// Records what depends on a differentiated input, and lets the rest pass.
class TapeInterpreter final : public Interpreter {
 public:
  explicit TapeInterpreter(std::string_view name) : name_(name) {}

  autodiff::Tape tape;
  LevelWord level = 0;

  void apply(const OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out) override;
  Tensors apply(const CustomRef& function, const Tensors& in) override;
  std::string describe() const override { return std::string(name_); }

 private:
  std::string_view name_;
};

struct GradScope::State {
  explicit State(std::string_view what) : interpreter(what), name(what), level(LevelKind::grad, interpreter) {
    interpreter.level = level.word();
  }

  struct Input {
    Tensor value;
    Tensor* slot;  // null: of a type that has no gradient
  };
  struct Output {
    Tensor value;  // gives the shape a cotangent must have
    Tensor* slot;  // null: does not depend on any input
  };

  TapeInterpreter interpreter;
  std::string_view name;
  InlineVector<Input, 6> inputs;
  InlineVector<Output, 2> outputs;
  LevelScope level;
};

/// Whether a cotangent has the dtype and sizes of its result, and none of its names is another.
bool cotangent_fits(const Tensor& cotangent, const Tensor& result);

}  // namespace tlaloc::inline v0::core
