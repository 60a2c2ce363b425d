// Sets of axis numbers, the parameters of operations that work along axes.
#pragma once

#include <bit>
#include <cstdint>

#include <tlaloc/shape.hpp>

namespace tlaloc::inline v0::ops {

/// A set of axis numbers below 16.
class AxisSet {
 public:
  constexpr AxisSet() = default;
  static constexpr AxisSet single(int axis) { return AxisSet(1u << axis); }
  static constexpr AxisSet first(int count) { return AxisSet((1u << count) - 1); }

  constexpr bool contains(int axis) const { return (bits_ >> axis & 1) != 0; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr void insert(int axis) { bits_ |= 1u << axis; }
  /// The same axes with `count` new ones in front.
  constexpr AxisSet shifted(int count = 1) const { return AxisSet(bits_ << count); }

  friend constexpr bool operator==(AxisSet, AxisSet) = default;

 private:
  explicit constexpr AxisSet(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};

/// `dims` put in at the places that `axes` names in the result.
inline Shape with_axes(const Shape& shape, AxisSet axes, const Shape& dims) {
  Shape result;
  for (int i = 0, from = 0, added = 0; i < shape.rank() + axes.size(); ++i)
    result.push_back(axes.contains(i) ? dims[added++] : shape[from++]);
  return result;
}

inline Shape without_axes(const Shape& shape, AxisSet axes) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i)
    if (!axes.contains(i)) result.push_back(shape[i]);
  return result;
}

/// The dims that `axes` names.
inline Shape only_axes(const Shape& shape, AxisSet axes) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i)
    if (axes.contains(i)) result.push_back(shape[i]);
  return result;
}

/// How many elements the axes [begin, end) have together.
inline std::int64_t size_of_axes(const Shape& shape, int begin, int end) {
  std::int64_t size = 1;
  for (int i = begin; i < end; ++i) size *= shape[i].extent();
  return size;
}

inline Shape with_dim_in_front(Dim dim, const Shape& shape) {
  Shape result{dim};
  for (const Dim other : shape) result.push_back(other);
  return result;
}

/// A permutation: axis i of the result is axis [i] of the operand.
struct Order {
  std::uint8_t of[Shape::max_rank]{};
  std::uint8_t rank = 0;

  constexpr int operator[](int i) const { return of[i]; }
  constexpr void push_back(int axis) { of[rank++] = static_cast<std::uint8_t>(axis); }
  static constexpr Order identity(int rank) {
    Order order;
    for (int i = 0; i < rank; ++i) order.push_back(i);
    return order;
  }
  /// Axis `from` goes to place `to`, the others keep their order.
  static constexpr Order moving(int rank, int from, int to) {
    Order order;
    for (int i = 0, other = 0; i < rank; ++i) {
      if (other == from) ++other;
      order.push_back(i == to ? from : other++);
    }
    return order;
  }
  constexpr Order inverse() const {
    Order order;
    order.rank = rank;
    for (int i = 0; i < rank; ++i) order.of[of[i]] = static_cast<std::uint8_t>(i);
    return order;
  }
  constexpr Order shifted() const {
    Order order;
    order.push_back(0);
    for (int i = 0; i < rank; ++i) order.push_back(of[i] + 1);
    return order;
  }
  constexpr bool is_identity() const {
    for (int i = 0; i < rank; ++i)
      if (of[i] != i) return false;
    return true;
  }
  friend constexpr bool operator==(const Order&, const Order&) = default;
};

}  // namespace tlaloc::inline v0::ops
