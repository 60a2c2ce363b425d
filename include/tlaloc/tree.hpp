// Trees: what transforms take and return. A tree is a tensor, or anything that holds tensors by value:
//
//     struct Dense { Tensor w, b; };
//     struct Model { std::vector<Dense> layers; Tensor scale; int steps; };     // no registration
//
//     Model gradient = grad(loss)(model, x, y);
//     model = tree_map([](const Tensor& w, const Tensor& g) { return w - 0.1 * g; }, model, gradient);
//
// Trees are std::vector, std::array, std::tuple, std::pair, std::optional, std::variant and std::map of trees, with
// strings, integers or enumerators as a map's keys; and classes whose members are all public and neither declared in a
// base class nor more than 40. Members that hold no tensors are carried along unchanged: numbers, enumerators, strings,
// functions (whatever they captured is constant), and classes for which holds_no_tensor is specialized.
//
// A class with private members or constructors says what it holds, members without tensors may be left out:
//
//     class Dense {
//      public:
//       explicit Dense(int width);
//       auto tree() { return std::tie(w_, b_); }
//       auto tree() const { return std::tie(w_, b_); }
//
// Whatever could hold a tensor that nobody would find (such a class without tree(), a reference, a shared_ptr) does not
// compile.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/detail/tree_types.hpp>
#include <tlaloc/detail/tree_walk.hpp>
#include <tlaloc/export.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

/// A type, neither const nor a reference, whose objects are trees. Numbers are trees without tensors.
template <class T>
concept tree = std::same_as<T, std::decay_t<T>> && core::fault_in<T> == core::Fault::none;

namespace core {
TLALOC_API std::vector<Tensor> copy_leaves(const ConstLeaves& leaves);
}

/// The tensors of a tree, empty ones too, in order: members as declared, maps by key.
template <class T>
std::vector<Tensor> tree_leaves(const T& tree) {
  core::ConstLeaves leaves;
  core::collect_leaves(tree, leaves);
  return core::copy_leaves(leaves);
}

/// The tree with f(tensor) in the place of each tensor; with more trees, f(tensor, other...) of the tensors in the same
/// place. Everything else, and tensors that are empty in one of the trees (as gradients of integers are), comes from
/// the first. ShapeError when the trees do not hold tensors in the same places.
template <class F, class T, std::same_as<T>... Others>
T tree_map(F&& f, T tree, const Others&... others) {
  core::Leaves leaves;
  core::collect_leaves(tree, leaves);
  if constexpr (sizeof...(others) == 0) {
    for (Tensor* leaf : leaves)
      if (leaf->defined()) *leaf = f(std::as_const(*leaf));
  } else {
    if constexpr (core::leaf_count<T> < 0) core::check_same_structure("tree_map", tree, others...);
    core::ConstLeaves other_leaves[sizeof...(others)];
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (core::collect_leaves(others, other_leaves[I]), ...);
      for (std::size_t i = 0; i < leaves.size(); ++i)
        if (leaves[i]->defined() && (other_leaves[I][i]->defined() && ...))
          *leaves[i] = f(std::as_const(*leaves[i]), *other_leaves[I][i]...);
    }(std::index_sequence_for<Others...>{});
  }
  return tree;
}

}  // namespace tlaloc::inline v0
