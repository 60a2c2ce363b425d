// Scalar: a C++ number as an operand.
//
// Numbers are weak: `2 * x` and `x / 3.0` keep a float x's dtype; a float number with an integer tensor gives f32.
// A number never turns into a tensor by itself, so `tanh(1.0)` is std::tanh or an error, never a tensor.
#pragma once

#include <concepts>
#include <cstdint>

#include <tlaloc/axis.hpp>
#include <tlaloc/export.hpp>

namespace tlaloc::inline v0 {

/// What counts as a number: the integers (no bool, no characters) and the floating-point types.
template <class T>
concept number = integer<T> || std::floating_point<T>;

class Scalar {
 public:
  template <number T>
  constexpr Scalar(T value)
      : real_(static_cast<double>(value)),
        whole_(static_cast<std::int64_t>(integer<T> ? value : T{0})),
        is_float_(std::floating_point<T>) {}

  constexpr bool is_float() const { return is_float_; }
  constexpr double real() const { return real_; }
  /// The value of an integer number; 0 when is_float().
  constexpr std::int64_t whole() const { return whole_; }

  friend constexpr bool operator==(const Scalar&, const Scalar&) = default;

 private:
  double real_;
  std::int64_t whole_;
  bool is_float_;
};

}  // namespace tlaloc::inline v0
