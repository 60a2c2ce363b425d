// The reduction kernels against naive loops in extended precision: every extent that meets a vector's or a piece's
// edge, special values, nothing written outside the result, and no dependence on threads or on the other extents.
#include "ops/kernels/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <ostream>
#include <random>
#include <type_traits>
#include <vector>

#include <tlaloc/threads.hpp>

namespace tlaloc {
namespace {

using Int = std::int64_t;

constexpr Int counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 24, 33, 64, 65, 100, 1000, 1025, 2500};
constexpr Int outers[] = {0, 1, 2, 3, 7, 8, 9, 17};
constexpr Int inners[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 33, 100};

/// A result between guards that must stay as they are.
template <class T>
class Result {
 public:
  explicit Result(Int n) : n_(n), memory_(static_cast<std::size_t>(n + 2 * guards), guard) {}

  T* data() { return memory_.data() + guards; }
  T operator[](Int i) const { return memory_[static_cast<std::size_t>(i + guards)]; }
  Int size() const { return n_; }

  bool guards_are_whole() const {
    const auto is_guard = [](T x) { return x == guard; };
    return std::all_of(memory_.begin(), memory_.begin() + guards, is_guard) &&
           std::all_of(memory_.end() - guards, memory_.end(), is_guard);
  }

  bool same_bits(const Result& other) const {
    return n_ == other.n_ && std::memcmp(memory_.data(), other.memory_.data(), memory_.size() * sizeof(T)) == 0;
  }

 private:
  static constexpr Int guards = 16;
  static constexpr T guard = T{77};
  Int n_;
  std::vector<T> memory_;
};

/// Exactly as long as it says, so that a sanitizer sees what is read beyond. (std::vector<bool> holds no bools.)
template <class T>
struct Input {
  Int n;
  std::unique_ptr<T[]> memory = std::make_unique<T[]>(static_cast<std::size_t>(n));

  const T* data() const { return memory.get(); }
  T& operator[](Int i) { return memory[static_cast<std::size_t>(i)]; }
  T operator[](Int i) const { return memory[static_cast<std::size_t>(i)]; }
};

template <class T>
Input<T> random_input(Int n) {
  static std::mt19937 generator(7);
  Input<T> input{n};
  for (Int i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, bool>)
      input[i] = generator() % 2 == 0;
    else if constexpr (std::is_integral_v<T>)
      input[i] = static_cast<T>(generator() % 2001) - 1000;
    else
      input[i] = static_cast<T>(std::normal_distribution<double>()(generator));
  }
  return input;
}

struct Shape {
  Int outer, count, inner;

  Int elements() const { return outer * count * inner; }
  Int results() const { return outer * inner; }
  Int entry(Int result, Int i) const { return (result / inner * count + i) * inner + result % inner; }
};

std::ostream& operator<<(std::ostream& stream, const Shape& s) {
  return stream << "[" << s.outer << ", " << s.count << ", " << s.inner << "]";
}

template <class F>
void for_each_shape(const F& f) {
  for (const Int count : counts)
    for (const Int outer : outers)
      for (const Int inner : inners)
        if (outer * count * inner <= 5000) f(Shape{outer, count, inner});
}

/// Large enough to be shared among threads in every way there is.
constexpr Shape large_shapes[] = {{1, 300001, 1}, {3, 70000, 1},           {1, 200003, 5}, {2, 90001, 9},
                                  {1, 100, 3001}, {9001, 20, 1},           {20001, 3, 1},  {40, 50, 60},
                                  {1, 5000, 40},  {1, 65536 + 1024 + 3, 1}};

class ThreadCount {
 public:
  explicit ThreadCount(int count) : before_(num_threads()) { set_num_threads(count); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
  ~ThreadCount() { set_num_threads(before_); }

 private:
  int before_;
};

/// The largest error that sums in pairs of vectors may have.
template <class T>
long double sum_bound(Int count, long double absolute_sum) {
  const long double additions = 26 + std::log2(static_cast<long double>(count));
  return additions * std::numeric_limits<T>::epsilon() / 2 * absolute_sum;
}

template <class T>
class FloatReductions : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FloatReductions, Floats);

