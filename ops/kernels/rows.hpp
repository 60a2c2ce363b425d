// What kernels over rows are made of: short rows taken as many at once as a vector has lanes, one row to a lane; long
// rows along the lanes; and sums in pairs.
//
// A row of at most `most_columns` entries is always taken the first way and a longer one always the second, so what a
// row gives does not depend on how many there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/threads.hpp"
#include "ops/kernels/lanes.hpp"
#include "ops/kernels/math.hpp"

namespace tlaloc::inline v0::kernels {

template <int N>
using Constant = std::integral_constant<int, N>;

/// A count known to the compiler, next to a plain int.
template <class N>
concept constant = !std::same_as<N, int>;

/// Calls f(0), f(1), ... f(count - 1): with Constants, one after the other, if `count` is one.
template <class Count, class F>
[[gnu::always_inline]] inline void for_each_below(Count count, const F& f) {
  if constexpr (constant<Count>) [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      (f(Constant<I>{}), ...);
    }
  (std::make_integer_sequence<int, Count{}>{});
  else for (int i = 0; i < count; ++i) f(i);
}

/// `count` is an int, or a Constant if it is the whole width.
template <lane_element T, class Count>
[[gnu::always_inline]] inline Lanes<T> load_some(const T* from, Count count) {
  if constexpr (constant<Count>)
    return Lanes<T>::load(from);
  else
    return Lanes<T>::load(from, count);
}

/// Masked stores are slow, and these not.
template <lane_element T, class Count>
[[gnu::always_inline]] inline void store_some(Lanes<T> lanes, T* to, Count count) {
  if constexpr (constant<Count>)
    lanes.store(to);
  else if (count == Lanes<T>::width)
    lanes.store(to);
  else
    for_each_below(Constant<Lanes<T>::width - 1>{}, [&](auto lane) {
      if (lane < count) to[lane] = lanes[lane];
    });
}

/// Rows a thread takes at a time, so that it has about `elements` to work on.
constexpr std::int64_t rows_per_piece(std::int64_t count, std::int64_t elements) {
  const std::int64_t rows = elements / std::max(count, std::int64_t{1});
  return rows < 8 ? std::max(rows, std::int64_t{1}) : rows / 8 * 8;
}

/// Elements worth a piece of their own where each costs an exponential.
inline constexpr std::int64_t exp_grain = 2048;

// Short rows.

inline constexpr int most_columns = 16;

/// Column c holds entry c of every row of the group.
template <lane_element T>
struct Columns {
  Lanes<T> lanes[most_columns];

  Lanes<T>& operator[](int c) { return lanes[c]; }
  const Lanes<T>& operator[](int c) const { return lanes[c]; }
};

/// What is done to a group, in two steps: begin(count, first, rows), then finish(count, first, rows, what begin gave).
/// An exponential keeps what comes after it waiting; where there are two groups, the second one's fills that time.
template <class Begin, class Finish>
struct TwoSteps {
  Begin begin;
  Finish finish;

