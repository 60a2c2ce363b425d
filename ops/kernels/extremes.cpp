// Maxima, minima and logsumexp: along the lanes where inner is 1, across them otherwise. Maxima and minima do not
// depend on the order in which entries are compared; logsumexp takes its exponentials' sum by `pairwise` (rows.hpp).
#include <algorithm>
#include <limits>

#include "ops/kernels/reduce.hpp"
#include "ops/kernels/rows.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Elements read by one thread before sharing the work is worth waking another.
constexpr std::int64_t grain = 32768;

/// Rows this long are shared among the threads themselves, in at most most_pieces pieces.
constexpr std::int64_t long_row = 2 * grain;
constexpr std::int64_t most_pieces = 128;

std::int64_t piece_length(std::int64_t count) { return std::max(grain, (count + most_pieces - 1) / most_pieces); }

struct Largest {
  template <class V>
  static auto beats(V a, V b) {
    return a > b;
  }
  template <class V>
  static V of(V a, V b) {
    return max(a, b);
  }
};

struct Smallest {
  template <class V>
  static auto beats(V a, V b) {
    return a < b;
  }
  template <class V>
  static V of(V a, V b) {
    return min(a, b);
  }
};

/// Whether x takes the place of an earlier `best`.
template <class Which, class V>
[[gnu::always_inline]] inline auto replaces(V x, V best) {
  return Which::beats(x, best) | ((x != x) & (best == best));
}

/// One result for each lane, and where along the axis it stands.
template <class T>
struct Best {
  Lanes<T> value;
  Lanes<bits_of<T>> at = 0;

  template <class Which>
  [[gnu::always_inline]] void meet(Lanes<T> x, bits_of<T> place) {
    const Mask<T> better = replaces<Which>(x, value);
    value = select(better, x, value);
    at = select(Mask<bits_of<T>>(better.r), place, at);
  }
};

// Along the lanes.

/// n >= width.
template <class Which, class T>
T extreme_of_range(const T* in, std::int64_t n) {
  constexpr int width = Lanes<T>::width, chains = 4;
  Lanes<T> a[std::size_t{chains}];
  for_each_below(Constant<chains>{}, [&](int k) { a[k] = Lanes<T>::load(in); });
  std::int64_t i = width;
  for (; i + chains * width <= n; i += chains * width)
    for_each_below(Constant<chains>{}, [&](int k) { a[k] = Which::of(Lanes<T>::load(in + i + k * width), a[k]); });
  for (; i + width <= n; i += width) a[0] = Which::of(Lanes<T>::load(in + i), a[0]);
  a[1] = Which::of(Lanes<T>::load(in + n - width), a[1]);
  return fold(Which::of(Which::of(a[0], a[1]), Which::of(a[2], a[3])),
              [](Lanes<T> p, Lanes<T> q) { return Which::of(p, q); });
}

template <class Which, class T>
T extreme_of_row(const T* in, std::int64_t count) {
  if (count < long_row) return extreme_of_range<Which>(in, count);
  const std::int64_t length = piece_length(count);
  T partial[std::size_t{most_pieces}];
  core::parallel_for(count, length, [&](std::int64_t begin, std::int64_t end) {
    // The last piece may be shorter than a vector, and then reads what the one before has read.
    const std::int64_t first = std::min(begin, end - Lanes<T>::width);
    partial[begin / length] = extreme_of_range<Which>(in + first, end - first);
  });
  T best = partial[0];
  for (std::int64_t p = 1; p * length < count; ++p) best = Which::of(partial[p], best);
  return best;
}

/// Where `value`, or a nan if it is one, first stands.
template <class T>
std::int64_t find(const T* in, std::int64_t n, T value) {
  constexpr int width = Lanes<T>::width;
  const Mask<T> wanted_is_nan(value != value);
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    const Lanes<T> x = Lanes<T>::load(in + i);
    if (any((x == value) | ((x != x) & wanted_is_nan))) break;
  }
  while (in[i] != value && (value == value || in[i] == in[i])) ++i;
  return i;
}

template <class Which, class T>
void extremes_of_rows(const T* in, T* out, std::int64_t rows, std::int64_t count) {
  const auto row = [=](std::int64_t r) { out[r] = extreme_of_row<Which>(in + r * count, count); };
  if (count >= long_row) {
    for (std::int64_t r = 0; r < rows; ++r) row(r);
    return;
  }
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> x;
    load_columns(in + first * n, n, n, lanes, x);
    Lanes<T> best = x[0];
    for_each_below(
        n, [&](int c) __attribute__((always_inline)) { best = Which::of(x[c], best); });
    store_some(best, out + first, lanes);
  };
  for_each_row<T>(rows, count, grain, group, row);
}

