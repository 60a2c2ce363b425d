// The product kernels against a naive triple loop: every extent that meets a block's edge, every kind of stride,
// nothing written outside the result, nan and inf kept, and no dependence on threads.
#include "ops/kernels/contract.hpp"

#include <cblas.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <tlaloc/threads.hpp>
#include <vector>

#include "ops/kernels/blas.hpp"

namespace tlaloc {
namespace {

using kernels::ContractShape;

/// How a [batch, rows, cols] operand lies in memory.
enum class Layout {
  row_major,
  transposed,
  padded,  // rows further apart than they are long, matrices further apart still
  padded_transposed,
  shared,  // one matrix for the whole batch
  shared_transposed,
  row_of_all,  // every row the same: stride 0
  column_of_all,
  number_of_all,
  rows_backwards,
  columns_backwards,
  batch_innermost,
  every_other,
};
constexpr int layout_count = static_cast<int>(Layout::every_other) + 1;

struct Strides {
  std::int64_t batch, row, col;
};

Strides strides_of(Layout layout, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  switch (layout) {
    case Layout::row_major: return {rows * cols, cols, 1};
    case Layout::transposed: return {rows * cols, 1, rows};
    case Layout::padded: return {rows * (cols + 3) + 5, cols + 3, 1};
    case Layout::padded_transposed: return {(rows + 3) * cols + 5, 1, rows + 3};
    case Layout::shared: return {0, cols, 1};
    case Layout::shared_transposed: return {0, 1, rows};
    case Layout::row_of_all: return {cols, 0, 1};
    case Layout::column_of_all: return {rows, 1, 0};
    case Layout::number_of_all: return {1, 0, 0};
    case Layout::rows_backwards: return {rows * cols, -cols, 1};
    case Layout::columns_backwards: return {-rows * cols, cols, -1};
    case Layout::batch_innermost: return {1, cols * batch, batch};
    case Layout::every_other: return {2 * rows * cols, 2 * cols, 2};
  }
  return {};
}

/// An operand in a buffer of its own. Elements that no index reaches are nan, so that using one shows.
template <class T>
class Operand {
 public:
  Operand(Layout layout, std::int64_t batch, std::int64_t rows, std::int64_t cols, unsigned seed)
      : strides(strides_of(layout, batch, rows, cols)) {
    std::int64_t low = 0, high = 0;
    for (const auto& [step, extent] :
         {std::pair{strides.batch, batch}, std::pair{strides.row, rows}, std::pair{strides.col, cols}})
      (step < 0 ? low : high) += step * std::max<std::int64_t>(0, extent - 1);
    buffer_.assign(static_cast<std::size_t>(high - low + 1), std::numeric_limits<T>::quiet_NaN());
    origin_ = buffer_.data() - low;
    std::minstd_rand random(seed + 1);
    std::uniform_real_distribution<T> uniform(-1, 1);
    for (std::int64_t i = 0; i < batch; ++i)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) at(i, r, c) = uniform(random);
  }

  T& at(std::int64_t i, std::int64_t r, std::int64_t c) {
    return origin_[i * strides.batch + r * strides.row + c * strides.col];
  }
  const T* origin() const { return origin_; }

  const Strides strides;

 private:
  std::vector<T> buffer_;
  T* origin_;
};

/// A result between guards. `offset` moves it off the alignment that allocation gives.
template <class T>
class Result {
 public:
  Result(std::int64_t count, std::size_t offset)
      : begin_(guard + offset), buffer_(static_cast<std::size_t>(count) + 2 * guard + offset, sentinel) {}

  T* data() { return buffer_.data() + begin_; }

  bool guards_intact(std::int64_t count) const {
    for (std::size_t i = 0; i < buffer_.size(); ++i)
      if ((i < begin_ || i >= begin_ + static_cast<std::size_t>(count)) && buffer_[i] != sentinel) return false;
    return true;
  }

 private:
  static constexpr std::size_t guard = 32;
  static constexpr T sentinel = T{-12345};
  std::size_t begin_;
  std::vector<T> buffer_;
};

struct Case {
  std::int64_t batch, m, n, k;
  Layout a, b;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.batch << " x (" << c.m << ", " << c.k << ", " << c.n << "), layouts " << static_cast<int>(c.a)
               << ", " << static_cast<int>(c.b);
  }
};

template <class T>
ContractShape shape_of(const Case& c, const Operand<T>& a, const Operand<T>& b) {
  return {c.batch,         c.m,           c.n,          c.k, a.strides.batch, a.strides.row, a.strides.col,
          b.strides.batch, b.strides.row, b.strides.col};
}

