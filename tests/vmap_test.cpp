// vmap: what is mapped, where the batch goes, which functions, arguments and results it takes, and batches of none and
// of one.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

using Floats = std::vector<float>;

std::string shape(const Tensor& x) { return x.shape().to_string(); }
Floats values(const Tensor& x) { return x.to_vector<float>(); }
Tensor counted(const Shape& to) { return reshape(arange(to.size(), DType::f32), to); }
Tensor twice(const Tensor& x) { return 2 * x; }

// ---------------------------------------------------------------------------------------------------------------------
// in_axes

TEST(InAxes, AxisZeroOfEveryTensorUnlessSaid) {
  const Tensor x = counted({2, 3});
  const auto f = [](const Tensor& a, const Tensor& b) {
    EXPECT_EQ(shape(a), "[3]");
    EXPECT_EQ(shape(b), "[]");
    return sum(a) * b;
  };
  EXPECT_EQ(values(vmap(f)(x, tensor<float>({1, 10}))), (Floats{3, 120}));
}

TEST(InAxes, NumbersFromEitherEnd) {
  const Tensor x = counted({2, 3, 4});
  const auto total = [](const Tensor& y) { return sum(y, 0); };
  for (const int axis : {0, 1, 2}) {
    const Tensor front = permute(x, {axis, axis == 0 ? 1 : 0, axis == 2 ? 1 : 2});
    EXPECT_TRUE(array_equal(vmap(total, in_axes(axis))(x), sum(front, 1))) << axis;
    EXPECT_TRUE(array_equal(vmap(total, in_axes(axis - 3))(x), sum(front, 1))) << axis - 3;
  }
  EXPECT_EQ(shape(vmap(twice, in_axes(1))(x)), "[3, 2, 4]");
}

TEST(InAxes, OneEntryForEachArgumentOrOneForAll) {
  const Tensor x = counted({2, 3});
  const Tensor w = counted({3});
  const Tensor z = counted({3, 2});
  const auto f = [](const Tensor& a, const Tensor& b, const Tensor& c) { return sum(a * b * c); };
  const Tensor expected = sum(x * w * transpose(z), 1);
  EXPECT_TRUE(array_equal(vmap(f, in_axes(0, none, 1))(x, w, z), expected));
  EXPECT_TRUE(array_equal(vmap(f, in_axes(-2, none, -1))(x, w, z), expected));
  const auto add2 = [](const Tensor& a, const Tensor& b) { return a + b; };
  EXPECT_TRUE(array_equal(vmap(add2, in_axes(1))(x, x), 2 * transpose(x)));
}

TEST(InAxes, AnEntryHoldsForEveryTensorOfATree) {
  struct Layer {
    Tensor w, b;
    int steps;
  };
  const Layer layer{counted({2, 3}), counted({2}), 5};
  const auto f = [](const Layer& l, const std::vector<Tensor>& shared) {
    EXPECT_EQ(shape(l.w), "[3]");
    EXPECT_EQ(shape(l.b), "[]");
    EXPECT_EQ(l.steps, 5);
    EXPECT_EQ(shape(shared[1]), "[2, 2]");
    return sum(l.w) + l.b + sum(shared[0]);
  };
  EXPECT_EQ(values(vmap(f, in_axes(0, none))(layer, std::vector{ones({4}), ones({2, 2})})), (Floats{7, 17}));
  // An empty tensor in a tree is no tensor.
  EXPECT_EQ(values(vmap([](const Layer& l) { return l.b; })(Layer{Tensor(), counted({2}), 0})), (Floats{0, 1}));
}

// ---------------------------------------------------------------------------------------------------------------------
// out_axes

TEST(OutAxes, NumbersFromEitherEnd) {
  const Tensor x = counted({5, 2, 3});
  EXPECT_EQ(shape(vmap(twice, out_axes(0))(x)), "[5, 2, 3]");
  EXPECT_EQ(shape(vmap(twice, out_axes(1))(x)), "[2, 5, 3]");
  EXPECT_EQ(shape(vmap(twice, out_axes(2))(x)), "[2, 3, 5]");
  EXPECT_EQ(shape(vmap(twice, out_axes(-1))(x)), "[2, 3, 5]");
  EXPECT_EQ(shape(vmap(twice, out_axes(-3))(x)), "[5, 2, 3]");
  EXPECT_TRUE(array_equal(vmap(twice, in_axes(1), out_axes(1))(x), 2 * x));
  EXPECT_TRUE(array_equal(vmap(twice, out_axes(-1))(x), permute(2 * x, {1, 2, 0})));
}

