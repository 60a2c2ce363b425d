// The dtypes of results: numbers that adapt to a tensor, the table of promotion, and arithmetic at the ends of the
// integers.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

constexpr std::int64_t large = (std::int64_t{1} << 62) + 1;
constexpr auto i32_max = std::numeric_limits<std::int32_t>::max();
constexpr auto i32_min = std::numeric_limits<std::int32_t>::min();
constexpr auto i64_max = std::numeric_limits<std::int64_t>::max();
constexpr auto i64_min = std::numeric_limits<std::int64_t>::min();

constexpr DType all_types[] = {DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64};

Tensor two(DType dtype) { return dtype == DType::boolean ? ones({2}, dtype) : full({2}, 2, dtype); }

std::vector<bool> bools(const Tensor& x) { return x.to_vector<bool>(); }

// ---------------------------------------------------------------------------------------------------------------------
// Numbers

TEST(Number, KeepsAFloatTensorsType) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = full({2}, 3, dtype);
    for (const Tensor& y : {2 * x, x * 2, x * 2.0, 2.0f * x, x / 3.0, 3 / x, x - 1, 1 - x, 1.5 - x, x + 1L, 1u + x, -x,
                            maximum(x, 1), maximum(x, 1.0L), add(x, 1), subtract(1, x), divide(1.0, x)})
      EXPECT_EQ(y.dtype(), dtype);
  }
  EXPECT_EQ((tensor<float>(1) / 3.0).item<float>(), 1.0f / 3.0f);
  EXPECT_EQ((tensor<double>(1) / 3.0f).item<double>(), 1.0 / 3.0);
  EXPECT_EQ((tensor<double>(1) * 0.1).item<double>(), 0.1);
  EXPECT_EQ((tensor<float>(1) * 0.1).item<float>(), 0.1f);
}

TEST(Number, ThatIsAnIntegerKeepsAnIntegerTensorsType) {
  EXPECT_EQ((2 * tensor<std::int32_t>(3)).dtype(), DType::i32);
  EXPECT_EQ((tensor<std::int32_t>(3) * std::int64_t{2}).dtype(), DType::i32) << "the value counts, not its C++ type";
  EXPECT_EQ((2 - tensor<std::int64_t>(3)).dtype(), DType::i64);
  EXPECT_EQ((2 - tensor<std::int64_t>(3)).item<std::int64_t>(), -1);
  EXPECT_EQ(maximum(tensor<std::int32_t>(3), 5).item<std::int32_t>(), 5);
}