template <class T>
class Extremes : public ::testing::Test {};
using Numbers = ::testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Extremes, Numbers);

template <class T>
class IntegerSums : public ::testing::Test {};
using Integers = ::testing::Types<bool, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(IntegerSums, Integers);

// Sums.

TYPED_TEST(FloatReductions, SumsOfAllShapes) {
  using T = TypeParam;
  for_each_shape([](const Shape& s) {
    const Input<T> in = random_input<T>(s.elements());
    Result<T> out(s.results());
    kernels::sum(in.data(), out.data(), s.outer, s.count, s.inner);
    ASSERT_TRUE(out.guards_are_whole()) << s;
    for (Int r = 0; r < s.results(); ++r) {
      long double sum = 0, absolute = 0;
      for (Int i = 0; i < s.count; ++i) {
        sum += in[s.entry(r, i)];
        absolute += std::abs(in[s.entry(r, i)]);
      }
      ASSERT_LE(std::abs(static_cast<long double>(out[r]) - sum), sum_bound<T>(s.count, absolute)) << s << " at " << r;
    }
  });
}

TYPED_TEST(FloatReductions, EmptySumsAreZero) {
  using T = TypeParam;
  const T in{};
  for (const Int outer : outers)
    for (const Int inner : inners) {
      Result<T> out(outer * inner);
      kernels::sum(&in, out.data(), outer, 0, inner);
      ASSERT_TRUE(out.guards_are_whole());
      for (Int r = 0; r < out.size(); ++r) ASSERT_TRUE(out[r] == 0 && !std::signbit(out[r]));
    }
}

TYPED_TEST(FloatReductions, SumsOfNegativeZerosKeepTheSign) {
  using T = TypeParam;
  for (const Int count : counts)
    for (const Int inner : {Int{1}, Int{3}, Int{8}, Int{17}}) {
      Input<T> in{count * inner};
      for (Int i = 0; i < in.n; ++i) in[i] = -T{0};
      Result<T> out(inner);
      kernels::sum(in.data(), out.data(), 1, count, inner);
      for (Int r = 0; r < inner; ++r) ASSERT_TRUE(out[r] == 0 && std::signbit(out[r])) << count << " " << inner;
    }
}

TYPED_TEST(FloatReductions, SumsHandOnInfinityAndNan) {
  using T = TypeParam;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const Int count : counts)
    for (const Int inner : {Int{1}, Int{3}, Int{17}}) {
      Input<T> in = random_input<T>(count * inner);
      in[(count - 1) * inner] = inf;
      Result<T> out(inner);
      kernels::sum(in.data(), out.data(), 1, count, inner);
      EXPECT_EQ(out[0], inf) << count << " " << inner;
      for (Int r = 1; r < inner; ++r) ASSERT_TRUE(std::isfinite(out[r])) << count << " " << inner << " at " << r;
      in[count / 2 * inner] = nan;
      kernels::sum(in.data(), out.data(), 1, count, inner);
      EXPECT_TRUE(std::isnan(out[0])) << count << " " << inner;
    }
}

TEST(Sum, OfMoreOnesThanAFloatCanCount) {
  constexpr Int n = (Int{1} << 24) + 4096;
  Input<float> in{n};
  for (Int i = 0; i < n; ++i) in[i] = 1;
  for (const Int inner : {Int{1}, Int{4}}) {
    Result<float> out(inner);
    kernels::sum(in.data(), out.data(), 1, n / inner, inner);
    for (Int r = 0; r < inner; ++r) EXPECT_EQ(out[r], static_cast<float>(n / inner));
  }
}

