// Levels of custom functions: which transform takes a call, and what its rules may not touch.
#include "core/custom.hpp"

#include <algorithm>

#include <tlaloc/error.hpp>

#include "core/dispatch.hpp"
#include "core/region.hpp"

namespace tlaloc::inline v0::core {

namespace {

Tensors interpret(const CustomRef& function, const Tensors& in) {
  LevelWord top = 0;
  for (const Tensor& x : in) {
    check_alive(function->name, x);
    if (x.defined() && cursor_of(x) > 0) top = std::max(top, top_note(x).level);
  }
  if (top == 0) return function->value(in);
  const RegionSwitch below(region_outside(thread_state().region, top));
  return thread_state().interpreters[static_cast<std::size_t>(depth_of(top))]->apply(function, in);
}

}  // namespace

Tensors dispatch_custom(const CustomRef& function, const Tensors& in) {
  Region* const region = thread_state().region;
  if (region == nullptr) return interpret(function, in);
  Tensors admitted = in;
  for (Tensor& x : admitted) {
    check_alive(function->name, x);
    if (Tensor copy = x.defined() ? region->admitted(x) : Tensor(); copy.defined()) x = std::move(copy);
  }
  Tensors results = interpret(function, admitted);
  for (const Tensor& x : results)
    if (x.defined()) region->adopt(x);
  return results;
}

RuleScope::RuleScope(std::string_view who, LevelWord level, int deepest)
    : state_(thread_state()), first_(static_cast<std::size_t>(depth_of(level))) {
  const auto last = static_cast<std::size_t>(std::min(state_.depth, deepest));
  if (last < first_) return;
  refusals_.reserve(last - first_ + 1);
  for (std::size_t depth = first_; depth <= last; ++depth) {
    refusals_.push_back(Refusal(who, state_.interpreters[depth]));
    state_.interpreters[depth] = &refusals_.back();
  }
}

RuleScope::~RuleScope() {
  for (std::size_t i = 0; i < refusals_.size(); ++i) state_.interpreters[first_ + i] = refusals_[i].refused();
}

void RuleScope::Refusal::refuse(std::span<const Tensor> in) const {
  throw LevelError(std::string(who_) + ": an operation inside meets a tensor of a running " + describe() +
                   " that is not one of the arguments; " + core::describe(in) + "; pass it as an argument");
}
void RuleScope::Refusal::apply(const OpTable&, const void*, std::span<const Tensor> in, Tensor*) { refuse(in); }
Tensors RuleScope::Refusal::apply(const CustomRef&, const Tensors& in) { refuse(in); }

void require_outside(std::string_view who, const Tensors& results, LevelWord level) {
  for (const Tensor& x : results) {
    check_alive(who, x);
    if (!x.defined() || cursor_of(x) == 0 || depth_of(top_note(x).level) < depth_of(level)) continue;
    const Interpreter& owner = *thread_state().interpreters[static_cast<std::size_t>(depth_of(top_note(x).level))];
    throw LevelError(std::string(who) + ": a rule returned a tensor of a running " + owner.describe() +
                     " that is not one of the arguments; got " + describe(x) + "; pass it as an argument");
  }
}

}  // namespace tlaloc::inline v0::core
