// Outer products: all that counts is how c is written.
//
// Rows of at least one vector are written whole, the last vector of a row moved left until it ends with the row.
// Narrower rows are written by the block, `lanes` rows of N columns being N whole vectors: both operands are permuted
// into place by tables made for each N. What a last, partial block spills over is written later, by the next product of
// the batch. Results that no cache will keep bypass the caches.
#include "ops/kernels/outer.hpp"

#include <algorithm>
#include <cstdint>

#include "core/threads.hpp"
#include "ops/kernels/contract_vec.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Elements written by one thread before sharing the work is worth waking another.
constexpr std::int64_t grain = 16384;

/// Non-temporal stores double the speed of a result that goes to memory and halve that of one the caches could hold.
constexpr std::int64_t stream_bytes = std::int64_t{16} << 20;

/// Products [first, last) of the batch, rows [top, bottom) of each (all of them, unless it is a single product).
struct Part {
  std::int64_t first, last, top, bottom;
};

template <class T>
const T* gather(const T* from, std::int64_t step, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * step];
  return to;
}

template <class T>
void wide_row(std::int64_t n, Lanes<T> x, const T* b, T* c) {
  constexpr std::int64_t lanes = Lanes<T>::width;
  std::int64_t j = 0;
  for (; j + lanes <= n; j += lanes) (x * Lanes<T>::load(b + j)).store(c + j);
  if (j < n) (x * Lanes<T>::load(b + n - lanes)).store(c + n - lanes);
}

template <class T>
void wide_row_streamed(std::int64_t n, Lanes<T> x, const T* b, T* c) {
  for (std::int64_t j = 0; j < n; j += Lanes<T>::width) (x * Lanes<T>::load(b + j)).stream(c + j);
}

/// n >= lanes, b contiguous.
template <class T>
void wide(const ContractShape& s, const Part& part, bool streamed, const T* a, const T* b, T* c) {
  for (std::int64_t i = part.first; i < part.last; ++i) {
    const T* const b_i = b + i * s.b_batch;
    for (std::int64_t r = part.top; r < part.bottom; ++r) {
      const Lanes<T> x = Lanes<T>(a[i * s.a_batch + r * s.a_row]);
      T* const c_row = c + (i * s.m + r) * s.n;
      if (streamed)
        wide_row_streamed(s.n, x, b_i, c_row);
      else
        wide_row(s.n, x, b_i, c_row);
    }
  }
  if (streamed) stream_fence();
}

/// n fills one or two vectors, b contiguous: the row of b stays in registers.
template <class T, int Vecs>
void few_vectors(const ContractShape& s, const Part& part, const T* a, const T* b, T* c) {
  // Copies: for all the compiler knows, a store of lanes changes what is read through a reference.
  const std::int64_t m = s.m, n = s.n, a_batch = s.a_batch, a_row = s.a_row, b_batch = s.b_batch;
  const std::int64_t top = part.top, bottom = part.bottom, part_end = part.last, last = n - Lanes<T>::width;
  for (std::int64_t i = part.first; i < part_end; ++i) {
    const T* const b_i = b + i * b_batch;
    const Lanes<T> begin = Lanes<T>::load(b_i), end = Lanes<T>::load(b_i + last);
    const T* const a_i = a + i * a_batch;
    T* const c_i = c + i * m * n;
    const auto row = [&](std::int64_t r) {
      const Lanes<T> x = Lanes<T>(a_i[r * a_row]);
      (x * begin).store(c_i + r * n);
      if constexpr (Vecs == 2) (x * end).store(c_i + r * n + last);
    };
    std::int64_t r = top;
    for (; r + 4 <= bottom; r += 4) unrolled<4>([&](auto step) { row(r + step); });
    for (; r < bottom; ++r) row(r);
  }
}

/// Where the elements of `lanes` rows of N columns come from: entry v belongs to the v-th vector of the block.
template <class T, int N>
struct BlockPatterns {
  static constexpr int lanes = Lanes<T>::width;
  Array<Pattern, N> rows, columns;