  [[gnu::always_inline]] void operator()(auto count, std::int64_t first, auto rows) const {
    finish(count, first, rows, begin(count, first, rows));
  }
  [[gnu::always_inline]] void operator()(auto count, std::int64_t first, std::int64_t second, auto rows) const {
    const auto one = begin(count, first, rows), other = begin(count, second, rows);
    finish(count, first, rows, one);
    finish(count, second, rows, other);
  }
};
template <class Begin, class Finish>
TwoSteps(Begin, Finish) -> TwoSteps<Begin, Finish>;

/// Calls f(count, first, rows) for groups of `width` rows (a Constant) of [begin, end), the last group moved back to
/// end with the rows; or once with an int, if there are fewer. A count of 3 is a Constant, which doubles the speed;
/// larger ones gain nothing. There, TwoSteps gets two groups at a time.
template <class T, class F>
[[gnu::always_inline]] inline void for_each_group(int count, std::int64_t begin, std::int64_t end, const F& f) {
  constexpr int width = Lanes<T>::width;
  if (end - begin < width) {
    if (count == 3) return f(Constant<3>{}, begin, static_cast<int>(end - begin));
    return f(count, begin, static_cast<int>(end - begin));
  }
  const auto whole_groups = [&](auto n) __attribute__((always_inline)) {
    constexpr Constant<width> all;
    std::int64_t r = begin;
    if constexpr (constant<decltype(n)> && requires { f(n, r, r, all); })
      for (; r + 2 * width <= end; r += 2 * width) f(n, r, r + width, all);
    for (; r < end; r += width) f(n, std::min(r, end - width), all);
  };
  if (count == 3)
    whole_groups(Constant<3>{});
  else
    whole_groups(count);
}

/// Shares the rows among the threads and calls group(count, first, rows) for rows of at most most_columns entries,
/// row(r) for longer ones. count >= 1.
template <class T, class Group, class Row>
[[gnu::always_inline]] inline void for_each_row(std::int64_t rows, std::int64_t count, std::int64_t grain,
                                                const Group& group, const Row& row) {
  // Not inlined: one copy is large enough.
  const auto piece = [&](std::int64_t begin, std::int64_t end) __attribute__((noinline)) {
    if (count > most_columns) {
      for (std::int64_t r = begin; r < end; ++r) row(r);
      return;
    }
    for_each_group<T>(static_cast<int>(count), begin, end, group);
  };
  core::parallel_for(rows, rows_per_piece(count, grain), piece);
}

namespace detail {

/// As many columns as half a vector holds are moved at a time.
template <lane_element T>
inline constexpr int block_columns = Lanes<T>::width / 2;

template <lane_element T>
struct HalfOf {
  using Register [[gnu::vector_size(lane_bytes / 2)]] = T;
};

template <lane_element T>
[[gnu::always_inline]] inline Lanes<T> load_halves(const T* low, const T* high) {
  typename HalfOf<T>::Register a, b;
  std::memcpy(&a, low, sizeof a);
  std::memcpy(&b, high, sizeof b);
  if constexpr (sizeof(T) == 4)
    return Lanes<T>(__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7));
  else
    return Lanes<T>(__builtin_shufflevector(a, b, 0, 1, 2, 3));
}

template <int Side, lane_element T>
[[gnu::always_inline]] inline void store_half(Lanes<T> lanes, T* to) {
  typename HalfOf<T>::Register half;
  if constexpr (sizeof(T) == 4)
    half = __builtin_shufflevector(lanes.r, lanes.r, 4 * Side, 4 * Side + 1, 4 * Side + 2, 4 * Side + 3);
  else
    half = __builtin_shufflevector(lanes.r, lanes.r, 2 * Side, 2 * Side + 1);
  std::memcpy(to, &half, sizeof half);
}

/// Transposes each half of the vectors in `v` by itself; doing it twice does nothing.
template <lane_element T>
[[gnu::always_inline]] inline void transpose_halves(Lanes<T> (&v)[block_columns<T>]) {
  using L = Lanes<T>;
  if constexpr (sizeof(T) == 4) {
    const auto low_ab = __builtin_shufflevector(v[0].r, v[1].r, 0, 8, 1, 9, 4, 12, 5, 13);
    const auto high_ab = __builtin_shufflevector(v[0].r, v[1].r, 2, 10, 3, 11, 6, 14, 7, 15);
    const auto low_cd = __builtin_shufflevector(v[2].r, v[3].r, 0, 8, 1, 9, 4, 12, 5, 13);
    const auto high_cd = __builtin_shufflevector(v[2].r, v[3].r, 2, 10, 3, 11, 6, 14, 7, 15);
    v[0] = L(__builtin_shufflevector(low_ab, low_cd, 0, 1, 8, 9, 4, 5, 12, 13));
    v[1] = L(__builtin_shufflevector(low_ab, low_cd, 2, 3, 10, 11, 6, 7, 14, 15));
    v[2] = L(__builtin_shufflevector(high_ab, high_cd, 0, 1, 8, 9, 4, 5, 12, 13));
    v[3] = L(__builtin_shufflevector(high_ab, high_cd, 2, 3, 10, 11, 6, 7, 14, 15));
  } else {
    const auto a = v[0].r;
    v[0] = L(__builtin_shufflevector(a, v[1].r, 0, 4, 2, 6));
    v[1] = L(__builtin_shufflevector(a, v[1].r, 1, 5, 3, 7));
  }
}

/// Where the blocks of `count` columns begin: the last one ends with the row and overlaps the one before.
template <lane_element T, class Count, class F>
[[gnu::always_inline]] inline void for_each_block(Count count, const F& f) {
  constexpr int block = block_columns<T>;
  if constexpr (constant<Count>)
    for_each_below(Constant<(count + block - 1) / block>{},
                   [&](auto i) { f(Constant<std::min(i * block, count - block)>{}); });
  else
    for (int c = 0; c < count; c += block) f(std::min(c, count - block));
}

// The lanes of three vectors in turn, beginning with the first, the third or the second: entries 3 r + c of three
// vectors stand in different lanes for all r, so that each column is one such mixture and a permutation.
template <class R>
[[gnu::always_inline]] inline R mix_012(R v0, R v1, R v2) {
  const R v01 = __builtin_shufflevector(v0, v1, 0, 9, 2, 3, 12, 5, 6, 15);
  return __builtin_shufflevector(v01, v2, 0, 1, 10, 3, 4, 13, 6, 7);
}
template <class R>
[[gnu::always_inline]] inline R mix_201(R v0, R v1, R v2) {
  const R v01 = __builtin_shufflevector(v0, v1, 0, 1, 10, 3, 4, 13, 6, 7);
  return __builtin_shufflevector(v01, v2, 8, 1, 2, 11, 4, 5, 14, 7);
}
template <class R>
[[gnu::always_inline]] inline R mix_120(R v0, R v1, R v2) {
  const R v01 = __builtin_shufflevector(v0, v1, 8, 1, 2, 11, 4, 5, 14, 7);
  return __builtin_shufflevector(v01, v2, 0, 9, 2, 3, 12, 5, 6, 15);
}

/// `v`: the group as it lies in memory, as one vector for each of its one to three columns.
template <lane_element T>
[[gnu::always_inline]] inline void separate(int count, const Lanes<T> (&v)[3], Columns<T>& columns) {
  using L = Lanes<T>;
  if (count == 3) {
    const auto c0 = mix_012(v[0].r, v[1].r, v[2].r);
    const auto c1 = mix_201(v[0].r, v[1].r, v[2].r);
    const auto c2 = mix_120(v[0].r, v[1].r, v[2].r);
    columns[0] = L(__builtin_shufflevector(c0, c0, 0, 3, 6, 1, 4, 7, 2, 5));
    columns[1] = L(__builtin_shufflevector(c1, c1, 1, 4, 7, 2, 5, 0, 3, 6));
    columns[2] = L(__builtin_shufflevector(c2, c2, 2, 5, 0, 3, 6, 1, 4, 7));
  } else if (count == 2) {
    columns[0] = L(__builtin_shufflevector(v[0].r, v[1].r, 0, 2, 4, 6, 8, 10, 12, 14));
    columns[1] = L(__builtin_shufflevector(v[0].r, v[1].r, 1, 3, 5, 7, 9, 11, 13, 15));
  } else {
    columns[0] = v[0];
  }
}

/// The way back.
template <lane_element T>
[[gnu::always_inline]] inline void interleave(int count, const Columns<T>& columns, Lanes<T> (&v)[3]) {
  using L = Lanes<T>;
  if (count == 3) {
    const auto c0 = __builtin_shufflevector(columns[0].r, columns[0].r, 0, 3, 6, 1, 4, 7, 2, 5);
    const auto c1 = __builtin_shufflevector(columns[1].r, columns[1].r, 5, 0, 3, 6, 1, 4, 7, 2);
    const auto c2 = __builtin_shufflevector(columns[2].r, columns[2].r, 2, 5, 0, 3, 6, 1, 4, 7);
    v[0] = L(mix_012(c0, c1, c2));
    v[1] = L(mix_201(c0, c1, c2));
    v[2] = L(mix_120(c0, c1, c2));
  } else if (count == 2) {
    v[0] = L(__builtin_shufflevector(columns[0].r, columns[1].r, 0, 8, 1, 9, 2, 10, 3, 11));
    v[1] = L(__builtin_shufflevector(columns[0].r, columns[1].r, 4, 12, 5, 13, 6, 14, 7, 15));
  } else {
    v[0] = columns[0];
  }
}

}  // namespace detail