template <class T>
void check(const Case& c) {
  const auto seed = static_cast<unsigned>(c.batch * 7 + c.m * 31 + c.n * 131 + c.k * 1031);
  Operand<T> a(c.a, c.batch, c.m, c.k, seed), b(c.b, c.batch, c.k, c.n, seed + 1);
  const std::int64_t count = c.batch * c.m * c.n;
  Result<T> result(count, seed % 3);
  kernels::contract(shape_of(c, a, b), a.origin(), b.origin(), result.data());

  ASSERT_TRUE(result.guards_intact(count)) << c;
  // The bound that holds for any order of summation.
  const long double unit = static_cast<long double>(c.k) * std::numeric_limits<T>::epsilon();
  for (std::int64_t i = 0; i < c.batch; ++i)
    for (std::int64_t r = 0; r < c.m; ++r)
      for (std::int64_t j = 0; j < c.n; ++j) {
        long double sum = 0, size = 0;
        for (std::int64_t p = 0; p < c.k; ++p) {
          const long double term = static_cast<long double>(a.at(i, r, p)) * static_cast<long double>(b.at(i, p, j));
          sum += term;
          size += std::abs(term);
        }
        const long double got = result.data()[(i * c.m + r) * c.n + j];
        ASSERT_TRUE(std::abs(got - sum) <= unit * size)
            << c << ": [" << i << ", " << r << ", " << j << "] is " << got << " and should be " << sum;
      }
}

constexpr std::int64_t extents[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 130};
constexpr std::int64_t batches[] = {1, 2, 5, 0};

/// Every triple of extents; batch sizes and layouts take turns (their numbers have no factor in common).
template <class T>
void check_every_extent() {
  int turn = 0;
  for (const std::int64_t m : extents)
    for (const std::int64_t n : extents)
      for (const std::int64_t k : extents) {
        const std::int64_t batch = batches[turn % 3];
        const auto a = static_cast<Layout>(turn % layout_count);
        const auto b = static_cast<Layout>(turn / layout_count % layout_count);
        ++turn;
        check<T>({batch, m, n, k, a, b});
        if (::testing::Test::HasFatalFailure()) return;
      }
}

template <class T>
void check_every_layout() {
  for (const std::int64_t batch : batches)
    for (const std::int64_t m : {1, 3, 8, 19})
      for (const std::int64_t n : {1, 3, 8, 17, 36})
        for (const std::int64_t k : {1, 3, 8, 37})
          for (int a = 0; a < layout_count; ++a)
            for (int b = 0; b < layout_count; ++b) {
              check<T>({batch, m, n, k, static_cast<Layout>(a), static_cast<Layout>(b)});
              if (::testing::Test::HasFatalFailure()) return;
            }
}

TEST(Contract, EveryExtentF32) { check_every_extent<float>(); }
TEST(Contract, EveryExtentF64) { check_every_extent<double>(); }
TEST(Contract, EveryLayoutF32) { check_every_layout<float>(); }
TEST(Contract, EveryLayoutF64) { check_every_layout<double>(); }

/// Shapes that other kernels take over from the small ones: BLAS with and without copies, deep and tall products,
/// results shared among threads, results that bypass the caches.
const Case large_cases[] = {
    {1, 300, 270, 200, Layout::row_major, Layout::row_major},
    {1, 300, 270, 200, Layout::transposed, Layout::padded_transposed},
    {1, 200, 200, 200, Layout::every_other, Layout::columns_backwards},
    {2, 170, 150, 140, Layout::batch_innermost, Layout::rows_backwards},
    {3, 150, 150, 150, Layout::shared_transposed, Layout::row_major},
    {3, 64, 160, 260, Layout::row_major, Layout::shared},
    {1, 150, 600, 200, Layout::transposed, Layout::row_major},
    {1, 150, 600, 200, Layout::row_major, Layout::transposed},
    {1, 20, 24, 9000, Layout::transposed, Layout::row_major},
    {1, 4, 8, 4096, Layout::transposed, Layout::row_major},
    {1, 3, 5, 4096, Layout::row_major, Layout::transposed},
    {1, 1, 3000, 100, Layout::row_major, Layout::row_major},
    {1, 1, 3000, 100, Layout::row_major, Layout::transposed},
    {1, 1, 1027, 200, Layout::row_major, Layout::row_major},
    {1, 1, 600, 3001, Layout::every_other, Layout::padded},
    {1, 3000, 1, 100, Layout::row_major, Layout::row_major},
    {1, 3000, 1, 100, Layout::transposed, Layout::row_major},
    {4096, 1, 8, 4, Layout::row_major, Layout::shared},
    {4096, 1, 3, 8, Layout::row_major, Layout::shared},
    {4096, 1, 8, 3, Layout::row_major, Layout::shared_transposed},
    {4096, 1, 1, 9, Layout::row_major, Layout::row_major},
    {4096, 8, 3, 1, Layout::row_major, Layout::row_major},
    {4096, 4, 8, 1, Layout::row_major, Layout::row_major},
    {40000, 1, 1, 1, Layout::row_major, Layout::shared},
    {1, 5000, 20, 1, Layout::row_major, Layout::row_major},
    {1, 9000, 5, 1, Layout::every_other, Layout::columns_backwards},
    {1, 30000, 1, 1, Layout::row_major, Layout::row_major},
    {300, 7, 5, 40, Layout::padded, Layout::transposed},
    {40, 32, 32, 16, Layout::row_major, Layout::transposed},
};

