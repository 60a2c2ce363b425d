// What the product kernels need beside Lanes<T>: loops that leave nothing in memory, permutations and transposed
// blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ops/kernels/lanes.hpp"

namespace tlaloc::inline v0::kernels {

/// E[N] for a signed N.
template <class E, std::int64_t N>
using Array = E[static_cast<std::size_t>(N)];

/// body(0), ..., body(N - 1) with constant arguments: sums stay in registers where a loop would keep them in memory.
template <int N, class F>
inline void unrolled(F&& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (body(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

/// x, kept out of any vector the compiler would like to move it in together with its neighbours in memory. The fields
/// of a shape have usually just been stored one by one, and a vector load has to wait until they reach the cache: as
/// long as a whole small product takes.
inline std::int64_t in_register(std::int64_t x) {
  asm("" : "+r"(x));
  return x;
}

/// `from[0], from[step], ...`
template <class T>
inline Lanes<T> gathered(const T* from, std::int64_t step) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return Lanes<T>(typename Lanes<T>::Register{from[I * step]...});
  }(std::make_integer_sequence<int, Lanes<T>::width>{});
}

/// Which lane each lane is taken from, in the units the permutation instruction counts in: 32-bit words.
struct Pattern {
  static constexpr int words = 8;
  alignas(32) std::int32_t word[words];
};

/// The pattern that takes lane i from lane source(i).
template <class T, class F>
constexpr Pattern make_pattern(F source) {
  constexpr int words_each = Pattern::words / Lanes<T>::width;
  Pattern pattern{};
  for (int i = 0; i < Pattern::words; ++i) pattern.word[i] = source(i / words_each) * words_each + i % words_each;
  return pattern;
}

template <class T>
inline Lanes<T> permuted(Lanes<T> x, const Pattern& pattern) {
  using Words = Lanes<std::int32_t>;
  const auto from = std::bit_cast<Words::Register>(x.r);
#if defined(__AVX2__) && defined(__FMA__)
  const auto index = std::bit_cast<__m256i>(Words::load(pattern.word).r);
  return Lanes<T>(
      std::bit_cast<typename Lanes<T>::Register>(_mm256_permutevar8x32_epi32(std::bit_cast<__m256i>(from), index)));
#else
  Words::Register to;
  for (int i = 0; i < Pattern::words; ++i) to[i] = from[pattern.word[i]];
  return Lanes<T>(std::bit_cast<typename Lanes<T>::Register>(to));
#endif
}

/// Row r of the square block becomes its column r.
inline void transpose(Lanes<float> (&rows)[8]) {
  Lanes<float>::Register pairs[8], quads[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = __builtin_shufflevector(rows[i].r, rows[i + 1].r, 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[i + 1] = __builtin_shufflevector(rows[i].r, rows[i + 1].r, 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int half = 0; half < 2; ++half) {
      quads[i + 2 * half] = __builtin_shufflevector(pairs[i + half], pairs[i + 2 + half], 0, 1, 8, 9, 4, 5, 12, 13);
      quads[i + 2 * half + 1] =
          __builtin_shufflevector(pairs[i + half], pairs[i + 2 + half], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; ++i) {
    rows[i].r = __builtin_shufflevector(quads[i], quads[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    rows[i + 4].r = __builtin_shufflevector(quads[i], quads[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

inline void transpose(Lanes<double> (&rows)[4]) {
  Lanes<double>::Register pairs[4];
  for (int i = 0; i < 4; i += 2) {
    pairs[i] = __builtin_shufflevector(rows[i].r, rows[i + 1].r, 0, 4, 2, 6);
    pairs[i + 1] = __builtin_shufflevector(rows[i].r, rows[i + 1].r, 1, 5, 3, 7);
  }
  for (int i = 0; i < 2; ++i) {
    rows[i].r = __builtin_shufflevector(pairs[i], pairs[i + 2], 0, 1, 4, 5);
    rows[i + 2].r = __builtin_shufflevector(pairs[i], pairs[i + 2], 2, 3, 6, 7);
  }
}

/// After streaming stores, before anybody reads what they wrote.
inline void stream_fence() {
#if defined(__AVX2__) && defined(__FMA__)
  _mm_sfence();
#endif
}

}  // namespace tlaloc::inline v0::kernels
