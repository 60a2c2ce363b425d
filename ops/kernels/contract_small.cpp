// The register-blocked kernels for small products.
//
// Three of them. The main one computes tiles of c, some rows by one or more vectors of columns, from a row-major b:
// each step loads vectors of b and broadcasts elements of a, so a may have any strides at all. A column count that is
// no multiple of the vector width costs no masked arithmetic: the last vector of a row is moved left until it ends with
// the row, computing a few columns twice, and rows narrower than one vector are stored whole, in order, each over what
// the one before spilled into it. A b that is not row-major is packed by panels on the stack. Dot products serve single
// rows whose b is transposed.
//
// A sum runs over k in one chain, the same for every tile, so that a row's bits do not depend on its neighbours; only
// long sums with few chains side by side are split into several.
#include "ops/kernels/contract_small.hpp"

#include <algorithm>

#include "ops/kernels/contract_vec.hpp"
#include "ops/kernels/rows.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Elements of b from which a single row reads it as it lies rather than by columns: about a near cache full.
constexpr double streaming_size = 1 << 18;

/// From here on a lone chain of additions is split: before, joining the parts costs what splitting gains.
constexpr std::int64_t long_depth = 32;

/// Everything a panel of columns is computed from. Passed by reference only: copies wait for the fields to be stored.
template <class T>
struct Panel {
  std::int64_t k;
  const T* a;
  std::int64_t a_row, a_col;
  const T* b;
  std::int64_t b_row;
  T* c;
  std::int64_t c_row;
  std::int64_t last;   // the column of the last vector; the ones before it stand side by side
  std::int64_t width;  // columns in c, when they are fewer than one vector
  T* c_end;
};

/// Rows x Vecs vectors of c. Narrow: one vector per row, of which `width` lanes are real.
template <class T, int Rows, int Vecs, bool Narrow, bool Long>
void tile(const Panel<T>& panel, const T* a, T* c) {
  constexpr int lanes = Lanes<T>::width;
  constexpr int chains = Rows * Vecs;
  constexpr int phases = !Long ? 1 : chains <= 2 ? 4 : chains <= 4 ? 2 : 1;
  using Sums = Array<Array<Lanes<T>, Vecs>, Rows>;
  Array<Sums, phases> sums;
  unrolled<phases * chains>([&](auto i) { sums[i / chains][i % chains / Vecs][i % Vecs] = Lanes<T>(T{0}); });

  const T* b = panel.b;
  const std::int64_t a_row = panel.a_row, a_col = panel.a_col, b_row = panel.b_row, last = panel.last;
  const int width = static_cast<int>(panel.width);
  const auto step = [&](Sums& into) {
    Array<Lanes<T>, Vecs> columns;
    if constexpr (Narrow)
      columns[0] = Lanes<T>::load(b, width);
    else
      unrolled<Vecs>([&](auto v) { columns[v] = Lanes<T>::load(b + (v + 1 < Vecs ? v * lanes : last)); });
    unrolled<Rows>([&](auto r) {
      const Lanes<T> x = Lanes<T>(a[r * a_row]);
      unrolled<Vecs>([&](auto v) { into[r][v] = fma(x, columns[v], into[r][v]); });
    });
    a += a_col;
    b += b_row;
  };
  std::int64_t k = panel.k;
  for (; k >= phases; k -= phases) unrolled<phases>([&](auto phase) { step(sums[phase]); });
  if constexpr (phases > 1) {
    for (; k > 0; --k) step(sums[0]);
    unrolled<(phases - 1) * chains>([&](auto i) {
      Lanes<T>& sum = sums[0][i % chains / Vecs][i % Vecs];
      sum = sum + sums[1 + i / chains][i % chains / Vecs][i % Vecs];
    });
  }

  const std::int64_t c_row = panel.c_row;
  unrolled<Rows>([&](auto r) {
    if constexpr (!Narrow)
      unrolled<Vecs>([&](auto v) { sums[0][r][v].store(c + (v + 1 < Vecs ? v * lanes : last)); });
    else if (panel.c_end - c >= lanes)
      sums[0][r][0].store(c);
    else
      sums[0][r][0].store(c, width);
    c += c_row;
  });
}

