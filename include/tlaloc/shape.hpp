// Dim and Shape: how long the axes of a tensor are, and what they are called.
//
//     Shape s{batch(16), 4};          // 16 along `batch`, then 4 along an unnamed axis
//     s.rank() == 2, s.size() == 64, s.extent(-1) == 4, s.axis(0) == batch
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>

#include <tlaloc/axis.hpp>
#include <tlaloc/export.hpp>

namespace tlaloc::inline v0 {

/// One dimension: an axis and its extent, in one 64-bit word, so that one comparison checks both.
class Dim {
 public:
  static constexpr int axis_bits = 20;
  static constexpr std::uint32_t max_axes = 1u << axis_bits;
  static constexpr std::int64_t max_extent = (std::int64_t{1} << (64 - axis_bits - 1)) - 1;

  constexpr Dim() = default;
  /// An unnamed dimension. Throws SizeError when `extent` is negative or above `max_extent`.
  template <integer I>
  constexpr Dim(I extent) : Dim(Axis::none, extent) {}
  template <integer I>
  constexpr Dim(Axis axis, I extent) : word_(std::uint64_t{axis.id()} << (64 - axis_bits)) {
    if (extent < I{0} || static_cast<std::uint64_t>(extent) > static_cast<std::uint64_t>(max_extent))
      refuse_extent(axis, static_cast<std::int64_t>(extent));
    word_ |= static_cast<std::uint64_t>(extent);
  }

  constexpr Axis axis() const { return Axis::from_id(static_cast<std::uint32_t>(word_ >> (64 - axis_bits))); }
  constexpr std::int64_t extent() const {
    return static_cast<std::int64_t>(word_ & ((std::uint64_t{1} << (64 - axis_bits)) - 1));
  }
  /// The same extent under another name, or under none.
  constexpr Dim named(Axis axis) const { return Dim(axis, extent()); }
  constexpr std::uint64_t word() const { return word_; }

  friend constexpr bool operator==(Dim, Dim) = default;

 private:
  [[noreturn]] TLALOC_API static void refuse_extent(Axis axis, std::int64_t extent);

  std::uint64_t word_ = 0;
};

template <integer I>
constexpr Dim Axis::operator()(I extent) const {
  return Dim(*this, extent);
}

/// An axis said by name or by number; negative numbers count from the last axis.
class AxisRef {
 public:
  /// Axis::none is no axis of any tensor.
  constexpr AxisRef(Axis axis) : axis_(axis), number_(axis.named() ? 0 : std::numeric_limits<std::int64_t>::min()) {}
  template <integer I>
  constexpr AxisRef(I number) : number_(static_cast<std::int64_t>(number)) {}

  constexpr bool by_name() const { return axis_.named(); }
  constexpr Axis axis() const { return axis_; }
  constexpr std::int64_t number() const { return number_; }

 private:
  Axis axis_;
  std::int64_t number_;
};

/// The dimensions of a tensor, outermost first. A small value: it never allocates.
class Shape {
 public:
  /// The most dimensions a tensor can have, the hidden batch axes of every enclosing vmap included.
  static constexpr int max_rank = 16;

  constexpr Shape() = default;
  Shape(std::initializer_list<Dim> dims) : Shape(std::span<const Dim>(dims.begin(), dims.size())) {}
  /// Throws SizeError for more than `max_rank` dimensions.
  explicit Shape(std::span<const Dim> dims) {
    if (dims.size() > max_rank) refuse_rank();
    rank_ = static_cast<int>(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) dims_[i] = dims[i];
  }

  constexpr int rank() const { return rank_; }
  constexpr const Dim& operator[](int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  constexpr Dim& operator[](int axis) { return dims_[static_cast<std::size_t>(axis)]; }
  constexpr const Dim* begin() const { return dims_.data(); }
  constexpr const Dim* end() const { return dims_.data() + rank_; }
  std::span<const Dim> dims() const { return {begin(), end()}; }

  /// The extent and the name of an axis; negative numbers count from the last. AxisError when it is not there.
  std::int64_t extent(AxisRef axis) const { return dims_[static_cast<std::size_t>(find(axis))].extent(); }
  Axis axis(int number) const { return dims_[static_cast<std::size_t>(find(number))].axis(); }
  /// The number of an axis, from 0. AxisError when it is not there.
  TLALOC_API int find(AxisRef axis) const;
  /// The number of the axis of that name, or -1.
  constexpr int position(Axis axis) const {
    for (int i = 0; i < rank_; ++i)
      if ((*this)[i].axis() == axis) return i;
    return -1;
  }

  /// The number of elements. Throws SizeError when it exceeds 2^63 - 1.
  TLALOC_API std::int64_t size() const;

  /// Appends a dimension. Throws SizeError beyond `max_rank`.
  void push_back(Dim dim) {
    if (rank_ == max_rank) refuse_rank();
    dims_[static_cast<std::size_t>(rank_++)] = dim;
  }

  /// As it is printed: "[batch 16, 4]".
  TLALOC_API std::string to_string() const;

  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  [[noreturn]] TLALOC_API static void refuse_rank();

  std::array<Dim, max_rank> dims_{};
  int rank_ = 0;
};

}  // namespace tlaloc::inline v0