TEST(Sum, KeepsWhatIsSmallBesideManyOnes) {
  constexpr Int ones = Int{1} << 22, small = Int{1} << 22;
  Input<float> in{ones + small};
  for (Int i = 0; i < in.n; ++i) in[i] = i < ones ? 1.0f : 0x1p-10f;
  Result<float> out(1);
  kernels::sum(in.data(), out.data(), 1, in.n, 1);
  EXPECT_EQ(out[0], static_cast<float>(ones) + static_cast<float>(small) * 0x1p-10f);
}

TEST(Sum, OfTenMillionTenths) {
  constexpr Int n = 10'000'000;
  Input<float> in{n};
  for (Int i = 0; i < n; ++i) in[i] = 0.1f;
  Result<float> out(1), columns(8);
  kernels::sum(in.data(), out.data(), 1, n, 1);
  EXPECT_NEAR(out[0], n * static_cast<double>(0.1f), 0.25);
  kernels::sum(in.data(), columns.data(), 1, n / 8, 8);
  for (Int r = 0; r < 8; ++r) EXPECT_NEAR(columns[r], n / 8 * static_cast<double>(0.1f), 0.03);
}

TYPED_TEST(IntegerSums, AreExact) {
  using U = TypeParam;
  const auto check = [](const Shape& s) {
    const Input<U> in = random_input<U>(s.elements());
    Result<Int> out(s.results());
    kernels::sum(in.data(), out.data(), s.outer, s.count, s.inner);
    ASSERT_TRUE(out.guards_are_whole()) << s;
    for (Int r = 0; r < s.results(); ++r) {
      Int sum = 0;
      for (Int i = 0; i < s.count; ++i) sum += static_cast<Int>(in[s.entry(r, i)]);
      ASSERT_EQ(out[r], sum) << s << " at " << r;
    }
  };
  for_each_shape(check);
  for (const Shape& s : large_shapes) check(s);
  for (const Int inner : inners) check({3, 0, inner});
}

TEST(Sum, OfIntegersIsWideAndWrapsAround) {
  constexpr std::int32_t narrow[] = {std::numeric_limits<std::int32_t>::max(), 5};
  constexpr Int wide[] = {std::numeric_limits<Int>::max(), 5};
  Int out;
  kernels::sum(narrow, &out, 1, 2, 1);
  EXPECT_EQ(out, (Int{1} << 31) + 4);
  kernels::sum(wide, &out, 1, 2, 1);
  EXPECT_EQ(out, std::numeric_limits<Int>::min() + 4);
}

// Maxima and minima.