template <class T, int Vecs, bool Narrow, bool Long, int Rows>
inline void tile_of(std::int64_t rows, const Panel<T>& panel, const T* a, T* c) {
  if (rows == Rows) return tile<T, Rows, Vecs, Narrow, Long>(panel, a, c);
  if constexpr (Rows > 1) tile_of<T, Vecs, Narrow, Long, Rows - 1>(rows, panel, a, c);
}

/// All m rows of a panel of Vecs vectors.
template <class T, int Vecs, bool Narrow = false>
inline void all_rows(std::int64_t m, const Panel<T>& panel) {
  // 16 registers: the sums, Vecs vectors of b and one broadcast.
  constexpr int most = Vecs == 1 ? 8 : Vecs == 2 ? 6 : Vecs == 4 ? 2 : 1;
  // The rows up to which a tile alone leaves the multipliers waiting for each other.
  constexpr int lone = Vecs == 1 ? 4 : Vecs == 2 ? 2 : Vecs == 4 ? 1 : 0;
  if constexpr (lone > 0) {
    if (m <= lone && panel.k >= long_depth) return tile_of<T, Vecs, Narrow, true, lone>(m, panel, panel.a, panel.c);
  }
  const T* a = panel.a;
  T* c = panel.c;
  const auto advance = [&](std::int64_t rows) {
    a += rows * panel.a_row;
    c += rows * panel.c_row;
    m -= rows;
  };
  while (m >= 2 * most) {
    tile<T, most, Vecs, Narrow, false>(panel, a, c);
    advance(most);
  }
  // Two tiles of about equal height keep the multipliers busier than a full one and a low one.
  if (m > most) {
    const std::int64_t half = (m + 1) / 2;
    tile_of<T, Vecs, Narrow, false, most>(half, panel, a, c);
    advance(half);
  }
  tile_of<T, Vecs, Narrow, false, most>(m, panel, a, c);
}

/// All m >= lanes rows of N columns, one row to a lane, which leaves no lane idle. The rows of a are dense, and short
/// enough for a group of rows.hpp.
template <class T, int N>
void multiply_few_columns(std::int64_t m, const Panel<T>& panel) {
  constexpr int lanes = Lanes<T>::width;
  const auto all_groups = [&](auto k) {
    const std::int64_t a_row = panel.a_row, b_row = panel.b_row;
    const T* const b = panel.b;
    for (std::int64_t i = 0; i < m; i += lanes) {
      const std::int64_t first = std::min(i, m - lanes);
      Columns<T> a, sums;
      load_columns(panel.a + first * a_row, a_row, k, Constant<lanes>{}, a);
      unrolled<N>([&](auto j) { sums[j] = Lanes<T>(T{0}); });
      for_each_below(
          k, [&](auto p) { unrolled<N>([&](auto j) { sums[j] = fma(a[p], Lanes<T>(b[p * b_row + j]), sums[j]); }); });
      store_columns(sums, panel.c + first * N, Constant<N>{}, Constant<lanes>{});
    }
  };
  if (panel.k == 8)
    all_groups(Constant<8>{});
  else
    all_groups(static_cast<int>(panel.k));
}

/// Sums no longer than this are computed with all of b in registers, where one vector makes a row of it.
constexpr std::int64_t shallow_depth = 4;

