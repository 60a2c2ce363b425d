// Products that are too small, or too narrow, for a BLAS call to pay: register-blocked kernels on one thread.
#pragma once

#include <cstdint>

#include "ops/kernels/contract.hpp"

namespace tlaloc::inline v0::kernels {

/// The longest sum for which an operand that is not row-major is packed on the stack, a panel at a time.
inline constexpr std::int64_t max_packed_depth = 512;

/// True exactly when multiply_small() takes the operands as they are: b row-major, or the product shallow enough to
/// pack b, or a single row.
bool small_takes(const ContractShape& shape);

/// One product of the batch, c[i, j] = sum over k of a[i, k] * b[k, j], c dense; n > 1 unless m is 1.
///
/// `c_end` is the end of what the caller lets this call touch, at or after the end of this product's own c: up to there
/// a store may spill over, so results that follow must be written later.
template <class T>
void multiply_small(const ContractShape& shape, const T* a, const T* b, T* c, T* c_end);

/// c[j] = sum over k of a[j * a_step + k] * b[j * b_step + k].
template <class T>
void dot_products(std::int64_t count, std::int64_t k, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step,
                  T* c);

}  // namespace tlaloc::inline v0::kernels
