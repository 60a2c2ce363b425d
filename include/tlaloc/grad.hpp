// grad, value_and_grad and vjp: reverse-mode derivatives.
//
//     auto loss = [](const Tensor& w, const Tensor& x) { return sum(square(matmul(x, w))); };
//     Tensor dw = grad(loss)(w, x);                                  // by the first argument
//     auto [dw, dx] = grad(loss, argnums<0, 1>)(w, x);               // by both
//     auto [value, dw] = value_and_grad(loss)(w, x);
//     auto [y, pullback] = vjp(f, w, x);                             // any result
//     auto [dw, dx] = pullback(ct);                                  // as often as wanted
//
// The function runs once, on ordinary values: `if`, `for`, item() and printing work inside it. Arguments and results
// are trees (<tlaloc/tree.hpp>); the gradient by an argument is a tree like it, with the argument's names. Arguments
// are passed on as they come; those that are differentiated are copied first.
//
// grad throws ShapeError when the result is not of rank 0, and DTypeError when it or a differentiated tensor is not a
// float (within a larger argument such tensors are left alone: their gradient is the empty tensor). An argument that is
// not used has a gradient of zeros. What the function throws passes through and leaves the library as it was.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tlaloc/export.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

namespace tlaloc::inline v0 {

/// Which arguments to differentiate by, from 0, or from the last at -1: `argnums<0, -1>`.
template <int... I>
struct ArgNums {};
template <int... I>
inline constexpr ArgNums<I...> argnums{};

namespace core {

enum class LeafKind : bool { whole_argument, member };

/// A running reverse-mode transform and, after end(), its tape.
class TLALOC_API GradScope {
 public:
  explicit GradScope(std::string_view name);
  GradScope(GradScope&&) noexcept;
  GradScope& operator=(GradScope&&) noexcept;
  ~GradScope();

  /// Makes a tensor an input: it is replaced by itself at the transform's level.
  void watch(Tensor& leaf, int argument, LeafKind kind);
  /// Takes a tensor out of the transform; its cotangent slot, if it depends on an input.
  Tensor* lower(Tensor& x);
  /// Takes a result out and remembers it; loss() also checks that it is a scalar.
  void output(Tensor& x);
  void loss(Tensor& x);
  /// No operation is recorded any more.
  void end() noexcept;

  /// Gradients of the inputs, in the order they were watched, from cotangents of the outputs (empty: zero).
  void pull_back(std::span<const Tensor> cotangents, std::span<Tensor> gradients, bool last);
  /// The same from a cotangent of 1 for the loss, for the last time.
  void pull_back_one(std::span<Tensor> gradients);
  void check_cotangent(std::size_t k, const Tensor& cotangent) const;

  // The part that Tape (<tlaloc/tape.hpp>) needs: watching and pulling back while operations are recorded.
  /// Replaces watched tensors by the gradient of `target` by each; `cotangent` is empty for a target of rank 0.
  void pull_back_from(const Tensor& target, const Tensor& cotangent, const Leaves& sources);
  /// Throws LevelError when a tensor could not be watched: the transform has ended, or the tensor belongs to it
  /// already, or to one that began later.
  void check_watch(const Tensor& leaf) const;
  /// end(), or a LevelError while a transform that began later runs.
  void end_in_order();
  void print(std::ostream& stream, bool as_dot) const;

  std::size_t output_count() const;
  const Tensor& output_value(std::size_t k) const;
  std::size_t input_count() const;
  const Tensor& input_value(std::size_t i) const;