template <class Which, class T>
void indices_of_rows(const T* in, T* out, std::int64_t* index, std::int64_t rows, std::int64_t count) {
  const auto row = [=](std::int64_t r) {
    const T* const entries = in + r * count;
    index[r] = find(entries, count, extreme_of_row<Which>(entries, count));
    out[r] = entries[index[r]];
  };
  if (count >= long_row) {
    for (std::int64_t r = 0; r < rows; ++r) row(r);
    return;
  }
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> x;
    load_columns(in + first * n, n, n, lanes, x);
    Best<T> best{x[0]};
    for_each_below(
        n, [&](int c) __attribute__((always_inline)) { best.template meet<Which>(x[c], c); });
    store_some(best.value, out + first, lanes);
    for (int lane = 0; lane < lanes; ++lane) index[first + lane] = best.at[lane];
  };
  for_each_row<T>(rows, count, grain, group, row);
}

// Across the lanes.

/// Shares the vectors of the result among the threads and calls f(first entry of its column, where its result goes,
/// lanes).
template <class T, class F>
void for_each_vector(std::int64_t outer, std::int64_t count, std::int64_t inner, std::int64_t elements, const F& f) {
  constexpr std::int64_t width = Lanes<T>::width;
  const std::int64_t vectors = (inner + width - 1) / width;
  core::parallel_for(outer * vectors, elements / (count * std::min(inner, width)),
                     [=, &f](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t i = begin; i < end; ++i) {
                         const std::int64_t o = i / vectors, j = i % vectors * width;
                         const std::int64_t from = o * count * inner + j, to = o * inner + j;
                         if (j + width <= inner)
                           f(from, to, Constant<Lanes<T>::width>{});
                         else
                           f(from, to, static_cast<int>(inner - j));
                       }
                     });
}

template <class Which, class T>
void extremes_of_columns(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  for_each_vector<T>(outer, count, inner, grain, [=](std::int64_t from, std::int64_t to, auto lanes) {
    const T* x = in + from;
    Lanes<T> best = load_some(x, lanes);
    for (std::int64_t r = 1; r < count; ++r) best = Which::of(load_some(x + r * inner, lanes), best);
    store_some(best, out + to, lanes);
  });
}

/// As many rows as can be numbered by the narrowest lanes, and then some.
constexpr std::int64_t numbered_rows = 1 << 16;

template <class Which, class T>
void indices_of_columns(const T* in, T* out, std::int64_t* index, std::int64_t outer, std::int64_t count,
                        std::int64_t inner) {
  for_each_vector<T>(outer, count, inner, grain, [=](std::int64_t from, std::int64_t to, auto lanes) {
    for (std::int64_t r = 0; r < count; r += numbered_rows) {
      const T* x = in + from + r * inner;
      Best<T> best{load_some(x, lanes)};
      const auto rows = static_cast<bits_of<T>>(std::min(numbered_rows, count - r));
      for (bits_of<T> i = 1; i < rows; ++i) best.template meet<Which>(load_some(x += inner, lanes), i);
      for (int lane = 0; lane < lanes; ++lane) {
        if (r != 0 && !replaces<Which>(best.value[lane], out[to + lane])) continue;
        out[to + lane] = best.value[lane];
        index[to + lane] = r + best.at[lane];
      }
    }
  });
}

template <class Which, class T>
void extremes(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  if (inner == 1)
    extremes_of_rows<Which>(in, out, outer, count);
  else if (inner > 1)
    extremes_of_columns<Which>(in, out, outer, count, inner);
}

template <class Which, class T>
void extremes_with_indices(const T* in, T* out, std::int64_t* index, std::int64_t outer, std::int64_t count,
                           std::int64_t inner) {
  if (inner == 1)
    indices_of_rows<Which>(in, out, index, outer, count);
  else if (inner > 1)
    indices_of_columns<Which>(in, out, index, outer, count, inner);
}

// Logsumexp.

template <class T>
T logsumexp_of_range(const T* x, std::int64_t n) {
  const Lanes<T> shift = shift_for(Lanes<T>(largest(n, x)));
  const T sum =
      sum_terms<T>(n, [=](std::int64_t i, auto lanes) { return exp_of_shifted(load_some(x + i, lanes) - shift); });
  return shift[0] + math::log(sum);
}

