// Taking and adding elements at given positions along an axis.
//
// Everything is dense and row-major: tables [batch, outer, extent, inner], indices [batch, count], what is taken or
// added [batch, outer, count, inner]. A table or indices may repeat: of those, `batch` b is number b % how many there
// are. Index is int32_t or int64_t; all indices must be in [0, extent). Any extent may be 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tlaloc::inline v0::kernels {

struct PickSizes {
  std::int64_t batch = 1, outer = 1, extent = 1, count = 1, inner = 1;
};

/// Where the first index outside [0, extent) stands, or n.
template <class Index>
std::int64_t first_outside(const Index* indices, std::int64_t n, std::int64_t extent);

/// out[b, o, k, i] = tables[b, o, indices[b, k], i], for elements of 1, 4 or 8 bytes.
template <class Index>
void gather(const std::byte* tables, std::int64_t table_count, const Index* indices, std::int64_t index_count,
            std::byte* out, const PickSizes& sizes, std::size_t element_size);

/// sums[b, o, indices[b, k], i] += updates[b, o, k, i], in ascending k. Integers wrap around. T is float, double,
/// int32_t or int64_t.
template <class T, class Index>
void scatter_add(const T* updates, const Index* indices, std::int64_t index_count, T* sums, const PickSizes& sizes);

}  // namespace tlaloc::inline v0::kernels
