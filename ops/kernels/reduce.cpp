// Sums: along the lanes where inner is 1, across them otherwise; in pairs of pieces, by one tree that depends on
// `count` alone (`pairwise` in rows.hpp), so that cutting a long sum among threads changes no bit of it. The other
// reductions are in extremes.cpp.
#include "ops/kernels/reduce.hpp"

#include <algorithm>
#include <type_traits>

#include "ops/kernels/rows.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Elements read by one thread before sharing the work is worth waking another.
constexpr std::int64_t grain = 32768;

/// Pieces of one long sum, each with a partial result on the stack.
constexpr std::int64_t most_pieces = 128;

/// What sums are begun with: unlike +0 it leaves every number as it is.
template <class T>
constexpr T nothing = -T{0};

template <class T>
Lanes<T> or_nothing(Lanes<T> lanes, int count) {
  return select(Mask<T>::first(count), lanes, nothing<T>);
}

/// leaf * 2^k, the least that makes at most most_pieces of `count` and at least `grain` elements of each.
std::int64_t piece_length(std::int64_t count, std::int64_t inner, std::int64_t leaf) {
  std::int64_t length = leaf;
  while (length * inner < grain || length * most_pieces < count) length *= 2;
  return length;
}

// Along the lanes.

template <class T>
constexpr std::int64_t row_leaf = 128 * Lanes<T>::width;

