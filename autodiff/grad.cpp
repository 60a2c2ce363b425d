// The interpreter behind grad and vjp, and what their headers call.
#include <tlaloc/grad.hpp>

#include <algorithm>
#include <string>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>

#include "autodiff/custom.hpp"
#include "autodiff/grad_state.hpp"
#include "core/dispatch.hpp"
#include "ops/internal.hpp"

namespace tlaloc::inline v0::core {
namespace {

using autodiff::Sweep;

std::string argument_text(std::string_view name, int argument, const Tensor& leaf) {
  return std::string(name) + ": argument " + std::to_string(argument) + ", " + describe(leaf) + ',';
}

}  // namespace

void TapeInterpreter::apply(const OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out) {
  if (table.derivative == Derivative::expansion) {
    const NamesOff names_off;
    return table.expand(op, in, out);
  }
  Borrowed<3> lower(in.size());
  InlineVector<Tensor*, 3> slots(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool mine = cursor_of(in[i]) > 0 && top_note(in[i]).level == level;
    slots[i] = mine ? reinterpret_cast<Tensor*>(top_note(in[i]).value) : nullptr;
    lower.set(i, in[i].bits() - (mine ? 1 : 0));
  }
  const std::span<const Tensor> operands = lower.span(in.size());
  table.run(op, operands, out);
  if (table.derivative == Derivative::none) return;
  const int results = table.info.results;
  bool differentiable = false;
  for (int k = 0; k < results; ++k) differentiable |= is_float(object_of(out[k])->dtype);
  if (!differentiable) return;
  Tensor* const result_slots = tape.record(table, op, operands, slots.span(), {out, static_cast<std::size_t>(results)});
  for (int k = 0; k < results; ++k)
    if (is_float(object_of(out[k])->dtype))
      lift_result(out[k], {level, reinterpret_cast<std::uintptr_t>(result_slots + k)}, in);
}

Tensors TapeInterpreter::apply(const CustomRef& function, const Tensors& in) {
  Tensors operands;
  InlineVector<Tensor*, 3> slots(in.size());
  std::vector<bool> wanted(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    wanted[i] = in[i].defined() && cursor_of(in[i]) > 0 && top_note(in[i]).level == level;
    slots[i] = wanted[i] ? reinterpret_cast<Tensor*>(top_note(in[i]).value) : nullptr;
    operands.push_back(wanted[i] ? lowered(in[i]) : in[i]);
  }
  autodiff::CustomReverse run = [&] {
    const RuleScope rule(function->name, level);
    return autodiff::reverse(function, operands, wanted);
  }();
  require_outside(function->name, run.results, level);
  const auto pull = std::make_shared<const decltype(run.pull)>(std::move(run.pull));
  const autodiff::CustomNode node{pull};
  Tensor* const result_slots =
      tape.record(autodiff::custom_node_table(function->name), &node, operands, slots.span(), run.results);
  for (std::size_t k = 0; k < run.results.size(); ++k)
    if (Tensor& x = run.results[k]; x.defined() && is_float(object_of(x)->dtype))
      x = lift(x, {level, reinterpret_cast<std::uintptr_t>(result_slots + k)});
  return std::move(run.results);
}

void GradScope::Destroy::operator()(State* state) const noexcept {
  std::destroy_at(state);
  deallocate(reinterpret_cast<std::byte*>(state), class_of(sizeof(State)));
}

GradScope::GradScope(std::string_view name) {
  const Block block = allocate_class(class_of(sizeof(State)));
  try {
    state_.reset(::new (block.data) State(name));
  } catch (...) {
    deallocate(block.data, block.size_class);
    throw;
  }
}
GradScope::GradScope(GradScope&&) noexcept = default;
GradScope& GradScope::operator=(GradScope&&) noexcept = default;
GradScope::~GradScope() = default;

void GradScope::watch(Tensor& leaf, int argument, LeafKind kind) {
  State& state = *state_;
  check_alive(state.name, leaf);
  const bool differentiable = leaf.defined() && is_float(object_of(leaf)->dtype);
  if (!differentiable && kind == LeafKind::whole_argument) {
    if (!leaf.defined()) throw ValueError(argument_text(state.name, argument, leaf) + " has no value; pass a tensor");
    throw DTypeError(argument_text(state.name, argument, leaf) +
                     " is not a float and has no gradient; cast it, or leave it out of argnums");
  }
  Tensor* const slot = differentiable ? state.interpreter.tape.new_slot() : nullptr;
  state.inputs.push_back({leaf, slot});
  if (differentiable) leaf = lift(leaf, {state.level.word(), reinterpret_cast<std::uintptr_t>(slot)});
}

Tensor* GradScope::lower(Tensor& x) {
  if (!x.defined() || cursor_of(x) == 0) return nullptr;
  const Annotation note = top_note(x);
  if (note.level != state_->level.word()) {
    check_alive(state_->name, x);
    return nullptr;
  }
  x = lowered(x);
  return reinterpret_cast<Tensor*>(note.value);
}

void GradScope::output(Tensor& x) {
  Tensor* const slot = lower(x);
  state_->outputs.push_back({x, slot});
}

void GradScope::end() noexcept { state_->level.end(); }

void GradScope::loss(Tensor& x) {
  State& state = *state_;
  if (!x.defined())
    throw ValueError(std::string(state.name) + ": the function returned the empty tensor; return the loss");
  if (!is_float(object_of(x)->dtype))
    throw DTypeError(std::string(state.name) + ": the function's result is not a float; got " + describe(x) +
                     "; differentiate a float, or cast it");
  if (visible_rank(x) != 0)
    throw ShapeError(std::string(state.name) + ": the function's result is not a scalar; got " + describe(x) +
                     (visible_dims(x).size() == 1 && visible_dims(x)[0].extent() == 1
                          ? "; squeeze() takes an axis of extent 1 away"
                          : "; reduce it with sum() or mean(), or map the function with vmap") +
                     ", or use vjp");
  output(x);
}

void GradScope::pull_back(std::span<const Tensor> cotangents, std::span<Tensor> gradients, bool last) {
  State& state = *state_;
  try {
    for (std::size_t k = 0; k < cotangents.size(); ++k) {
      const State::Output& output = state.outputs[k];
      if (output.slot == nullptr || !cotangents[k].defined()) continue;
      ops::accumulate(*output.slot, cotangents[k]);
    }
  } catch (...) {
    state.interpreter.tape.clear_slots();
    throw;
  }
  state.interpreter.tape.sweep(last ? Sweep::last : Sweep::again);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const State::Input& input = state.inputs[i];
    if (input.slot == nullptr) {
      gradients[i] = Tensor();
    } else if (input.slot->defined()) {
      gradients[i] = with_names_of(std::exchange(*input.slot, Tensor()), input.value);
    } else {
      gradients[i] = zeros_like(input.value);
    }
  }
}

