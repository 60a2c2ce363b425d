#include "core/dispatch.hpp"

#include <algorithm>

#include <tlaloc/error.hpp>

#include "core/finite.hpp"
#include "core/inline_vector.hpp"
#include "core/region.hpp"

namespace tlaloc::inline v0::core {
namespace {

std::string_view name_of(LevelKind kind) {
  switch (kind) {
    case LevelKind::grad: return "a grad";
    case LevelKind::jvp: return "a jvp";
    case LevelKind::vmap: return "a vmap";
  }
  return "a transform";
}

[[noreturn]] void refuse_level(std::string_view who, const std::string& subject, LevelWord level,
                               std::span<const Tensor> in) {
  throw LevelError(std::string(who) + ": " + subject + " belongs to " + std::string(name_of(kind_of(level))) +
                   " that has ended, or that runs on another thread; " + describe(in) +
                   "; return the tensor from the transformed function instead of storing it elsewhere");
}

[[noreturn]] void refuse_empty(std::string_view op, std::size_t i, std::span<const Tensor> in) {
  throw ValueError(std::string(op) + ": argument " + std::to_string(i) + " is the empty tensor; " + describe(in) +
                   "; assign a value to it first (it may have been moved from)");
}

}  // namespace

std::string describe(const Tensor& x) {
  if (!x.defined()) return "empty";
  std::string text(name(object_of(x)->dtype));
  text += ' ';
  text += Shape(visible_dims(x)).to_string();
  return text;
}

std::string describe(std::span<const Tensor> in) {
  std::string text = "got ";
  for (std::size_t i = 0; i < in.size(); ++i) text += (i == 0 ? "" : ", ") + describe(in[i]);
  return text;
}

void check_alive(std::string_view who, const Tensor& x) {
  if (!x.defined() || cursor_of(x) == 0) return;
  const LevelWord level = top_note(x).level;
  if (thread_state().levels[static_cast<std::size_t>(depth_of(level))] != level)
    refuse_level(who, "a tensor", level, {&x, 1});
}

void check_mapped_names(std::string_view op, std::span<const Tensor> in) {
  const ThreadState& state = thread_state();
  if (state.mapped_axes == 0 || state.names_off > 0) return;
  for (const Tensor& x : in)
    for (const Dim dim : visible_dims(x)) {
      if (!dim.axis().named()) continue;
      for (int depth = 1; depth <= state.depth; ++depth)
        if (state.axes[static_cast<std::size_t>(depth)] == dim.axis())
          throw AxisError(std::string(op) + ": an operand shows the axis " + dim.axis().name() +
                          ", which a running vmap maps; " + describe(in) +
                          "; pass the tensor as an argument of the mapped function, or rename its axis");
    }
}

namespace {

/// The innermost transform among the operands, all of which may be used here; 0 when there is none.
LevelWord level_of(const ThreadState& state, const OpTable& table, std::span<const Tensor> in) {
  LevelWord top = 0;
  bool named = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined()) refuse_empty(table.info.name, i, in);
    named |= physical_shape(in[i])->named;
    if (cursor_of(in[i]) == 0) continue;
    const LevelWord level = top_note(in[i]).level;
    if (state.levels[static_cast<std::size_t>(depth_of(level))] != level)
      refuse_level(table.info.name, "argument " + std::to_string(i), level, in);
    top = std::max(top, level);
  }
  if (named) check_mapped_names(table.info.name, in);
  return top;
}

void run_at(LevelWord top, ThreadState& state, const OpTable& table, const void* op, std::span<const Tensor> in,
            Tensor* out) {
  if (top == 0) {
    table.eval(op, in, out);
    if (results_are_watched) require_finite(table, in, out);
    return;
  }
  state.interpreters[static_cast<std::size_t>(depth_of(top))]->apply(table, op, in, out);
}

void dispatch_in_region(ThreadState& state, const OpTable& table, const void* op, std::span<const Tensor> in,
                        Tensor* out) {
  Region& region = *state.region;
  Borrowed<3> operands(in.size());
  InlineVector<Tensor, 3> copies;
  copies.reserve(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    Tensor copy = in[i].defined() ? region.admitted(in[i]) : Tensor();
    operands.set(i, copy.defined() ? copy.bits() : in[i].bits());
    copies.push_back(std::move(copy));
  }
  const LevelWord top = level_of(state, table, operands.span(in.size()));
  {
    const RegionSwitch below(region_outside(&region, top));
    run_at(top, state, table, op, operands.span(in.size()), out);
  }
  for (int k = 0; k < table.info.results; ++k) region.adopt(out[k]);
}

}  // namespace

void dispatch_at_level(const OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out) {
  ThreadState& state = thread_state();
  if (state.region != nullptr) [[unlikely]]
    return dispatch_in_region(state, table, op, in, out);
  run_at(level_of(state, table, in), state, table, op, in, out);
}

}  // namespace tlaloc::inline v0::core
