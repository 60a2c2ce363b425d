// Outer products, one or a batch of them: products with nothing to sum over.
#pragma once

#include "ops/kernels/contract.hpp"

namespace tlaloc::inline v0::kernels {

/// c[b, i, j] = a[b, i] * b[b, j]: a ContractShape whose k is 1, with no extent 0, and n > 1 unless
/// m is 1.
template <class T>
void outer_products(const ContractShape& shape, const T* a, const T* b, T* c);

}  // namespace tlaloc::inline v0::kernels
