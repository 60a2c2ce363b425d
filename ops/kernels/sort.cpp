// Elements become unsigned keys of the same order. A key together with its position is unlike all others, so any
// sorting is stable; where both fit one word, words are sorted, otherwise positions are, by the keys they point at.
#include "ops/kernels/sort.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/threads.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Elements sorted by one thread before sharing the work is worth waking another.
constexpr std::int64_t grain = 1024;

template <class T>
auto key_of(T x, bool descending) {
  using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr U sign = U{1} << (8 * sizeof(U) - 1);
  U key;
  if constexpr (std::is_same_v<T, bool>) {
    key = x;
  } else if constexpr (std::is_integral_v<T>) {
    key = static_cast<U>(x) ^ sign;
  } else {
    const U bits = std::bit_cast<U>(x + T{0});  // -0 becomes 0
    key = x != x ? std::numeric_limits<U>::max() : (bits & sign) != 0 ? ~bits : bits | sign;
  }
  return descending ? static_cast<U>(~key) : key;
}

template <class Less, class Item>
void sort_first(Item* items, std::int64_t count, std::int64_t kept, const Less& less) {
  if (kept < count) std::nth_element(items, items + kept, items + count, less);
  std::sort(items, items + kept, less);
}

}  // namespace

template <class T>
void sort(const T* x, T* values, std::int64_t* indices, std::int64_t* work, std::int64_t rows, std::int64_t count,
          std::int64_t kept, bool descending) {
  const bool fits_word = sizeof(T) < 8 && count <= std::int64_t{1} << 32;
  const auto sort_row = [=](std::int64_t row) {
    const T* const from = x + row * count;
    std::int64_t* const places = work + row * count;
    if (fits_word) {
      // The same memory, as the unsigned words that keys and positions make.
      auto* const words = reinterpret_cast<std::uint64_t*>(places);
      for (std::int64_t i = 0; i < count; ++i)
        words[i] = std::uint64_t{key_of(from[i], descending)} << 32 | static_cast<std::uint64_t>(i);
      sort_first(words, count, kept, std::less<>{});
      for (std::int64_t i = 0; i < kept; ++i) words[i] &= 0xffffffff;
    } else {
      std::iota(places, places + count, std::int64_t{0});
      sort_first(places, count, kept, [=](std::int64_t a, std::int64_t b) {
        const auto key_a = key_of(from[a], descending);
        const auto key_b = key_of(from[b], descending);
        return key_a != key_b ? key_a < key_b : a < b;
      });
    }
    for (std::int64_t i = 0; i < kept; ++i) {
      indices[row * kept + i] = places[i];
      values[row * kept + i] = from[places[i]];
    }
  };
  core::parallel_for(rows, std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, count)),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t row = begin; row < end; ++row) sort_row(row);
                     });
}

template void sort(const bool*, bool*, std::int64_t*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t, bool);
template void sort(const std::int32_t*, std::int32_t*, std::int64_t*, std::int64_t*, std::int64_t, std::int64_t,
                   std::int64_t, bool);
template void sort(const std::int64_t*, std::int64_t*, std::int64_t*, std::int64_t*, std::int64_t, std::int64_t,
                   std::int64_t, bool);
template void sort(const float*, float*, std::int64_t*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t, bool);
template void sort(const double*, double*, std::int64_t*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t,
                   bool);

}  // namespace tlaloc::inline v0::kernels