TEST(Number, ThatI32DoesNotHoldGivesI64) {
  const Tensor x = tensor<std::int32_t>(1);
  EXPECT_EQ((x + 5'000'000'000).item<std::int64_t>(), 5'000'000'001);
  EXPECT_EQ(maximum(x, 5'000'000'000).item<std::int64_t>(), 5'000'000'000);
  EXPECT_EQ((-5'000'000'000 * x).item<std::int64_t>(), -5'000'000'000);
  EXPECT_EQ((x + std::int64_t{i32_max}).dtype(), DType::i32);
  EXPECT_EQ((x + std::int64_t{i32_min}).dtype(), DType::i32);
  EXPECT_TRUE(x < 5'000'000'000);
  EXPECT_TRUE(-5'000'000'000 < x);
  EXPECT_FALSE(x == (std::int64_t{1} << 32) + 1);
  EXPECT_EQ(where(tensor<bool>(true), 5'000'000'000, x).item<std::int64_t>(), 5'000'000'000);
}

TEST(Number, ThatIsAFloatMakesIntegersF32) {
  for (const DType dtype : {DType::boolean, DType::i32, DType::i64}) {
    const Tensor x = two(dtype);
    for (const Tensor& y : {x * 0.5, 0.5 * x, x + 0.5f, 0.5 - x, x / 2.0, x / 2, 2 / x, maximum(x, 0.5)})
      EXPECT_EQ(y.dtype(), DType::f32) << name(dtype);
  }
  EXPECT_EQ((tensor<std::int32_t>(3) * 0.5).item<float>(), 1.5f);
}

TEST(Number, WithABoolTensorCountsAsI32) {
  const Tensor x = tensor<bool>({true, false});
  EXPECT_EQ((x + 1).dtype(), DType::i32);
  EXPECT_EQ((x + 1).to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ((5 * x).to_vector<std::int32_t>(), (std::vector<std::int32_t>{5, 0}));
}

TEST(Number, InI64IsExact) {
  const Tensor x = tensor<std::int64_t>(large);
  EXPECT_EQ((x + 1).item<std::int64_t>(), large + 1);
  EXPECT_EQ((x - large).item<std::int64_t>(), 0);
  EXPECT_EQ((large - x).item<std::int64_t>(), 0);
  EXPECT_TRUE(x == large);
  EXPECT_FALSE(x == large - 1);
  EXPECT_TRUE(x > large - 1);
  EXPECT_EQ(maximum(x, large + 1).item<std::int64_t>(), large + 1);
  EXPECT_EQ((1 * x).item<std::int64_t>(), large);
}

TEST(Number, ComparesInBothOrders) {
  const Tensor x = tensor<float>({1, 2, 3});
  using Bools = std::vector<bool>;
  EXPECT_EQ(bools(x < 2), (Bools{true, false, false}));
  EXPECT_EQ(bools(2 < x), (Bools{false, false, true}));
  EXPECT_EQ(bools(x <= 2.0), (Bools{true, true, false}));
  EXPECT_EQ(bools(2.0 <= x), (Bools{false, true, true}));
  EXPECT_EQ(bools(x > 2), (Bools{false, false, true}));
  EXPECT_EQ(bools(2 > x), (Bools{true, false, false}));
  EXPECT_EQ(bools(x >= 2), (Bools{false, true, true}));
  EXPECT_EQ(bools(2 >= x), (Bools{true, true, false}));
  EXPECT_EQ(bools(x == 2), (Bools{false, true, false}));
  EXPECT_EQ(bools(2 == x), (Bools{false, true, false}));
  EXPECT_EQ(bools(x != 2), (Bools{true, false, true}));
  EXPECT_EQ(bools(2 != x), (Bools{true, false, true}));
  EXPECT_EQ(bools(tensor<std::int32_t>({1, 2}) < 1.5), (Bools{true, false}));
  EXPECT_EQ(bools(tensor<bool>({true, false}) == 1), (Bools{true, false}));
}

TEST(Number, NanComparesAsInIeee754) {
  const Tensor x = tensor<double>(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(x == x);
  EXPECT_TRUE(x != x);
  EXPECT_FALSE(x < 1);
  EXPECT_FALSE(x >= 1);
  EXPECT_FALSE(1 == x);
  EXPECT_TRUE(1 != x);
}

TEST(Number, InWhere) {
  const Tensor condition = tensor<bool>({true, false});
  EXPECT_EQ(where(condition, 1.5, tensor<double>({7, 8})).to_vector<double>(), (std::vector<double>{1.5, 8}));
  EXPECT_EQ(where(condition, tensor<float>({7, 8}), 0).to_vector<float>(), (std::vector<float>{7, 0}));
  EXPECT_EQ(where(condition, tensor<std::int32_t>({7, 8}), 0).dtype(), DType::i32);
  EXPECT_EQ(where(condition, tensor<std::int32_t>({7, 8}), 0.5).dtype(), DType::f32);
  EXPECT_EQ(where(condition, large, tensor<std::int64_t>({7, 8})).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{large, 8}));
}

// ---------------------------------------------------------------------------------------------------------------------
// Two tensors

TEST(Promotion, TheHigherOfTwoAndNeverF32WithF64) {
  for (const DType a : all_types)
    for (const DType b : all_types) {
      SCOPED_TRACE(std::string(name(a)) + " with " + std::string(name(b)));
      const Tensor x = two(a);
      const Tensor y = two(b);
      if (a != b && is_float(a) && is_float(b)) {
        EXPECT_THROW(x + y, DTypeError);
        EXPECT_THROW(x / y, DTypeError);
        EXPECT_THROW((void)(x == y), DTypeError);
        EXPECT_THROW(maximum(x, y), DTypeError);
        EXPECT_THROW(where(ones({2}, DType::boolean), x, y), DTypeError);
        EXPECT_THROW(matmul(x, y), DTypeError);
        EXPECT_THROW(concat({x, y}, 0), DTypeError);
        continue;
      }
      const DType higher = std::max(a, b);
      const DType arithmetic = std::max(higher, DType::i32);
      const double one_of_each = (a == DType::boolean ? 1 : 2) + (b == DType::boolean ? 1 : 2);
      EXPECT_EQ((x + y).dtype(), arithmetic);
      EXPECT_EQ((x - y).dtype(), arithmetic);
      EXPECT_EQ((x * y).dtype(), arithmetic);
      EXPECT_EQ(maximum(x, y).dtype(), arithmetic);
      EXPECT_EQ(matmul(x, y).dtype(), arithmetic);
      EXPECT_EQ(outer(x, y).dtype(), arithmetic);
      EXPECT_EQ((x / y).dtype(), is_float(higher) ? higher : DType::f32);
      EXPECT_EQ((x == y).dtype(), DType::boolean);
      EXPECT_EQ(where(ones({2}, DType::boolean), x, y).dtype(), higher);
      EXPECT_EQ(concat({x, y}, 0).dtype(), higher);
      EXPECT_EQ(stack({x, y}).dtype(), higher);
      EXPECT_EQ(cast(x + y, DType::f64).to_vector<double>(), (std::vector<double>{one_of_each, one_of_each}));
    }
}

TEST(Promotion, OfOneOperand) {
  for (const DType dtype : all_types) {
    SCOPED_TRACE(name(dtype));
    const Tensor x = two(dtype);
    const DType arithmetic = std::max(dtype, DType::i32);
    const DType real = is_float(dtype) ? dtype : DType::f32;
    EXPECT_EQ((-x).dtype(), arithmetic);
    EXPECT_EQ(square(x).dtype(), arithmetic);
    EXPECT_EQ(max(x).dtype(), arithmetic);
    EXPECT_EQ(max_with_indices(x, 0).indices.dtype(), DType::i64);
    EXPECT_EQ(sum(x).dtype(), is_float(dtype) ? dtype : DType::i64);
    for (const Tensor& y : {exp(x), log(x), sqrt(x), tanh(x), sigmoid(x), relu(x), mean(x), softmax(x, 0),
                            log_softmax(x, 0), logsumexp(x)})
      EXPECT_EQ(y.dtype(), real);
    for (const Tensor& y : {reshape(x, {1, 2}), transpose(x), slice(x, 0, 1), select(x, 0, 0), contiguous(x),
                            expand_dims(x, 0), stop_gradient(x), broadcast_to(x, {3, 2}), zeros_like(x)})
      EXPECT_EQ(y.dtype(), dtype);
  }
}

TEST(Bools, AreNumbersInArithmetic) {
  const Tensor x = tensor<bool>({true, true, false});
  const Tensor y = tensor<bool>({true, false, false});
  EXPECT_EQ((x + y).to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 1, 0}));
  EXPECT_EQ((y - x).to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, -1, 0}));
  EXPECT_EQ((-x).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-1, -1, 0}));
  EXPECT_EQ((x == y).to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(sum(x).item<std::int64_t>(), 2);
  EXPECT_EQ(mean(x).item<float>(), 2.0f / 3.0f);
  EXPECT_EQ((x * tensor<float>({1.5f, 2.5f, 3.5f})).to_vector<float>(), (std::vector<float>{1.5f, 2.5f, 0}));
}

// ---------------------------------------------------------------------------------------------------------------------
// The ends of the integers

TEST(Integers, WrapAround) {
  const Tensor most = tensor<std::int32_t>({i32_max, i32_min});
  EXPECT_EQ((most + 1).to_vector<std::int32_t>(), (std::vector<std::int32_t>{i32_min, i32_min + 1}));
  EXPECT_EQ((most - 1).to_vector<std::int32_t>(), (std::vector<std::int32_t>{i32_max - 1, i32_max}));
  EXPECT_EQ((most * 2).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-2, 0}));
  EXPECT_EQ((-most).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-i32_max, i32_min}));
  EXPECT_EQ(square(most).to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ((most + most).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-2, 0}));
  EXPECT_EQ((tensor<std::int64_t>(i64_max) + 1).item<std::int64_t>(), i64_min);
  EXPECT_EQ((-tensor<std::int64_t>(i64_min)).item<std::int64_t>(), i64_min);
  EXPECT_EQ(matmul(tensor<std::int32_t>({i32_max, 1}), tensor<std::int32_t>({1, 1})).item<std::int32_t>(), i32_min);
  EXPECT_EQ(sum(most).item<std::int64_t>(), -1) << "sums are of i64";
  EXPECT_EQ(sum(tensor<std::int32_t>({i32_max, i32_max})).item<std::int64_t>(), 2 * std::int64_t{i32_max});
}

