// Products of matrices, one or a batch of them: what every contraction is lowered to.
//
// The caller describes operands by strides and never packs, folds or splits; which kernel runs, whether OpenBLAS is
// asked and how the work is shared among threads depend on the shape alone (contract.cpp says how).
#pragma once

#include <cstdint>

namespace tlaloc::inline v0::kernels {

/// c[b, i, j] = sum over k of a[b, i, k] * b[b, k, j]. Strides count elements; they may have any sign and may be 0.
/// c is dense and row-major, [batch, m, n].
struct ContractShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t a_batch = 0, a_row = 0, a_col = 1;
  std::int64_t b_batch = 0, b_row = 0, b_col = 1;
};

/// Writes every element of c, which must not overlap a or b. Extents may be 0: with k = 0 the result is all zeros.
void contract(const ContractShape& shape, const float* a, const float* b, float* c);
void contract(const ContractShape& shape, const double* a, const double* b, double* c);

}  // namespace tlaloc::inline v0::kernels
