// OpenBLAS, as the library uses it: one thread to a call, dimensions of any size.
//
// The library shares its work among its own threads; a second pool beside it, spinning, would stall both. OpenBLAS has
// one thread count for the whole process, so while any of our products runs it is set to one, and afterwards to what it
// was. A BLAS call that a program makes on another thread during that time runs on one thread as well; its result is
// the same up to rounding. A count other than one that a program sets meanwhile is left alone.
#pragma once

#include <cstdint>

namespace tlaloc::inline v0::kernels {

/// While one of these lives, OpenBLAS calls on any thread run on the thread that makes them.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
};

/// True exactly when OpenBLAS has chosen kernels of twice our vectors' width for this processor.
bool blas_has_avx512();

/// The largest dimension that is handed to BLAS in one piece; its integers have 32 bits.
inline constexpr std::int64_t max_blas_extent = std::int64_t{1} << 30;

/// True exactly when gemm() can read a rows x cols matrix with these strides: one of them is 1, and the other as long
/// as what it steps over.
bool blas_takes(std::int64_t rows, std::int64_t cols, std::int64_t row, std::int64_t col);

/// c = a b for operands that blas_takes(), c with unit column stride; a SingleThreadedBlas must be alive.
/// Dimensions above `limit` are cut into pieces.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_col,
          const T* b, std::int64_t b_row, std::int64_t b_col, T* c, std::int64_t c_row,
          std::int64_t limit = max_blas_extent);

}  // namespace tlaloc::inline v0::kernels