template <class T>
Lanes<T> sum_of_leaf(const T* in, std::int64_t n) {
  constexpr int width = Lanes<T>::width, chains = 8;
  Lanes<T> a[std::size_t{chains}];
  for_each_below(Constant<chains>{}, [&](int k) { a[k] = nothing<T>; });
  std::int64_t i = 0;
  for (; i + chains * width <= n; i += chains * width)
    for_each_below(Constant<chains>{}, [&](int k) { a[k] += Lanes<T>::load(in + i + k * width); });
  for (; i + width <= n; i += width) a[0] += Lanes<T>::load(in + i);
  const int rest = static_cast<int>(n - i);
  if (rest != 0) a[1] += or_nothing(Lanes<T>::load(in + i, rest), rest);
  return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

template <class T>
Lanes<T> sum_of_range(const T* in, std::int64_t begin, std::int64_t end) {
  return pairwise(begin, end, row_leaf<T>, [=](std::int64_t b, std::int64_t e) { return sum_of_leaf(in + b, e - b); });
}

template <class T>
T sum_of_shared_row(const T* in, std::int64_t count) {
  const std::int64_t length = piece_length(count, 1, row_leaf<T>);
  Lanes<T> partial[std::size_t{most_pieces}];
  core::parallel_for(count, length, [&](std::int64_t begin, std::int64_t end) {
    partial[begin / length] = sum_of_range(in, begin, end);
  });
  return sum(
      pairwise(0, (count + length - 1) / length, 1, [&](std::int64_t piece, std::int64_t) { return partial[piece]; }));
}

/// The order of `sum(Lanes)`, with the rest of a vector added to its beginning first.
template <class T, class Count>
[[gnu::always_inline]] inline Lanes<T> sum_of_columns(Count count, Columns<T>& x) {
  for_each_below(
      Constant<4>{}, [&](int k) __attribute__((always_inline)) {
        const int half = most_columns / 2 >> k;
        for_each_below(
            count, [&](int c) __attribute__((always_inline)) {
              if (c >= half && c < 2 * half) x[c - half] += x[c];
            });
      });
  return x[0];
}

template <class T>
T sum_of_few(const T* in, int count) {
  constexpr int width = Lanes<T>::width;
  if (count <= width) return sum(or_nothing(Lanes<T>::load(in, count), count));
  Lanes<T> v[most_columns / std::size_t{width}];
  for_each_below(Constant<most_columns / width>{}, [&](int k) {
    const int rest = std::clamp(count - k * width, 0, width);
    v[k] = or_nothing(Lanes<T>::load(in + std::min(k * width, count), rest), rest);
  });
  if constexpr (width == 8)
    return sum(v[0] + v[1]);
  else
    return sum((v[0] + v[2]) + (v[1] + v[3]));
}

template <class T>
void sum_rows(const T* in, T* out, std::int64_t rows, std::int64_t count) {
  if (rows == 1 && count <= most_columns) {
    *out = sum_of_few(in, static_cast<int>(count));
  } else if (count >= 2 * grain) {
    for (std::int64_t r = 0; r < rows; ++r) out[r] = sum_of_shared_row(in + r * count, count);
  } else {
    for_each_row<T>(
        rows, count, grain,
        [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
          Columns<T> columns;
          load_columns(in + first * n, n, n, lanes, columns);
          store_some(sum_of_columns(n, columns), out + first, lanes);
        },
        [=](std::int64_t r) { out[r] = sum(sum_of_range(in + r * count, 0, count)); });
  }
}

// Across the lanes.

constexpr std::int64_t column_leaf = 64;

/// Neighbouring vectors of one row.
template <class T, int vectors>
struct Strip {
  Lanes<T> v[std::size_t{vectors}];

  [[gnu::always_inline]] friend Strip operator+(const Strip& a, const Strip& b) {
    Strip sum;
    for_each_below(Constant<vectors>{}, [&](int i) { sum.v[i] = a.v[i] + b.v[i]; });
    return sum;
  }
};

/// `lanes` is a Constant, or an int for a strip of one vector.
template <int vectors, class T, class Count>
Strip<T, vectors> sum_of_strip(const T* in, std::int64_t begin, std::int64_t end, std::int64_t stride, Count lanes) {
  using S = Strip<T, vectors>;
  return pairwise(begin, end, column_leaf, [=](std::int64_t r, std::int64_t last) {
    constexpr int chains = 4;
    S a[std::size_t{chains}];
    const auto add = [&](int chain, const T* row) __attribute__((always_inline)) {
      for_each_below(
          Constant<vectors>{}, [&](int i) __attribute__((always_inline)) {
            a[chain].v[i] += load_some(row + i * Lanes<T>::width, lanes);
          });
    };
    for_each_below(
        Constant<chains>{}, [&](int k) __attribute__((always_inline)) {
          for_each_below(
              Constant<vectors>{}, [&](int i) __attribute__((always_inline)) { a[k].v[i] = nothing<T>; });
        });
    const T* row = in + r * stride;
    for (; r + chains <= last; r += chains, row += chains * stride)
      for_each_below(
          Constant<chains>{}, [&](int k) __attribute__((always_inline)) { add(k, row + k * stride); });
    for_each_below(
        Constant<chains - 1>{}, [&](int k) __attribute__((always_inline)) {
          if (r + k < last) add(k, row + k * stride);
        });
    return (a[0] + a[2]) + (a[1] + a[3]);
  });
}

/// Two cache lines: a row of many columns is then read in pieces that memory is fast at.
constexpr int strip_vectors = 4;

template <class T>
constexpr std::int64_t strip_width = strip_vectors * Lanes<T>::width;

/// Sums rows [begin, end) of [count, inner] into out[j] for the columns of one strip.
template <class T>
void sum_strip(const T* in, T* out, std::int64_t begin, std::int64_t end, std::int64_t inner, std::int64_t strip) {
  constexpr int width = Lanes<T>::width;
  std::int64_t j = strip * strip_width<T>;
  if (j + strip_width<T> <= inner) {
    const auto sums = sum_of_strip<strip_vectors>(in + j, begin, end, inner, Constant<width>{});
    for_each_below(Constant<strip_vectors>{}, [&](int i) { sums.v[i].store(out + j + i * width); });
    return;
  }
  for (; j + width <= inner; j += width)
    sum_of_strip<1>(in + j, begin, end, inner, Constant<width>{}).v[0].store(out + j);
  if (j < inner) {
    const int rest = static_cast<int>(inner - j);
    store_some(sum_of_strip<1>(in + j, begin, end, inner, rest).v[0], out + j, rest);
  }
}

/// Few columns and many rows: the rows are shared.
template <class T>
void sum_shared_columns(const T* in, T* out, std::int64_t count, std::int64_t inner, std::int64_t strips) {
  constexpr std::int64_t most_partials = 4096;
  std::int64_t length = piece_length(count, inner, column_leaf);
  while ((count + length - 1) / length * inner > most_partials) length *= 2;
  T partial[std::size_t{most_partials}];
  core::parallel_for(count, length, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = 0; s < strips; ++s) sum_strip(in, partial + begin / length * inner, begin, end, inner, s);
  });
  for (std::int64_t j = 0; j < inner; ++j)
    out[j] = pairwise(0, (count + length - 1) / length, 1,
                      [&](std::int64_t piece, std::int64_t) { return partial[piece * inner + j]; });
}

