// dispatch() for users' functions that have rules of their own (include/tlaloc/custom.hpp), and what their rules run
// under.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tlaloc/custom.hpp>

#include "core/inline_vector.hpp"
#include "core/op.hpp"
#include "core/thread_state.hpp"

namespace tlaloc::inline v0::core {

/// What a forward rule gives: results, and what backward takes to gradients together with cotangents.
struct CustomForward {
  Tensors results;
  Tensors residuals;
  std::function<Tensors(const Tensors& residuals, const Tensors& cotangents)> backward;
};
struct CustomTangents {
  Tensors results;
  Tensors tangents;
};

/// A function and the rules it has, the user's or made from those; `value` is always there. Tensors may be empty.
struct CustomFunction {
  std::string_view name;
  std::function<Tensors(const Tensors& in)> value;
  std::function<CustomForward(const Tensors& in)> forward;
  std::function<CustomTangents(const Tensors& in, const Tensors& tangents)> jvp;
  std::function<Tensors(std::int64_t extent, const std::vector<bool>& mapped, const Tensors& in)> batch;
};

using CustomRef = std::shared_ptr<const CustomFunction>;

/// Hands the application to the innermost transform among its inputs, or runs the function when there is none.
Tensors dispatch_custom(const CustomRef& function, const Tensors& in);

/// While it lives, a rule that belongs to the transform at `level` runs: a tensor of that transform, or of one inside
/// it, must have been captured by the user's function, and using it is a LevelError.
class RuleScope {
 public:
  RuleScope(std::string_view who, LevelWord level) : RuleScope(who, level, max_levels) {}
  /// Tensors of transforms deeper than `deepest` may be used.
  RuleScope(std::string_view who, LevelWord level, int deepest);
  ~RuleScope();
  RuleScope(const RuleScope&) = delete;
  RuleScope& operator=(const RuleScope&) = delete;

 private:
  class Refusal final : public Interpreter {
   public:
    Refusal(std::string_view who, Interpreter* refused) : who_(who), refused_(refused) {}
    void apply(const OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out) override;
    Tensors apply(const CustomRef& function, const Tensors& in) override;
    std::string describe() const override { return refused_->describe(); }
    Interpreter* refused() const { return refused_; }

   private:
    [[noreturn]] void refuse(std::span<const Tensor> in) const;

    std::string_view who_;
    Interpreter* refused_;
  };

  ThreadState& state_;
  std::size_t first_;
  InlineVector<Refusal, 4> refusals_;
};

/// LevelError when a rule has returned a tensor of the transform it belongs to, or of one inside it.
void require_outside(std::string_view who, const Tensors& results, LevelWord level);

}  // namespace tlaloc::inline v0::core
