// Axis: the name of a dimension.
//
//     const Axis batch{"batch"}, feature{"feature"};
//     Tensor x = zeros({batch(16), feature(4)});       // a 16 x 4 tensor that knows what its axes mean
//
// Keep axes in a function or a struct rather than at namespace scope: short names such as `time` or `plus` collide
// with those of the C and C++ libraries there.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <tlaloc/export.hpp>

namespace tlaloc::inline v0 {

class Dim;

/// The integer types that count or number something; bool and the character types are none of them.
template <class T>
concept integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
                  !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// An interned name: two axes are equal exactly when their names and prime counts are. Costs as much as an integer.
class Axis {
 public:
  /// The axis of an unnamed dimension.
  constexpr Axis() = default;
  static const Axis none;

  /// The axis called `name`: letters, digits, '_', '-', '.', ':' and any byte above 127. Throws AxisError for an empty
  /// name or another character, and SizeError once the process has used a million names.
  TLALOC_API explicit Axis(std::string_view name);

  constexpr bool named() const { return id_ != 0; }
  /// The name as it is printed, primes included; "" for Axis::none.
  TLALOC_API std::string name() const;
  /// This axis with one more prime: what a Jacobian calls an input's axis that its output has too.
  TLALOC_API Axis primed() const;

  /// `batch(16)`: this axis with an extent.
  template <integer I>
  constexpr Dim operator()(I extent) const;

  /// A number that identifies the axis within this process.
  constexpr std::uint32_t id() const { return id_; }
  static constexpr Axis from_id(std::uint32_t id) {
    Axis axis;
    axis.id_ = id;
    return axis;
  }

  friend constexpr bool operator==(Axis, Axis) = default;

 private:
  std::uint32_t id_ = 0;
};

inline constexpr Axis Axis::none{};

}  // namespace tlaloc::inline v0