template <class T>
bool is_nan([[maybe_unused]] T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

template <class T>
void expect_extremes(const Shape& s, const Input<T>& in) {
  const auto check = [&](auto with_indices, auto without, auto beats) {
    Result<T> out(s.results()), alone(s.results());
    Result<Int> index(s.results());
    with_indices(in.data(), out.data(), index.data(), s.outer, s.count, s.inner);
    without(in.data(), alone.data(), s.outer, s.count, s.inner);
    ASSERT_TRUE(out.guards_are_whole() && alone.guards_are_whole() && index.guards_are_whole()) << s;
    for (Int r = 0; r < s.results(); ++r) {
      Int best = 0;
      for (Int i = 1; i < s.count; ++i) {
        const T x = in[s.entry(r, i)], so_far = in[s.entry(r, best)];
        if (!is_nan(so_far) && (is_nan(x) || beats(x, so_far))) best = i;
      }
      const T expected = in[s.entry(r, best)];
      ASSERT_EQ(index[r], best) << s << " at " << r;
      ASSERT_TRUE(out[r] == expected || (is_nan(out[r]) && is_nan(expected))) << s << " at " << r;
      ASSERT_TRUE(alone[r] == expected || (is_nan(alone[r]) && is_nan(expected))) << s << " at " << r;
    }
  };
  check(kernels::max_with_indices<T>, kernels::max<T>, [](T a, T b) { return a > b; });
  check(kernels::min_with_indices<T>, kernels::min<T>, [](T a, T b) { return a < b; });
}

TYPED_TEST(Extremes, OfAllShapes) {
  for_each_shape([](const Shape& s) { expect_extremes(s, random_input<TypeParam>(s.elements())); });
  for (const Shape& s : large_shapes) expect_extremes(s, random_input<TypeParam>(s.elements()));
}

TYPED_TEST(Extremes, WithTies) {
  using T = TypeParam;
  std::mt19937 generator(3);
  for_each_shape([&](const Shape& s) {
    Input<T> in{s.elements()};
    for (Int i = 0; i < in.n; ++i) in[i] = static_cast<T>(generator() % 3);
    expect_extremes(s, in);
    for (Int i = 0; i < in.n; ++i) in[i] = T{5};
    expect_extremes(s, in);
  });
}

TYPED_TEST(Extremes, OfTheLeastAndTheLargestNumbers) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::mt19937 generator(5);
  constexpr T values[] = {Limits::lowest(), Limits::max(), Limits::has_infinity ? -Limits::infinity() : T{0},
                          Limits::has_infinity ? Limits::infinity() : T{0}};
  for_each_shape([&](const Shape& s) {
    Input<T> in{s.elements()};
    for (const unsigned kinds : {1u, 2u, 4u}) {
      for (Int i = 0; i < in.n; ++i) in[i] = values[generator() % kinds];
      expect_extremes(s, in);
    }
    for (Int i = 0; i < in.n; ++i) in[i] = values[2];
    expect_extremes(s, in);
  });
}

TYPED_TEST(FloatReductions, NanWinsAndTheFirstOfThem) {
  using T = TypeParam;
  std::mt19937 generator(9);
  for_each_shape([&](const Shape& s) {
    Input<T> in = random_input<T>(s.elements());
    for (Int i = 0; i < in.n; ++i)
      if (generator() % 5 == 0) in[i] = std::numeric_limits<T>::quiet_NaN();
    expect_extremes(s, in);
  });
  for (const Shape& s : large_shapes) {
    Input<T> in = random_input<T>(s.elements());
    for (Int i = 0; i < 3; ++i)
      in[static_cast<Int>(generator() % static_cast<unsigned>(in.n))] = std::numeric_limits<T>::quiet_NaN();
    expect_extremes(s, in);
  }
}

// Logsumexp.

template <class T>
long double logsumexp_of(const Shape& s, const Input<T>& in, Int r) {
  long double shift = -std::numeric_limits<long double>::infinity(), sum = 0;
  for (Int i = 0; i < s.count; ++i) shift = std::max(shift, static_cast<long double>(in[s.entry(r, i)]));
  if (std::isinf(shift)) shift = 0;
  for (Int i = 0; i < s.count; ++i) sum += std::exp(static_cast<long double>(in[s.entry(r, i)]) - shift);
  return shift + std::log(sum);
}

template <class T>
void expect_logsumexp(const Shape& s, const Input<T>& in) {
  Result<T> out(s.results());
  kernels::logsumexp(in.data(), out.data(), s.outer, s.count, s.inner);
  ASSERT_TRUE(out.guards_are_whole()) << s;
  for (Int r = 0; r < s.results(); ++r) {
    const long double expected = logsumexp_of(s, in, r);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(out[r])) << s << " at " << r;
    else if (std::isinf(expected))
      ASSERT_EQ(out[r], expected) << s << " at " << r;
    else
      ASSERT_LE(std::abs(out[r] - expected), (8 + std::abs(expected)) * std::numeric_limits<T>::epsilon())
          << s << " at " << r;
  }
}

TYPED_TEST(FloatReductions, LogsumexpOfAllShapes) {
  using T = TypeParam;
  for_each_shape([](const Shape& s) { expect_logsumexp(s, random_input<T>(s.elements())); });
  for (const Shape& s : large_shapes) expect_logsumexp(s, random_input<T>(s.elements()));
}

