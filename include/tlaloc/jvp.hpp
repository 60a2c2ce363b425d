// jvp: forward-mode derivatives.
//
//     auto [y, dy] = jvp(f, x, dx);                                          // one argument
//     auto [y, dy] = jvp(f, std::tuple(w, x), std::tuple(dw, dx));           // several
//
// The function runs once, on ordinary values. dy is the derivative of f at the primals in the direction of the
// tangents: a tree like y. A tangent has the dtype and sizes of its primal; the empty tensor stands for zero, and is
// what a primal that is not a float has. Results that do not depend on a primal have a tangent of zeros.
#pragma once

#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tlaloc/export.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

namespace tlaloc::inline v0 {

namespace core {

/// A running forward-mode transform.
class TLALOC_API JvpScope {
 public:
  JvpScope();
  JvpScope(const JvpScope&) = delete;
  JvpScope& operator=(const JvpScope&) = delete;
  ~JvpScope();

  /// Gives a primal its tangent: it is replaced by itself at the transform's level.
  void watch(Tensor& primal, const Tensor& tangent);
  /// Takes a result out of the transform; returns its tangent, zeros if it has none.
  Tensor lower(Tensor& x);
  void check_structure(std::size_t primals, std::size_t tangents) const;

 private:
  struct State;
  struct Destroy {
    void operator()(State* state) const noexcept;
  };
  std::unique_ptr<State, Destroy> state_;
};

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

}  // namespace core

/// std::pair(f(primals), the derivative in the direction of the tangents). A std::tuple is one argument for each
/// element; anything else is one argument. ShapeError or DTypeError when a tangent does not fit its primal.
template <class F, class Primals, class Tangents>
auto jvp(F&& f, Primals primals, const Tangents& tangents) {
  static_assert(std::is_same_v<Primals, Tangents>, "jvp: the tangents must be a tree of the primals' type");
  core::JvpScope scope;
  core::Leaves leaves;
  core::ConstLeaves directions;
  core::collect_leaves(primals, leaves);
  core::collect_leaves(tangents, directions);
  scope.check_structure(leaves.size(), directions.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) scope.watch(*leaves[i], *directions[i]);
  auto value = [&] {
    if constexpr (core::is_tuple<Primals>)
      return std::apply(f, std::move(primals));
    else
      return f(std::move(primals));
  }();
  auto derivative = value;
  core::Leaves values;
  core::Leaves derivatives;
  core::collect_leaves(value, values);
  core::collect_leaves(derivative, derivatives);
  for (std::size_t i = 0; i < values.size(); ++i) *derivatives[i] = scope.lower(*values[i]);
  return std::pair(std::move(value), std::move(derivative));
}

}  // namespace tlaloc::inline v0
