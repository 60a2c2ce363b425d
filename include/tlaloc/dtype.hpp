// DType: the type of a tensor's elements.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tlaloc/export.hpp>

namespace tlaloc::inline v0 {

/// In the order of promotion: bool < i32 < i64 < floats. f32 and f64 do not mix (see `cast`).
enum class DType : std::uint8_t { boolean, i32, i64, f32, f64 };

/// "bool", "i32", "i64", "f32" or "f64".
TLALOC_API std::string_view name(DType dtype);

/// Bytes an element takes.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::boolean: return 1;
    case DType::i32:
    case DType::f32: return 4;
    case DType::i64:
    case DType::f64: return 8;
  }
  return 0;
}

constexpr bool is_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

/// The C++ types that stand for a DType.
template <class T>
concept element = std::same_as<T, bool> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
                  std::same_as<T, float> || std::same_as<T, double>;

template <element T>
inline constexpr DType dtype_of = DType::boolean;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;

}  // namespace tlaloc::inline v0
