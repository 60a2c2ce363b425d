// Products large enough for OpenBLAS, shared among the library's own threads.
#pragma once

#include "ops/kernels/contract.hpp"

namespace tlaloc::inline v0::kernels {

/// Any ContractShape with no extent 0. Operands with strides that BLAS has no word for are copied first.
template <class T>
void multiply_large(const ContractShape& shape, const T* a, const T* b, T* c);

}  // namespace tlaloc::inline v0::kernels
