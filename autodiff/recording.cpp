// What Tape needs of a GradScope beyond what grad does: gradients while operations are still recorded, and a listing.
#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>

#include "autodiff/grad_state.hpp"
#include "core/dispatch.hpp"
#include "ops/internal.hpp"

namespace tlaloc::inline v0::core {

void GradScope::check_watch(const Tensor& leaf) const {
  const LevelWord level = state_->level.word();
  const std::string who = std::string(state_->name) + ": watch() ";
  if (thread_state().levels[static_cast<std::size_t>(depth_of(level))] != level)
    throw LevelError(who + "of a tape that has ended, or that belongs to another thread; got " + describe(leaf) +
                     "; make a new one");
  check_alive(state_->name, leaf);
  if (leaf.defined() && cursor_of(leaf) > 0 && depth_of(top_note(leaf).level) >= depth_of(level))
    throw LevelError(who + "of a tensor that belongs to the tape already, or to a transform that began after it; got " +
                     describe(leaf) + "; watch what the computation begins with");
}

void GradScope::end_in_order() {
  const LevelWord level = state_->level.word();
  const ThreadState& thread = thread_state();
  const auto depth = static_cast<std::size_t>(depth_of(level));
  if (thread.levels[depth] == level && thread.depth > depth_of(level))
    throw LevelError(std::string(state_->name) + ": end() while a " +
                     thread.interpreters[static_cast<std::size_t>(thread.depth)]->describe() +
                     " that began later still runs; end them in reverse order");
  end();
}

void GradScope::pull_back_from(const Tensor& target, const Tensor& cotangent, const Leaves& sources) {
  State& state = *state_;
  const LevelWord level = state.level.word();
  if (!target.defined()) throw ValueError("gradient: the target is the empty tensor; compute it first");
  Tensor value = target;
  Tensor* const slot = lower(value);
  if (cursor_of(value) > 0 && depth_of(top_note(value).level) >= depth_of(level))
    throw LevelError("gradient: the target belongs to a transform that began after the tape; got " + describe(target) +
                     "; ask for the gradient of what it returns");
  if (!is_float(object_of(value)->dtype))
    throw DTypeError("gradient: the target is not a float; got " + describe(value) +
                     "; differentiate a float, or cast it");
  if (!cotangent.defined() && visible_rank(value) != 0)
    throw ShapeError("gradient: the target is not a scalar; got " + describe(value) +
                     "; reduce it with sum() or mean(), or give a cotangent");
  check_alive("gradient", cotangent);
  if (cotangent.defined() && cursor_of(cotangent) > 0 && top_note(cotangent).level == level)
    throw LevelError("gradient: the cotangent belongs to the tape itself; got " + describe(cotangent) +
                     "; pass tape.value(cotangent), or nest two tapes for a second derivative");
  if (cotangent.defined() && !cotangent_fits(cotangent, value))
    throw ShapeError("gradient: the cotangent is " + describe(cotangent) + "; the target is " + describe(value) +
                     "; a cotangent has the dtype, names and sizes of its target");

  std::vector<State::Input*> inputs;
  for (const Tensor* source : sources) {
    const bool mine = source->defined() && cursor_of(*source) > 0 && top_note(*source).level == level;
    Tensor* const wanted = mine ? reinterpret_cast<Tensor*>(top_note(*source).value) : nullptr;
    const auto found = std::find_if(state.inputs.begin(), state.inputs.end(), [&](const State::Input& input) {
      return wanted != nullptr && input.slot == wanted;
    });
    const bool needs_none = !source->defined() || !is_float(object_of(*source)->dtype);
    if (found == state.inputs.end() && !needs_none)
      throw ValueError("gradient: source " + std::to_string(inputs.size()) + " is not watched by this tape; got " +
                       describe(*source) + "; pass what watch() returned, and compute the target from it");
    inputs.push_back(found == state.inputs.end() ? nullptr : &*found);
  }

  struct Cleanup {
    State& state;
    ~Cleanup() {
      for (State::Input& input : state.inputs)
        if (input.slot != nullptr) *input.slot = Tensor();
    }
  } cleanup{state};
  if (slot != nullptr) {
    *slot = cotangent.defined() ? cotangent : full({}, 1, object_of(value)->dtype);
    std::optional<RuleScope> rule;
    if (thread_state().levels[static_cast<std::size_t>(depth_of(level))] == level)
      rule.emplace("gradient", level, depth_of(level));
    state.interpreter.tape.sweep(autodiff::Sweep::again);
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Tensor& gradient = *sources[i];
    if (inputs[i] == nullptr)
      gradient = Tensor();
    else
      gradient =
          inputs[i]->slot->defined() ? with_names_of(*inputs[i]->slot, inputs[i]->value) : zeros_like(inputs[i]->value);
  }
}

void GradScope::print(std::ostream& stream, bool as_dot) const {
  const std::vector<autodiff::Tape::View> nodes = state_->interpreter.tape.nodes();
  std::unordered_map<const Tensor*, std::size_t> values;
  std::size_t watched = 0;
  for (const State::Input& input : state_->inputs)
    if (input.slot != nullptr) {
      values.emplace(input.slot, values.size());
      ++watched;
    }
  stream << (as_dot
                 ? "digraph tape {\n"
                 : "tape: " + std::to_string(watched) + " inputs, " + std::to_string(nodes.size()) + " operations\n");
  for (const State::Input& input : state_->inputs) {
    if (input.slot == nullptr) continue;
    const std::string number = std::to_string(values.at(input.slot));
    if (as_dot)
      stream << "  v" << number << " [shape=box, label=\"" << describe(input.value) << "\"];\n";
    else
      stream << "  %" << number << " = input " << describe(input.value) << '\n';
  }
  for (const autodiff::Tape::View& node : nodes) {
    const std::size_t first = values.size();
    for (std::size_t k = 0; k < node.result_count; ++k) values.emplace(node.slots + k, first + k);
    std::string kept;
    for (const Tensor& x : node.saved) kept += (kept.empty() ? "" : ", ") + describe(x);
    if (as_dot) {
      stream << "  v" << first << " [label=\"" << node.name << (kept.empty() ? "" : "\\nkeeps " + kept) << "\"];\n";
      for (std::size_t k = 1; k < node.result_count; ++k)
        stream << "  v" << first + k << " [label=\"" << node.name << " result " << k << "\"];\n  v" << first << " -> v"
               << first + k << ";\n";
      for (const Tensor* input : node.input_slots)
        if (input != nullptr) stream << "  v" << values.at(input) << " -> v" << first << ";\n";
      continue;
    }
    stream << "  ";
    for (std::size_t k = 0; k < node.result_count; ++k) stream << (k == 0 ? "%" : ", %") << first + k;
    stream << " = " << node.name << '(';
    for (std::size_t i = 0; i < node.input_slots.size(); ++i) {
      stream << (i == 0 ? "" : ", ");
      if (const Tensor* const input = node.input_slots[i]; input != nullptr)
        stream << '%' << values.at(input);
      else
        stream << "constant";
    }
    stream << ')' << (kept.empty() ? "" : ", keeps " + kept) << '\n';
  }
  if (as_dot) stream << "}\n";
}

}  // namespace tlaloc::inline v0::core
