// Jacobians, Hessians, and derivatives as linear functions.
//
//     Tensor j = jacrev(f)(x);                     // [axes of f(x)..., axes of x...], row by row, backwards
//     Tensor j = jacfwd(f)(x);                     // the same, column by column, forwards
//     Tensor h = hessian(loss)(x);                 // [axes of x..., axes of x...]
//     Tensor hv = hvp(loss, x, v);                 // hessian(loss)(x) times v, without the Hessian
//     auto [y, derivative] = linearize(f, x);      // derivative(dx): f runs once, the derivative as often as wanted
//
// An axis of x whose name the result has too is primed: the Hessian of a function of [feature 3] is [feature 3,
// feature' 3]. jacrev suits functions with fewer results than arguments, jacfwd the others. All rows (or columns) are
// computed at once, by vmap; `chunk_size(n)` computes n at a time and bounds the memory.
//
// Arguments are trees, and so are results: a Tensor gives a tree like the argument; any other result, a std::vector
// with such a tree for each of its tensors in order. Several argnums give tuples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/create.hpp>
#include <tlaloc/export.hpp>
#include <tlaloc/grad.hpp>
#include <tlaloc/jvp.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>
#include <tlaloc/vmap.hpp>

namespace tlaloc::inline v0 {

namespace core {

/// The derivative of output k of a scope that has ended by each of its inputs: [axes of output..., axes of input...].
TLALOC_API void jacobian_by_rows(GradScope& scope, std::size_t k, ChunkSize chunk, std::span<Tensor> blocks);

/// The derivative of each result by one input. `push` takes a tangent of the input to the results' tangents, and gives
/// the results themselves.
struct Pushed {
  std::vector<Tensor> values;
  std::vector<Tensor> tangents;
};
TLALOC_API std::vector<Tensor> jacobian_by_columns(const Tensor& input, ChunkSize chunk,
                                                   const std::function<Pushed(const Tensor&)>& push);

/// The trees with the tensors of `blocks`, in order, in the places of theirs.
template <class... T>
auto filled(std::tuple<T...> trees, std::span<const Tensor> blocks) {
  Leaves leaves;
  std::apply([&](auto&... tree) { (collect_leaves(tree, leaves), ...); }, trees);
  for (std::size_t i = 0; i < leaves.size(); ++i) *leaves[i] = blocks[i];
  return unwrapped(std::move(trees));
}

template <std::size_t... Selected, class F, class... Args>
auto run_jacrev(std::index_sequence<Selected...> selection, const F& f, ChunkSize chunk,
                std::tuple<const Args&...> args) {
  const std::tuple<std::tuple_element_t<Selected, std::tuple<Args...>>...> originals(std::get<Selected>(args)...);
  auto selected = originals;
  GradScope scope("jacrev");
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (watch_all(scope, std::get<K>(selected), static_cast<int>(Selected)), ...);
  }(std::make_index_sequence<sizeof...(Selected)>{});
  auto value = call_with(selection, f, selected, args);
  Leaves results;
  collect_leaves(value, results);
  for (Tensor* result : results) scope.output(*result);
  scope.end();
  std::vector<Tensor> blocks(scope.input_count());
  if constexpr (std::is_same_v<decltype(value), Tensor>) {
    jacobian_by_rows(scope, 0, chunk, blocks);
    return filled(originals, blocks);
  } else {
    std::vector<decltype(filled(originals, blocks))> rows;
    for (std::size_t k = 0; k < results.size(); ++k) {
      jacobian_by_rows(scope, k, chunk, blocks);
      rows.push_back(filled(originals, blocks));
    }
    return rows;
  }
}

template <std::size_t... Selected, class F, class... Args>
auto run_jacfwd(std::index_sequence<Selected...> selection, const F& f, ChunkSize chunk,
                std::tuple<const Args&...> args) {
  const std::tuple<std::tuple_element_t<Selected, std::tuple<Args...>>...> originals(std::get<Selected>(args)...);
  using Value = std::decay_t<decltype(std::apply(f, args))>;
  ConstLeaves inputs;
  std::apply([&](const auto&... tree) { (collect_leaves(tree, inputs), ...); }, originals);
  std::vector<std::vector<Tensor>> columns;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    columns.push_back(jacobian_by_columns(*inputs[i], chunk, [&](const Tensor& tangent) {
      auto selected = originals;
      Leaves leaves;
      std::apply([&](auto&... tree) { (collect_leaves(tree, leaves), ...); }, selected);
      JvpScope scope;
      scope.watch(*leaves[i], tangent);
      auto value = call_with(selection, f, selected, args);
      Leaves results;
      collect_leaves(value, results);
      Pushed pushed;
      for (Tensor* result : results) {
        pushed.tangents.push_back(scope.lower(*result));
        pushed.values.push_back(*result);
      }
      return pushed;
    }));
  }
  const auto row = [&](std::size_t k) {
    std::vector<Tensor> blocks;
    for (const auto& column : columns) blocks.push_back(k < column.size() ? column[k] : Tensor());
    return filled(originals, blocks);
  };
  if constexpr (std::is_same_v<Value, Tensor>) {
    return row(0);
  } else {
    std::size_t count = 0;
    for (const auto& column : columns) count = std::max(count, column.size());
    std::vector<decltype(row(0))> rows;
    for (std::size_t k = 0; k < count; ++k) rows.push_back(row(k));
    return rows;
  }
}

