// The per-example gradients of the classifier in examples/per_example_gradients.cpp against golden numbers: losses,
// gradients and norms computed in double outside this project, kept in golden/per_example_gradients.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "examples/reference_network.hpp"

using namespace tlaloc;

namespace {

/// The golden file holds one object whose members are numbers and flat arrays of numbers; this reads those arrays.
class Golden {
 public:
  explicit Golden(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    text_.assign(std::istreambuf_iterator<char>(file), {});
  }

  std::vector<double> array(std::string_view name) const {
    const std::size_t at = text_.find('"' + std::string(name) + "\": [");
    if (at == std::string::npos) throw std::runtime_error("no array called " + std::string(name));
    std::vector<double> numbers;
    const char* p = text_.c_str() + text_.find('[', at);
    while (*p == '[' || *p == ',') {
      char* end = nullptr;
      numbers.push_back(std::strtod(p + 1, &end));
      if (end == p + 1) throw std::runtime_error("not a number in " + std::string(name));
      p = end;
    }
    if (*p != ']') throw std::runtime_error("the array called " + std::string(name) + " does not end");
    return numbers;
  }

 private:
  std::string text_;
};

const Golden& golden() {
  static const Golden file(TLALOC_TEST_DATA_DIR "/golden/per_example_gradients.json");
  return file;
}

void expect_close(const std::vector<double>& actual, std::string_view name, std::size_t size) {
  SCOPED_TRACE(name);
  const std::vector<double> expected = golden().array(name);
  ASSERT_EQ(expected.size(), size);
  ASSERT_EQ(actual.size(), size);
  double largest = 0;
  for (double entry : expected) largest = std::max(largest, std::abs(entry));
  for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5 * largest) << "entry " << i;
}

/// The network and its inputs as the library sees them.
struct Classifier {
  Axis batch{"batch"}, feature{"feature"}, hidden{"hidden"}, klass{"class"};
  reference::Problem drawn = reference::draw_problem();
  Tensor w1 = from_data(drawn.w1, {feature(reference::features), hidden(reference::hidden)});
  Tensor w2 = from_data(drawn.w2, {hidden(reference::hidden), klass(reference::classes)});
  Tensor xs = from_data(drawn.x, {batch(reference::batch), feature(reference::features)});
  Tensor ys = from_data(drawn.y, {batch(reference::batch), klass(reference::classes)});

  static Tensor loss(const Tensor& w1, const Tensor& w2, const Tensor& x, const Tensor& y) {
    return cross_entropy(matmul(tanh(matmul(x, w1)), w2), y);
  }
};

constexpr std::size_t w1_size = reference::features * reference::hidden;
constexpr std::size_t w2_size = reference::hidden * reference::classes;

TEST(Golden, GeneratorDrawsTheSameInputsBitForBit) {
  const reference::Problem drawn = reference::draw_problem();
  const auto expect_equal = [](const std::vector<float>& actual, std::string_view name, std::size_t size) {
    SCOPED_TRACE(name);
    EXPECT_EQ(actual.size(), size);
    EXPECT_EQ(std::vector<double>(actual.begin(), actual.end()), golden().array(name));
  };
  expect_equal(drawn.w1, "w1", w1_size);
  expect_equal(drawn.w2, "w2", w2_size);
  expect_equal(drawn.x, "x", reference::batch * reference::features);
  expect_equal(drawn.y, "y", reference::batch * reference::classes);
}

TEST(Golden, ReferenceNetwork) {
  const reference::Problem drawn = reference::draw_problem();
  std::vector<double> losses, dw1, dw2;
  for (std::size_t i = 0; i < reference::batch; ++i) {
    const reference::Weights g = reference::gradient(drawn.weights(), drawn.example(i));
    losses.push_back(reference::loss(drawn.weights(), drawn.example(i)));
    dw1.insert(dw1.end(), g.w1.begin(), g.w1.end());
    dw2.insert(dw2.end(), g.w2.begin(), g.w2.end());
  }
  expect_close(losses, "loss", reference::batch);
  expect_close(dw1, "dW1", reference::batch * w1_size);
  expect_close(dw2, "dW2", reference::batch * w2_size);
}

TEST(Golden, PerExampleLosses) {
  const Classifier c;
  const Tensor losses = vmap(&Classifier::loss, c.batch)(c.w1, c.w2, c.xs, c.ys);
  EXPECT_EQ(losses.shape(), (Shape{c.batch(reference::batch)}));
  expect_close(losses.to_vector<double>(), "loss", reference::batch);
}

TEST(Golden, PerExampleGradients) {
  const Classifier c;
  const auto [g1, g2] = vmap(grad(&Classifier::loss, argnums<0, 1>), c.batch)(c.w1, c.w2, c.xs, c.ys);
  EXPECT_EQ(g1.shape(),
            (Shape{c.batch(reference::batch), c.feature(reference::features), c.hidden(reference::hidden)}));
  EXPECT_EQ(g2.shape(), (Shape{c.batch(reference::batch), c.hidden(reference::hidden), c.klass(reference::classes)}));
  expect_close(g1.to_vector<double>(), "dW1", reference::batch * w1_size);
  expect_close(g2.to_vector<double>(), "dW2", reference::batch * w2_size);
}

TEST(Golden, PerExampleGradientNorms) {
  const Classifier c;
  const auto [g1, g2] = vmap(grad(&Classifier::loss, argnums<0, 1>), c.batch)(c.w1, c.w2, c.xs, c.ys);
  const Tensor norms = sqrt(sum(square(g1), {c.feature, c.hidden}) + sum(square(g2), {c.hidden, c.klass}));
  expect_close(norms.to_vector<double>(), "norms", reference::batch);
}

}  // namespace
