// Convolution and pooling where a person would doubt: gradients of each example's kernel, and which element of a window
// wins.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::nan("");

/// The gradient of sum(conv2d(x, kernel) * cotangent) in a kernel that all examples share, for each example.
std::vector<double> kernel_gradients(const Tensor& xs, const Tensor& kernel, const Tensor& cotangent,
                                     const ConvOptions& how) {
  const auto of_one = [&](const Tensor& x) {
    return grad([&](const Tensor& k) { return sum(conv2d(x, k, how) * cotangent); })(kernel);
  };
  return vmap(of_one, in_axes(0))(xs).to_vector<double>();
}

TEST(Windows, KernelGradientOfEachExampleByHand) {
  const Tensor xs = reshape(tensor<double>({1, 2, 3, 4, 5, 0, -1, 2, 1, 3}), {2, 1, 1, 5});
  const Tensor kernel = ones({1, 1, 1, 2}, DType::f64);
  const auto cotangent = [](std::vector<double> values) {
    return from_data(values, {1, 1, static_cast<std::int64_t>(values.size())});
  };
  EXPECT_EQ(kernel_gradients(xs, kernel, cotangent({1, 2, 3}), {.stride = {1, 2}, .padding = {0, 1}}),
            (std::vector<double>{16, 22, 1, 13}));
  EXPECT_EQ(kernel_gradients(xs, kernel, cotangent({1, 2, 3}), {.dilation = {1, 2}}),
            (std::vector<double>{14, 26, 4, 13}));
  EXPECT_EQ(
      kernel_gradients(xs, kernel, cotangent({1, 2, 3}), {.stride = {1, 2}, .padding = {0, 1}, .dilation = {1, 2}}),
      (std::vector<double>{16, 10, 1, 1}));
}

TEST(Windows, KernelGradientOfEachExampleInGroups) {
  const Tensor xs = reshape(tensor<double>({1, 2, 3, 4, 5, 6, 1, 0, -1, 2, 2, 2}), {2, 2, 1, 3});
  EXPECT_EQ(kernel_gradients(xs, ones({2, 1, 1, 2}, DType::f64), ones({2, 1, 2}, DType::f64), {.groups = 2}),
            (std::vector<double>{3, 5, 9, 11, 1, -1, 4, 4}));
}

TEST(Windows, GradientOfASharedKernelIsTheSumOfTheExamples) {
  // A batch large enough to be summed in slices. Whole numbers, so that every order of adding gives the same.
  constexpr std::int64_t examples = 100;
  const Tensor xs = cast(arange(examples * 2 * 9 * 9) - 8000.0, DType::f64);
  const Tensor images = reshape(xs, {examples, 2, 9, 9});
  const Tensor kernel = ones({3, 2, 3, 3}, DType::f64);
  const auto loss = [](const Tensor& x, const Tensor& k) { return sum(conv2d(x, k, {.stride = 2, .padding = 1})); };
  const Tensor of_each = vmap(grad(loss, argnums<1>), in_axes(0, none))(images, kernel);
  EXPECT_TRUE(array_equal(grad(loss, argnums<1>)(images, kernel), sum(of_each, 0)));
}

TEST(Windows, EveryExampleHasAKernelOfItsOwn) {
  const Tensor x = reshape(tensor<double>({1, 2, 3}), {1, 1, 3});
  const Tensor kernels = reshape(tensor<double>({1, 10, -1, 1}), {2, 1, 1, 1, 2});
  const auto conv = [](const Tensor& image, const Tensor& k) { return conv2d(image, k); };
  EXPECT_EQ(vmap(conv, in_axes(none, 0))(x, kernels).to_vector<double>(), (std::vector<double>{21, 32, 1, 1}));
  // The image is shared: its gradient is the sum over the kernels.
  const auto total = [&](const Tensor& image) { return sum(vmap(conv, in_axes(none, 0))(image, kernels)); };
  EXPECT_EQ(grad(total)(x).to_vector<double>(), (std::vector<double>{0, 11, 11}));
}

std::vector<double> gradient_of_pool(std::vector<double> row) {
  const Tensor x = from_data(row, {1, static_cast<std::int64_t>(row.size())});
  return grad([](const Tensor& v) { return sum(max_pool2d(v, {1, 2}, {.stride = 1})); })(x).to_vector<double>();
}

TEST(Windows, OverlappingWindowsAddUp) {
  EXPECT_EQ(gradient_of_pool({1, 9, 2, 3}), (std::vector<double>{0, 2, 0, 1}));
  EXPECT_EQ(gradient_of_pool({4, 1, 1.5, 7}), (std::vector<double>{1, 0, 1, 1}));
}

TEST(Windows, TheFirstOfEqualElementsWins) {
  EXPECT_EQ(gradient_of_pool({5, 5, 5}), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(gradient_of_pool({-inf, -inf, -inf}), (std::vector<double>{1, 1, 0}));
  const Tensor square = ones({2, 2}, DType::f64);
  const auto loss = [](const Tensor& x) { return sum(max_pool2d(x, 2)); };
  EXPECT_EQ(grad(loss)(square).to_vector<double>(), (std::vector<double>{1, 0, 0, 0}));
}

TEST(Windows, NanWinsAndPaddingNever) {
  const Tensor x = tensor<double>({{-3, nan_value, -1, -2}});
  const std::vector<double> largest = max_pool2d(x, {1, 2}).to_vector<double>();
  EXPECT_TRUE(std::isnan(largest[0]));
  EXPECT_EQ(largest[1], -1);
  EXPECT_EQ(gradient_of_pool({1, nan_value, nan_value, 2}), (std::vector<double>{0, 2, 1, 0}));
  EXPECT_EQ(max_pool2d(tensor<double>({{-3, -2}}), 2, {.padding = 1}).to_vector<double>(),
            (std::vector<double>{-3, -2}));
  EXPECT_EQ(max_pool2d(tensor<std::int64_t>({{-3, -2}}), 2, {.padding = 1}).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{-3, -2}));
}

TEST(Windows, StridesBeyondTheImageCostNoMemory) {
  const Tensor x = tensor<double>({{{1, 2}, {3, 4}}});
  const Tensor kernel = reshape(tensor<double>({10, 1}), {1, 1, 1, 2});
  EXPECT_EQ(conv2d(x, kernel, {.stride = 1 << 30}).to_vector<double>(), (std::vector<double>{12}));
}

TEST(Windows, AnImageThatIsPaddedBeyondMemoryIsRefused) {
  // The result has nine elements; what it is made of would have 2^60.
  EXPECT_THROW(static_cast<void>(conv2d(ones({1, 1, 1}), ones({1, 1, 1, 1}), {.stride = 1 << 29, .padding = 1 << 29})),
               MemoryError);
}

TEST(Windows, MeansAtTheBorder) {
  const Tensor x = tensor<double>({{2, 4}});
  EXPECT_EQ(avg_pool2d(x, {1, 2}, {.padding = {0, 1}}).to_vector<double>(), (std::vector<double>{1, 2}));
  EXPECT_EQ(avg_pool2d(x, {1, 2}, {.padding = {0, 1}}, PaddingCounts::no).to_vector<double>(),
            (std::vector<double>{2, 4}));
}

}  // namespace
