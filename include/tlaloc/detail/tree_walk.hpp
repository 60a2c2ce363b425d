// Walking a tree: from a tree to the tensors that stand in it, and to the places where they stand.
//
// The transforms copy the trees they are given, collect pointers to the tensors of the copies and hand those to the
// library, which knows no user's type; only what must be instantiated for each type is a template.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include <tlaloc/detail/tree_types.hpp>
#include <tlaloc/export.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0::core {

/// Moves `capacity` items to the front of twice as many, which `heap` then owns.
TLALOC_API Tensor** twice_the_room(std::vector<Tensor*>& heap, Tensor** items, std::size_t capacity);
TLALOC_API const Tensor** twice_the_room(std::vector<const Tensor*>& heap, const Tensor** items, std::size_t capacity);

/// Pointers to the tensors of one or more trees, in order; up to 16 without an allocation. Valid as long as the trees
/// stay as they are.
template <class Pointer>
class LeafList {
 public:
  LeafList() = default;
  LeafList(const LeafList&) = delete;
  LeafList& operator=(const LeafList&) = delete;

  std::size_t size() const { return size_; }
  Pointer operator[](std::size_t i) const { return items_[i]; }
  const Pointer* begin() const { return items_; }
  const Pointer* end() const { return items_ + size_; }

  void push_back(Pointer leaf) {
    if (size_ == capacity_) {
      items_ = twice_the_room(heap_items_, items_, capacity_);
      capacity_ *= 2;
    }
    items_[size_++] = leaf;
  }

  // What walk() calls on its way; only the leaves matter here.
  static constexpr bool names_places = false;
  void leaf(std::remove_pointer_t<Pointer>& tensor) { push_back(&tensor); }

 private:
  static constexpr std::size_t inline_capacity = 16;
  Pointer* items_ = inline_items_;
  std::size_t size_ = 0;
  std::size_t capacity_ = inline_capacity;
  Pointer inline_items_[inline_capacity];
  std::vector<Pointer> heap_items_;
};
using Leaves = LeafList<Tensor*>;
using ConstLeaves = LeafList<const Tensor*>;

/// Where the tensors of a tree stand: `.2` for a member of a class or a tuple, `[3]`, `["w"]`, `<1>` for an alternative
/// of a variant. Trees have the same structure exactly when these are equal.
class TLALOC_API LeafPlaces {
 public:
  static constexpr bool names_places = true;
  void leaf(const Tensor&);
  void enter(char before, std::int64_t number, char after);
  void enter_key(std::string_view key);
  void leave();

  const std::vector<std::string>& places() const { return places_; }

 private:
  std::string place_;
  std::vector<std::size_t> lengths_;
  std::vector<std::string> places_;
};

/// Calls visitor.leaf for every tensor in the tree, empty ones too, in order: members as declared, maps by key.
template <class T, class Visitor>
void walk(T& tree, Visitor& visitor);

template <class Visitor>
void walk(Tensor& tensor, Visitor& visitor) {
  visitor.leaf(tensor);
}
template <class Visitor>
void walk(const Tensor& tensor, Visitor& visitor) {
  visitor.leaf(tensor);
}

template <class T, class Visitor>
void walk_child(T& child, Visitor& visitor, std::int64_t number, char before, char after) {
  if constexpr (Visitor::names_places) visitor.enter(before, number, after);
  walk(child, visitor);
  if constexpr (Visitor::names_places) visitor.leave();
}

template <class Visitor>
struct WalkMembers {
  Visitor& visitor;

  template <class... M>
  void operator()(M&... members) const {
    [[maybe_unused]] std::int64_t number = 0;
    (walk_child(members, visitor, number++, '.', '\0'), ...);
  }
};

template <class Key>
void enter_key(const Key& key, LeafPlaces& places) {
  if constexpr (std::convertible_to<const Key&, std::string_view>)
    places.enter_key(key);
  else
    places.enter('[', static_cast<std::int64_t>(key), ']');
}

template <class T, class Visitor>
void walk(T& tree, Visitor& visitor) {
  using Type = std::remove_const_t<T>;
  constexpr Kind kind = kind_of<Type>();
  constexpr Fault fault = fault_of<Type>();
  if constexpr (fault != Fault::none) {
    refuse_tree<Type, fault>();
  } else if constexpr (kind == Kind::array || kind == Kind::vector) {
    [[maybe_unused]] std::int64_t number = 0;
    for (auto& element : tree) walk_child(element, visitor, number++, '[', ']');
  } else if constexpr (kind == Kind::map) {
    for (auto& [key, value] : tree) {
      if constexpr (Visitor::names_places) enter_key(key, visitor);
      walk(value, visitor);
      if constexpr (Visitor::names_places) visitor.leave();
    }
  } else if constexpr (kind == Kind::optional) {
    if (tree) walk(*tree, visitor);
  } else if constexpr (kind == Kind::variant) {
    if (!tree.valueless_by_exception())
      std::visit([&](auto& value) { walk_child(value, visitor, static_cast<std::int64_t>(tree.index()), '<', '>'); },
                 tree);
  } else if constexpr (kind == Kind::tuple) {
    std::apply(WalkMembers<Visitor>{visitor}, tree);
  } else if constexpr (kind == Kind::custom) {
    std::apply(WalkMembers<Visitor>{visitor}, tree.tree());
  } else if constexpr (kind == Kind::aggregate) {
    bind_members<count_members<Type>()>(tree, WalkMembers<Visitor>{visitor});
  }
}

/// Appends every tensor in the tree, empty ones too, in order.
template <class T>
void collect_leaves(T& tree, Leaves& leaves) {
  walk(tree, leaves);
}
template <class T>
void collect_leaves(const T& tree, ConstLeaves& leaves) {
  walk(tree, leaves);
}

/// ShapeError when `other`, the tree of that number among the arguments, does not have the places of the first.
TLALOC_API void check_places(const char* operation, const LeafPlaces& first, const LeafPlaces& other, int number);

/// ShapeError when not all trees have tensors in the same places.
template <class T, class... Others>
void check_same_structure(const char* operation, const T& first, const Others&... others) {
  LeafPlaces places;
  walk(first, places);
  int number = 1;
  const auto check = [&](const auto& other) {
    LeafPlaces other_places;
    walk(other, other_places);
    check_places(operation, places, other_places, ++number);
  };
  (check(others), ...);
}

}  // namespace tlaloc::inline v0::core