TEST(OutAxes, NoneForAResultThatDoesNotDependOnTheBatch) {
  const Tensor w = counted({4});
  const auto f = [&](const Tensor& x) { return std::pair(x, twice(w)); };
  const auto [mapped, constant] = vmap(f, out_axes(0, none))(counted({3}));
  EXPECT_EQ(shape(mapped), "[3]");
  EXPECT_TRUE(array_equal(constant, 2 * w));
  EXPECT_THROW(vmap(twice, out_axes(none))(counted({3})), AxisError);
}

TEST(OutAxes, SummedAddsUpOverTheBatch) {
  const Tensor x = counted({3, 2});
  EXPECT_TRUE(array_equal(vmap(twice, out_axes(summed))(x), 2 * sum(x, 0)));
  const Tensor w = counted({2});
  EXPECT_TRUE(array_equal(vmap([&](const Tensor&) { return w; }, out_axes(summed))(x), 3 * w))
      << "a result that is the same for all counts for each of them";
  EXPECT_EQ(values(vmap(twice, out_axes(summed))(zeros({0, 2}))), (Floats{0, 0}));
  // The sum of per-example gradients is the gradient of the sum.
  const auto loss = [](const Tensor& v, const Tensor& y) { return sum(square(v * y)); };
  const Tensor total = grad([&](const Tensor& v) { return sum(vmap(loss, in_axes(none, 0))(v, x)); })(w);
  EXPECT_TRUE(array_equal(vmap(grad(loss), in_axes(none, 0), out_axes(summed))(w, x), total));
}

TEST(OutAxes, OneForEachTensorOfTheResult) {
  const Tensor x = counted({3, 2});
  const auto f = [](const Tensor& y) { return std::tuple(y, twice(y), y + 1, ones({4})); };
  const auto [a, b, c, d] = vmap(f, out_axes(0, 1, summed, none))(x);
  EXPECT_TRUE(array_equal(a, x));
  EXPECT_TRUE(array_equal(b, transpose(2 * x)));
  EXPECT_TRUE(array_equal(c, sum(x, 0) + 3));
  EXPECT_EQ(shape(d), "[4]");
  const auto [p, q] = vmap([](const Tensor& y) { return std::pair(y, y); }, out_axes(1))(x);
  EXPECT_EQ(shape(p), "[2, 3]") << "one entry holds for all";
  EXPECT_EQ(shape(q), "[2, 3]");
}

TEST(OutAxes, AResultThatDoesNotDependOnTheBatchIsRepeated) {
  const Tensor x = counted({3, 2});
  const Tensor w = tensor<float>({-0.0f, 7});
  EXPECT_TRUE(array_equal(vmap([&](const Tensor&) { return w; })(x), stack({w, w, w})));
  EXPECT_EQ(shape(vmap([](const Tensor&) { return tensor<std::int32_t>(1); })(x)), "[3]");
  EXPECT_EQ(shape(vmap([&](const Tensor&) { return w; }, out_axes(1))(x)), "[2, 3]");
  EXPECT_EQ(to_string(select(vmap([&](const Tensor&) { return w; })(x), 0, 2)), "f32 [2] [-0, 7]") << "not \"+ 0\"";
}

// ---------------------------------------------------------------------------------------------------------------------
// axis_size and unusual batches

TEST(AxisSizeOption, SaysHowManyWhenNothingIsMapped) {
  EXPECT_EQ(values(vmap(twice, axis_size(3))(tensor<float>(2))), (Floats{4, 4, 4}));
  EXPECT_EQ(shape(vmap(twice, in_axes(none), axis_size(3))(ones({2}))), "[3, 2]");
  EXPECT_EQ(shape(vmap([] { return ones({2}); }, axis_size(4))()), "[4, 2]");
  EXPECT_EQ(shape(vmap(twice, Axis("batch"), axis_size(3))(ones({2}))), "[batch 3, 2]");
  EXPECT_EQ(shape(vmap(twice, in_axes(0), axis_size(2))(ones({2, 5}))), "[2, 5]") << "a size that agrees";
  EXPECT_THROW(vmap(twice, in_axes(0), axis_size(3))(ones({2, 5})), ShapeError);
  EXPECT_THROW(vmap(twice, in_axes(none))(ones({2})), ValueError);
  EXPECT_THROW(vmap([] { return ones({2}); })(), ValueError);
}

