// check_grads: whether the derivatives of a function are right.
//
//     check_grads(f, x, y);                                   // ValueError that says which derivative is wrong, and by
//     how much check_grads(f, x, y, CheckOptions{.order = 1});
//
// For functions with rules of their own (<tlaloc/custom.hpp>), and for whatever else one wants to trust. Forward mode
// is compared with central differences, reverse mode with forward mode, in the dtype of the arguments; then the same is
// done with the derivatives themselves. f must be smooth near the arguments: at a kink the comparison fails. Whatever f
// returns is a tree; what is no float, among the arguments or the results, is left alone.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/custom.hpp>
#include <tlaloc/export.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

namespace tlaloc::inline v0 {

struct CheckOptions {
  int order = 2;        // 1: only first derivatives
  bool forward = true;  // false for functions that have no forward mode: reverse mode is compared with differences
  bool reverse = true;
  double tolerance = 0;  // relative; 0: 1e-6 for f64, 2e-3 for f32
  double step = 0;       // of the differences, relative; 0: 6e-6 for f64, 5e-3 for f32
  int entries = 32;      // of each tensor, evenly spread, by which derivatives are taken
};

namespace core {

using LeafFunction = std::function<Tensors(const Tensors&)>;

TLALOC_API void check_derivatives(const LeafFunction& f, const Tensors& at, const std::vector<std::size_t>& argument_of,
                                  const CheckOptions& options);

template <class F, class... Args>
void run_check(F& f, const CheckOptions& options, std::tuple<Args...> args) {
  CallTrees<CustomResult<F, Args...>, Args...> call(std::move(args));
  const Tensors at = call.take_inputs();
  const LeafFunction on_leaves = [&](const Tensors& in) {
    return call.take_result(std::apply(f, call.arguments_with(in)));
  };
  check_derivatives(on_leaves, at, call.numbers(), options);
}

}  // namespace core

/// Throws ValueError when a derivative of f at args is wrong: which argument and entry, and both numbers. The last
/// argument may be a CheckOptions.
template <class F, class... Args>
void check_grads(F f, const Args&... args) {
  const std::tuple<const Args&...> all(args...);
  constexpr std::size_t count = sizeof...(Args);
  constexpr bool has_options = std::is_same_v<std::tuple_element_t<count - 1, std::tuple<Args...>>, CheckOptions>;
  CheckOptions options;
  if constexpr (has_options) options = std::get<count - 1>(all);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    core::run_check(f, options, std::tuple<std::tuple_element_t<I, std::tuple<Args...>>...>(std::get<I>(all)...));
  }(std::make_index_sequence<count - (has_options ? 1 : 0)>{});
}

}  // namespace tlaloc::inline v0
