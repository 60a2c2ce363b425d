// Branches and loops whose condition is a tensor: cond, switch_case, while_loop, fori_loop, scan.
//
//     Tensor y = cond(x > 0, [](const Tensor& a) { return sqrt(a); }, [](const Tensor& a) { return -a; }, x);
//     Tensor r = while_loop([](const Tensor& a) { return a < 100; }, [](const Tensor& a) { return 2 * a; }, x);
//
// Where the condition is one number, plain `if`, `for` and `while` do as well, and these are no different: only what is
// taken runs. Inside a vmap, where each example has its own condition, these give each example its own branch and its
// own number of trips:
//
// * When all examples agree, only the branch they take runs; a loop runs as long as any example goes on.
// * Otherwise both branches run, for the whole batch, so their side effects happen in both. The examples that are not
// active hold
//   the first active one's values while a branch runs (arguments and captured tensors alike) and have no gradient from
//   it, so nothing in a branch that an example does not take can fail for it or put a nan into its result or
//   derivative.
//
// All are differentiated in both modes, to any order, with memory for what was really run. A condition is a bool tensor
// of rank 0 and has no derivative. States and results are trees; both branches, and a loop's body, give trees of equal
// structure, dtypes and sizes: ShapeError or DTypeError otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/elementwise.hpp>
#include <tlaloc/export.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

namespace tlaloc::inline v0 {

namespace core {

/// What a condition says, over all examples.
enum class Decision : std::uint8_t { none, some, all };
TLALOC_API Decision decide(std::string_view op, const Tensor& condition);

/// While it lives, operations run for the examples where the mask is true.
class TLALOC_API BranchScope {
 public:
  explicit BranchScope(const Tensor& mask);
  BranchScope(const BranchScope&) = delete;
  BranchScope& operator=(const BranchScope&) = delete;
  ~BranchScope();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

TLALOC_API Tensor logical_not(const Tensor& mask);
/// mask ? narrowed : false.
TLALOC_API Tensor narrowed(const Tensor& mask, const Tensor& further);
/// taken[i] becomes where(mask, taken[i], other[i]); what is refused is put into words for `op`.
TLALOC_API void merge(std::string_view op, const Tensor& mask, const Leaves& taken, const Leaves& other);

template <class T>
T merged(std::string_view op, const Tensor& mask, T taken, T other) {
  Leaves a;
  Leaves b;
  collect_leaves(taken, a);
  collect_leaves(other, b);
  merge(op, mask, a, b);
  return taken;
}

TLALOC_API Tensor element_of(const Tensor& x, std::int64_t i);
TLALOC_API std::int64_t scan_length(const ConstLeaves& xs);
TLALOC_API Tensor stacked(std::vector<Tensor> parts);

}  // namespace core

/// yes(args...) where the condition is true, no(args...) where it is false.
template <class Yes, class No, class... Args>
auto cond(const Tensor& condition, Yes&& yes, No&& no, const Args&... args) {
  using Result = std::decay_t<decltype(yes(args...))>;
  static_assert(std::is_same_v<Result, std::decay_t<decltype(no(args...))>>,
                "cond: both branches must return one type");
  switch (core::decide("cond", condition)) {
    case core::Decision::all: return Result(yes(args...));
    case core::Decision::none: return Result(no(args...));
    case core::Decision::some: break;
  }
  const auto run = [&](const Tensor& mask, auto& branch) {
    const core::BranchScope scope(mask);
    return Result(branch(args...));
  };
  Result taken = run(condition, yes);
  Result other = run(core::logical_not(condition), no);
  return core::merged("cond", condition, std::move(taken), std::move(other));
}

/// branches[k](args...) where the index, an integer tensor of rank 0, is k; indices outside take the nearest branch.
template <class Branch, class... Args>
auto switch_case(const Tensor& index, const std::vector<Branch>& branches, const Args&... args) {
  using Result = std::decay_t<decltype(branches[0](args...))>;
  std::size_t k = 0;
  const auto from = [&](auto& self) -> Result {
    const std::size_t here = k;
    if (here + 1 == branches.size()) return branches[here](args...);
    return cond(
        index <= static_cast<std::int64_t>(here), [&](const Args&... a) { return Result(branches[here](a...)); },
        [&](const Args&...) {
          k = here + 1;
          return self(self);
        },
        args...);
  };
  return from(from);
}

/// Runs `state = body(state)` as long as condition(state) is true, for each example by itself.
template <class Condition, class Body, class State>
State while_loop(Condition&& condition, Body&& body, State state) {
  Tensor active = condition(std::as_const(state));
  while (true) {
    switch (core::decide("while_loop", active)) {
      case core::Decision::none: return state;
      case core::Decision::all:
        state = State(body(std::as_const(state)));
        active = condition(std::as_const(state));
        break;
      case core::Decision::some: {
        State next = [&] {
          const core::BranchScope scope(active);
          return State(body(std::as_const(state)));
        }();
        state = core::merged("while_loop", active, std::move(next), std::move(state));
        const Tensor further = [&] {
          const core::BranchScope scope(active);
          return Tensor(condition(std::as_const(state)));
        }();
        active = core::narrowed(active, further);
        break;
      }
    }
  }
}

/// Runs `state = body(i, state)` for i = begin, begin + 1, ... end - 1.
template <class Body, class State>
State fori_loop(std::int64_t begin, std::int64_t end, Body&& body, State state) {
  for (std::int64_t i = begin; i < end; ++i) state = State(body(i, std::as_const(state)));
  return state;
}
/// The same with bounds that are integer tensors of rank 0, which may differ from example to example; i is then a
/// tensor too.
template <class Body, class State>
State fori_loop(const Tensor& begin, const Tensor& end, Body&& body, State state) {
  auto result = while_loop(
      [&](const std::pair<Tensor, State>& s) { return s.first < end; },
      [&](const std::pair<Tensor, State>& s) { return std::pair<Tensor, State>(s.first + 1, body(s.first, s.second)); },
      std::pair<Tensor, State>(begin, std::move(state)));
  return std::move(result.second);
}

/// Runs `(carry, y) = f(carry, x)` for each x along axis 0 of the tensors of xs; returns the last carry and the ys,
/// stacked along a new axis 0. ValueError when there is nothing along the axis: the shape of a y is not known then.
template <class F, class Carry, class Xs>
auto scan(F&& f, Carry carry, const Xs& xs) {
  core::ConstLeaves given;
  core::collect_leaves(xs, given);
  const std::int64_t length = core::scan_length(given);
  using Y = std::decay_t<decltype(std::get<1>(f(std::as_const(carry), xs)))>;
  std::vector<std::vector<Tensor>> parts;
  for (std::int64_t i = 0;; ++i) {
    auto [next, y] = f(std::as_const(carry), tree_map([&](const Tensor& x) { return core::element_of(x, i); }, xs));
    carry = std::move(next);
    core::Leaves leaves;
    core::collect_leaves(y, leaves);
    parts.resize(leaves.size());
    for (std::size_t k = 0; k < leaves.size(); ++k) parts[k].push_back(*leaves[k]);
    if (i + 1 < length) continue;
    for (std::size_t k = 0; k < leaves.size(); ++k) *leaves[k] = core::stacked(std::move(parts[k]));
    return std::pair<Carry, Y>(std::move(carry), std::move(y));
  }
}

}  // namespace tlaloc::inline v0