template <class T>
T logsumexp_of_row(const T* x, std::int64_t count) {
  if (count < long_row) return logsumexp_of_range(x, count);
  const std::int64_t length = piece_length(count);
  T maximum[std::size_t{most_pieces}];
  T sum[std::size_t{most_pieces}];
  core::parallel_for(count, length, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = std::min(begin, end - Lanes<T>::width);
    maximum[begin / length] = largest(end - first, x + first);
  });
  const std::int64_t pieces = (count + length - 1) / length;
  const Lanes<T> shift = shift_for(Lanes<T>(*std::max_element(maximum, maximum + pieces)));
  core::parallel_for(count, length, [&](std::int64_t begin, std::int64_t end) {
    sum[begin / length] = sum_terms<T>(end - begin, [=](std::int64_t i, auto lanes) {
      return exp_of_shifted(load_some(x + begin + i, lanes) - shift);
    });
  });
  const T total = pairwise(0, pieces, 1, [&](std::int64_t piece, std::int64_t) { return sum[piece]; });
  return shift[0] + math::log(total);
}

template <class T>
void logsumexp_of_rows(const T* in, T* out, std::int64_t rows, std::int64_t count) {
  const auto row = [=](std::int64_t r) { out[r] = logsumexp_of_row(in + r * count, count); };
  if (count >= long_row) {
    for (std::int64_t r = 0; r < rows; ++r) row(r);
    return;
  }
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> x;
    load_columns(in + first * n, n, n, lanes, x);
    const auto [shift, sum] = exponentiate(n, x, x);
    store_some(shift + log_of_sum(sum), out + first, lanes);
  };
  for_each_row<T>(rows, count, exp_grain, group, row);
}

template <class T>
void logsumexp_of_columns(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  for_each_vector<T>(outer, count, inner, exp_grain, [=](std::int64_t from, std::int64_t to, auto lanes) {
    const T* const x = in + from;
    Lanes<T> maximum = load_some(x, lanes);
    for (std::int64_t r = 1; r < count; ++r) maximum = larger_or_second(load_some(x + r * inner, lanes), maximum);
    const Lanes<T> shift = shift_for(maximum);
    const Lanes<T> sum = pairwise(0, count, 128, [=](std::int64_t r, std::int64_t end) {
      Lanes<T> partial = T{};
      for (; r < end; ++r) partial += exp_of_shifted(load_some(x + r * inner, lanes) - shift);
      return partial;
    });
    store_some(shift + log_of_sum(sum), out + to, lanes);
  });
}

}  // namespace

template <class T>
void max(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  extremes<Largest>(in, out, outer, count, inner);
}
template <class T>
void min(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  extremes<Smallest>(in, out, outer, count, inner);
}
template <class T>
void max_with_indices(const T* in, T* out, std::int64_t* index, std::int64_t outer, std::int64_t count,
                      std::int64_t inner) {
  extremes_with_indices<Largest>(in, out, index, outer, count, inner);
}
template <class T>
void min_with_indices(const T* in, T* out, std::int64_t* index, std::int64_t outer, std::int64_t count,
                      std::int64_t inner) {
  extremes_with_indices<Smallest>(in, out, index, outer, count, inner);
}

template <class T>
void logsumexp(const T* in, T* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  if (count == 0)
    std::fill_n(out, outer * inner, -std::numeric_limits<T>::infinity());
  else if (inner == 1)
    logsumexp_of_rows(in, out, outer, count);
  else if (inner > 1)
    logsumexp_of_columns(in, out, outer, count, inner);
}

template void max(const float*, float*, std::int64_t, std::int64_t, std::int64_t);
template void max(const double*, double*, std::int64_t, std::int64_t, std::int64_t);
template void max(const std::int32_t*, std::int32_t*, std::int64_t, std::int64_t, std::int64_t);
template void max(const std::int64_t*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t);
template void min(const float*, float*, std::int64_t, std::int64_t, std::int64_t);
template void min(const double*, double*, std::int64_t, std::int64_t, std::int64_t);
template void min(const std::int32_t*, std::int32_t*, std::int64_t, std::int64_t, std::int64_t);
template void min(const std::int64_t*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t);

template void max_with_indices(const float*, float*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t);
template void max_with_indices(const double*, double*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t);
template void max_with_indices(const std::int32_t*, std::int32_t*, std::int64_t*, std::int64_t, std::int64_t,
                               std::int64_t);
template void max_with_indices(const std::int64_t*, std::int64_t*, std::int64_t*, std::int64_t, std::int64_t,
                               std::int64_t);
template void min_with_indices(const float*, float*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t);
template void min_with_indices(const double*, double*, std::int64_t*, std::int64_t, std::int64_t, std::int64_t);
template void min_with_indices(const std::int32_t*, std::int32_t*, std::int64_t*, std::int64_t, std::int64_t,
                               std::int64_t);
template void min_with_indices(const std::int64_t*, std::int64_t*, std::int64_t*, std::int64_t, std::int64_t,
                               std::int64_t);

template void logsumexp(const float*, float*, std::int64_t, std::int64_t, std::int64_t);
template void logsumexp(const double*, double*, std::int64_t, std::int64_t, std::int64_t);

}  // namespace tlaloc::inline v0::kernels