/// All m rows of one vector each, depth K.
template <class T, int K>
void multiply_shallow(std::int64_t m, const Panel<T>& panel) {
  constexpr int lanes = Lanes<T>::width;
  const std::int64_t a_row = panel.a_row, a_col = panel.a_col;
  Array<Lanes<T>, K> rows;
  unrolled<K>([&](auto p) { rows[p] = Lanes<T>::load(panel.b + p * panel.b_row); });
  const T* a = panel.a;
  T* c = panel.c;
  const auto row = [&](std::int64_t r) {
    Lanes<T> sum = T{0};
    unrolled<K>([&](auto p) { sum = fma(Lanes<T>(a[r * a_row + p * a_col]), rows[p], sum); });
    sum.store(c + r * lanes);
  };
  constexpr int together = 4;
  for (; m >= together; m -= together, a += together * a_row, c += together * lanes)
    unrolled<together>([&](auto r) { row(r); });
  for (std::int64_t r = 0; r < m; ++r) row(r);
}

/// A whole product whose b is row-major. `panel` holds where it begins, and is used up.
template <class T>
void multiply_row_major(std::int64_t m, std::int64_t n, Panel<T>& panel) {
  constexpr std::int64_t lanes = Lanes<T>::width;
  if (n < lanes) {
    // Turning rows of doubles, or only a few of them, costs more than it saves.
    if constexpr (lanes == 8)
      if (m >= 4 * lanes && n <= 4 && panel.c_row == n && panel.a_col == 1 && panel.k >= 4 && panel.k <= most_columns) {
        if (n == 2) return multiply_few_columns<T, 2>(m, panel);
        if (n == 3) return multiply_few_columns<T, 3>(m, panel);
        if (n == 4) return multiply_few_columns<T, 4>(m, panel);
      }
    panel.width = n;
    return all_rows<T, 1, true>(m, panel);
  }
  if (n == lanes && m >= lanes && panel.c_row == n && panel.k <= shallow_depth) {
    if (panel.k == 2) return multiply_shallow<T, 2>(m, panel);
    if (panel.k == 3) return multiply_shallow<T, 3>(m, panel);
    if (panel.k == 4) return multiply_shallow<T, 4>(m, panel);
  }
  const auto panels_of = [&](auto vecs) {
    panel.last = (vecs - 1) * lanes;
    while (n >= vecs * lanes) {
      all_rows<T, vecs>(m, panel);
      panel.b += vecs * lanes;
      panel.c += vecs * lanes;
      n -= vecs * lanes;
    }
  };
  // One or two rows need wide panels to have enough independent sums.
  if (m == 1) panels_of(std::integral_constant<int, 8>{});
  if (m <= 2) panels_of(std::integral_constant<int, 4>{});
  panels_of(std::integral_constant<int, 2>{});
  panel.last = n - lanes;  // left of the panel's beginning when fewer columns remain than a vector has
  if (n > lanes)
    all_rows<T, 2>(m, panel);
  else if (n > 0)
    all_rows<T, 1>(m, panel);
}

/// A single row whose b no near cache holds: b is read in the order it lies in, four of its rows at a time, and c,
/// which stays near, is updated in place. n is at least one vector.
template <class T>
void multiply_row_streaming(std::int64_t n, std::int64_t k, const T* a, std::int64_t a_col, const T* b,
                            std::int64_t b_row, T* c) {
  constexpr int lanes = Lanes<T>::width, together = 4;
  const auto add_rows = [&](auto rows, std::int64_t p) {
    Array<Lanes<T>, rows> x;
    unrolled<rows>([&](auto r) { x[r] = Lanes<T>(a[(p + r) * a_col]); });
    const T* const from = b + p * b_row;
    std::int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      Lanes<T> sum = p == 0 ? Lanes<T>(T{0}) : Lanes<T>::load(c + j);
      unrolled<rows>([&](auto r) { sum = fma(x[r], Lanes<T>::load(from + r * b_row + j), sum); });
      sum.store(c + j);
    }
    for (; j < n; ++j) {
      T sum = p == 0 ? T{0} : c[j];
      for (int r = 0; r < rows; ++r) sum += a[(p + r) * a_col] * from[r * b_row + j];
      c[j] = sum;
    }
  };
  std::int64_t p = 0;
  for (; p + together <= k; p += together) add_rows(std::integral_constant<int, together>{}, p);
  for (; p < k; ++p) add_rows(std::integral_constant<int, 1>{}, p);
}

