// checkpoint: the same derivatives, fewer values kept, the function run again when they are needed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/nestings.hpp"

namespace {

using namespace tlaloc;

Tensor number(double value) { return tensor<double>(value); }
const Axis batch{"batch"};

Tensor layer(const Tensor& w, const Tensor& x) { return tanh(w * x + sin(x)); }

nestings::Function network(bool checkpointed) {
  return [=](const Tensor& x) {
    const Tensor w = tensor<double>({0.5, -0.3, 1.2});
    Tensor y = x;
    for (int i = 0; i < 3; ++i) y = checkpointed ? checkpoint(layer)(w * sum(x), y) : layer(w * sum(x), y);
    return sum(y * x);
  };
}

TEST(Checkpoint, EveryNestingEqualsTheFunctionItself) {
  for (const std::string& word : nestings::words("gjVCRH", 3)) {
    SCOPED_TRACE(word);
    const double expected =
        nestings::transformed(word, network(false))(nestings::to_tensor(nestings::point)).item<double>();
    const double found =
        nestings::transformed(word, network(true))(nestings::to_tensor(nestings::point)).item<double>();
    EXPECT_NEAR(found, expected, 1e-10 * (1 + std::abs(expected)));
  }
}

TEST(Checkpoint, TheFunctionRunsAgainOnTheWayBackAndOnlyThen) {
  int runs = 0;
  const auto f = checkpoint([&](const Tensor& x) {
    ++runs;
    return x * x * x;
  });
  EXPECT_EQ(f(number(2)).item<double>(), 8);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(grad(f)(number(2)).item<double>(), 12);
  EXPECT_EQ(runs, 3);
  const auto pullback = vjp(f, number(2)).second;
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(pullback(number(1)).item<double>(), 12);
  EXPECT_EQ(pullback(number(2)).item<double>(), 24);
  EXPECT_EQ(runs, 6);
  // A cotangent that is not there asks for nothing.
  const auto unused = [&](const Tensor& x) {
    f(x);
    return 2 * x;
  };
  runs = 0;
  EXPECT_EQ(grad(unused)(number(2)).item<double>(), 2);
  EXPECT_EQ(runs, 1);
  runs = 0;
  EXPECT_EQ(vmap(grad(f))(tensor<double>({1, 2})).to_vector<double>(), (std::vector<double>{3, 12}));
  EXPECT_EQ(runs, 2);
}

/// What is allocated after `build` more than before it, while what it returns lives.
std::int64_t kept_by(const std::function<std::function<void()>()>& build) {
  build();
  const std::int64_t before = memory_stats().in_use;
  const std::function<void()> alive = build();
  return memory_stats().in_use - before;
}

constexpr int layers = 20, width = 1 << 16;

Tensor deep(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < layers; ++i) y = tanh(y) * 1.01;
  return y;
}

TEST(Checkpoint, OnlyTheArgumentsAreKept) {
  const Tensor x = ones({width}, DType::f64);
  const std::int64_t one = width * 8;
  const auto kept = [&](const std::function<Tensor(const Tensor&)>& f) {
    return kept_by([&] {
      auto pullback = vjp(f, x).second;
      return std::function<void()>([pullback] {});
    });
  };
  EXPECT_GT(kept(deep), layers * one);
  EXPECT_LT(kept(checkpoint(deep)), 2 * one);
  // The same for what forward mode and vmap make of it.
  const auto along = [](auto f) { return [f](const Tensor& y) { return jvp(f, y, ones_like(y)).second; }; };
  EXPECT_GT(kept(along(deep)), layers * one);
  EXPECT_LT(kept(along(checkpoint(deep))), 4 * one);
  const auto mapped = [](auto f) { return [f](const Tensor& y) { return vmap(f)(reshape(y, {16, width / 16})); }; };
  EXPECT_GT(kept(mapped(deep)), layers * one);
  EXPECT_LT(kept(mapped(checkpoint(deep))), 3 * one);
  // And for the tape of a gradient: the way back is run again too.
  const auto gradient = [](auto f) {
    return [f](const Tensor& y) { return grad([&](const Tensor& z) { return sum(f(z)); })(y); };
  };
  EXPECT_GT(kept(gradient(deep)), layers * one);
  EXPECT_LT(kept(gradient(checkpoint(deep))), 4 * one);
}

