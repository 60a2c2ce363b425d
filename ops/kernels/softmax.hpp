// Softmax and its relatives over the last axis, forward and backward.
//
// Everything is dense, [rows, count] unless said otherwise; outputs overlap no input. Extents may be 0. A row's result
// depends on that row alone, bit for bit. T is float or double. Exponentials below 2^-125 may be taken for 0 in float.
#pragma once

#include <cstdint>

namespace tlaloc::inline v0::kernels {

/// y = exp(x) / sum(exp(x)), without overflow. A row with a nan, or of nothing but -inf, is all nan. A row with a +inf
/// is nan there and 0 elsewhere.
template <class T>
void softmax(const T* x, T* y, std::int64_t rows, std::int64_t count);

/// y = x - logsumexp(x). A row with a nan, or of nothing but -inf, is all nan. A row with a +inf is nan there and -inf
/// elsewhere.
template <class T>
void log_softmax(const T* x, T* y, std::int64_t rows, std::int64_t count);

/// dx = y * (ct - sum(ct * y)) for y = softmax(x).
template <class T>
void softmax_backward(const T* y, const T* ct, T* dx, std::int64_t rows, std::int64_t count);

/// dx = ct - exp(y) * sum(ct) for y = log_softmax(x).
template <class T>
void log_softmax_backward(const T* y, const T* ct, T* dx, std::int64_t rows, std::int64_t count);

/// dx = ct * exp(x - lse) for lse = logsumexp(x), with `lse` and `ct` of [rows]. Where lse is -inf it is 0; where lse
/// is +inf, the k entries of +inf have ct / k each and the others 0; where ct is 0, it is 0 whatever the rest.
template <class T>
void logsumexp_backward(const T* x, const T* lse, const T* ct, T* dx, std::int64_t rows, std::int64_t count);

}  // namespace tlaloc::inline v0::kernels