/// Copies k x width elements of b into rows of `row` elements, zeros up to the row's end.
template <class T>
void pack(std::int64_t k, int width, const T* b, std::int64_t b_row, std::int64_t b_col, T* packed, int row) {
  constexpr int lanes = Lanes<T>::width;
  int j = 0;
  if (b_row == 1)
    for (; j + lanes <= width; j += lanes) {
      std::int64_t p = 0;
      for (; p + lanes <= k; p += lanes) {
        Array<Lanes<T>, lanes> block;
        for (int i = 0; i < lanes; ++i) block[i] = Lanes<T>::load(b + (j + i) * b_col + p);
        transpose(block);
        for (int i = 0; i < lanes; ++i) block[i].store(packed + (p + i) * row + j);
      }
      for (; p < k; ++p)
        for (int i = 0; i < lanes; ++i) packed[p * row + j + i] = b[(j + i) * b_col + p];
    }
  for (; j < row; ++j)
    for (std::int64_t p = 0; p < k; ++p) packed[p * row + j] = j < width ? b[p * b_row + j * b_col] : T{0};
}

/// A whole product whose b has to be packed, two vectors of columns at a time.
template <class T>
void multiply_packed(const ContractShape& s, const T* a, const T* b, T* c, T* c_end) {
  constexpr int lanes = Lanes<T>::width;
  alignas(64) Array<T, max_packed_depth * 2 * lanes> packed;
  for (std::int64_t j = 0; j < s.n; j += 2 * lanes) {
    // A last panel narrower than a vector would spill into columns that are done: it starts further left.
    if (s.n - j < lanes) j = std::max<std::int64_t>(0, s.n - lanes);
    const int width = static_cast<int>(std::min<std::int64_t>(2 * lanes, s.n - j));
    const int row = width > lanes ? 2 * lanes : lanes;
    pack(s.k, width, b + j * s.b_col, s.b_row, s.b_col, packed, row);
    Panel<T> panel{s.k, a, s.a_row, s.a_col, packed, row, c + j, s.n, 0, 0, c_end};
    multiply_row_major(s.m, width, panel);
  }
}

/// `Shared`: one row of a serves all (a_step is 0).
template <class T, int Count, bool Shared>
inline void dot_block(std::int64_t k, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, T* c) {
  constexpr int lanes = Lanes<T>::width;
  Array<Lanes<T>, Count> sums;
  for (auto& sum : sums) sum = Lanes<T>(T{0});
  const auto step = [&](auto load) {
    Lanes<T> x = load(a);
    for (int j = 0; j < Count; ++j) {
      if (!Shared && j > 0) x = load(a + j * a_step);
      sums[j] = fma(x, load(b + j * b_step), sums[j]);
    }
  };
  for (; k >= lanes; k -= lanes, a += lanes, b += lanes) step([](const T* p) { return Lanes<T>::load(p); });
  if (k > 0) step([rest = static_cast<int>(k)](const T* p) { return Lanes<T>::load(p, rest); });
  for (int j = 0; j < Count; ++j) c[j] = sum(sums[j]);
}

