// Reductions of one axis, or of neighbouring axes seen as one: sum, prod, max, min and logsumexp.
//
// Inputs are dense and seen as [outer, count, inner], row-major; outputs are dense, [outer, inner], and overlap no
// input. Any extent may be 0. Each result depends on its own `count` entries alone, whatever the other extents and
// however many threads there are.
#pragma once

#include <cstdint>

namespace tlaloc::inline v0::kernels {

/// The rounding error grows with the logarithm of `count`. Integers wrap around.
void sum(const float* in, float* out, std::int64_t outer, std::int64_t count, std::int64_t inner);
void sum(const double* in, double* out, std::int64_t outer, std::int64_t count, std::int64_t inner);
void sum(const std::int64_t* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner);
void sum(const std::int32_t* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner);
void sum(const bool* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner);

/// Integers wrap around.
void prod(const float* in, float* out, std::int64_t outer, std::int64_t count, std::int64_t inner);
void prod(const double* in, double* out, std::int64_t outer, std::int64_t count, std::int64_t inner);
void prod(const std::int64_t* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner);
void prod(const std::int32_t* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner);
void prod(const bool* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner);

/// nan if any entry is nan. Of zeros that differ in sign, either. count >= 1. T is float, double, int32_t or int64_t.
template <class T>
void max(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner);
template <class T>
void min(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner);

/// `index`: where along the axis the value stands: the first nan if there is one, the first of equal entries otherwise.
template <class T>
void max_with_indices(const T* in, T* out, std::int64_t* index, std::int64_t outer, std::int64_t count,
                      std::int64_t inner);
template <class T>
void min_with_indices(const T* in, T* out, std::int64_t* index, std::int64_t outer, std::int64_t count,
                      std::int64_t inner);

/// log(sum(exp(in))) without overflow: nan if any entry is nan, else +inf if any is +inf, and -inf if all are -inf or
/// there are none. T is float or double.
template <class T>
void logsumexp(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner);

}  // namespace tlaloc::inline v0::kernels