TEST(Batch, OfNone) {
  const auto loss = [](const Tensor& w, const Tensor& x) { return sum(square(matmul(x, w))); };
  const Tensor w = ones({3, 2});
  const Tensor x = zeros({0, 3});
  EXPECT_EQ(shape(vmap(loss, in_axes(none, 0))(w, x)), "[0]");
  EXPECT_EQ(shape(vmap(grad(loss), in_axes(none, 0))(w, x)), "[0, 3, 2]");
  EXPECT_EQ(shape(vmap(twice, axis_size(0))(tensor<float>(1))), "[0]");
  EXPECT_EQ(shape(vmap([](const Tensor& y) { return softmax(y, 0); }, out_axes(1))(x)), "[3, 0]");
  EXPECT_EQ(shape(vmap([](const Tensor& y) { return stack({y, y}); })(x)), "[0, 2, 3]");
  int calls = 0;
  vmap([&](const Tensor& y) {
    ++calls;
    return y;
  })(x);
  EXPECT_EQ(calls, 1) << "the shape of the result comes from running the function";
}

TEST(Batch, OfOneKeepsItsAxis) {
  EXPECT_EQ(shape(vmap(twice)(ones({1, 3}))), "[1, 3]");
  EXPECT_EQ(shape(vmap([](const Tensor& y) { return sum(y); })(ones({1, 3}))), "[1]");
  EXPECT_THROW(vmap([](const Tensor& a, const Tensor& b) { return a + b; })(ones({1}), ones({3})), ShapeError)
      << "an extent of 1 never stretches against the batch";
}

TEST(Batch, TheFunctionRunsOnce) {
  int calls = 0;
  vmap([&](const Tensor& y) {
    ++calls;
    return vmap([&](const Tensor& z) {
      ++calls;
      return z;
    })(y);
  })(ones({100, 50}));
  EXPECT_EQ(calls, 2);
}