 private:
  struct State;
  struct Destroy {
    void operator()(State* state) const noexcept;
  };
  std::unique_ptr<State, Destroy> state_;
};

/// Index of argument I among Count, with I counted from the last if it is negative.
template <int I, std::size_t Count>
consteval std::size_t argument_index() {
  static_assert(I < static_cast<int>(Count) && I >= -static_cast<int>(Count),
                "argnums: the function is called with fewer arguments");
  return static_cast<std::size_t>(I < 0 ? I + static_cast<int>(Count) : I);
}

template <std::size_t... Selected>
consteval bool are_distinct() {
  constexpr std::size_t list[] = {Selected..., sizeof...(Selected)};
  for (std::size_t k = 0; k < sizeof...(Selected); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (list[j] == list[k]) return false;
  return true;
}

/// The place of `index` in the list, or the list's size.
template <std::size_t Index, std::size_t... Selected>
consteval std::size_t place_of() {
  constexpr std::size_t list[] = {Selected...};
  for (std::size_t k = 0; k < sizeof...(Selected); ++k)
    if (list[k] == Index) return k;
  return sizeof...(Selected);
}

/// f(args...), with argument Selected[k] replaced by selected[k].
template <std::size_t... Selected, class F, class Chosen, class... Args>
decltype(auto) call_with(std::index_sequence<Selected...>, F& f, Chosen& selected, std::tuple<Args...> args) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
    const auto argument = [&]<std::size_t J>() -> decltype(auto) {
      constexpr std::size_t place = place_of<J, Selected...>();
      if constexpr (place < sizeof...(Selected))
        return std::move(std::get<place>(selected));
      else
        return static_cast<std::tuple_element_t<J, std::tuple<Args...>>>(std::get<J>(args));
    };
    return f(argument.template operator()<I>()...);
  }(std::index_sequence_for<Args...>{});
}

template <class T>
void watch_all(GradScope& scope, T& argument, int number) {
  if constexpr (std::is_same_v<T, Tensor>) {
    scope.watch(argument, number, LeafKind::whole_argument);
  } else {
    static_assert(tree<T>, "a differentiated argument must be a tree: see <tlaloc/tree.hpp>");
    Leaves leaves;
    collect_leaves(argument, leaves);
    for (Tensor* leaf : leaves) scope.watch(*leaf, number, LeafKind::member);
  }
}

/// What a differentiated function returns: the loss, or the loss and something to hand on.
template <class R>
struct LossResult {
  static_assert(std::is_same_v<R, Tensor>,
                "grad: the function must return a Tensor (the loss), or std::pair<Tensor, Aux>");
  static constexpr bool has_aux = false;
};
template <class Aux>
struct LossResult<std::pair<Tensor, Aux>> {
  static constexpr bool has_aux = true;
};
template <class Aux>
struct LossResult<std::tuple<Tensor, Aux>> {
  static constexpr bool has_aux = true;
};

template <class T>
void lower_all(GradScope& scope, T& value) {
  Leaves leaves;
  collect_leaves(value, leaves);
  for (Tensor* leaf : leaves) scope.lower(*leaf);
}

/// A tuple of one is that one.
template <class... T>
auto unwrapped(std::tuple<T...>&& values) {
  if constexpr (sizeof...(T) == 1)
    return std::get<0>(std::move(values));
  else
    return std::move(values);
}

template <bool WithValue, std::size_t... Selected, class F, class... Args>
auto run_grad(std::index_sequence<Selected...> selection, F& f, std::tuple<Args...> args) {
  static_assert(are_distinct<Selected...>(), "argnums: an argument is asked for twice");
  std::tuple<std::decay_t<std::tuple_element_t<Selected, std::tuple<Args...>>>...> selected(
      std::get<Selected>(args)...);
  auto gradients = selected;
  GradScope scope(WithValue ? "value_and_grad" : "grad");
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (watch_all(scope, std::get<K>(selected), static_cast<int>(Selected)), ...);
  }(std::make_index_sequence<sizeof...(Selected)>{});

  auto result = call_with(selection, f, selected, std::move(args));
  using Result = LossResult<decltype(result)>;
  Tensor value = [&] {
    if constexpr (Result::has_aux) {
      lower_all(scope, std::get<1>(result));
      return std::move(std::get<0>(result));
    } else {
      return std::move(result);
    }
  }();
  scope.loss(value);
  scope.end();

  Leaves leaves;
  std::apply([&](auto&... tree) { (collect_leaves(tree, leaves), ...); }, gradients);
  if (leaves.size() == 1) {
    scope.pull_back_one({*leaves.begin(), 1});
  } else {
    std::vector<Tensor> found(leaves.size());
    scope.pull_back_one(found);
    std::size_t i = 0;
    for (Tensor* leaf : leaves) *leaf = std::move(found[i++]);
  }
  if constexpr (WithValue && Result::has_aux)
    return std::tuple(std::move(value), unwrapped(std::move(gradients)), std::move(std::get<1>(result)));
  else if constexpr (WithValue)
    return std::pair(std::move(value), unwrapped(std::move(gradients)));
  else if constexpr (Result::has_aux)
    return std::pair(unwrapped(std::move(gradients)), std::move(std::get<1>(result)));
  else
    return unwrapped(std::move(gradients));
}

