// Running sums, products and first-order recurrences along one axis.
//
// Arrays are dense, [outer, count, inner], row-major; the output may be none of the inputs. Runs go forwards along the
// middle axis, or backwards with `reverse`. Any extent may be 0.
#pragma once

#include <cstdint>

namespace tlaloc::inline v0::kernels {

struct ScanSizes {
  std::int64_t outer = 1, count = 1, inner = 1;
  bool reverse = false;
};

/// T is float, double or int64_t; integers wrap around.
template <class T>
void cumsum(const T* x, T* y, const ScanSizes& sizes);
template <class T>
void cumprod(const T* x, T* y, const ScanSizes& sizes);

/// log(cumsum(exp(x))) without overflow; nan from the first nan on. T is float or double.
template <class T>
void logcumsumexp(const T* x, T* y, const ScanSizes& sizes);

/// In running order h[0] = b[0], h[k] = a[k] h[k-1] + b[k]; or h[k] = a[k-1] h[k-1] + b[k] if `delayed`. Where h[k-1]
/// is 0 its product is 0, whatever the factor. T is float or double.
template <class T>
void recurrence(const T* a, const T* b, T* h, bool delayed, const ScanSizes& sizes);

}  // namespace tlaloc::inline v0::kernels