void GradScope::pull_back_one(std::span<Tensor> gradients) {
  const Tensor& loss = state_->outputs.back().value;
  const Tensor one = full({}, 1, object_of(loss)->dtype);
  pull_back({&one, 1}, gradients, true);
}

bool cotangent_fits(const Tensor& cotangent, const Tensor& result) {
  const auto mine = visible_dims(cotangent);
  const auto wanted = visible_dims(result);
  if (mine.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const bool named = mine[i].axis().named() && wanted[i].axis().named();
    if (mine[i].extent() != wanted[i].extent() || (named && mine[i].axis() != wanted[i].axis())) return false;
  }
  return object_of(cotangent)->dtype == object_of(result)->dtype;
}

void GradScope::check_cotangent(std::size_t k, const Tensor& cotangent) const {
  const Tensor& value = state_->outputs[k].value;
  if (cotangent.defined() && !cotangent_fits(cotangent, value))
    throw ShapeError("vjp: the cotangent of result " + std::to_string(k) + " is " + describe(cotangent) +
                     "; the result is " + describe(value) +
                     "; a cotangent has the dtype, names and sizes of its result");
}

void refuse_structure(std::size_t given, std::size_t wanted) {
  throw ValueError("vjp: the cotangent holds " + std::to_string(given) + " tensors and the result " +
                   std::to_string(wanted) + "; a cotangent is a tree like the result");
}

std::size_t GradScope::output_count() const { return state_->outputs.size(); }
const Tensor& GradScope::output_value(std::size_t k) const { return state_->outputs[k].value; }
std::size_t GradScope::input_count() const { return state_->inputs.size(); }
const Tensor& GradScope::input_value(std::size_t i) const { return state_->inputs[i].value; }

}  // namespace tlaloc::inline v0::core
