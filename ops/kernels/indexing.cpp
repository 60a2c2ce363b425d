// Elements one by one where inner is 1, whole runs of `inner` otherwise.
#include "ops/kernels/indexing.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/threads.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Elements moved by one thread before sharing the work is worth waking another.
constexpr std::int64_t grain = 16384;

std::int64_t grain_of(std::int64_t elements_each) {
  return std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, elements_each));
}

/// copy(from, to) for every pair of runs, each numbered among all runs of the tables, or of the result.
template <class Index, class Copy>
void gather_runs(std::int64_t table_count, const Index* indices, std::int64_t index_count, const PickSizes& sizes,
                 const Copy& copy) {
  const std::int64_t runs = sizes.batch * sizes.outer * sizes.count;
  core::parallel_for(runs, grain_of(sizes.inner), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t to = begin; to < end;) {
      const std::int64_t block = to / sizes.count;
      const std::int64_t batch = block / sizes.outer;
      const std::int64_t outer = block % sizes.outer;
      const std::int64_t table = (batch % table_count * sizes.outer + outer) * sizes.extent;
      const Index* const picked = indices + batch % index_count * sizes.count;
      const std::int64_t first = to - block * sizes.count;
      const std::int64_t last = std::min(sizes.count, first + (end - to));
      for (std::int64_t k = first; k < last; ++k, ++to) copy(table + picked[k], to);
    }
  });
}

template <class T>
T wrapping_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

}  // namespace

template <class Index>
std::int64_t first_outside(const Index* indices, std::int64_t n, std::int64_t extent) {
  const auto outside = [=](Index index) { return (index < 0) | (static_cast<std::int64_t>(index) >= extent); };
  constexpr std::int64_t block = 1024;
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = std::min(n, begin + block);
    int bad = 0;
    for (std::int64_t i = begin; i < end; ++i) bad |= outside(indices[i]);
    if (bad != 0) return std::find_if(indices + begin, indices + end, outside) - indices;
  }
  return n;
}

template <class Index>
void gather(const std::byte* tables, std::int64_t table_count, const Index* indices, std::int64_t index_count,
            std::byte* out, const PickSizes& sizes, std::size_t element_size) {
  const auto one_by_one = [&]<class T>(T) {
    const T* const from = reinterpret_cast<const T*>(tables);
    T* const to = reinterpret_cast<T*>(out);
    gather_runs(table_count, indices, index_count, sizes, [=](std::int64_t f, std::int64_t t) { to[t] = from[f]; });
  };
  if (sizes.inner == 1) {
    if (element_size == 1) return one_by_one(std::uint8_t{});
    if (element_size == 4) return one_by_one(std::uint32_t{});
    return one_by_one(std::uint64_t{});
  }
  const std::size_t run = static_cast<std::size_t>(sizes.inner) * element_size;
  gather_runs(table_count, indices, index_count, sizes, [=](std::int64_t from, std::int64_t to) {
    std::memcpy(out + static_cast<std::size_t>(to) * run, tables + static_cast<std::size_t>(from) * run, run);
  });
}

template <class T, class Index>
void scatter_add(const T* updates, const Index* indices, std::int64_t index_count, T* sums, const PickSizes& sizes) {
  const std::int64_t blocks = sizes.batch * sizes.outer;
  const std::int64_t inner = sizes.inner;
  const auto add = [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
    const Index* const picked = indices + block / sizes.outer % index_count * sizes.count;
    for (std::int64_t k = 0; k < sizes.count; ++k) {
      const T* const from = updates + (block * sizes.count + k) * inner;
      T* const to = sums + (block * sizes.extent + picked[k]) * inner;
      for (std::int64_t i = begin; i < end; ++i) to[i] = wrapping_sum(to[i], from[i]);
    }
  };
  // Equal indices meet in one place, so only different tables, or parts of runs, go to different threads.
  if (blocks == 1) {
    core::parallel_for(inner, std::max<std::int64_t>(64, grain_of(sizes.count)),
                       [&](std::int64_t begin, std::int64_t end) { add(0, begin, end); });
    return;
  }
  core::parallel_for(blocks, grain_of(sizes.count * inner), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) add(block, 0, inner);
  });
}

template std::int64_t first_outside(const std::int32_t*, std::int64_t, std::int64_t);
template std::int64_t first_outside(const std::int64_t*, std::int64_t, std::int64_t);
template void gather(const std::byte*, std::int64_t, const std::int32_t*, std::int64_t, std::byte*, const PickSizes&,
                     std::size_t);
template void gather(const std::byte*, std::int64_t, const std::int64_t*, std::int64_t, std::byte*, const PickSizes&,
                     std::size_t);
template void scatter_add(const float*, const std::int32_t*, std::int64_t, float*, const PickSizes&);
template void scatter_add(const float*, const std::int64_t*, std::int64_t, float*, const PickSizes&);
template void scatter_add(const double*, const std::int32_t*, std::int64_t, double*, const PickSizes&);
template void scatter_add(const double*, const std::int64_t*, std::int64_t, double*, const PickSizes&);
template void scatter_add(const std::int32_t*, const std::int32_t*, std::int64_t, std::int32_t*, const PickSizes&);
template void scatter_add(const std::int32_t*, const std::int64_t*, std::int64_t, std::int32_t*, const PickSizes&);
template void scatter_add(const std::int64_t*, const std::int32_t*, std::int64_t, std::int64_t*, const PickSizes&);
template void scatter_add(const std::int64_t*, const std::int64_t*, std::int64_t, std::int64_t*, const PickSizes&);

}  // namespace tlaloc::inline v0::kernels