enum class Direction : bool { forward, reverse };

template <Direction direction, class F, int... I>
class Jacobian {
 public:
  Jacobian(F f, ChunkSize chunk) : f_(std::move(f)), chunk_(chunk) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    constexpr std::index_sequence<argument_index<I, sizeof...(Args)>()...> selection;
    if constexpr (direction == Direction::reverse)
      return run_jacrev(selection, f_, chunk_, std::tuple<const Args&...>(args...));
    else
      return run_jacfwd(selection, f_, chunk_, std::tuple<const Args&...>(args...));
  }

 private:
  F f_;
  ChunkSize chunk_;
};

}  // namespace core

/// The Jacobian of f by the arguments that argnums names, in reverse mode: f runs once.
template <class F, int... I>
auto jacrev(F f, ArgNums<I...>, ChunkSize chunk = {}) {
  return core::Jacobian<core::Direction::reverse, F, I...>(std::move(f), chunk);
}
template <class F>
auto jacrev(F f, ChunkSize chunk = {}) {
  return jacrev(std::move(f), argnums<0>, chunk);
}

/// The same in forward mode: f runs once for each tensor it is differentiated by (and for each chunk).
template <class F, int... I>
auto jacfwd(F f, ArgNums<I...>, ChunkSize chunk = {}) {
  return core::Jacobian<core::Direction::forward, F, I...>(std::move(f), chunk);
}
template <class F>
auto jacfwd(F f, ChunkSize chunk = {}) {
  return jacfwd(std::move(f), argnums<0>, chunk);
}

/// The second derivatives of f, a function with a float result of rank 0: jacfwd of grad. By several arguments, or by a
/// tree, it is a std::vector with a tree (or tuple of trees) for each tensor of the gradient.
template <class F, int... I>
auto hessian(F f, ArgNums<I...> by, ChunkSize chunk = {}) {
  return jacfwd(grad(std::move(f), by), by, chunk);
}
template <class F>
auto hessian(F f, ChunkSize chunk = {}) {
  return hessian(std::move(f), argnums<0>, chunk);
}

/// The Hessian of f, a function of one tree, times a vector like it; costs a few times what f costs.
template <class F, class T>
T hvp(F f, const T& x, const T& vector) {
  return jvp(grad(std::move(f)), x, vector).second;
}

/// f(args...) and its derivative there: std::pair(value, derivative). f runs once; derivative(tangents...) takes one
/// tangent for each argument, as jvp does, and may be called as often as wanted.
///
/// The derivative is the transpose of the pull-back, which is linear in its cotangent and so can be recorded once for
/// all.
template <class F, class... Args>
auto linearize(F&& f, const Args&... args) {
  auto [value, pullback] = vjp(std::forward<F>(f), args...);
  const auto zeros = tree_map([](const Tensor& y) { return zeros_like(y); }, value);
  auto transpose = vjp([&](const auto& cotangent) { return std::tuple(pullback(cotangent)); }, zeros).second;
  auto derivative = [transpose](const Args&... tangents) {
    if constexpr (sizeof...(Args) == 1)
      return transpose(std::tuple(tangents...));
    else
      return transpose(std::tuple(std::tuple(tangents...)));
  };
  return std::pair(std::move(value), std::move(derivative));
}

}  // namespace tlaloc::inline v0