/// One dot product, in four chains when it is long.
template <class T>
T dot(std::int64_t k, const T* a, const T* b) {
  constexpr int lanes = Lanes<T>::width;
  Lanes<T> sums[4] = {Lanes<T>(T{0}), Lanes<T>(T{0}), Lanes<T>(T{0}), Lanes<T>(T{0})};
  for (; k >= 4 * lanes; k -= 4 * lanes, a += 4 * lanes, b += 4 * lanes)
    for (int p = 0; p < 4; ++p) sums[p] = fma(Lanes<T>::load(a + p * lanes), Lanes<T>::load(b + p * lanes), sums[p]);
  for (; k >= lanes; k -= lanes, a += lanes, b += lanes) sums[0] = fma(Lanes<T>::load(a), Lanes<T>::load(b), sums[0]);
  if (k > 0) sums[1] = fma(Lanes<T>::load(a, static_cast<int>(k)), Lanes<T>::load(b, static_cast<int>(k)), sums[1]);
  return sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/// A row of sums too short for vectors, or with no stride of 1: packing would read as much as it saves.
template <class T>
void multiply_row_strided(const ContractShape& s, const T* a, const T* b, T* c) {
  constexpr int lanes = Lanes<T>::width;
  std::int64_t j = 0;
  for (; j + lanes <= s.n; j += lanes) {
    const T* row = b + j * s.b_col;
    Lanes<T> total = T{0};
    for (std::int64_t p = 0; p < s.k; ++p, row += s.b_row) total = fma(gathered(row, s.b_col), a[p * s.a_col], total);
    total.store(c + j);
  }
  for (; j < s.n; ++j) {
    const T* const column = b + j * s.b_col;
    T sums[4] = {};
    std::int64_t p = 0;
    for (; p + 4 <= s.k; p += 4)
      for (int q = 0; q < 4; ++q) sums[q] += a[(p + q) * s.a_col] * column[(p + q) * s.b_row];
    for (; p < s.k; ++p) sums[0] += a[p * s.a_col] * column[p * s.b_row];
    c[j] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

}  // namespace

template <class T>
void dot_products(std::int64_t count, std::int64_t k, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step,
                  T* c) {
  constexpr std::int64_t block = 4;
  for (; count >= block; count -= block, a += block * a_step, b += block * b_step, c += block)
    if (a_step == 0)
      dot_block<T, block, true>(k, a, a_step, b, b_step, c);
    else
      dot_block<T, block, false>(k, a, a_step, b, b_step, c);
  for (; count > 0; --count, a += a_step, b += b_step) *c++ = dot(k, a, b);
}

bool small_takes(const ContractShape& s) { return s.m == 1 || s.b_col == 1 || s.k <= max_packed_depth; }

template <class T>
void multiply_small(const ContractShape& s, const T* a, const T* b, T* c, T* c_end) {
  constexpr std::int64_t lanes = Lanes<T>::width;
  if (s.b_col == 1 && s.n > 1) {
    if (s.m == 1 && s.n >= 8 * lanes && static_cast<double>(s.n) * static_cast<double>(s.k) >= streaming_size)
      return multiply_row_streaming(s.n, s.k, a, s.a_col, b, s.b_row, c);
    Panel<T> panel{in_register(s.k),
                   a,
                   in_register(s.a_row),
                   in_register(s.a_col),
                   b,
                   in_register(s.b_row),
                   c,
                   in_register(s.n),
                   0,
                   0,
                   c_end};
    return multiply_row_major(s.m, s.n, panel);
  }
  // Packing b pays only when several rows use it.
  const bool contiguous_sums = s.b_row == 1 && s.a_col == 1 && s.k >= lanes;
  if (contiguous_sums && s.m <= 3) {
    for (std::int64_t i = 0; i < s.m; ++i) dot_products<T>(s.n, s.k, a + i * s.a_row, 0, b, s.b_col, c + i * s.n);
    return;
  }
  if (s.m == 1) return multiply_row_strided(s, a, b, c);
  multiply_packed(s, a, b, c, c_end);
}

template void dot_products(std::int64_t, std::int64_t, const float*, std::int64_t, const float*, std::int64_t, float*);
template void dot_products(std::int64_t, std::int64_t, const double*, std::int64_t, const double*, std::int64_t,
                           double*);
template void multiply_small(const ContractShape&, const float*, const float*, float*, float*);
template void multiply_small(const ContractShape&, const double*, const double*, double*, double*);

}  // namespace tlaloc::inline v0::kernels
