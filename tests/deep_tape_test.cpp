// Chains of ten million operations: going back over them and forgetting them takes no stack, and all memory comes back.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int steps = 500'000;
#else
constexpr int steps = 10'000'000;
#endif

Tensor number(double value) { return tensor<double>(value); }
std::int64_t in_use() { return memory_stats().in_use; }

/// x * factor * factor..., as often as `steps` says; the plain program gives the same bits.
constexpr double factor = 1 + 1e-7;
template <int count>
Tensor chain_of(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < count; ++i) y = y * factor;
  return y;
}
double chain_slope(int count) {
  double slope = 1;
  for (int i = 0; i < count; ++i) slope *= factor;
  return slope;
}
constexpr auto chain = chain_of<steps>;

TEST(DeepTape, GoesBackOverAllOfIt) {
  const std::int64_t before = in_use();
  EXPECT_EQ(grad(chain)(number(1)).item<double>(), chain_slope(steps));
  EXPECT_EQ(in_use(), before);
}

TEST(DeepTape, IsForgottenWithoutASweep) {
  const std::int64_t before = in_use();
  const auto throwing = [](const Tensor& x) -> Tensor {
    const Tensor y = chain(x);
    throw std::runtime_error(y.defined() ? "the end" : "");
  };
  EXPECT_THROW(grad(throwing)(number(1)), std::runtime_error);
  EXPECT_EQ(in_use(), before);
  vjp(chain, number(1));
  EXPECT_EQ(in_use(), before);
}

TEST(DeepTape, ServesTwoSweeps) {
  constexpr int few = steps / 10;
  const std::int64_t before = in_use();
  {
    const auto [y, pullback] = vjp(chain_of<few>, number(1));
    const std::int64_t held = in_use();
    EXPECT_EQ(pullback(number(1)).item<double>(), chain_slope(few));
    EXPECT_EQ(pullback(number(-1)).item<double>(), -chain_slope(few));
    EXPECT_EQ(in_use(), held);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(DeepTape, VisitsASharedValueOnce) {
  // Each value is used twice: a graph with 2^few paths.
  constexpr int few = steps / 10;
  const auto f = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < few; ++i) y = y * y * 0.5 + 0.5;  // stays at 1, where the slope is 1
    return y;
  };
  const std::int64_t before = in_use();
  EXPECT_EQ(grad(f)(number(1)).item<double>(), 1);
  EXPECT_EQ(in_use(), before);
}

TEST(DeepTape, OfOperationsWithTwoResults) {
  constexpr int few = steps / 10;
  const auto f = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < few; ++i) y = max_with_indices(y, 0, Keep::yes).values;
    return sum(y);
  };
  const std::int64_t before = in_use();
  EXPECT_EQ(grad(f)(tensor<double>({1, 3, 2})).to_vector<double>(), (std::vector<double>{0, 1, 0}));
  vjp(f, tensor<double>({1, 3, 2}));
  EXPECT_EQ(in_use(), before);
}

TEST(DeepTape, OfViewsOfViews) {
  constexpr int few = steps / 10;
  const std::int64_t before = in_use();
  {
    const auto f = [](const Tensor& x) {
      Tensor y = x;
      for (int i = 0; i < few; ++i) y = transpose(y);
      return sum(y * y);
    };
    EXPECT_EQ(grad(f)(tensor<double>({{1, 2}})).to_vector<double>(), (std::vector<double>{2, 4}));
    Tensor y = tensor<double>({{1, 2}});
    for (int i = 0; i < few; ++i) y = transpose(y);
    EXPECT_EQ(sum(y).item<double>(), 3);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(DeepTape, ForwardModeKeepsNothing) {
  reset_peak_memory();
  const std::int64_t before = in_use();
  EXPECT_EQ(jvp(chain, number(1), number(1)).second.item<double>(), chain_slope(steps));
  EXPECT_EQ(in_use(), before);
  // Exact to what the threads keep: far below one value for every step.
  EXPECT_LT(memory_stats().peak - before, std::int64_t{steps} * 16 + (16 << 20));
}

TEST(DeepTape, UnderAnotherLevel) {
  // The inner tape holds values of the outer level, and the other way round with forward mode.
  constexpr int few = steps / 20;
  const auto power = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < few; ++i) y = y * 1.0;
    return y * y * y;
  };
  const std::int64_t before = in_use();
  EXPECT_EQ(grad(grad(power))(number(2)).item<double>(), 12);
  EXPECT_EQ(jvp(grad(power), number(2), number(1)).second.item<double>(), 12);
  EXPECT_EQ(grad([&](const Tensor& x) { return jvp(power, x, number(1)).second; })(number(2)).item<double>(), 12);
  EXPECT_EQ(vmap(grad(power))(tensor<double>({1, 2})).to_vector<double>(), (std::vector<double>{3, 12}));
  EXPECT_EQ(in_use(), before);
}

}  // namespace