template <bool WithValue, class F, int... I>
class Gradient {
 public:
  explicit Gradient(F f) : f_(std::move(f)) {}

  template <class... Args>
  auto operator()(Args&&... args) const {
    return run_grad<WithValue>(std::index_sequence<argument_index<I, sizeof...(Args)>()...>{}, f_,
                               std::forward_as_tuple(std::forward<Args>(args)...));
  }
  template <class... Args>
  auto operator()(Args&&... args) {
    return run_grad<WithValue>(std::index_sequence<argument_index<I, sizeof...(Args)>()...>{}, f_,
                               std::forward_as_tuple(std::forward<Args>(args)...));
  }

 private:
  F f_;
};

}  // namespace core

/// The gradient of f, a function with a float result of rank 0, by the arguments that argnums names: one tree, or a
/// tuple. When f returns std::pair<Tensor, Aux>, the result is std::pair(gradient, aux).
template <class F, int... I>
auto grad(F f, ArgNums<I...>) {
  return core::Gradient<false, F, I...>(std::move(f));
}
template <class F>
auto grad(F f) {
  return core::Gradient<false, F, 0>(std::move(f));
}

/// Like grad, with the value first: std::pair(value, gradient), or std::tuple(value, gradient, aux).
template <class F, int... I>
auto value_and_grad(F f, ArgNums<I...>) {
  return core::Gradient<true, F, I...>(std::move(f));
}
template <class F>
auto value_and_grad(F f) {
  return core::Gradient<true, F, 0>(std::move(f));
}

namespace core {

[[noreturn]] TLALOC_API void refuse_structure(std::size_t given, std::size_t wanted);

/// Takes cotangents of f's result back to its arguments.
template <class R, class... Args>
class Pullback {
 public:
  Pullback(GradScope scope, std::tuple<Args...> arguments)
      : scope_(std::make_shared<GradScope>(std::move(scope))), arguments_(std::move(arguments)) {}

  /// The gradient by each argument: one tree, or a tuple. `cotangent` is a tree like the result; empty tensors stand
  /// for zero. ShapeError when a cotangent has another dtype, names or sizes than its result.
  auto operator()(const R& cotangent) const {
    ConstLeaves given;
    collect_leaves(cotangent, given);
    if (given.size() != scope_->output_count()) refuse_structure(given.size(), scope_->output_count());
    std::vector<Tensor> cotangents;
    for (const Tensor* ct : given) {
      scope_->check_cotangent(cotangents.size(), *ct);
      cotangents.push_back(*ct);
    }
    std::tuple<Args...> gradients = arguments_;
    Leaves leaves;
    std::apply([&](auto&... tree) { (collect_leaves(tree, leaves), ...); }, gradients);
    std::vector<Tensor> found(leaves.size());
    scope_->pull_back(cotangents, found, false);
    std::size_t i = 0;
    for (Tensor* leaf : leaves) *leaf = std::move(found[i++]);
    return unwrapped(std::move(gradients));
  }

 private:
  std::shared_ptr<GradScope> scope_;
  std::tuple<Args...> arguments_;
};

}  // namespace core

/// f(args...) and its pull-back: std::pair(value, pullback). Every argument is differentiated by; the result is any
/// tree. The pull-back holds what the way back needs, and may be called as often as wanted, by one thread at a time.
template <class F, class... Args>
auto vjp(F&& f, const Args&... args) {
  std::tuple<Args...> originals(args...);
  std::tuple<Args...> lifted(args...);
  core::GradScope scope("vjp");
  int number = 0;
  std::apply([&](auto&... argument) { (core::watch_all(scope, argument, number++), ...); }, lifted);
  auto value = std::apply(f, std::move(lifted));
  core::Leaves leaves;
  core::collect_leaves(value, leaves);
  for (Tensor* leaf : leaves) scope.output(*leaf);
  scope.end();
  using Back = core::Pullback<decltype(value), Args...>;
  return std::pair(std::move(value), Back(std::move(scope), std::move(originals)));
}

}  // namespace tlaloc::inline v0