TEST(Contract, LargeF32) {
  for (const Case& c : large_cases) check<float>(c);
}

TEST(Contract, LargeF64) {
  for (const Case& c : large_cases) check<double>(c);
}

/// The largest results bypass the caches where they are aligned; every number is one product, so the values are exact.
template <class T>
void check_streamed(std::int64_t batch, std::int64_t m, std::int64_t n, std::uintptr_t offset = 0) {
  Operand<T> a(Layout::row_major, batch, m, 1, 1), b(Layout::row_major, batch, 1, n, 2);
  std::vector<T> memory(static_cast<std::size_t>(batch * m * n + 64), T{-12345});
  T* c = memory.data() + 16;
  while (reinterpret_cast<std::uintptr_t>(c) % 64 != offset) ++c;
  kernels::contract(shape_of(Case{batch, m, n, 1, Layout::row_major, Layout::row_major}, a, b), a.origin(), b.origin(),
                    c);
  EXPECT_EQ(c[-1], T{-12345});
  EXPECT_EQ(c[batch * m * n], T{-12345});
  for (std::int64_t i = 0; i < batch; ++i)
    for (std::int64_t r = 0; r < m; ++r)
      for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(*c++, a.at(i, r, 0) * b.at(i, 0, j));
}

TEST(Contract, LargeOuterProducts) {
  check_streamed<float>(30, 700, 256);
  check_streamed<double>(30, 700, 128);
  check_streamed<float>(1, 70000, 8 * 10);
  check_streamed<float>(1, 90000, 61);
  check_streamed<float>(30, 700, 256, 4);
}

/// A zero times an infinity is nan, and nothing else is touched by it.
template <class T>
void check_non_finite(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, Layout a_layout,
                      Layout b_layout) {
  const Case c{batch, m, n, k, a_layout, b_layout};
  const T inf = std::numeric_limits<T>::infinity();
  Operand<T> a(a_layout, batch, m, k, 1), b(b_layout, batch, k, n, 2);
  const std::int64_t p = k / 2, column = n / 2;
  for (std::int64_t i = 0; i < batch; ++i) {
    for (std::int64_t r = 0; r < m; ++r) a.at(i, r, p) = 0;
    a.at(i, 0, p) = 1;
    b.at(i, p, column) = inf;
  }
  std::vector<T> result(static_cast<std::size_t>(batch * m * n));
  kernels::contract(shape_of(c, a, b), a.origin(), b.origin(), result.data());
  auto value = result.begin();
  for (std::int64_t i = 0; i < batch; ++i)
    for (std::int64_t r = 0; r < m; ++r)
      for (std::int64_t j = 0; j < n; ++j, ++value)
        if (j != column)
          ASSERT_TRUE(std::isfinite(*value)) << c << ": [" << i << ", " << r << ", " << j << "]";
        else if (r == 0)
          ASSERT_EQ(*value, inf) << c << ": [" << i << ", " << r << ", " << j << "]";
        else
          ASSERT_TRUE(std::isnan(*value)) << c << ": [" << i << ", " << r << ", " << j << "]";
}

TEST(Contract, NanAndInfinityStayInTheirColumn) {
  for (const Layout a : {Layout::row_major, Layout::transposed})
    for (const Layout b : {Layout::row_major, Layout::transposed, Layout::every_other})
      for (const std::int64_t batch : {1, 3})
        for (const std::int64_t m : {1, 2, 9})
          for (const std::int64_t n : {1, 3, 8, 13, 40})
            for (const std::int64_t k : {1, 2, 9, 50}) {
              check_non_finite<float>(batch, m, n, k, a, b);
              check_non_finite<double>(batch, m, n, k, a, b);
            }
  check_non_finite<float>(1, 200, 200, 200, Layout::row_major, Layout::transposed);
  check_non_finite<double>(1, 200, 200, 200, Layout::transposed, Layout::row_major);
}