TYPED_TEST(FloatReductions, LogsumexpOfSpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::mt19937 generator(11);
  constexpr T values[] = {-Limits::infinity(), T{1}, Limits::max(), Limits::lowest(), Limits::infinity(),
                          Limits::quiet_NaN()};
  for_each_shape([&](const Shape& s) {
    if (s.elements() > 2000) return;
    Input<T> in{s.elements()};
    for (const unsigned kinds : {1u, 2u, 4u, 5u, 6u}) {
      for (Int i = 0; i < in.n; ++i) in[i] = generator() % 4 == 0 ? values[generator() % kinds] : values[kinds - 1];
      expect_logsumexp(s, in);
    }
  });
  const T one{};
  for (const Int inner : inners) {
    Result<T> out(3 * inner);
    kernels::logsumexp(&one, out.data(), 3, 0, inner);
    ASSERT_TRUE(out.guards_are_whole());
    for (Int r = 0; r < out.size(); ++r) ASSERT_EQ(out[r], -Limits::infinity());
  }
}

TYPED_TEST(FloatReductions, LogsumexpDoesNotOverflow) {
  using T = TypeParam;
  const T large = std::is_same_v<T, float> ? T(1e30) : T(1e300);
  for (const Int count : counts)
    for (const Int inner : {Int{1}, Int{3}, Int{17}})
      for (const T x : {large, -large}) {
        Input<T> in{count * inner};
        for (Int i = 0; i < in.n; ++i) in[i] = x;
        expect_logsumexp({1, count, inner}, in);
      }
}

// What results do not depend on.

template <class T, class F>
void expect_the_same_on_any_number_of_threads(const F& kernel) {
  for (const Shape& s : large_shapes) {
    const Input<T> in = random_input<T>(s.elements());
    Result<T> alone(s.results());
    {
      const ThreadCount one(1);
      kernel(in.data(), alone.data(), s.outer, s.count, s.inner);
    }
    for (const int threads : {2, 5}) {
      const ThreadCount several(threads);
      Result<T> shared(s.results());
      kernel(in.data(), shared.data(), s.outer, s.count, s.inner);
      EXPECT_TRUE(shared.same_bits(alone)) << s << " on " << threads << " threads";
    }
  }
}

TYPED_TEST(FloatReductions, DoNotDependOnTheNumberOfThreads) {
  using T = TypeParam;
  expect_the_same_on_any_number_of_threads<T>(
      [](const T* in, T* out, Int outer, Int count, Int inner) { kernels::sum(in, out, outer, count, inner); });
  expect_the_same_on_any_number_of_threads<T>(kernels::logsumexp<T>);
  expect_the_same_on_any_number_of_threads<T>(kernels::max<T>);
}

TYPED_TEST(FloatReductions, DoNotDependOnTheOtherRows) {
  using T = TypeParam;
  const auto check = [](const auto& kernel) {
    for (const Int count : {Int{1}, Int{3}, Int{10}, Int{16}, Int{17}, Int{1000}, Int{66000}})
      for (const Int inner : {Int{1}, Int{5}, Int{9}}) {
        constexpr Int outer = 9;
        const Input<T> in = random_input<T>(outer * count * inner);
        Result<T> together(outer * inner), alone(outer * inner);
        kernel(in.data(), together.data(), outer, count, inner);
        for (Int o = 0; o < outer; ++o)
          kernel(in.data() + o * count * inner, alone.data() + o * inner, Int{1}, count, inner);
        EXPECT_TRUE(together.same_bits(alone)) << count << " " << inner;
      }
  };
  check([](const T* in, T* out, Int outer, Int count, Int inner) { kernels::sum(in, out, outer, count, inner); });
  check(kernels::logsumexp<T>);
}

}  // namespace
}  // namespace tlaloc