  constexpr BlockPatterns() : rows{}, columns{} {
    for (int v = 0; v < N; ++v) {
      rows[v] = make_pattern<T>([v](int lane) { return (v * lanes + lane) / N; });
      columns[v] = make_pattern<T>([v](int lane) { return (v * lanes + lane) % N; });
    }
  }
};

/// The row b of N numbers, `step` apart, as every vector of a block has it.
template <class T, int N>
inline void spread_row(const BlockPatterns<T, N>& patterns, const T* b, std::int64_t step,
                       Array<Lanes<T>, N>& columns) {
  constexpr int lanes = Lanes<T>::width;
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (N == 3 && lanes == 8) {
    // A processor has one port that permutes across a vector, or two, and three or four that blend.
    const __m256 x = _mm256_broadcast_ss(b), y = _mm256_broadcast_ss(b + step), z = _mm256_broadcast_ss(b + 2 * step);
    columns[0] = Lanes<T>(_mm256_blend_ps(_mm256_blend_ps(x, y, 0b10010010), z, 0b00100100));
    columns[1] = Lanes<T>(_mm256_blend_ps(_mm256_blend_ps(z, x, 0b10010010), y, 0b00100100));
    columns[2] = Lanes<T>(_mm256_blend_ps(_mm256_blend_ps(y, z, 0b10010010), x, 0b00100100));
    return;
  }
#endif
  Array<T, lanes> scratch;
  const Lanes<T> y = Lanes<T>::load(step == 1 ? b : gather(b, step, N, scratch), N);
  for (int v = 0; v < N; ++v) columns[v] = permuted(y, patterns.columns[v]);
}

/// n == N and m == lanes, so that each product is one block, and the columns of a dense.
template <class T, int N>
void narrow_blocks(const ContractShape& s, const Part& part, const T* a, const T* b, T* c) {
  constexpr int lanes = Lanes<T>::width;
  static constexpr BlockPatterns<T, N> patterns;
  const std::int64_t last = part.last, a_batch = s.a_batch, b_batch = s.b_batch, b_col = s.b_col;
  for (std::int64_t i = part.first; i < last; ++i) {
    Array<Lanes<T>, N> columns;
    spread_row(patterns, b + i * b_batch, b_col, columns);
    const Lanes<T> x = Lanes<T>::load(a + i * a_batch);
    T* const out = c + i * lanes * N;
    unrolled<N>([&](auto v) { (permuted(x, patterns.rows[v]) * columns[v]).store(out + v * lanes); });
  }
}

/// 1 < n == N < lanes.
template <class T, int N>
void narrow(const ContractShape& s, const Part& part, const T* a, const T* b, T* c) {
  constexpr int lanes = Lanes<T>::width;
  static constexpr BlockPatterns<T, N> patterns;
  T* const c_end = c + ((part.last - 1) * s.m + part.bottom) * N;
  for (std::int64_t i = part.first; i < part.last; ++i) {
    Array<Lanes<T>, N> columns;
    spread_row(patterns, b + i * s.b_batch, s.b_col, columns);

    const T* const a_i = a + i * s.a_batch;
    T* out = c + (i * s.m + part.top) * N;
    std::int64_t r = part.top;
    for (; r + lanes <= part.bottom; r += lanes, out += lanes * N) {
      const T* const a_r = a_i + r * s.a_row;
      const Lanes<T> x = s.a_row == 1 ? Lanes<T>::load(a_r) : gathered(a_r, s.a_row);
      for (int v = 0; v < N; ++v) (permuted(x, patterns.rows[v]) * columns[v]).store(out + v * lanes);
    }
    if (r == part.bottom) continue;
    Array<T, lanes> scratch;
    const int rest = static_cast<int>(part.bottom - r);
    const T* const a_r = a_i + r * s.a_row;
    const Lanes<T> x = Lanes<T>::load(s.a_row == 1 ? a_r : gather(a_r, s.a_row, rest, scratch), rest);
    int left = rest * N;
    for (int v = 0; v < N; ++v, left -= lanes, out += lanes) {
      if (left <= 0) break;
      const Lanes<T> block = permuted(x, patterns.rows[v]) * columns[v];
      if (c_end - out >= lanes)
        block.store(out);
      else
        block.store(out, std::min(left, lanes));
    }
  }
}