TEST(Contract, NegativeZeroIsKept) {
  const float a[] = {-0.0F, 2.0F}, b[] = {3.0F, -0.0F, 1.0F};
  float c[6];
  kernels::contract({1, 2, 3, 1, 2, 1, 1, 3, 3, 1}, a, b, c);
  EXPECT_TRUE(std::signbit(c[0]));
  EXPECT_FALSE(std::signbit(c[1]));
  EXPECT_TRUE(std::signbit(c[4]));
}

TEST(Contract, EmptySumsAreZero) {
  float c[6] = {1, 2, 3, 4, 5, 6};
  kernels::contract({1, 2, 3, 0, 0, 0, 1, 0, 3, 1}, static_cast<const float*>(nullptr), nullptr, c);
  for (const float x : c) EXPECT_EQ(x, 0.0F);
}

/// One example's product and its row of the batched one agree to rounding, whichever kernels computed them.
TEST(Contract, BatchedEqualsSingle) {
  for (const std::int64_t k : {4, 40, 784}) {
    const std::int64_t batch = 64, n = 48;
    Operand<float> x(Layout::row_major, batch, 1, k, 1), w(Layout::shared, batch, k, n, 2);
    std::vector<float> together(static_cast<std::size_t>(batch * n)), alone(static_cast<std::size_t>(n));
    kernels::contract({batch, 1, n, k, k, k, 1, 0, n, 1}, x.origin(), w.origin(), together.data());
    for (std::int64_t i = 0; i < batch; ++i) {
      kernels::contract({1, 1, n, k, k, k, 1, 0, n, 1}, x.origin() + i * k, w.origin(), alone.data());
      for (std::int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(j);
        EXPECT_NEAR(alone[at], together[static_cast<std::size_t>(i * n) + at],
                    std::numeric_limits<float>::epsilon() * static_cast<float>(k));
      }
    }
  }
}

TEST(Contract, ThreadsDoNotChangeABit) {
  const int before = num_threads();
  for (const Case& c : large_cases) {
    Operand<float> a(c.a, c.batch, c.m, c.k, 1), b(c.b, c.batch, c.k, c.n, 2);
    std::vector<float> results[2];
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      std::vector<float>& result = results[threads / 2];
      result.resize(static_cast<std::size_t>(c.batch * c.m * c.n));
      kernels::contract(shape_of(c, a, b), a.origin(), b.origin(), result.data());
    }
    EXPECT_EQ(results[0], results[1]) << c;
  }
  set_num_threads(before);
}

/// Strides of 0 make operands of any length; the sum has more terms than 32 bits count.
TEST(Contract, ExtentsAboveTwoToThe31) {
  const std::int64_t k = (std::int64_t{1} << 31) + 5;
  const double a = 1, b = 0.5;
  double c = 0;
  kernels::contract({1, 1, 1, k, 0, 0, 0, 0, 0, 0}, &a, &b, &c);
  EXPECT_EQ(c, static_cast<double>(k) / 2);
}

template <class T>
void check_pieces(Layout a_layout, Layout b_layout) {
  const std::int64_t m = 23, n = 17, k = 29;
  Operand<T> a(a_layout, 1, m, k, 1), b(b_layout, 1, k, n, 2);
  std::vector<T> whole(static_cast<std::size_t>(m * n)), pieces(whole.size(), T{7});
  const auto run = [&](std::vector<T>& c, std::int64_t limit) {
    const kernels::SingleThreadedBlas guard;
    kernels::gemm(m, n, k, a.origin(), a.strides.row, a.strides.col, b.origin(), b.strides.row, b.strides.col, c.data(),
                  n, limit);
  };
  run(whole, kernels::max_blas_extent);
  run(pieces, 5);
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_NEAR(whole[i], pieces[i], std::numeric_limits<T>::epsilon() * static_cast<T>(k));
}

TEST(Blas, DimensionsAboveTheLimitAreCut) {
  check_pieces<float>(Layout::row_major, Layout::transposed);
  check_pieces<double>(Layout::padded_transposed, Layout::padded);
}

TEST(Blas, TheThreadCountComesBack) {
  const int before = openblas_get_num_threads();
  openblas_set_num_threads(2);
  {
    const kernels::SingleThreadedBlas outer;
    EXPECT_EQ(openblas_get_num_threads(), 1);
    { const kernels::SingleThreadedBlas inner; }
    EXPECT_EQ(openblas_get_num_threads(), 1);
  }
  EXPECT_EQ(openblas_get_num_threads(), 2);
  {
    const kernels::SingleThreadedBlas guard;
    openblas_set_num_threads(3);
  }
  EXPECT_EQ(openblas_get_num_threads(), 3);
  openblas_set_num_threads(before);
}

}  // namespace
}  // namespace tlaloc