/// Reads `rows` rows of `count` entries, `stride` apart. Lanes that no row has hold other numbers of the group, or 0.
template <lane_element T, class Count, class Rows>
[[gnu::always_inline]] inline void load_columns(const T* from, std::int64_t stride, Count count, Rows rows,
                                                Columns<T>& columns) {
  constexpr int width = Lanes<T>::width, block = detail::block_columns<T>;
  const auto row = [&](int r) __attribute__((always_inline)) { return from + std::min<int>(r, rows - 1) * stride; };
  if (count >= block) {
    if constexpr (!constant<Count> || Count{} >= block)
      detail::for_each_block<T>(
          count, [&](auto c) __attribute__((always_inline)) {
            Lanes<T> v[std::size_t{block}];
            for_each_below(
                Constant<block>{}, [&](int i) __attribute__((always_inline)) {
                  v[i] = detail::load_halves(row(i) + c, row(i + block) + c);
                });
            detail::transpose_halves<T>(v);
            for_each_below(
                Constant<block>{}, [&](int i) __attribute__((always_inline)) { columns[c + i] = v[i]; });
          });
  } else if (stride == count) {
    if constexpr (block == 2) {
      columns[0] = load_some(from, rows);
    } else {
      Lanes<T> v[3] = {};
      const int entries = rows * count;
      for_each_below(
          Constant<3>{}, [&](int i) __attribute__((always_inline)) {
            const int begin = std::min(i * width, entries);
            if constexpr (constant<Rows>)
              v[i] = i < count ? Lanes<T>::load(from + begin) : v[i];
            else
              v[i] = Lanes<T>::load(from + begin, std::min(entries - begin, width));
          });
      detail::separate<T>(count, v, columns);
    }
  } else {
    for (int c = 0; c < count; ++c) {
      T lanes[std::size_t{width}];
      for (int r = 0; r < width; ++r) lanes[r] = row(r)[c];
      columns[c] = Lanes<T>::load(lanes);
    }
  }
}

