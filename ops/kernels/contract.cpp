// Which kernel computes a product. In order:
//
//   a column (n = 1)           is read as a row of the transposed product, so that c stays dense along n
//   an operand that the batch  folds into one larger product, where c's layout allows
//     shares
//   k = 1                      outer products (outer.cpp): bound by how c is written
//   small or narrow            register-blocked kernels (contract_small.cpp), the batch or the rows shared among
//   threads the rest                   OpenBLAS (contract_large.cpp)
//
// Every choice, and every cut of the work, depends on the shape alone, so results do not depend on the thread count.
#include "ops/kernels/contract.hpp"

#include <algorithm>
#include <utility>

#include "core/threads.hpp"
#include "ops/kernels/blas.hpp"
#include "ops/kernels/contract_large.hpp"
#include "ops/kernels/contract_small.hpp"
#include "ops/kernels/contract_vec.hpp"
#include "ops/kernels/outer.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Multiply-adds in a piece of work that is worth waking a thread for.
constexpr double grain = 1 << 16;

constexpr double cube(double side) { return side * side * side; }

/// From which size on a product goes to BLAS: the side of a cube of multiply-adds, by how b lies (packing costs our own
/// kernels more), and the least extent of c. Measured, one thread, against OpenBLAS 0.3.21: its AVX2 kernels overtake
/// ours (which are AVX2 too, but copy nothing and cost 10 instead of 65 ns to call) where b no longer fits the near
/// caches; its AVX-512 kernels, which take small products without copying, as soon as c has some width.
struct Crossover {
  double row_major, packed;
  std::int64_t least_extent;
};
constexpr Crossover avx2_crossover{cube(128), cube(96), 64}, avx512_crossover{cube(28), cube(44), 32};

/// Rows in a piece of a tall product: a multiple of every tile's height (6 and 8), so that only the last piece has a
/// tile cut short.
constexpr std::int64_t piece_rows = 24;

double work_of(const ContractShape& s) {
  return static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

ContractShape copy_of(const ContractShape& s) {
  return {in_register(s.batch),   in_register(s.m),     in_register(s.n),     in_register(s.k),
          in_register(s.a_batch), in_register(s.a_row), in_register(s.a_col), in_register(s.b_batch),
          in_register(s.b_row),   in_register(s.b_col)};
}

/// c^T = b^T a^T; c itself stays as it is when one of its extents is 1.
template <class T>
void swap_sides(ContractShape& s, const T*& a, const T*& b) {
  std::swap(a, b);
  const ContractShape from = copy_of(s);
  s = {from.batch, from.n, from.m, from.k, from.b_batch, from.b_col, from.b_row, from.a_batch, from.a_col, from.a_row};
}

void fold_shared_operand(ContractShape& s) {
  if (s.b_batch == 0 && (s.m == 1 || s.a_batch == s.m * s.a_row)) {
    if (s.m == 1) s.a_row = s.a_batch;
    s.m *= s.batch;
    s.batch = 1;
  } else if (s.a_batch == 0 && s.m == 1 && (s.n == 1 || s.b_batch == s.n * s.b_col)) {
    if (s.n == 1) s.b_col = s.b_batch;
    s.n *= s.batch;
    s.batch = 1;
  }
}

bool prefers_blas(const ContractShape& s, double work) {
  if (work < avx512_crossover.row_major) return false;
  const Crossover& from = blas_has_avx512() ? avx512_crossover : avx2_crossover;
  return work >= (s.b_col == 1 ? from.row_major : from.packed) && std::min(s.m, s.n) >= from.least_extent;
}

/// One product, cut into pieces of rows, or of columns when there is but one row.
template <class T>
void multiply_one(const ContractShape& s, double work, const T* a, const T* b, T* c) {
  T* const c_end = c + s.m * s.n;
  if (work < 2 * grain) return multiply_small(s, a, b, c, c_end);
  if (s.m == 1) {
    // Not too few columns, so that the rows of a row-major b are still read in long runs.
    const std::int64_t piece =
        std::max<std::int64_t>(512, static_cast<std::int64_t>(grain / static_cast<double>(s.k)) / 64 * 64);
    core::parallel_for((s.n + piece - 1) / piece, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        ContractShape part = s;
        part.n = std::min(piece, s.n - i * piece);
        multiply_small(part, a, b + i * piece * s.b_col, c + i * piece, c + i * piece + part.n);
      }
    });
  } else {
    const auto rows = static_cast<std::int64_t>(grain / (static_cast<double>(s.n) * static_cast<double>(s.k)));
    const std::int64_t piece = std::max<std::int64_t>(1, rows / piece_rows) * piece_rows;
    core::parallel_for((s.m + piece - 1) / piece, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        ContractShape part = s;
        part.m = std::min(piece, s.m - i * piece);
        T* const c_part = c + i * piece * s.n;
        multiply_small(part, a + i * piece * s.a_row, b, c_part, c_part + part.m * s.n);
      }
    });
  }
}

template <class T>
void multiply_batch(const ContractShape& s, double work, const T* a, const T* b, T* c) {
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    T* const c_end = c + end * s.m * s.n;
    for (std::int64_t i = begin; i < end; ++i)
      multiply_small(s, a + i * s.a_batch, b + i * s.b_batch, c + i * s.m * s.n, c_end);
  };
  const auto items = static_cast<std::int64_t>(grain / work) + 1;
  if (s.batch <= items) return run(0, s.batch);
  core::parallel_for(s.batch, items, run);
}

/// A batch of single dot products over contiguous operands.
template <class T>
void multiply_pairs(const ContractShape& s, const T* a, const T* b, T* c) {
  const auto items = static_cast<std::int64_t>(grain / static_cast<double>(s.k)) + 1;
  core::parallel_for(s.batch, items, [&](std::int64_t begin, std::int64_t end) {
    dot_products(end - begin, s.k, a + begin * s.a_batch, s.a_batch, b + begin * s.b_batch, s.b_batch, c + begin);
  });
}

/// A shape with nothing left to fold or turn.
template <class T>
void multiply_folded(const ContractShape& s, const T* a, const T* b, T* c) {
  if (s.k == 1) return outer_products(s, a, b, c);
  const double work = work_of(s);
  if (prefers_blas(s, work) || !small_takes(s)) return multiply_large(s, a, b, c);
  if (s.batch == 1) return multiply_one(s, work, a, b, c);
  if (s.m == 1 && s.n == 1 && s.a_col == 1 && s.b_row == 1) return multiply_pairs(s, a, b, c);
  multiply_batch(s, work, a, b, c);
}

template <class T>
void multiply(const ContractShape& shape, const T* a, const T* b, T* c) {
  if (shape.batch == 0 || shape.m == 0 || shape.n == 0) return;
  if (shape.k == 0) {
    std::fill_n(c, shape.batch * shape.m * shape.n, T{0});
    return;
  }
  if (shape.batch == 1 && shape.n > 1) return multiply_folded(shape, a, b, c);
  ContractShape s = copy_of(shape);
  if (s.n == 1) swap_sides(s, a, b);
  if (s.batch > 1) {
    fold_shared_operand(s);
    if (s.n == 1 && s.m > 1) swap_sides(s, a, b);
  }
  multiply_folded(s, a, b, c);
}

}  // namespace

void contract(const ContractShape& shape, const float* a, const float* b, float* c) { multiply(shape, a, b, c); }
void contract(const ContractShape& shape, const double* a, const double* b, double* c) { multiply(shape, a, b, c); }

}  // namespace tlaloc::inline v0::kernels