TEST(Integers, DivideToF32) {
  EXPECT_EQ((tensor<std::int32_t>(7) / tensor<std::int32_t>(2)).item<float>(), 3.5f);
  EXPECT_EQ((tensor<std::int64_t>(-7) / 2).item<float>(), -3.5f);
  EXPECT_EQ((7 / tensor<std::int32_t>(2)).item<float>(), 3.5f);
  EXPECT_EQ((tensor<std::int32_t>(1) / 0).item<float>(), std::numeric_limits<float>::infinity());
  EXPECT_EQ((tensor<std::int32_t>(1) / tensor<double>(4)).item<double>(), 0.25);
}

TEST(Integers, CompareExactlyAcrossTypes) {
  EXPECT_TRUE(tensor<std::int64_t>(large) > tensor<std::int64_t>(large - 1));
  EXPECT_FALSE(tensor<std::int32_t>(1) == tensor<std::int64_t>((std::int64_t{1} << 32) + 1));
  EXPECT_TRUE(tensor<bool>(true) == tensor<std::int64_t>(1));
  EXPECT_TRUE(maximum(tensor<std::int64_t>(large), tensor<std::int32_t>(1)) == large);
}

TEST(CastTest, Values) {
  const Tensor x = tensor<double>({-1.9, 0.0, 1.9, 1e10});
  EXPECT_EQ(cast(x, DType::i64).to_vector<std::int64_t>(), (std::vector<std::int64_t>{-1, 0, 1, 10'000'000'000}));
  EXPECT_EQ(cast(x, DType::boolean).to_vector<bool>(), (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(cast(tensor<std::int64_t>((std::int64_t{1} << 32) + 5), DType::i32).item<std::int32_t>(), 5) << "wraps";
  EXPECT_EQ(cast(tensor<double>(0.1), DType::f32).item<float>(), 0.1f);
  EXPECT_EQ(cast(tensor<bool>({true, false}), DType::f64).to_vector<double>(), (std::vector<double>{1, 0}));
  const Tensor same = cast(x, DType::f64);
  EXPECT_TRUE(array_equal(same, x));
}

}  // namespace