TEST(Checkpoint, NestedCheckpoints) {
  const std::function<Tensor(const Tensor&, int)> halves = [&](const Tensor& x, int depth) -> Tensor {
    if (depth == 0) return sin(x) * 1.1;
    const auto half = checkpoint([&, depth](const Tensor& y) { return halves(y, depth - 1); });
    return half(half(x));
  };
  const auto f = [&](const Tensor& x) { return halves(x, 4); };
  const auto plain = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 16; ++i) y = sin(y) * 1.1;
    return y;
  };
  EXPECT_NEAR(grad(f)(number(0.7)).item<double>(), grad(plain)(number(0.7)).item<double>(), 1e-14);
  EXPECT_NEAR(grad(grad(f))(number(0.7)).item<double>(), grad(grad(plain))(number(0.7)).item<double>(), 1e-13);
}

struct Model {
  Tensor w, b;
  int steps;
};

TEST(Checkpoint, TreesAndNames) {
  const Axis feature{"feature"}, hidden{"hidden"};
  const auto f = [](const Model& m, const Tensor& x) {
    Tensor h = matmul(x, m.w) + m.b;
    for (int i = 0; i < m.steps; ++i) h = tanh(h);
    return std::pair(h, m.steps);
  };
  const Model model{tensor<double>({{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}}, {feature, hidden}),
                    tensor<double>({0.7, 0.8, 0.9}, {hidden}), 2};
  const Tensor xs = tensor<double>({{1, 2}, {3, 4}}, {batch, feature});
  const auto loss = [](auto g) {
    return [g](const Model& m, const Tensor& x) {
      const auto [h, steps] = g(m, x);
      return sum(h) * steps;
    };
  };
  const auto [m1, x1] = vmap(grad(loss(f), argnums<0, 1>), batch)(model, xs);
  const auto [m2, x2] = vmap(grad(loss(checkpoint(f)), argnums<0, 1>), batch)(model, xs);
  EXPECT_TRUE(array_equal(m1.w, m2.w));
  EXPECT_TRUE(array_equal(m1.b, m2.b));
  EXPECT_EQ(m2.steps, 2);
  EXPECT_TRUE(array_equal(x1, x2));
  EXPECT_EQ(m2.w.shape(), (Shape{batch(2), feature(2), hidden(3)}));
}

TEST(Checkpoint, InABranchThatNotEveryExampleTakes) {
  const auto root = checkpoint([](const Tensor& x) { return sqrt(x); });
  const auto f = [&](const Tensor& x) {
    return cond(
        x > 0, [&](const Tensor& a) { return root(a); }, [](const Tensor& a) { return -a; }, x);
  };
  const Tensor xs = tensor<double>({-1, 4, 0, 16});
  EXPECT_EQ(vmap(f)(xs).to_vector<double>(), (std::vector<double>{1, 2, 0, 4}));
  EXPECT_EQ(vmap(grad(f))(xs).to_vector<double>(), (std::vector<double>{-1, 0.25, -1, 0.125}));
  const auto total = [&](const Tensor& x) { return sum(vmap(f)(x)); };
  EXPECT_EQ(grad(total)(xs).to_vector<double>(), (std::vector<double>{-1, 0.25, -1, 0.125}));
}

TEST(Checkpoint, AFunctionThatChangesIsRefused) {
  int runs = 0;
  const auto f = checkpoint([&](const Tensor& x) { return std::vector<Tensor>(static_cast<std::size_t>(++runs), x); });
  try {
    grad([&](const Tensor& x) { return f(x)[0]; })(number(1));
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(
        error.what(),
        "checkpoint: the function gave 2 tensors when it was run again, and 1 before; it must do the same every "
        "time");
  }
}

TEST(Checkpoint, CapturedTensorsOfTheSameTransformAreRefused) {
  const auto f = [](const Tensor& x) { return checkpoint([&](const Tensor& y) { return x * y; })(x); };
  try {
    grad(f)(number(1));
    FAIL();
  } catch (const LevelError& error) {
    EXPECT_STREQ(
        error.what(),
        "checkpoint: an operation inside meets a tensor of a running grad that is not one of the arguments; got f64 "
        "[], f64 []; pass it as an argument");
  }
}

TEST(Checkpoint, ALongChain) {
  // Neither the way back nor the tape's end recurses.
  const auto step = checkpoint([](const Tensor& x) { return x * 1.0001; });
  const auto f = [&](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 20000; ++i) y = step(y);
    return y;
  };
  EXPECT_NEAR(grad(f)(number(1)).item<double>(), std::pow(1.0001, 20000), 1e-9);
}

}  // namespace