template <class T>
void sum_columns(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  constexpr std::int64_t enough_strips = 16;
  const std::int64_t strips = (inner + strip_width<T> - 1) / strip_width<T>;
  if (outer * strips < enough_strips && count * inner >= 2 * grain) {
    for (std::int64_t o = 0; o < outer; ++o)
      sum_shared_columns(in + o * count * inner, out + o * inner, count, inner, strips);
    return;
  }
  const std::int64_t strip_elements = count * std::min(inner, strip_width<T>);
  core::parallel_for(outer * strips, grain / strip_elements, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t o = i / strips;
      sum_strip(in + o * count * inner, out + o * inner, 0, count, inner, i % strips);
    }
  });
}

template <class T>
void sum_floats(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  if (count == 0)
    std::fill_n(out, outer * inner, T{0});
  else if (inner == 1)
    sum_rows(in, out, outer, count);
  else if (inner > 1 && outer > 0)
    sum_columns(in, out, outer, count, inner);
}

// Integers: order does not matter, and the compiler's loops are as good as any.

template <class U>
std::uint64_t sum_of_integers(const U* in, std::int64_t n) {
  std::uint64_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += static_cast<std::uint64_t>(in[i]);
  return total;
}

template <class U>
void sum_integer_rows(const U* in, std::int64_t* out, std::int64_t rows, std::int64_t count) {
  core::parallel_for(rows, rows_per_piece(count, grain), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t length = piece_length(count, 1, grain);
      std::uint64_t partial[std::size_t{most_pieces}];
      core::parallel_for(count, length, [&, row = in + r * count](std::int64_t b, std::int64_t e) {
        partial[b / length] = sum_of_integers(row + b, e - b);
      });
      out[r] = static_cast<std::int64_t>(sum_of_integers(partial, (count + length - 1) / length));
    }
  });
}

template <class U>
void sum_integer_columns(const U* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  constexpr std::int64_t width = 256;
  const std::int64_t blocks = (inner + width - 1) / width;
  const std::int64_t block_elements = count * std::min(inner, width);
  core::parallel_for(outer * blocks, grain / block_elements, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t o = i / blocks, j = i % blocks * width, n = std::min(width, inner - j);
      std::uint64_t total[std::size_t(width)] = {};
      for (std::int64_t r = 0; r < count; ++r) {
        const U* const row = in + (o * count + r) * inner + j;
        for (std::int64_t k = 0; k < n; ++k) total[k] += static_cast<std::uint64_t>(row[k]);
      }
      for (std::int64_t k = 0; k < n; ++k) out[o * inner + j + k] = static_cast<std::int64_t>(total[k]);
    }
  });
}

template <class U>
void sum_integers(const U* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  if (count == 0)
    std::fill_n(out, outer * inner, std::int64_t{0});
  else if (inner == 1)
    sum_integer_rows(in, out, outer, count);
  else if (inner > 1 && outer > 0)
    sum_integer_columns(in, out, outer, count, inner);
}

}  // namespace

void sum(const float* in, float* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  sum_floats(in, out, outer, count, inner);
}
void sum(const double* in, double* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  sum_floats(in, out, outer, count, inner);
}
void sum(const std::int64_t* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  sum_integers(in, out, outer, count, inner);
}
void sum(const std::int32_t* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  sum_integers(in, out, outer, count, inner);
}
void sum(const bool* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  sum_integers(in, out, outer, count, inner);
}

}  // namespace tlaloc::inline v0::kernels