TEST(Batch, NestedMapsOverUnnamedAxes) {
  const Tensor x = counted({2, 3});
  const Tensor y = counted({4, 3});
  const auto inner = [](const Tensor& a, const Tensor& b) { return sum(a * b); };
  const Tensor table = vmap(vmap(inner, in_axes(none, 0)), in_axes(0, none))(x, y);
  EXPECT_TRUE(array_equal(table, matmul(x, transpose(y))));
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions, arguments and results

TEST(Functions, OfEveryKind) {
  const Tensor x = counted({3});
  const Tensor expected = 2 * x;
  EXPECT_TRUE(array_equal(vmap(twice)(x), expected));
  EXPECT_TRUE(array_equal(vmap(&twice)(x), expected));
  EXPECT_TRUE(array_equal(vmap(std::function<Tensor(const Tensor&)>(twice))(x), expected));
  EXPECT_TRUE(array_equal(vmap([](auto y) { return 2 * y; })(x), expected));
  EXPECT_TRUE(array_equal(vmap([](const auto&... y) { return (y + ...); })(x, x), expected));
  EXPECT_TRUE(array_equal(vmap([](Tensor y) { return 2 * std::move(y); })(x), expected));
  EXPECT_TRUE(array_equal(vmap([](Tensor&& y) { return 2 * y; })(x), expected));
  EXPECT_TRUE(array_equal(vmap([](const Tensor& y) -> const Tensor& { return y; })(x), x));
  struct Functor {
    float factor;
    Tensor operator()(const Tensor& y) const { return factor * y; }
  };
  EXPECT_TRUE(array_equal(vmap(Functor{2})(x), expected));
  const auto mapped = vmap(Functor{2});
  EXPECT_TRUE(array_equal(mapped(x), expected)) << "a const mapped function";
  EXPECT_TRUE(array_equal(mapped(x + 0), expected)) << "temporaries are arguments, and it is called again";
  const auto maker = [factor = std::make_unique<float>(2.0f)](const Tensor& y) { return *factor * y; };
  EXPECT_TRUE(array_equal(vmap(std::cref(maker))(x), expected));
  EXPECT_TRUE(
      array_equal(vmap([factor = std::make_unique<float>(2.0f)](const Tensor& y) { return *factor * y; })(x), expected))
      << "a capture that only moves";
  auto counter = vmap([calls = 0](const Tensor& y) mutable { return y * ++calls; });
  EXPECT_EQ(values(counter(x)), (Floats{0, 1, 2}));
  EXPECT_EQ(values(counter(x)), (Floats{0, 2, 4}));
}

TEST(Functions, ArgumentsThatAreNoTensorsPassThrough) {
  const auto f = [](const Tensor& y, int n, const std::string& text, double factor, std::optional<int> nothing) {
    EXPECT_EQ(text, "hello");
    EXPECT_FALSE(nothing.has_value());
    return y * (n * factor);
  };
  EXPECT_EQ(values(vmap(f)(counted({3}), 3, std::string("hello"), 0.5, std::optional<int>())), (Floats{0, 1.5, 3}));
  EXPECT_EQ(values(vmap(f, in_axes(0, none, none, none, none))(counted({3}), 2, std::string("hello"), 0.5,
                                                               std::optional<int>())),
            (Floats{0, 1, 2}));
  // An argument's own object is left alone.
  Tensor x = counted({3, 2});
  vmap([](Tensor y) {
    y = Tensor();
    return ones({});
  })(x);
  EXPECT_EQ(shape(x), "[3, 2]");
}

TEST(Functions, TreesAsResults) {
  struct Result {
    Tensor value;
    std::vector<Tensor> parts;
    std::map<std::string, Tensor> named;
    std::string label;
    std::array<Tensor, 2> pair;
  };
  const Tensor x = counted({3, 2});
  const Result r = vmap([](const Tensor& y) {
    return Result{sum(y), {y, y + 1}, {{"twice", 2 * y}}, "kept", {y, Tensor()}};
  })(x);
  EXPECT_TRUE(array_equal(r.value, sum(x, 1)));
  EXPECT_TRUE(array_equal(r.parts.at(1), x + 1));
  EXPECT_TRUE(array_equal(r.named.at("twice"), 2 * x));
  EXPECT_EQ(r.label, "kept");
  EXPECT_TRUE(array_equal(r.pair[0], x));
  EXPECT_FALSE(r.pair[1].defined()) << "an empty tensor stays empty";
  EXPECT_EQ(vmap([](const Tensor&) { return std::vector<Tensor>{}; })(x).size(), 0u);
}

TEST(Functions, EveryDTypeIsMapped) {
  const Tensor b = tensor<bool>({true, false});
  EXPECT_TRUE(array_equal(vmap([](const Tensor& y) { return y; })(b), b));
  const Tensor i = tensor<std::int64_t>({{1, 2}, {3, 4}});
  EXPECT_TRUE(array_equal(vmap([](const Tensor& y) { return sum(y); })(i), tensor<std::int64_t>({3, 7})));
  EXPECT_TRUE(array_equal(vmap([](const Tensor& c, const Tensor& y) { return where(c, y, -y); })(b, i),
                          tensor<std::int64_t>({{1, 2}, {-3, -4}})));
}

TEST(Functions, RowsEqualSingleCalls) {
  const Tensor x = counted({4, 3}) * 0.25 - 1;
  const auto f = [](const Tensor& y) { return stack({softmax(tanh(y), 0), exp(y) / (1 + square(y)), relu(y)}); };
  const Tensor together = vmap(f)(x);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(array_equal(select(together, 0, i), f(select(x, 0, i)))) << i;
}

TEST(Functions, WhatTheyCaptureIsShared) {
  const Tensor w = counted({2, 2});
  const Tensor x = counted({3, 2});
  EXPECT_TRUE(array_equal(vmap([&](const Tensor& y) { return matmul(w, y); })(x), matmul(x, transpose(w))));
  // Captured from an outer map it stays mapped there.
  const Tensor table = vmap([](const Tensor& a) { return vmap([&](const Tensor& b) { return a * b; })(ones({4})); })(
      tensor<float>({1, 2}));
  EXPECT_EQ(values(table), (Floats{1, 1, 1, 1, 2, 2, 2, 2}));
}

}  // namespace
