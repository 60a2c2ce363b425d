// Softmax, log_softmax, logsumexp's gradient and cross-entropy against naive loops in extended precision: every count
// that meets a vector's edge, special values, nothing written outside the result, and no dependence on threads or other
// rows.
#include "ops/kernels/softmax.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <tlaloc/threads.hpp>

#include "ops/kernels/cross_entropy.hpp"
#include "ops/kernels/reduce.hpp"

namespace tlaloc {
namespace {

using Int = std::int64_t;
using Real = long double;

constexpr Int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 24, 33, 100, 1000};

constexpr Int guards = 16;

/// A result between guards that must stay as they are.
template <class T>
struct Result {
  Int n;
  std::vector<T> memory = std::vector<T>(static_cast<std::size_t>(n + 2 * guards), T{77});

  T* data() { return memory.data() + guards; }
  T operator[](Int i) const { return memory[static_cast<std::size_t>(i + guards)]; }
  bool guards_are_whole() const {
    return std::count(memory.begin(), memory.begin() + guards, T{77}) == guards &&
           std::count(memory.end() - guards, memory.end(), T{77}) == guards;
  }
  bool same_bits(const Result& other) const {
    return n == other.n && std::memcmp(memory.data(), other.memory.data(), memory.size() * sizeof(T)) == 0;
  }
};

std::mt19937& generator() {
  static std::mt19937 shared(13);
  return shared;
}

template <class T>
std::vector<T> random_numbers(Int n, double spread = 3) {
  std::normal_distribution<double> normal(0, spread);
  std::vector<T> numbers(static_cast<std::size_t>(n));
  for (T& x : numbers) x = static_cast<T>(normal(generator()));
  return numbers;
}

/// Numbers of which about one in four is special, each row with a different choice of them.
template <class T>
std::vector<T> special_numbers(Int rows, Int count) {
  using Limits = std::numeric_limits<T>;
  constexpr T values[] = {-Limits::infinity(), T{0}, T{-2000}, T{1000}, Limits::infinity(), Limits::quiet_NaN()};
  std::vector<T> numbers = random_numbers<T>(rows * count);
  for (Int r = 0; r < rows; ++r) {
    const auto kinds = 1 + generator()() % 6;
    for (Int c = 0; c < count; ++c)
      if (generator()() % 4 == 0) numbers[static_cast<std::size_t>(r * count + c)] = values[generator()() % kinds];
    if (r % 5 == 4)
      for (Int c = 0; c < count; ++c) numbers[static_cast<std::size_t>(r * count + c)] = values[kinds - 1];
  }
  return numbers;
}

/// One row and its exponentials.
template <class T>
struct Row {
  const T* x;
  Int count;
  Real maximum = -std::numeric_limits<Real>::infinity();
  Real shift = 0, sum = 0;
  bool has_nan = false;

  Row(const T* row, Int n) : x(row), count(n) {
    for (Int c = 0; c < n; ++c) {
      maximum = std::max(maximum, static_cast<Real>(x[c]));
      has_nan |= std::isnan(x[c]);
    }
    shift = std::isinf(maximum) ? 0 : maximum;
    for (Int c = 0; c < n; ++c) sum += std::exp(x[c] - shift);
  }

  Real lse() const { return shift + std::log(sum); }
  /// How far a rounded x[c] - shift may put the exponential off, in units of epsilon.
  Real spread(Int c) const { return std::isfinite(x[c] - shift) ? std::abs(x[c] - shift) : 0; }
  Real p(Int c) const {
    if (has_nan) return std::numeric_limits<Real>::quiet_NaN();
    return std::exp(x[c] - shift) / sum;
  }
};

/// The bound is in units of epsilon; what is smaller than the least normal numbers is not asked for.
template <class T>
::testing::AssertionResult near(T actual, Real expected, Real bound) {
  if (std::isnan(expected) && std::isnan(actual)) return ::testing::AssertionSuccess();
  if (actual == expected) return ::testing::AssertionSuccess();
  const Real difference = std::abs(actual - expected);
  if (difference <= bound * std::numeric_limits<T>::epsilon() + 16 * std::numeric_limits<T>::min())
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << actual << " instead of " << expected;
}

template <class T>
class Softmax : public ::testing::Test {};
template <class T>
class CrossEntropy : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Softmax, Floats);
TYPED_TEST_SUITE(CrossEntropy, Floats);

