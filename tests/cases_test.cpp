// Cases on which numerical programs elsewhere have gone wrong: each a small program with the right answer, derived by
// hand and checked in double precision. The names: A, points where a derivative traps or does not exist; B, tails; D,
// the plumbing of vmap; E, composition; F, broadcasting and reductions; H, layers; I, named axes; J, the runtime.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/both_modes.hpp"

namespace {

using namespace tlaloc;
using namespace both_modes;

constexpr double inf = std::numeric_limits<double>::infinity();

Tensor number(double value) { return tensor<double>(value); }
double value_of(const Tensor& x) { return x.item<double>(); }

// ---------------------------------------------------------------------------------------------------------------------

TEST(Cases, A_where) {
  const Function f = [](const Tensor& x) { return sum(where(x > 0.0, sqrt(x), 2 * x)); };
  EXPECT_EQ(gradient(f, tensor<double>({4, 0, -3})), (Doubles{0.25, 2, 2}));
  // As it is written in the headers.
  const Function root = [](const Tensor& x) { return sum(where(x > 0.0, sqrt(x), 0.0)); };
  EXPECT_EQ(gradient(root, tensor<double>({4, 0, -3})), (Doubles{0.5 / 2, 0, 0}));
}

TEST(Cases, A_where_second_derivative) {
  // -1/4 x^(-3/2) where the root was taken, 0 elsewhere; by reverse over reverse and forward over reverse.
  const Function root = [](const Tensor& x) { return sum(where(x > 0.0, sqrt(x), 0.0)); };
  const Function slope = [&](const Tensor& x) { return sum(grad(root)(x)); };
  EXPECT_EQ(gradient(slope, tensor<double>({4, 0, -3})), (Doubles{-1.0 / 32, 0, 0}));
}

TEST(Cases, A_clamp) {
  const Function f = [](const Tensor& v) {
    return maximum(sqrt(square(select(v, 0, 0)) + square(select(v, 0, 1))), 0.1);
  };
  EXPECT_EQ(value_of(f(tensor<double>({0, 0}))), 0.1);
  EXPECT_EQ(gradient(f, tensor<double>({0, 0})), (Doubles{0, 0}));
  expect_near(gradient(f, tensor<double>({0.3, 0.4})), {0.6, 0.8}, 1e-15);
}

TEST(Cases, A_vcond) {
  const Function f = [](const Tensor& v) {
    const Tensor norm = sqrt(sum(square(v)));
    return where(norm > 0.0, sum(v / norm), 0.0);
  };
  EXPECT_EQ(values_of(grad(f)(tensor<double>({0, 0}))), (Doubles{0, 0}));
  expect_near(values_of(vmap(grad(f))(tensor<double>({{0, 0}, {3, 4}}))), {0, 0, 0.032, -0.024}, 1e-15);
}

TEST(Cases, A_norm) {
  const Function f = [](const Tensor& v) { return square(sqrt(sum(square(v)))); };
  EXPECT_EQ(gradient(f, tensor<double>({0, 0, 0})), (Doubles{0, 0, 0}));
  expect_near(gradient(f, tensor<double>({1, 2, 2})), {2, 4, 4}, 1e-15);
}

Tensor variance(const Tensor& x) { return sum(square(x - mean(x))) / static_cast<double>(x.size() - 1); }

TEST(Cases, A_std) {
  const Function standard_deviation = [](const Tensor& x) { return sqrt(variance(x)); };
  EXPECT_EQ(gradient(variance, tensor<double>({3, 3, 3})), (Doubles{0, 0, 0}));
  const Tensor x = tensor<double>({1, 2, 4});
  expect_near(gradient(variance, x), {-4.0 / 3, -1.0 / 3, 5.0 / 3}, 1e-15);
  EXPECT_NEAR(value_of(standard_deviation(x)), 1.5275252316519, 1e-13);
  expect_near(gradient(standard_deviation, x), {-0.43643578047, -0.10910894512, 0.54554472559}, 1e-11);
}

TEST(Cases, A_lse_inf) {
  const Function f = [](const Tensor& x) { return logsumexp(x); };
  EXPECT_EQ(value_of(f(tensor<double>({-inf, -inf}))), -inf);
  EXPECT_EQ(gradient(f, tensor<double>({-inf, -inf})), (Doubles{0, 0}));
  EXPECT_EQ(value_of(f(tensor<double>({-inf, 1}))), 1);
  EXPECT_EQ(gradient(f, tensor<double>({-inf, 1})), (Doubles{0, 1}));
  EXPECT_NEAR(value_of(f(tensor<double>({0, 1, 2}))), 2.40760596444438, 1e-14);
  expect_near(gradient(f, tensor<double>({0, 1, 2})), {0.09003057317, 0.24472847105, 0.66524095577}, 1e-11);
  EXPECT_EQ(value_of(f(tensor<double>({inf, 1}))), inf);
  EXPECT_EQ(gradient(f, tensor<double>({inf, 1})), (Doubles{1, 0}));
  // Per row, the second of which is ordinary.
  const Tensor rows = tensor<double>({{-inf, -inf}, {0, 0}});
  EXPECT_EQ(values_of(vmap(grad(f))(rows)), (Doubles{0, 0, 0.5, 0.5}));
  EXPECT_EQ(
      values_of(grad([](const Tensor& x) { return sum(where(logsumexp(x, 1) > -inf, logsumexp(x, 1), 0.0)); })(rows)),
      (Doubles{0, 0, 0.5, 0.5}));
}

TEST(Cases, A_tie) {
  const Function f = [](const Tensor& x) { return max(x); };
  EXPECT_EQ(gradient(f, tensor<double>({2, 5, 5, 1})), (Doubles{0, 0.5, 0.5, 0}));
  EXPECT_EQ(gradient([](const Tensor& x) { return max_with_indices(x, 0).values; }, tensor<double>({2, 5, 5, 1})),
            (Doubles{0, 0.5, 0.5, 0}));
  const auto larger = [](const Tensor& a, const Tensor& b) { return maximum(a, b); };
  const auto [da, db] = grad(larger, argnums<0, 1>)(number(3), number(3));
  EXPECT_EQ(value_of(da), 0.5);
  EXPECT_EQ(value_of(db), 0.5);
  const auto along = [&](double a, double b) {
    return value_of(jvp(larger, std::tuple(number(3), number(3)), std::tuple(number(a), number(b))).second);
  };
  EXPECT_EQ(along(1, 0), 0.5);
  EXPECT_EQ(along(0, 1), 0.5);
  EXPECT_EQ(value_of(grad([](const Tensor& x) { return maximum(x, x); })(number(3))), 1);
}

TEST(Cases, A_relu) {
  const Function f = [](const Tensor& x) { return sum(relu(x)); };
  EXPECT_EQ(gradient(f, tensor<double>({-1, 0, -0.0, 2})), (Doubles{0, 0, 0, 1}));
}

TEST(Cases, A_sqrt_at_0) {
  EXPECT_EQ(value_of(grad([](const Tensor& x) { return sqrt(x); })(number(0))), inf);
  EXPECT_EQ(value_of(jvp([](const Tensor& x) { return sqrt(x); }, number(0), number(1)).second), inf);
  EXPECT_EQ(value_of(grad([](const Tensor& x) { return 0.0 * sqrt(x); })(number(0))), 0);
}

TEST(Cases, B_logaddexp) {
  const Function f = [](const Tensor& a) { return logsumexp(stack({a, zeros_like(a)})); };
  const Function slope = grad(f);
  const Function curvature = grad(slope);
  const auto at = [&](double a) {
    return Doubles{value_of(f(number(a))), value_of(slope(number(a))), value_of(curvature(number(a)))};
  };
  expect_near(at(0), {0.6931471805599453, 0.5, 0.25}, 1e-15);
  EXPECT_EQ(at(-800), (Doubles{0, 0, 0}));
  EXPECT_EQ(at(800), (Doubles{800, 1, 0}));
}

TEST(Cases, B_cross_entropy_of_a_far_label) {
  // -log softmax at a class 800 below the best: 800 exactly, gradient (1, -1), no overflow and no log of 0.
  const Function f = [](const Tensor& x) { return cross_entropy(x, tensor<double>({0, 1})); };
  EXPECT_EQ(value_of(f(tensor<double>({800, 0}))), 800);
  EXPECT_EQ(gradient(f, tensor<double>({800, 0})), (Doubles{1, -1}));
  // A class that cannot happen and has no weight.
  EXPECT_EQ(value_of(f(tensor<double>({-inf, 3}))), 0);
  EXPECT_EQ(gradient(f, tensor<double>({-inf, 3})), (Doubles{0, 0}));
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(Cases, D_neg) {
  const Tensor x = tensor<double>({{1, 2, 3}, {4, 5, 6}});
  const auto f = [](const Tensor& v) { return sum(square(v)); };
  EXPECT_EQ(values_of(vmap(f, in_axes(-1))(x)), (Doubles{17, 29, 45}));
  EXPECT_EQ(values_of(vmap(f, in_axes(1))(x)), (Doubles{17, 29, 45}));
  EXPECT_EQ(values_of(vmap(f, in_axes(0))(x)), (Doubles{14, 77}));
  EXPECT_EQ(values_of(vmap(f, in_axes(-2))(x)), (Doubles{14, 77}));
  // The result's axes count with the batch among them.
  EXPECT_EQ(values_of(vmap([](const Tensor& v) { return 2 * v; }, out_axes(-1))(x)), (Doubles{2, 8, 4, 10, 6, 12}));
  expect_mentions(refusal<AxisError>([&] { vmap(f, in_axes(-3))(x); }), {"-3", "[2, 3]"});
  expect_mentions(refusal<AxisError>([&] { vmap(f, in_axes(2))(x); }), {"2", "[2, 3]"});
}

TEST(Cases, D_none) {
  const auto f = [](const Tensor& x) { return x; };
  EXPECT_EQ(values_of(vmap(f, in_axes(none), axis_size(5))(number(1))), Doubles(5, 1.0));
  EXPECT_EQ(values_of(vmap(f, axis_size(5))(number(1))), Doubles(5, 1.0));
  expect_mentions(refusal<ValueError>([&] { vmap(f, in_axes(none))(number(1)); }), {"axis_size", "f64 []"});
  expect_mentions(refusal<ValueError>([&] { vmap(f, Axis("cases"))(ones({2})); }), {"cases", "axis_size", "f32 [2]"});
}

TEST(Cases, D_sizes) {
  const auto f = [](const Tensor& x, const Tensor& y, const Tensor&) { return sum(x) + sum(y); };
  const std::string message = refusal<ShapeError>([&] {
    vmap(f, in_axes(0, 1, 0))(ones({4, 3}), ones({3, 2}), ones({4}));
  });
  expect_mentions(message, {"argument 1 has 2 examples along its axis 1", "the batch has 4", "argument 0: f32 [4, 3]",
                            "argument 1: f32 [3, 2]", "argument 2: f32 [4]"});
  // An extent of 1 does not stretch.
  EXPECT_THROW(vmap([](const Tensor& x, const Tensor& y) { return x + y; })(ones({4}), ones({1})), ShapeError);
  EXPECT_THROW(vmap([](const Tensor& x) { return x; }, axis_size(3))(ones({4})), ShapeError);
}

TEST(Cases, D_zero) {
  const Tensor none_at_all = zeros({0, 3}, DType::f64);
  const Function f = [](const Tensor& x) { return sum(tanh(x)); };
  EXPECT_EQ(vmap(grad(f))(none_at_all).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap(grad([&](const Tensor& x) { return sum(grad(f)(x)); }))(none_at_all).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap([&](const Tensor& x) { return jvp(f, x, x).second; })(none_at_all).shape(), (Shape{0}));
  const Tensor weights = tensor<double>({1, 2, 3});
  EXPECT_EQ(vmap([&](const Tensor& x) { return matmul(x, weights); })(none_at_all).shape(), (Shape{0}));
  EXPECT_EQ(vmap([](const Tensor& x) { return stack({x, x}); })(none_at_all).shape(), (Shape{0, 2, 3}));
  EXPECT_EQ(vmap([](const Tensor& x) { return concat({x, x}, 0); })(none_at_all).shape(), (Shape{0, 6}));
  EXPECT_EQ(vmap([](const Tensor& x) { return softmax(x, 0); })(none_at_all).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap([](const Tensor& x) { return max(x) + logsumexp(x); })(none_at_all).shape(), (Shape{0}));
  EXPECT_EQ(vmap([](const Tensor& x) { return select(where(x > 0.0, x, -x), 0, 1); })(none_at_all).shape(), (Shape{0}));
  const auto labelled = [](const Tensor& x, const Tensor& y) { return cross_entropy(x, y); };
  EXPECT_EQ(vmap(labelled)(none_at_all, zeros({0}, DType::i64)).shape(), (Shape{0}));
  // What every example shares gets the gradient of nothing: zeros.
  const auto loss = [&](const Tensor& w) {
    return sum(vmap([&](const Tensor& x) { return sum(tanh(x * w)); })(none_at_all));
  };
  EXPECT_EQ(values_of(grad(loss)(weights)), (Doubles{0, 0, 0}));
  EXPECT_EQ(value_of(jvp(loss, weights, weights).second), 0);
}

TEST(Cases, D_flow) {
  const Tensor x = tensor<double>({-2, 0, 3});
  const auto branching = [](const Tensor& v) { return static_cast<bool>(v > 0.0) ? square(v) : -v; };
  expect_mentions(refusal<LevelError>([&] { vmap(branching)(x); }), {"vmap", "where"});
  const auto chosen = [](const Tensor& v) { return where(v > 0.0, square(v), -v); };
  EXPECT_EQ(values_of(vmap(chosen)(x)), (Doubles{2, 0, 9}));
  EXPECT_EQ(values_of(vmap(grad(chosen))(x)), (Doubles{-1, -1, 6}));
}

TEST(Cases, D_escape) {
  Tensor kept;
  vmap([&](const Tensor& x) {
    kept = x * 2;
    return x;
  })(tensor<double>({1, 2}));
  expect_mentions(refusal<LevelError>([&] { kept + 1.0; }), {"add", "vmap", "ended"});
  grad([&](const Tensor& x) {
    kept = x * 2;
    return x;
  })(number(1));
  expect_mentions(refusal<LevelError>([&] { exp(kept); }), {"exp", "grad", "ended"});
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(Cases, E_confuse) {
  const auto derivative = [](char mode, const Function& f, const Tensor& x) {
    return mode == 'G' ? grad(f)(x) : jvp(f, x, ones_like(x)).second;
  };
  for (const char outer : {'G', 'J'})
    for (const char inner : {'G', 'J'}) {
      const Function product = [&](const Tensor& x) {
        return x * derivative(
                       inner, [&](const Tensor& y) { return x * square(y); }, number(2));
      };
      EXPECT_EQ(value_of(derivative(outer, product, number(3))), 24) << outer << inner;
      const Function sum = [&](const Tensor& x) {
        return x * derivative(
                       inner, [&](const Tensor& y) { return x + y; }, number(1));
      };
      EXPECT_EQ(value_of(derivative(outer, sum, number(4))), 1) << outer << inner;
    }
}

TEST(Cases, E_unused) {
  const auto f = [](const Tensor& x, const Tensor&) { return 0.3 * x; };
  const auto [dx, du] = grad(f, argnums<0, 1>)(number(1), ones({2, 3}));
  EXPECT_EQ(value_of(dx), 0.3);
  EXPECT_TRUE(array_equal(du, zeros({2, 3})));
  Function derivative = [](const Tensor& x) { return 0.3 * x; };
  for (int i = 0; i < 3; ++i) derivative = grad(derivative);
  EXPECT_EQ(value_of(derivative(number(1))), 0);
}

TEST(Cases, E_scalar) {
  expect_mentions(refusal<ShapeError>([] { grad([](const Tensor& x) { return x; })(ones({2})); }),
                  {"[2]", "sum()", "vjp"});
  expect_mentions(refusal<ShapeError>([] { grad([](const Tensor& x) { return x; })(ones({1})); }),
                  {"[1]", "squeeze()"});
  expect_mentions(refusal<ShapeError>([] {
                    grad([](const Tensor& x) { return x; })(ones({1, 1}));
                  }),
                  {"[1, 1]", "sum()"});
  // Shapes are those that the function sees.
  expect_mentions(refusal<ShapeError>([] {
                    vmap(grad([](const Tensor& x) { return x; }))(ones({7, 2}));
                  }),
                  {"f32 [2]"});
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(Cases, F_sumto) {
  const auto f = [](const Tensor& x, const Tensor& y, const Tensor& z) { return sum(z * square(x + y)); };
  const Tensor x = tensor<double>({{1}, {2}}), y = tensor<double>({{10, 20, 30}}), z = number(0.5);
  const auto [value, gradients] = value_and_grad(f, argnums<0, 1, 2>)(x, y, z);
  EXPECT_EQ(value_of(value), 1587.5);
  EXPECT_TRUE(array_equal(std::get<0>(gradients), tensor<double>({{63}, {66}})));
  EXPECT_TRUE(array_equal(std::get<1>(gradients), tensor<double>({{23, 43, 63}})));
  EXPECT_TRUE(array_equal(std::get<2>(gradients), number(3175)));
  // The same per example, where the batch is one more axis to leave alone.
  const auto mapped = vmap(grad(f, argnums<0, 1, 2>), in_axes(0, none, 0));
  const auto [dx, dy, dz] = mapped(stack({x, x}), y, stack({z, 2 * z}));
  EXPECT_TRUE(array_equal(dx, tensor<double>({{{63}, {66}}, {{126}, {132}}})));
  EXPECT_TRUE(array_equal(dy, tensor<double>({{{23, 43, 63}}, {{46, 86, 126}}})));
  EXPECT_TRUE(array_equal(dz, tensor<double>({3175, 3175})));
}

TEST(Cases, F_empty) {
  const Tensor x = zeros({3, 0}, DType::f64);
  EXPECT_EQ(values_of(sum(x, 1)), (Doubles{0, 0, 0}));
  for (const double value : values_of(mean(x, 1))) EXPECT_TRUE(std::isnan(value));
  EXPECT_THROW(max(x, 1), ValueError);
  EXPECT_THROW(max_with_indices(x, 1), ValueError);
  EXPECT_EQ(max(x, 0).shape(), (Shape{0}));
  EXPECT_EQ(softmax(x, 1).shape(), (Shape{3, 0}));
  EXPECT_EQ(log_softmax(x, 1).shape(), (Shape{3, 0}));
  EXPECT_EQ(values_of(logsumexp(x, 1)), (Doubles{-inf, -inf, -inf}));
  for (const Function& f : {Function([](const Tensor& v) { return sum(sum(v, 1)); }),
                            Function([](const Tensor& v) { return sum(mean(v, 1)); }),
                            Function([](const Tensor& v) { return sum(softmax(v, 1)); }),
                            Function([](const Tensor& v) { return sum(logsumexp(v, 1)); })})
    EXPECT_EQ(grad(f)(x).shape(), (Shape{3, 0}));
  // An empty list of axes reduces nothing.
  const Tensor full = tensor<double>({{1, 2}, {3, 4}});
  EXPECT_TRUE(array_equal(sum(full, AxisList(std::initializer_list<AxisRef>{})), full));
  EXPECT_TRUE(array_equal(max(full, AxisList(std::initializer_list<AxisRef>{})), full));
  EXPECT_TRUE(array_equal(mean(full, AxisList(std::initializer_list<AxisRef>{})), full));
  EXPECT_TRUE(array_equal(matmul(zeros({2, 0}), zeros({0, 3})), zeros({2, 3})));
  const auto [da, db] = grad([](const Tensor& a, const Tensor& b) { return sum(matmul(a, b)); }, argnums<0, 1>)(
      zeros({2, 0}), zeros({0, 3}));
  EXPECT_EQ(da.shape(), (Shape{2, 0}));
  EXPECT_EQ(db.shape(), (Shape{0, 3}));
}

TEST(Cases, H_ln) {
  const auto normalised = [](const Tensor& x) {
    const Tensor centred = x - mean(x);
    return centred / sqrt(mean(square(centred)) + 1e-5);
  };
  const Function first = [&](const Tensor& x) { return select(normalised(x), 0, 0); };
  expect_near(gradient(first, tensor<double>({3, 3, 3})), {210.8185106779, -105.4092553389, -105.4092553389}, 1e-12);
  expect_near(gradient(first, tensor<double>({1, 2, 4})), {0.229082291701, -0.343620001369, 0.114537709668}, 1e-11);
  // One feature: it is its own mean, so nothing of the weight is left.
  EXPECT_EQ(value_of(grad([&](const Tensor& w) { return sum(w * normalised(tensor<double>({1e6}))); })(number(1))), 0);
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(Cases, I_name) {
  const Axis batch("batch"), other("other");
  const Tensor x = ones({batch(2), other(3)});
  // One name mapped twice: an error of the inner map.
  expect_mentions(refusal<AxisError>([&] {
                    vmap([&](const Tensor& v) { return vmap([](const Tensor& w) { return w; }, batch)(v); }, batch)(x);
                  }),
                  {"vmap", "batch", "already mapped"});
  expect_mentions(refusal<AxisError>([&] { sum(x, Axis("feature")); }), {"sum", "feature", "batch", "other"});
  // A tensor that shows the name which a running map hides.
  expect_mentions(refusal<AxisError>([&] { vmap([&](const Tensor& v) { return v + x; }, batch)(x); }),
                  {"add", "batch"});
  // Different names nest, and come back in their places.
  const Tensor y =
      vmap([&](const Tensor& v) { return vmap([](const Tensor& w) { return 2 * w; }, other)(v); }, batch)(x);
  EXPECT_TRUE(array_equal(y, 2 * x));
}

TEST(Cases, I_align) {
  const Axis x("x"), y("y");
  const Tensor a = tensor<double>({{0, 1, 2}, {3, 4, 5}}, {x, y});
  const Tensor b = tensor<double>({{0, 10}, {20, 30}, {40, 50}}, {y, x});
  EXPECT_TRUE(array_equal(a + b, tensor<double>({{0, 21, 42}, {13, 34, 55}}, {x, y})));
  const Tensor square_a = tensor<double>({{0, 1}, {2, 3}}, {x, y});
  const Tensor square_b = tensor<double>({{0, 10}, {20, 30}}, {y, x});
  EXPECT_TRUE(array_equal(square_a + square_b, tensor<double>({{0, 21}, {12, 33}}, {x, y})));
  // Gradients keep the names, wherever the axes stand.
  const auto f = [](const Tensor& p, const Tensor& q) { return sum(p * q * q); };
  const auto [da, db] = grad(f, argnums<0, 1>)(square_a, square_b);
  EXPECT_TRUE(array_equal(da, tensor<double>({{0, 400}, {100, 900}}, {x, y})));
  EXPECT_TRUE(array_equal(db, tensor<double>({{0, 40}, {40, 180}}, {y, x})));
  const auto [value, tangent] =
      jvp(f, std::tuple(square_a, square_b), std::tuple(Tensor(), ones({y(2), x(2)}, DType::f64)));
  EXPECT_EQ(value_of(tangent), 40 + 40 + 180);
  expect_mentions(refusal<ShapeError>([&] { ones({x(2)}) + ones({x(3)}); }), {"add", "x", "2", "3"});
  EXPECT_THROW(ones({x(2), x(2)}), AxisError);
  EXPECT_THROW(rename(ones({2, 2}), {x, x}), AxisError);
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(Cases, J_deep) {
  const auto chain = [](int steps, double rate) {
    return [=](const auto& x) {
      auto y = x;
      for (int i = 0; i < steps; ++i) y = y * (1 + rate);
      return y;
    };
  };
  // Each step rounds once, and so does 1 + rate.
  const auto check = [&](int steps, double rate, double exact) {
    const Function f = chain(steps, rate);
    const double slope = value_of(grad(f)(number(1)));
    EXPECT_EQ(slope, chain(steps, rate)(1.0));
    EXPECT_EQ(value_of(jvp(f, number(1), number(1)).second), slope);
    EXPECT_NEAR(slope, exact, exact * steps * std::numeric_limits<double>::epsilon());
  };
  check(1'000'000, 1e-6, 2.718280469319377);
  check(200'000, 1e-5, 7.388982209231708);
}

TEST(Cases, J_thread) {
  const auto f = [](const Tensor& x) {
    Tensor total = number(0);
    for (int k = 1; k <= 10; ++k) total = total + tanh(x * k) * exp(x / k);
    return total;
  };
  constexpr int count = 8;
  const auto derivative = [&](int t) { return value_of(grad(f)(number(t / 10.0))); };
  std::vector<double> found(count);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&, t] { found[static_cast<std::size_t>(t)] = derivative(t); });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < count; ++t) EXPECT_EQ(found[static_cast<std::size_t>(t)], derivative(t)) << "at " << t;
  EXPECT_EQ(found[0], 55);
}

TEST(Cases, J_chunk) {
  const Function cube = [](const Tensor& x) { return x * x * x; };
  const Tensor x = tensor<double>({1, 2, 3, 4, 5});
  EXPECT_EQ(values_of(vmap(grad(cube))(x)), (Doubles{3, 12, 27, 48, 75}));
  for (const int chunk : {1, 2, 3, 5, 7}) {
    EXPECT_EQ(values_of(vmap(grad(cube), chunk_size(chunk))(x)), (Doubles{3, 12, 27, 48, 75})) << chunk;
    // Other ways to put the results together, an argument that is shared, and gradients through it all.
    const auto scaled = [&](const Tensor& w) {
      return vmap([](const Tensor& v, const Tensor& s) { return v * v * s; }, in_axes(0, none), out_axes(summed),
                  chunk_size(chunk))(x, w);
    };
    EXPECT_EQ(value_of(scaled(number(2))), 110) << chunk;
    EXPECT_EQ(value_of(grad(scaled)(number(2))), 55) << chunk;
    EXPECT_EQ(value_of(jvp(scaled, number(2), number(3)).second), 165) << chunk;
    EXPECT_EQ(vmap(cube, chunk_size(chunk))(zeros({0}, DType::f64)).shape(), (Shape{0})) << chunk;
    EXPECT_EQ(values_of(vmap(
                  [](const Tensor& v) {
                    return stack({v, -v});
                  },
                  out_axes(1), chunk_size(chunk))(x)),
              (Doubles{1, 2, 3, 4, 5, -1, -2, -3, -4, -5}))
        << chunk;
  }
  EXPECT_THROW(chunk_size(0), ValueError);
}

TEST(Cases, J_chunk_memory) {
  // What is held at once is that of a chunk: 4 of 64 examples, with room for what is not a multiple of them.
  const Tensor x = full({64, 65'536}, 0.5) * 1.0;
  const auto f = [](const Tensor& v) { return sum(tanh(exp(v) * v) * v); };
  const auto peak = [&](const auto& run) {
    const std::int64_t before = memory_stats().in_use;
    reset_peak_memory();
    run();
    return memory_stats().peak - before;
  };
  const std::int64_t whole = peak([&] { vmap(f)(x); });
  const std::int64_t chunked = peak([&] { vmap(f, chunk_size(4))(x); });
  EXPECT_GE(whole, 2 * x.size() * 4);
  EXPECT_LE(chunked, whole / 12);
}

}  // namespace
