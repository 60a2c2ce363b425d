// Large products: operands made fit for BLAS, the result cut into tiles, a BLAS call for each.
#include "ops/kernels/contract_large.hpp"

#include <algorithm>
#include <memory>

#include "core/threads.hpp"
#include "ops/kernels/blas.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Multiply-adds in a piece of work that is worth waking a thread for.
constexpr double grain = 1 << 17;

/// One operand, as a batch of matrices that BLAS takes.
template <class T>
struct Operand {
  const T* data;
  std::int64_t batch, row, col;
  std::unique_ptr<T[]> copy;
};

template <class T>
Operand<T> fit_for_blas(const T* data, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                        std::int64_t batch_step, std::int64_t row, std::int64_t col) {
  // The step along an extent of 1 is never taken, so it may be whatever makes the matrix plain.
  if (rows == 1) row = col == 1 ? cols : 1;
  if (cols == 1) col = row == 1 ? rows : 1;
  if (blas_takes(rows, cols, row, col)) return {data, batch_step, row, col, nullptr};

  const std::int64_t count = batch_step == 0 ? 1 : batch;
  auto copy = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(count * rows * cols));
  core::parallel_for(count * rows, std::max<std::int64_t>(1, 16384 / cols), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = data + i / rows * batch_step + i % rows * row;
      T* const to = copy.get() + i * cols;
      for (std::int64_t j = 0; j < cols; ++j) to[j] = from[j * col];
    }
  });
  const T* const copied = copy.get();
  return {copied, count == 1 ? 0 : rows * cols, cols, 1, std::move(copy)};
}

/// How one product is cut: each tile is a BLAS call, so the cut decides the last bits and depends on the shape alone.
struct Tiles {
  std::int64_t rows, cols;

  Tiles(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) : rows(m), cols(n) {
    // Multiply-adds per tile. Every tile packs its own operands, so a few good ones serve the few cores of an ordinary
    // machine; more are cut only where they stay so large that packing does not show.
    constexpr double least = 1 << 22, ample = 1 << 25;
    constexpr std::int64_t few = 4, many = 64;
    std::int64_t tiles = batch;
    double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    while ((tiles < few && work >= 2 * least) || (tiles < many && work >= 2 * ample)) {
      std::int64_t& side = rows >= cols ? rows : cols;
      if (side < 128) return;
      side = (side / 2 + 15) / 16 * 16;
      tiles *= 2;
      work /= 2;
    }
  }
};

}  // namespace

template <class T>
void multiply_large(const ContractShape& s, const T* a, const T* b, T* c) {
  const Operand<T> left = fit_for_blas(a, s.batch, s.m, s.k, s.a_batch, s.a_row, s.a_col);
  const Operand<T> right = fit_for_blas(b, s.batch, s.k, s.n, s.b_batch, s.b_row, s.b_col);
  const Tiles tile(s.batch, s.m, s.n, s.k);
  const std::int64_t down = (s.m + tile.rows - 1) / tile.rows, across = (s.n + tile.cols - 1) / tile.cols;
  const SingleThreadedBlas guard;
  const double work = static_cast<double>(tile.rows) * static_cast<double>(tile.cols) * static_cast<double>(s.k);
  const std::int64_t together = static_cast<std::int64_t>(grain / work) + 1;
  core::parallel_for(s.batch * down * across, together, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t i = t / across % down * tile.rows, j = t % across * tile.cols, item = t / across / down;
      gemm(std::min(tile.rows, s.m - i), std::min(tile.cols, s.n - j), s.k,
           left.data + item * left.batch + i * left.row, left.row, left.col,
           right.data + item * right.batch + j * right.col, right.row, right.col, c + (item * s.m + i) * s.n + j, s.n);
    }
  });
}

template void multiply_large(const ContractShape&, const float*, const float*, float*);
template void multiply_large(const ContractShape&, const double*, const double*, double*);

}  // namespace tlaloc::inline v0::kernels