/// Writes the first `rows` rows, `count` apart.
template <lane_element T, class Count, class Rows>
[[gnu::always_inline]] inline void store_columns(const Columns<T>& columns, T* to, Count count, Rows rows) {
  constexpr int width = Lanes<T>::width, block = detail::block_columns<T>;
  if (count >= block) {
    if constexpr (!constant<Count> || Count{} >= block)
      detail::for_each_block<T>(
          count, [&](auto c) __attribute__((always_inline)) {
            Lanes<T> v[std::size_t{block}];
            for_each_below(
                Constant<block>{}, [&](int i) __attribute__((always_inline)) { v[i] = columns[c + i]; });
            detail::transpose_halves<T>(v);
            for_each_below(
                Constant<block>{}, [&](int i) __attribute__((always_inline)) {
                  if (i < rows) detail::store_half<0>(v[i], to + i * count + c);
                  if (i + block < rows) detail::store_half<1>(v[i], to + (i + block) * count + c);
                });
          });
  } else if constexpr (block == 2) {
    store_some(columns[0], to, rows);
  } else {
    Lanes<T> v[3] = {};
    detail::interleave<T>(count, columns, v);
    const int entries = rows * count;
    for_each_below(
        Constant<3>{}, [&](int i) __attribute__((always_inline)) {
          if (i >= count) return;
          if constexpr (constant<Rows>)
            v[i].store(to + i * width);
          else if (i * width < entries)
            store_some(v[i], to + i * width, std::min(entries - i * width, width));
        });
  }
}

// Sums in pairs.

namespace detail {

// Apart from `pairwise`, or the compiler inlines some rounds of it and small sums pay for them.
template <class F>
[[gnu::noinline]] auto pairwise_split(std::int64_t begin, std::int64_t end, std::int64_t leaf, const F& f)
    -> decltype(f(begin, end)) {
  if (end - begin <= leaf) return f(begin, end);
  std::int64_t left = leaf;
  while (left < end - begin - left) left *= 2;
  const auto sum = pairwise_split(begin, begin + left, leaf, f);
  return sum + pairwise_split(begin + left, end, leaf, f);
}

}  // namespace detail

/// f(begin, end) for pieces of at most `leaf`, added in pairs. The pieces of a range cut at multiples of leaf * 2^k are
/// pieces of the whole, and added in the same order.
template <class F>
inline auto pairwise(std::int64_t begin, std::int64_t end, std::int64_t leaf, const F& f) -> decltype(f(begin, end)) {
  return end - begin <= leaf ? f(begin, end) : detail::pairwise_split(begin, end, leaf, f);
}

// Long rows.

