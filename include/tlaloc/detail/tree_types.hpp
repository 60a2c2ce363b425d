// What a type is as a tree: which kind, which types stand in it, how many tensors, and what is wrong with it.
//
// Everything here happens while a program is compiled. Types that may hold a tensor where nobody would look for it
// have a Fault rather than no leaves: a gradient that is silently missing is worse than a program that does not
// compile. Only the kind and the faults of a type itself are needed to walk a tree, so that most programs instantiate
// little of this; fault_in and leaf_count look at all that a type holds.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tlaloc/axis.hpp>
#include <tlaloc/detail/members.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

/// Whether objects of a class that is no tree hold no tensors, so that trees may carry them along unchanged. Specialize
/// it for classes of your own or of other libraries: `template <> inline constexpr bool tlaloc::holds_no_tensor<Rng> =
/// true;`.
template <class T>
inline constexpr bool holds_no_tensor = std::is_empty_v<T>;
template <class C, class Traits, class Allocator>
inline constexpr bool holds_no_tensor<std::basic_string<C, Traits, Allocator>> = true;
template <class C, class Traits>
inline constexpr bool holds_no_tensor<std::basic_string_view<C, Traits>> = true;
template <>
inline constexpr bool holds_no_tensor<Axis> = true;
template <>
inline constexpr bool holds_no_tensor<AxisRef> = true;
template <>
inline constexpr bool holds_no_tensor<Dim> = true;
template <>
inline constexpr bool holds_no_tensor<Shape> = true;
/// std::function and its like: what a function has captured is constant.
template <template <class> class Function, class Result, class... Arguments>
inline constexpr bool holds_no_tensor<Function<Result(Arguments...)>> = true;