template <class T, int N>
void narrow_of(const ContractShape& s, const Part& part, const T* a, const T* b, T* c) {
  if (s.n == N && s.m == Lanes<T>::width && s.a_row == 1 && part.bottom - part.top == s.m)
    return narrow_blocks<T, N>(s, part, a, b, c);
  if (s.n == N) return narrow<T, N>(s, part, a, b, c);
  if constexpr (N > 2) narrow_of<T, N - 1>(s, part, a, b, c);
}

/// n >= lanes, b strided: its row is made contiguous, a piece at a time.
template <class T>
void wide_strided(const ContractShape& s, const Part& part, const T* a, const T* b, T* c) {
  constexpr std::int64_t piece = 256, lanes = Lanes<T>::width;
  T packed[piece];
  for (std::int64_t i = part.first; i < part.last; ++i)
    for (std::int64_t j = 0; j < s.n; j += piece) {
      const std::int64_t start = std::max<std::int64_t>(0, std::min(j, s.n - lanes));
      const std::int64_t count = std::min(piece, s.n - start);
      gather(b + i * s.b_batch + start * s.b_col, s.b_col, count, packed);
      for (std::int64_t r = part.top; r < part.bottom; ++r)
        wide_row(count, Lanes<T>(a[i * s.a_batch + r * s.a_row]), packed, c + (i * s.m + r) * s.n + start);
    }
}

/// One product with one row, or a batch of single numbers: c[j] = a[j * a_step] * b[j * b_step].
template <class T>
void elementwise(std::int64_t n, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, T* c) {
  core::parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
    if (a_step == 1 && b_step == 1)
      for (std::int64_t j = begin; j < end; ++j) c[j] = a[j] * b[j];
    else if (a_step == 0 && b_step == 1)
      for (std::int64_t j = begin; j < end; ++j) c[j] = a[0] * b[j];
    else
      for (std::int64_t j = begin; j < end; ++j) c[j] = a[j * a_step] * b[j * b_step];
  });
}

template <class T>
void outer_part(const ContractShape& s, const Part& part, bool streamed, const T* a, const T* b, T* c) {
  constexpr std::int64_t lanes = Lanes<T>::width;
  if (s.n < lanes) return narrow_of<T, lanes - 1>(s, part, a, b, c);
  if (s.b_col != 1) return wide_strided(s, part, a, b, c);
  if (s.n == lanes && !streamed) return few_vectors<T, 1>(s, part, a, b, c);
  if (s.n <= 2 * lanes && !streamed) return few_vectors<T, 2>(s, part, a, b, c);
  wide(s, part, streamed, a, b, c);
}

}  // namespace

template <class T>
void outer_products(const ContractShape& s, const T* a, const T* b, T* c) {
  constexpr std::int64_t lanes = Lanes<T>::width;
  if (s.batch == 1 && s.m == 1) return elementwise(s.n, a, 0, b, s.b_col, c);
  if (s.m == 1 && s.n == 1) return elementwise(s.batch, a, s.a_batch, b, s.b_batch, c);
  const std::int64_t each = s.m * s.n, total = s.batch * each;
  if (total <= grain) return outer_part(s, {0, s.batch, 0, s.m}, false, a, b, c);
  const bool streamed = total * static_cast<std::int64_t>(sizeof(T)) >= stream_bytes && s.n % lanes == 0 &&
                        reinterpret_cast<std::uintptr_t>(c) % 32 == 0;
  if (s.batch > 1)
    core::parallel_for(s.batch, std::max<std::int64_t>(1, grain / each), [&](std::int64_t first, std::int64_t last) {
      outer_part(s, {first, last, 0, s.m}, streamed, a, b, c);
    });
  else
    core::parallel_for(s.m, std::max<std::int64_t>(1, grain / s.n), [&](std::int64_t top, std::int64_t bottom) {
      outer_part(s, {0, 1, top, bottom}, streamed, a, b, c);
    });
}

template void outer_products(const ContractShape&, const float*, const float*, float*);
template void outer_products(const ContractShape&, const double*, const double*, double*);

}  // namespace tlaloc::inline v0::kernels