/// The sum of term(i, lanes) over n entries, where `lanes` counts the entries from i on that there are: all (a
/// Constant), or an int.
template <lane_element T, class F>
inline T sum_terms(std::int64_t n, const F& term) {
  constexpr int width = Lanes<T>::width;
  constexpr Constant<width> all;
  return sum(pairwise(0, n, 128 * width, [&](std::int64_t i, std::int64_t end) {
    Lanes<T> a = T{}, b = T{};
    for (; i + 2 * width <= end; i += 2 * width) {
      a += term(i, all);
      b += term(i + width, all);
    }
    if (i + width <= end) {
      a += term(i, all);
      i += width;
    }
    if (i < end) {
      const int rest = static_cast<int>(end - i);
      b += select(Mask<T>::first(rest), term(i, rest), 0);
    }
    return a + b;
  }));
}

/// Stores f(i, lanes) at to + i, for n entries.
template <lane_element T, class F>
inline void store_terms(std::int64_t n, T* to, const F& f) {
  constexpr int width = Lanes<T>::width;
  std::int64_t i = 0;
  for (; i + width <= n; i += width) f(i, Constant<width>{}).store(to + i);
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    store_some(f(i, rest), to + i, rest);
  }
}

// Exponentials of rows.

/// What is taken from a row before its exponentials: its maximum, or the finite number next to it, so that what is
/// infinite or nan in the row stays what it is and the rest is at most 0.
template <class T>
[[gnu::always_inline]] inline Lanes<T> shift_for(Lanes<T> maximum) {
  constexpr T greatest = std::numeric_limits<T>::max();
  maximum = smaller_or_second(Lanes<T>(greatest), maximum);
  return larger_or_second(Lanes<T>(-greatest), maximum);
}

/// exp(x) for x that is +inf, nan or at most 80. Single precision gives 0 for results that would be subnormal: most
/// processors take a hundred cycles over those, and rows with masked entries are full of them.
template <class T>
[[gnu::always_inline]] inline Lanes<T> exp_of_shifted(Lanes<T> x) {
  if constexpr (std::same_as<T, float>) {
    constexpr float least = -87;
    const Lanes<float> y = math::detail::exp_normal(math::detail::at_least(x, least));
    // exp(x) > x, so that the larger of the two is x only where x is +inf; where it is nan, the second.
    return larger_or_second(select(x < least, 0, y), x);
  } else {
    return math::exp(x);
  }
}

/// log(x) for x that is 0, nan or at least 1: a sum of exponentials whose largest is 1 or infinite.
template <class T>
[[gnu::always_inline]] inline Lanes<T> log_of_sum(Lanes<T> x) {
  if constexpr (std::same_as<T, float>)
    return math::detail::log_normal(x);
  else
    return math::log(x);
}

/// Makes exp(x - shift) of the columns.
template <class T>
struct ShiftedExp {
  Lanes<T> shift, sum;
};
template <class T, class Count>
[[gnu::always_inline]] inline ShiftedExp<T> exponentiate(Count count, const Columns<T>& x, Columns<T>& e) {
  Lanes<T> maximum = x[0];
  for_each_below(
      count, [&](auto c) __attribute__((always_inline)) { maximum = larger_or_second(maximum, x[c]); });
  const Lanes<T> shift = shift_for(maximum);
  Lanes<T> sum = T{};
  for_each_below(
      count, [&](auto c) __attribute__((always_inline)) {
        e[c] = exp_of_shifted(x[c] - shift);
        sum += e[c];
      });
  return {shift, sum};
}

/// The largest of n >= width entries; of those that are not nan, or nan.
template <class T>
inline T largest(std::int64_t n, const T* x) {
  constexpr int width = Lanes<T>::width;
  Lanes<T> a = Lanes<T>::load(x), b = Lanes<T>::load(x + n - width);
  std::int64_t i = width;
  for (; i + 2 * width <= n; i += 2 * width) {
    a = larger_or_second(Lanes<T>::load(x + i), a);
    b = larger_or_second(Lanes<T>::load(x + i + width), b);
  }
  if (i + width <= n) a = larger_or_second(Lanes<T>::load(x + i), a);
  return fold(larger_or_second(a, b), [](Lanes<T> p, Lanes<T> q) { return larger_or_second(p, q); });
}

}  // namespace tlaloc::inline v0::kernels