namespace core {

enum class Kind {
  leaf,
  carried,
  array,
  vector,
  map,
  optional,
  variant,
  tuple,
  aggregate,
  custom,
  reference,
  pointer,
  opaque
};

enum class Fault {
  none,
  reference,
  constant,
  pointer,
  opaque,
  base,
  count,
  map_key,
  custom_by_value,
  custom_not_const,
};

/// The class templates of the standard library that are trees of trees.
template <class T>
struct Container {
  static constexpr Kind kind = Kind::opaque;
};
template <class E, std::size_t N>
struct Container<E[N]> {
  static constexpr Kind kind = Kind::array;
  static constexpr std::size_t extent = N;
  using Children = Types<E>;
};
template <class E, std::size_t N>
struct Container<std::array<E, N>> : Container<E[N]> {};
template <class E>
struct Container<std::array<E, 0>> {
  static constexpr Kind kind = Kind::carried;
};
template <class E, class A>
struct Container<std::vector<E, A>> {
  static constexpr Kind kind = Kind::vector;
  using Children = Types<E>;
};
template <class K, class E, class C, class A>
struct Container<std::map<K, E, C, A>> {
  static constexpr Kind kind = Kind::map;
  using Key = K;
  using Children = Types<E>;
};
template <class E>
struct Container<std::optional<E>> {
  static constexpr Kind kind = Kind::optional;
  using Children = Types<E>;
};
template <class... E>
struct Container<std::variant<E...>> {
  static constexpr Kind kind = Kind::variant;
  using Children = Types<E...>;
};
template <class... E>
struct Container<std::tuple<E...>> {
  static constexpr Kind kind = Kind::tuple;
  using Children = Types<E...>;
};
template <class A, class B>
struct Container<std::pair<A, B>> : Container<std::tuple<A, B>> {};

template <class T>
consteval Kind kind_of();

template <class... T>
consteval bool all_carried(Types<T...>) {
  return ((kind_of<std::remove_const_t<T>>() == Kind::carried) && ...);
}

/// Whether no tensor can stand behind a pointer to T.
template <class T>
inline constexpr bool plain_pointee = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_function_v<T>;

template <class T>
concept smart_pointer = requires(const T& pointer) {
  typename T::element_type;
  pointer.get();
  pointer.operator->();
};

template <class T>
concept custom_tree = requires(T& object) { object.tree(); };

/// What T is, looking inside it only as far as the answer needs.
template <class T>
consteval Kind kind_of() {
  if constexpr (std::same_as<T, Tensor>) {
    return Kind::leaf;
  } else if constexpr (std::is_reference_v<T>) {
    return Kind::reference;
  } else if constexpr (std::is_pointer_v<T>) {
    return plain_pointee<std::remove_cv_t<std::remove_pointer_t<T>>> ? Kind::carried : Kind::pointer;
  } else if constexpr (std::is_scalar_v<T>) {
    return Kind::carried;
  } else if constexpr (Container<T>::kind != Kind::opaque) {
    if constexpr (Container<T>::kind == Kind::carried) {
      return Kind::carried;
    } else {
      return all_carried(typename Container<T>::Children{}) ? Kind::carried : Container<T>::kind;
    }
  } else if constexpr (custom_tree<T>) {
    return Kind::custom;
  } else if constexpr (holds_no_tensor<T>) {
    return Kind::carried;
  } else if constexpr (smart_pointer<T>) {
    return plain_pointee<std::remove_cv_t<typename T::element_type>> ? Kind::carried : Kind::pointer;
  } else if constexpr (std::is_aggregate_v<T> && !std::is_union_v<T>) {
    return Kind::aggregate;
  } else {
    return Kind::opaque;
  }
}

template <class... R>
consteval bool all_references(Types<R...>) {
  return (std::is_lvalue_reference_v<R> && ...);
}
template <class T>
inline constexpr bool tuple_of_references = false;
template <class... R>
inline constexpr bool tuple_of_references<std::tuple<R...>> = all_references(Types<R...>{});

template <class... R>
consteval Types<std::remove_reference_t<R>...> without_references(Types<R...>) {
  return {};
}

/// The types of what stands directly in T, const where it is const.
template <class T>
consteval auto children_of() {
  constexpr Kind kind = kind_of<T>();
  if constexpr (kind == Kind::aggregate)
    return MemberTypes<T, count_members<T>()>{};
  else if constexpr (kind == Kind::custom)
    return without_references(typename Container<decltype(std::declval<T&>().tree())>::Children{});
  else
    return typename Container<T>::Children{};
}

template <class T>
consteval Fault fault_of();

/// How many tensors every T holds, -1 if that differs. Outer: the classes around T, so that a class that holds a vector
/// of its own kind comes to an end.
template <class T, class... Outer>
consteval int leaves_in(Types<Outer...>);

template <class... T, class Outer>
consteval int leaves_in_all(Types<T...>, Outer outer) {
  int sum = 0;
  for (const int count : {0, leaves_in<std::remove_const_t<T>>(outer)...})
    sum = sum < 0 || count < 0 ? -1 : sum + count;
  return sum;
}

template <class T, class... Outer>
consteval int leaves_in(Types<Outer...> outer) {
  constexpr Kind kind = kind_of<T>();
  if constexpr (kind == Kind::leaf) {
    return 1;
  } else if constexpr (kind == Kind::carried || (std::same_as<T, Outer> || ...) || fault_of<T>() != Fault::none) {
    return 0;
  } else if constexpr (kind == Kind::aggregate || kind == Kind::custom) {
    return leaves_in_all(children_of<T>(), Types<T, Outer...>{});
  } else {
    const int count = leaves_in_all(children_of<T>(), outer);
    if constexpr (kind == Kind::tuple)
      return count;
    else if constexpr (kind == Kind::array)
      return count < 0 ? -1 : count * static_cast<int>(Container<T>::extent);
    else
      return count == 0 ? 0 : -1;
  }
}

/// How many tensors every T holds; -1 if that differs from one T to another.
template <class T>
inline constexpr int leaf_count = leaves_in<T>(Types<>{});
/// Whether a T can hold a tensor at all.
template <class T>
inline constexpr bool has_leaves = leaf_count<T> != 0;

/// Whether M is const and holds tensors, which nobody could then replace.
template <class M>
consteval bool frozen() {
  if constexpr (std::is_const_v<M>)
    return has_leaves<std::remove_const_t<M>>;
  else
    return false;
}
template <class... M>
consteval bool any_frozen(Types<M...>) {
  return (frozen<M>() || ...);
}
template <class... M>
consteval bool any_reference(Types<M...>) {
  return (std::is_reference_v<M> || ...);
}
template <class... M>
consteval bool all_const(Types<M...>) {
  return (std::is_const_v<M> && ...);
}

template <class T>
consteval Fault fault_of_aggregate() {
  constexpr int count = count_members<T>();
  if constexpr (has_base<T>()) {
    return Fault::base;
  } else if constexpr (count < 0 || count > max_members) {
    return Fault::count;
  } else if constexpr (std::is_copy_assignable_v<T>) {
    return Fault::none;
  } else if constexpr (!all_const(MemberTypes<const T, count>{})) {
    // A member is const in a const object, unless it is a reference.
    return Fault::reference;
  } else {
    return any_frozen(MemberTypes<T, count>{}) ? Fault::constant : Fault::none;
  }
}

template <class T>
concept map_key = std::convertible_to<const T&, std::string_view> || std::integral<T> || std::is_enum_v<T>;

/// What is wrong with T itself, whatever stands in it.
template <class T>
consteval Fault fault_of() {
  constexpr Kind kind = kind_of<T>();
  if constexpr (kind == Kind::leaf || kind == Kind::carried) {
    return Fault::none;
  } else if constexpr (kind == Kind::reference) {
    return Fault::reference;
  } else if constexpr (kind == Kind::pointer) {
    return Fault::pointer;
  } else if constexpr (kind == Kind::opaque) {
    return Fault::opaque;
  } else if constexpr (kind == Kind::aggregate) {
    return fault_of_aggregate<T>();
  } else if constexpr (kind == Kind::custom) {
    if constexpr (!tuple_of_references<decltype(std::declval<T&>().tree())>)
      return Fault::custom_by_value;
    else if constexpr (!custom_tree<const T>)
      return Fault::custom_not_const;
    else if constexpr (!tuple_of_references<decltype(std::declval<const T&>().tree())>)
      return Fault::custom_by_value;
    else
      return any_frozen(children_of<T>()) ? Fault::constant : Fault::none;
  } else {
    if constexpr (kind == Kind::map)
      if constexpr (!map_key<typename Container<T>::Key>) return Fault::map_key;
    if constexpr (any_reference(children_of<T>()))
      return Fault::reference;
    else
      return any_frozen(children_of<T>()) ? Fault::constant : Fault::none;
  }
}

/// The first thing that is wrong with T or with what stands in it.
template <class T, class... Outer>
consteval Fault fault_inside(Types<Outer...>);

template <class... T, class Outer>
consteval Fault fault_inside_all(Types<T...>, Outer outer) {
  for (const Fault fault : {Fault::none, fault_inside<std::remove_const_t<T>>(outer)...})
    if (fault != Fault::none) return fault;
  return Fault::none;
}

template <class T, class... Outer>
consteval Fault fault_inside(Types<Outer...>) {
  constexpr Fault fault = fault_of<T>();
  constexpr Kind kind = kind_of<T>();
  if constexpr (fault != Fault::none || kind == Kind::leaf || kind == Kind::carried || (std::same_as<T, Outer> || ...))
    return fault;
  else
    return fault_inside_all(children_of<T>(), Types<T, Outer...>{});
}

template <class T>
inline constexpr Fault fault_in = fault_inside<T>(Types<>{});

/// Refuses to compile, and says why T is no tree.
template <class T, Fault fault>
consteval void refuse_tree() {
  static_assert(fault != Fault::reference,
                "tlaloc: a reference is no tree: a copy of the tree would still refer to the tensors of the "
                "original. Hold the value, or give the class `auto tree() { return std::tie(...); }`");
  static_assert(fault != Fault::constant,
                "tlaloc: a const member (or one behind a const reference) holds tensors that transforms could not "
                "replace. Make it non-const; if it comes from `auto tree() { return std::tie(...); }`, that function "
                "must exist without const, too");
  static_assert(fault != Fault::pointer,
                "tlaloc: a pointer is no tree: a copy of the tree would share what it points to. Hold the value, a "
                "std::optional or a std::vector, or give the class `auto tree() { return std::tie(...); }`");
  static_assert(fault != Fault::opaque,
                "tlaloc: this class has private members or a constructor, so its tensors would be missed. Give it "
                "`auto tree() { return std::tie(...); }`, with and without const; if it holds no tensor, specialize "
                "tlaloc::holds_no_tensor");
  static_assert(fault != Fault::base,
                "tlaloc: the members of a class with a base class cannot be found. Give it `auto tree() { return "
                "std::tie(...); }`, with and without const");
  static_assert(fault != Fault::count,
                "tlaloc: the members of this class cannot be counted (is one a reference?), or are more than 40. "
                "Give it `auto tree() { return std::tie(...); }`, with and without const");
  static_assert(fault != Fault::map_key,
                "tlaloc: the keys of a map that is a tree are strings, integers or enumerators");
  static_assert(fault != Fault::custom_by_value,
                "tlaloc: tree() returns copies, and replacing those would change nothing. Write `auto tree() { "
                "return std::tie(...); }`");
  static_assert(fault != Fault::custom_not_const,
                "tlaloc: this class has `auto tree()`, but not `auto tree() const { return std::tie(...); }`, which "
                "it needs as well");
}

}  // namespace core
}  // namespace tlaloc::inline v0
