// dispatch(): the one point that every operation passes, public or inside a rule.
//
// The level of an application is the innermost running transform among its inputs. Without one the kernel runs.
// Otherwise that transform's interpreter takes the application; what it does runs below its level, through dispatch()
// again, so every nesting of transforms follows from this one step.
#pragma once

#include <concepts>
#include <string>

#include "core/object.hpp"
#include "core/op.hpp"

namespace tlaloc::inline v0::core {

/// The part that is not inlined: finds the level and hands over, or refuses what no transform may see.
void dispatch_at_level(const OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out);

/// Throws LevelError when x belongs to a transform that has ended, or that runs on another thread. `who` asks.
void check_alive(std::string_view who, const Tensor& x);

/// Throws AxisError when an input shows an axis that a running vmap has mapped.
void check_mapped_names(std::string_view op, std::span<const Tensor> in);

/// "argument 1: f32 [batch 16, feature 4]": a tensor as messages show it.
std::string describe(const Tensor& x);
std::string describe(std::span<const Tensor> in);

/// Whether the kernel may run at once: no transform is concerned, and nobody watches.
inline bool runs_directly(const std::same_as<Tensor> auto&... in) {
  return (is_plain(in) && ...) && !results_are_watched;
}

inline void OpTable::run(const void* op, std::span<const Tensor> in, Tensor* out) const {
  bool plain = !results_are_watched;
  for (const Tensor& x : in) plain &= is_plain(x);
  if (!plain) return dispatch_at_level(*this, op, in, out);
  eval(op, in, out);
}

template <class Op>
const OpTable& table_of();

template <class Op>
ResultOf<Op> dispatch_erased(const Op& op, std::span<const Tensor> in) {
  if constexpr (Op::info.results == 1) {
    Tensor out;
    dispatch_at_level(table_of<Op>(), &op, in, &out);
    return out;
  } else {
    ResultOf<Op> out;
    dispatch_at_level(table_of<Op>(), &op, in, out.data());
    return out;
  }
}

template <class Op>
ResultOf<Op> dispatch(const Op& op, std::span<const Tensor> in)
  requires(Op::info.inputs == any_number)
{
  bool plain = !results_are_watched;
  bool named = false;
  for (const Tensor& x : in) plain &= is_plain(x);
  if (!plain) return dispatch_erased(op, in);
  for (const Tensor& x : in) named |= physical_shape(x)->named;
  if (named) check_mapped_names(Op::info.name, in);
  return op.eval(in);
}

template <class Op, class... In>
ResultOf<Op> dispatch(const Op& op, const In&... in)
  requires(Op::info.inputs == sizeof...(In) && (std::same_as<In, Tensor> && ...))
{
  const auto borrow = [&] {
    Borrowed<sizeof...(In)> borrowed(sizeof...(In));
    std::size_t i = 0;
    (borrowed.set(i++, in.bits()), ...);
    return borrowed;
  };
  if (!runs_directly(in...)) [[unlikely]]
    return dispatch_erased(op, borrow().span(sizeof...(In)));
  if ((physical_shape(in)->named || ...)) check_mapped_names(Op::info.name, borrow().span(sizeof...(In)));
  return op.eval(in...);
}

// ---------------------------------------------------------------------------------------------------------------------
// The table of an operation

template <class Op>
consteval OpTable make_table() {
  static_assert(alignof(Op) <= 8, "a tape node aligns its operation to 8 bytes");
  static_assert(has_rules<Op> + is_constant<Op> + has_expansion<Op> == 1,
                "an operation has vjp, jvp and needs, or expand, or not_differentiable; exactly one of the three");
  OpTable table{};
  table.info = Op::info;
  table.size = sizeof(Op);
  table.copy = [](void* to, const void* op) { ::new (to) Op(*static_cast<const Op*>(op)); };
  if constexpr (!std::is_trivially_destructible_v<Op>)
    table.destroy = [](void* op) noexcept { static_cast<Op*>(op)->~Op(); };
  table.eval = [](const void* op, std::span<const Tensor> in, Tensor* out) {
    const auto& self = *static_cast<const Op*>(op);
    store_results<Op>(unpack<Op>(in, [&](const auto&... x) { return self.eval(x...); }), out);
  };
  table.batch = [](const void* op, BatchCall& call) { static_cast<const Op*>(op)->batch(call); };
  if constexpr (has_rules<Op>) {
    table.derivative = Derivative::rules;
    table.needs = Op::needs.data();
    table.vjp = [](const void* op, VjpCall& call) { static_cast<const Op*>(op)->vjp(call); };
    table.jvp = [](const void* op, JvpCall& call) { static_cast<const Op*>(op)->jvp(call); };
  } else if constexpr (has_expansion<Op>) {
    table.derivative = Derivative::expansion;
    table.expand = [](const void* op, std::span<const Tensor> in, Tensor* out) {
      const auto& self = *static_cast<const Op*>(op);
      store_results<Op>(unpack<Op>(in, [&](const auto&... x) { return self.expand(x...); }), out);
    };
  } else {
    table.derivative = Derivative::none;
  }
  return table;
}

template <class Op>
inline constexpr OpTable op_table = make_table<Op>();

template <class Op>
const OpTable& table_of() {
  return op_table<Op>;
}

}  // namespace tlaloc::inline v0::core
