// Making tensors: from data, and filled.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include <tlaloc/dtype.hpp>
#include <tlaloc/export.hpp>
#include <tlaloc/scalar.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

namespace core {
TLALOC_API Tensor from_data(const void* data, std::size_t count, DType dtype, const Shape& shape);
TLALOC_API Shape shape_of_data(std::span<const std::int64_t> extents, std::span<const Axis> axes);
}  // namespace core

/// A tensor with a copy of `data`, in row-major order. ShapeError when `data` has another size than `shape`.
template <element T>
Tensor from_data(std::span<const T> data, const Shape& shape) {
  return core::from_data(data.data(), data.size(), dtype_of<T>, shape);
}
template <element T>
Tensor from_data(const std::vector<T>& data, const Shape& shape)
  requires(!std::same_as<T, bool>)
{
  return core::from_data(data.data(), data.size(), dtype_of<T>, shape);
}

/// `tensor<float>(2.5)`: a tensor of rank 0. The number's type is deduced, so that braces never are one:
/// `tensor<int>({1})` has rank 1, whatever the compiler makes of it otherwise.
template <element T, std::convertible_to<T> Number>
Tensor tensor(Number number) {
  const T value = static_cast<T>(number);
  return core::from_data(&value, 1, dtype_of<T>, Shape{});
}

/// `tensor<float>({1, 2, 3})`, `tensor<float>({{1, 2}, {3, 4}}, {batch, feature})`: data first, names after; up to
/// four levels of braces.
template <element T, std::size_t N>
Tensor tensor(const T (&data)[N], std::initializer_list<Axis> axes = {}) {
  const std::int64_t extents[] = {N};
  return core::from_data(data, N, dtype_of<T>, core::shape_of_data(extents, axes));
}
template <element T, std::size_t N, std::size_t M>
Tensor tensor(const T (&data)[N][M], std::initializer_list<Axis> axes = {}) {
  const std::int64_t extents[] = {N, M};
  return core::from_data(data, N * M, dtype_of<T>, core::shape_of_data(extents, axes));
}
template <element T, std::size_t N, std::size_t M, std::size_t K>
Tensor tensor(const T (&data)[N][M][K], std::initializer_list<Axis> axes = {}) {
  const std::int64_t extents[] = {N, M, K};
  return core::from_data(data, N * M * K, dtype_of<T>, core::shape_of_data(extents, axes));
}
template <element T, std::size_t N, std::size_t M, std::size_t K, std::size_t L>
Tensor tensor(const T (&data)[N][M][K][L], std::initializer_list<Axis> axes = {}) {
  const std::int64_t extents[] = {N, M, K, L};
  return core::from_data(data, N * M * K * L, dtype_of<T>, core::shape_of_data(extents, axes));
}

TLALOC_API Tensor zeros(const Shape& shape, DType dtype = DType::f32);
TLALOC_API Tensor ones(const Shape& shape, DType dtype = DType::f32);
/// Without a dtype: f32 for a floating-point value, i64 for an integer one.
TLALOC_API Tensor full(const Shape& shape, Scalar value);
TLALOC_API Tensor full(const Shape& shape, Scalar value, DType dtype);

/// 0, 1, ... extent - 1.
TLALOC_API Tensor arange(Dim dim, DType dtype = DType::i64);
/// The identity matrix, [dim, dim]; the second axis is unnamed, since no tensor has one name twice.
TLALOC_API Tensor eye(Dim dim, DType dtype = DType::f32);

/// Filled, with the shape, names and dtype of `x`. Constants: no gradient flows to `x`; inside a vmap the result does
/// not depend on the batch.
TLALOC_API Tensor zeros_like(const Tensor& x);
TLALOC_API Tensor ones_like(const Tensor& x);
TLALOC_API Tensor full_like(const Tensor& x, Scalar value);

}  // namespace tlaloc::inline v0