template <class F>
void for_each_size(const F& f) {
  for (const Int count : sizes)
    for (const Int rows : sizes)
      if (rows * count <= 20000) {
        SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(count));
        f(rows, count);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

template <class T>
void expect_softmax(const std::vector<T>& x, Int rows, Int count) {
  Result<T> y{rows * count}, log_y{rows * count};
  kernels::softmax(x.data(), y.data(), rows, count);
  kernels::log_softmax(x.data(), log_y.data(), rows, count);
  ASSERT_TRUE(y.guards_are_whole() && log_y.guards_are_whole());
  for (Int r = 0; r < rows; ++r) {
    const Row<T> row(x.data() + r * count, count);
    for (Int c = 0; c < count; ++c) {
      const Real p = row.p(c), log_p = row.has_nan ? p : row.x[c] - row.lse();
      ASSERT_TRUE(near(y[r * count + c], p, (8 + row.spread(c)) * p)) << r << ", " << c;
      ASSERT_TRUE(near(log_y[r * count + c], log_p, 4 + 2 * std::abs(log_p))) << r << ", " << c;
    }
  }
}

TYPED_TEST(Softmax, OfAllSizes) {
  using T = TypeParam;
  for_each_size([](Int rows, Int count) {
    expect_softmax(random_numbers<T>(rows * count), rows, count);
    expect_softmax(random_numbers<T>(rows * count, 60), rows, count);
    expect_softmax(std::vector<T>(static_cast<std::size_t>(rows * count), T{3}), rows, count);
  });
}

TYPED_TEST(Softmax, OfSpecialValues) {
  for_each_size([](Int rows, Int count) { expect_softmax(special_numbers<TypeParam>(rows, count), rows, count); });
}

TYPED_TEST(Softmax, OfNothingButNegativeInfinityIsNan) {
  using T = TypeParam;
  for (const Int count : {Int{1}, Int{3}, Int{16}, Int{17}}) {
    const std::vector<T> x(static_cast<std::size_t>(count), -std::numeric_limits<T>::infinity());
    Result<T> y{count}, log_y{count};
    kernels::softmax(x.data(), y.data(), 1, count);
    kernels::log_softmax(x.data(), log_y.data(), 1, count);
    for (Int c = 0; c < count; ++c) EXPECT_TRUE(std::isnan(y[c]) && std::isnan(log_y[c]));
  }
}

TYPED_TEST(Softmax, LogSoftmaxKeepsItsDigitsFarFromZero) {
  using T = TypeParam;
  for (const Int count : {Int{3}, Int{100}}) {
    std::vector<T> near_zero(static_cast<std::size_t>(count)), far(near_zero);
    for (Int c = 0; c < count; ++c) {
      near_zero[static_cast<std::size_t>(c)] = static_cast<T>(c % 4) - 3;
      far[static_cast<std::size_t>(c)] = static_cast<T>(c % 4) - 3 + T(1 << 20);
    }
    Result<T> expected{count}, y{count};
    kernels::log_softmax(near_zero.data(), expected.data(), 1, count);
    kernels::log_softmax(far.data(), y.data(), 1, count);
    for (Int c = 0; c < count; ++c) EXPECT_TRUE(near(y[c], expected[c], 4 * std::abs(expected[c])));
  }
}

TYPED_TEST(Softmax, BackwardOfAllSizes) {
  using T = TypeParam;
  for_each_size([](Int rows, Int count) {
    const std::vector<T> x = random_numbers<T>(rows * count), ct = random_numbers<T>(rows * count);
    Result<T> y{rows * count}, log_y{rows * count}, dx{rows * count}, log_dx{rows * count};
    kernels::softmax(x.data(), y.data(), rows, count);
    kernels::log_softmax(x.data(), log_y.data(), rows, count);
    kernels::softmax_backward(y.data(), ct.data(), dx.data(), rows, count);
    kernels::log_softmax_backward(log_y.data(), ct.data(), log_dx.data(), rows, count);
    ASSERT_TRUE(dx.guards_are_whole() && log_dx.guards_are_whole());
    for (Int r = 0; r < rows; ++r) {
      Real dot = 0, dot_size = 0, sum = 0, sum_size = 0;
      for (Int c = 0; c < count; ++c) {
        const Real ct_c = ct[static_cast<std::size_t>(r * count + c)];
        dot += ct_c * y[r * count + c];
        dot_size += std::abs(ct_c * y[r * count + c]);
        sum += ct_c;
        sum_size += std::abs(ct_c);
      }
      for (Int i = r * count; i < (r + 1) * count; ++i) {
        const Real ct_i = ct[static_cast<std::size_t>(i)], p = std::exp(static_cast<Real>(log_y[i]));
        ASSERT_TRUE(near(dx[i], y[i] * (ct_i - dot), 8 * y[i] * (std::abs(ct_i) + dot_size))) << i;
        ASSERT_TRUE(near(log_dx[i], ct_i - p * sum, 4 * std::abs(ct_i) + 12 * p * sum_size)) << i;
      }
    }
  });
}

TYPED_TEST(Softmax, BackwardOfMaskedEntries) {
  using T = TypeParam;
  constexpr T inf = std::numeric_limits<T>::infinity();
  for (const Int count : {Int{3}, Int{10}, Int{17}}) {
    std::vector<T> x = random_numbers<T>(count), ct = random_numbers<T>(count);
    x[1] = -inf;
    Result<T> y{count}, log_y{count}, dx{count}, log_dx{count};
    kernels::softmax(x.data(), y.data(), 1, count);
    kernels::log_softmax(x.data(), log_y.data(), 1, count);
    kernels::softmax_backward(y.data(), ct.data(), dx.data(), 1, count);
    kernels::log_softmax_backward(log_y.data(), ct.data(), log_dx.data(), 1, count);
    EXPECT_EQ(dx[1], 0);
    EXPECT_EQ(log_dx[1], ct[1]);
    for (Int c = 0; c < count; ++c) EXPECT_TRUE(std::isfinite(dx[c]) && std::isfinite(log_dx[c]));
  }
}

template <class T>
void expect_logsumexp_backward(const std::vector<T>& x, Int rows, Int count) {
  std::vector<T> ct = random_numbers<T>(rows);
  for (Int r = 0; r < rows; r += 3) ct[static_cast<std::size_t>(r)] = 0;
  Result<T> lse{rows}, dx{rows * count};
  kernels::logsumexp(x.data(), lse.data(), rows, count, 1);
  kernels::logsumexp_backward(x.data(), lse.data(), ct.data(), dx.data(), rows, count);
  ASSERT_TRUE(dx.guards_are_whole());
  for (Int r = 0; r < rows; ++r) {
    const Row<T> row(x.data() + r * count, count);
    const Real ct_r = ct[static_cast<std::size_t>(r)];
    const auto ties = static_cast<Real>(std::count(row.x, row.x + count, std::numeric_limits<T>::infinity()));
    for (Int c = 0; c < count; ++c) {
      Real share = row.p(c);
      if (!row.has_nan && row.maximum < 0 && std::isinf(row.maximum)) share = 0;
      if (!row.has_nan && ties != 0) share = std::isinf(row.x[c]) && row.x[c] > 0 ? 1 / ties : 0;
      if (ct_r == 0) share = 0;
      const Real rounding = std::abs(ct_r) * share * (8 + row.spread(c) + 2 * std::abs(row.shift));
      ASSERT_TRUE(near(dx[r * count + c], ct_r * share, rounding)) << r << ", " << c;
      ASSERT_TRUE(ct_r != 0 || dx[r * count + c] == 0) << r << ", " << c;
    }
  }
}

TYPED_TEST(Softmax, LogsumexpBackward) {
  using T = TypeParam;
  for_each_size([](Int rows, Int count) {
    expect_logsumexp_backward(random_numbers<T>(rows * count), rows, count);
    expect_logsumexp_backward(special_numbers<T>(rows, count), rows, count);
  });
}

// Cross-entropy.

template <class T>
struct Labels {
  std::vector<T> weights;
  Int stride;
};

/// Class indices, and the same as rows of weights with room between the rows.
template <class T>
Labels<T> one_hot(const std::vector<std::int32_t>& indices, Int classes) {
  const Int stride = classes + 2;
  const Int rows = static_cast<Int>(indices.size());
  std::vector<T> weights(static_cast<std::size_t>(std::max(Int{0}, rows * stride - 2)), T{0});
  for (Int r = 0; r < rows; ++r)
    weights[static_cast<std::size_t>(r * stride + indices[static_cast<std::size_t>(r)])] = 1;
  return {weights, stride};
}

std::vector<std::int32_t> random_indices(Int rows, Int classes) {
  std::vector<std::int32_t> indices(static_cast<std::size_t>(rows));
  for (auto& index : indices) index = static_cast<std::int32_t>(generator()() % static_cast<unsigned>(classes));
  return indices;
}

template <class T>
void expect_cross_entropy(const std::vector<T>& logits, const Labels<T>& labels, Int ct_stride, Int rows, Int classes) {
  std::vector<T> ct = random_numbers<T>(ct_stride == 0 ? 1 : rows);
  if (ct_stride != 0)
    for (Int r = 1; r < rows; r += 3) ct[static_cast<std::size_t>(r)] = 0;
  Result<T> loss{rows}, dx{rows * classes};
  kernels::cross_entropy(logits.data(), labels.weights.data(), labels.stride, loss.data(), rows, classes);
  kernels::cross_entropy_backward(ct.data(), ct_stride, logits.data(), labels.weights.data(), labels.stride, dx.data(),
                                  rows, classes);
  ASSERT_TRUE(loss.guards_are_whole() && dx.guards_are_whole());
  for (Int r = 0; r < rows; ++r) {
    const Row<T> row(logits.data() + r * classes, classes);
    const Real log_sum = row.has_nan ? std::numeric_limits<Real>::quiet_NaN() : std::log(row.sum);
    const Real ct_r = ct[static_cast<std::size_t>(r * ct_stride)];
    Real expected = 0, size = 0, weight = 0;
    for (Int c = 0; c < classes; ++c) {
      const Real label = labels.weights[static_cast<std::size_t>(r * labels.stride + c)];
      weight += label;
      if (label == 0) continue;
      expected += label * (log_sum - (row.x[c] - row.shift));
      size += std::abs(label) * (4 + row.spread(c));
    }
    ASSERT_TRUE(near(loss[r], expected, 12 * size)) << r;
    for (Int c = 0; c < classes; ++c) {
      const Real label = labels.weights[static_cast<std::size_t>(r * labels.stride + c)];
      const Real gradient = ct_r == 0 ? 0 : ct_r * (row.p(c) * weight - label);
      const Real rounding = std::abs(ct_r) * (row.p(c) * weight * (12 + row.spread(c)) + 2 * std::abs(label));
      ASSERT_TRUE(near(dx[r * classes + c], gradient, rounding)) << r << ", " << c;
      ASSERT_TRUE(ct_r != 0 || dx[r * classes + c] == 0) << r << ", " << c;
    }
  }
}

template <class T>
void expect_cross_entropy(const std::vector<T>& logits, Int rows, Int classes) {
  expect_cross_entropy(logits, one_hot<T>(random_indices(rows, classes), classes), 1, rows, classes);
  Labels<T> soft{random_numbers<T>(rows * classes), classes};
  for (T& weight : soft.weights) weight = std::abs(weight);
  expect_cross_entropy(logits, soft, 0, rows, classes);
  soft.stride = 0;
  if (rows != 0) expect_cross_entropy(logits, soft, 1, rows, classes);
}

TYPED_TEST(CrossEntropy, OfAllSizes) {
  using T = TypeParam;
  for_each_size([](Int rows, Int classes) {
    if (classes != 0) expect_cross_entropy(random_numbers<T>(rows * classes), rows, classes);
  });
}

TYPED_TEST(CrossEntropy, OfSpecialValues) {
  using T = TypeParam;
  for_each_size([](Int rows, Int classes) {
    if (classes != 0) expect_cross_entropy(special_numbers<T>(rows, classes), rows, classes);
  });
}

TYPED_TEST(CrossEntropy, OfNoClassesIsZero) {
  const TypeParam nothing{};
  Result<TypeParam> loss{9};
  kernels::cross_entropy(&nothing, &nothing, 0, loss.data(), 9, 0);
  for (Int r = 0; r < 9; ++r) EXPECT_EQ(loss[r], 0);
  EXPECT_TRUE(loss.guards_are_whole());
}

TYPED_TEST(CrossEntropy, ALabelOfZeroSilencesAnInfiniteLogit) {
  using T = TypeParam;
  constexpr T inf = std::numeric_limits<T>::infinity();
  for (const Int classes : {Int{2}, Int{3}, Int{10}, Int{17}}) {
    std::vector<T> logits(static_cast<std::size_t>(classes), -inf), labels(logits.size(), T{0});
    logits[1] = 2;
    labels[1] = 1;
    const T ct{1};
    Result<T> loss{1}, dx{classes};
    kernels::cross_entropy(logits.data(), labels.data(), classes, loss.data(), 1, classes);
    kernels::cross_entropy_backward(&ct, 1, logits.data(), labels.data(), classes, dx.data(), 1, classes);
    EXPECT_EQ(loss[0], 0);
    for (Int c = 0; c < classes; ++c) EXPECT_EQ(dx[c], 0);
  }
}

/// The same as with rows of weights, which are tested above.
template <class T, class Index>
void expect_same_with_indices(const std::vector<T>& logits, Int rows, Int classes) {
  const std::vector<std::int32_t> indices = random_indices(rows, classes);
  const std::vector<Index> labels(indices.begin(), indices.end());
  const Labels<T> weights = one_hot<T>(indices, classes);
  std::vector<T> ct = random_numbers<T>(std::max(rows, Int{1}));
  for (Int r = 1; r < rows; r += 3) ct[static_cast<std::size_t>(r)] = 0;
  for (const Int ct_stride : {0, 1}) {
    Result<T> expected{rows}, loss{rows}, expected_dx{rows * classes}, dx{rows * classes};
    kernels::cross_entropy(logits.data(), weights.weights.data(), weights.stride, expected.data(), rows, classes);
    kernels::cross_entropy_of_classes(logits.data(), labels.data(), loss.data(), rows, classes);
    kernels::cross_entropy_backward(ct.data(), ct_stride, logits.data(), weights.weights.data(), weights.stride,
                                    expected_dx.data(), rows, classes);
    kernels::cross_entropy_of_classes_backward(ct.data(), ct_stride, logits.data(), labels.data(), dx.data(), rows,
                                               classes);
    ASSERT_TRUE(loss.guards_are_whole() && dx.guards_are_whole());
    for (Int r = 0; r < rows; ++r)
      ASSERT_TRUE(loss[r] == expected[r] || (std::isnan(loss[r]) && std::isnan(expected[r]))) << r;
    for (Int i = 0; i < rows * classes; ++i)
      ASSERT_TRUE(dx[i] == expected_dx[i] || (std::isnan(dx[i]) && std::isnan(expected_dx[i]))) << i;
  }
}

TYPED_TEST(CrossEntropy, OfClassIndices) {
  using T = TypeParam;
  for_each_size([](Int rows, Int classes) {
    if (classes == 0) return;
    expect_same_with_indices<T, std::int32_t>(random_numbers<T>(rows * classes), rows, classes);
    expect_same_with_indices<T, std::int64_t>(random_numbers<T>(rows * classes), rows, classes);
    expect_same_with_indices<T, std::int64_t>(special_numbers<T>(rows, classes), rows, classes);
  });
}

// What results do not depend on.

/// A kernel over rows [first, first + rows) of inputs that stay the same; its result has `width` entries a row.
template <class T>
struct RowKernel {
  const char* name;
  bool one_result;
  std::function<void(Int first, Int rows, T* out)> run;
};

template <class T, class F>
void with_row_kernels(Int rows, Int count, const F& f) {
  const std::vector<T> x = random_numbers<T>(rows * count), y = random_numbers<T>(rows * count),
                       lse = random_numbers<T>(rows), ct = random_numbers<T>(rows);
  const std::vector<std::int32_t> indices = random_indices(rows, count);
  const std::vector<RowKernel<T>> kernels = {
      {"softmax", false, [&](Int r, Int n, T* out) { kernels::softmax(x.data() + r * count, out, n, count); }},
      {"log_softmax", false, [&](Int r, Int n, T* out) { kernels::log_softmax(x.data() + r * count, out, n, count); }},
      {"softmax_backward", false,
       [&](Int r, Int n, T* out) {
         kernels::softmax_backward(y.data() + r * count, x.data() + r * count, out, n, count);
       }},
      {"log_softmax_backward", false,
       [&](Int r, Int n, T* out) {
         kernels::log_softmax_backward(y.data() + r * count, x.data() + r * count, out, n, count);
       }},
      {"logsumexp_backward", false,
       [&](Int r, Int n, T* out) {
         kernels::logsumexp_backward(x.data() + r * count, lse.data() + r, ct.data() + r, out, n, count);
       }},
      {"cross_entropy", true,
       [&](Int r, Int n, T* out) {
         kernels::cross_entropy(x.data() + r * count, y.data() + r * count, count, out, n, count);
       }},
      {"cross_entropy_backward", false,
       [&](Int r, Int n, T* out) {
         kernels::cross_entropy_backward(ct.data() + r, 1, x.data() + r * count, y.data() + r * count, count, out, n,
                                         count);
       }},
      {"cross_entropy_of_classes", true,
       [&](Int r, Int n, T* out) {
         kernels::cross_entropy_of_classes(x.data() + r * count, indices.data() + r, out, n, count);
       }},
      {"cross_entropy_of_classes_backward", false, [&](Int r, Int n, T* out) {
         kernels::cross_entropy_of_classes_backward(ct.data() + r, 1, x.data() + r * count, indices.data() + r, out, n,
                                                    count);
       }}};
  for (const RowKernel<T>& kernel : kernels) {
    SCOPED_TRACE(std::string(kernel.name) + " of " + std::to_string(rows) + " rows of " + std::to_string(count));
    f(kernel, kernel.one_result ? 1 : count);
  }
}

TYPED_TEST(Softmax, RowsDoNotDependOnEachOther) {
  using T = TypeParam;
  constexpr Int rows = 21;
  for (const Int count : {Int{1}, Int{2}, Int{3}, Int{7}, Int{10}, Int{16}, Int{17}, Int{1000}})
    with_row_kernels<T>(rows, count, [&](const RowKernel<T>& kernel, Int width) {
      Result<T> together{rows * width}, alone{rows * width};
      kernel.run(0, rows, together.data());
      for (Int r = 0; r < rows; ++r) kernel.run(r, 1, alone.data() + r * width);
      EXPECT_TRUE(together.same_bits(alone));
    });
}

TYPED_TEST(Softmax, ResultsDoNotDependOnTheNumberOfThreads) {
  using T = TypeParam;
  const int before = num_threads();
  for (const Int count : {Int{3}, Int{10}, Int{17}, Int{1000}}) {
    const Int rows = 30011 / count;
    with_row_kernels<T>(rows, count, [&](const RowKernel<T>& kernel, Int width) {
      Result<T> alone{rows * width};
      set_num_threads(1);
      kernel.run(0, rows, alone.data());
      for (const int threads : {2, 5}) {
        Result<T> shared{rows * width};
        set_num_threads(threads);
        kernel.run(0, rows, shared.data());
        EXPECT_TRUE(shared.same_bits(alone)) << threads << " threads";
      }
    });
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace tlaloc
