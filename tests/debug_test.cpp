// nan_check, print_tape and check_grads.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/refusals.hpp"

namespace {

using namespace tlaloc;
using refusals::refusal;

Tensor number(double value) { return tensor<double>(value); }
const Axis batch{"batch"}, feature{"feature"};

/// The message without the line where the check began.
std::string nan_message(const std::function<void()>& f) {
  std::string text = refusal<ValueError>([&] {
    const auto check = debug::nan_check();
    f();
  });
  const auto begin = text.find("debug_test.cpp:");
  const auto end = text.find(": ", begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return text;
  return text.erase(begin + 14, end - begin - 14);
}

TEST(NanCheck, TheFirstOperationThatMakesOne) {
  const Tensor x = tensor<double>({{1, 4}, {0, -1}});
  EXPECT_EQ(nan_message([&] { sum(sqrt(x)) * 2; }),
            "nan_check, begun at debug_test.cpp: sqrt makes nan at [1, 1]; got f64 [2, 2]; its operands hold no such "
            "number, so it begins here");
  EXPECT_EQ(nan_message([&] { log(abs(x)); }),
            "nan_check, begun at debug_test.cpp: log makes inf at [1, 0]; got f64 [2, 2]; its operands hold no such "
            "number, so it begins here");
  EXPECT_EQ(
      nan_message([&] { number(1) / number(0); }),
      "nan_check, begun at debug_test.cpp: divide makes inf; got f64 [], f64 []; its operands hold no such number, "
      "so it begins here");
}

TEST(NanCheck, WhatComesInIsNobodysFault) {
  const Tensor infinity = number(1) / number(0);
  const Tensor nan = number(0) / number(0);
  const auto check = debug::nan_check();
  EXPECT_NO_THROW(infinity * 2 + nan);
  EXPECT_NO_THROW(maximum(number(1), -infinity));
  // But a nan of infinities is new.
  EXPECT_THROW(infinity - infinity, ValueError);
  EXPECT_NO_THROW(sqrt(number(4)) + 1);
}

TEST(NanCheck, OnTheWayBack) {
  const auto f = [](const Tensor& x) { return sum(sqrt(x)); };
  EXPECT_EQ(
      nan_message([&] {
        grad(f)(tensor<double>({4, 0}));
      }),
      "nan_check, begun at debug_test.cpp: sqrt makes inf at [1] on the way back through sqrt; got f64 [2], f64 [2]; "
      "its operands hold no such number, so it begins here");
  EXPECT_TRUE(array_equal(grad(f)(tensor<double>({4, 1})), tensor<double>({0.25, 0.5})));
}

TEST(NanCheck, TheExampleOfABatch) {
  const auto f = [](const Tensor& x) { return sum(log(x)); };
  const Tensor xs = tensor<double>({{1, 2}, {3, 4}, {5, -1}}, {batch, feature});
  EXPECT_EQ(
      nan_message([&] { vmap(f, batch)(xs); }),
      "nan_check, begun at debug_test.cpp: log makes nan at [1] of example 2 along batch; got f64 [feature 2]; its "
      "operands hold no such number, so it begins here");
  EXPECT_EQ(nan_message([&] { vmap(vmap([](const Tensor& x) { return log(x); }), batch)(xs); }),
            "nan_check, begun at debug_test.cpp: log makes nan of example 1 of example 2 along batch; got f64 []; its "
            "operands hold no such number, so it begins here");
  EXPECT_EQ(
      nan_message([&] {
        vmap(grad([](const Tensor& x) { return sum(sqrt(x)); }),
             batch)(tensor<double>({{1, 0}, {1, 1}}, {batch, feature}));
      }),
      "nan_check, begun at debug_test.cpp: sqrt makes inf at [1] of example 0 along batch on the way back through "
      "sqrt; got f64 [feature 2], f64 [feature 2]; its operands hold no such number, so it begins here");
}

TEST(NanCheck, ScopesNestAndEnd) {
  const auto divide_by_zero = [] { return (number(1) / number(0)).item<double>(); };
  {
    const auto outer = debug::nan_check();
    {
      const auto inner = debug::nan_check();
      EXPECT_THROW(divide_by_zero(), ValueError);
    }
    EXPECT_THROW(divide_by_zero(), ValueError);
  }
  EXPECT_NO_THROW(divide_by_zero());
}

TEST(NanCheck, ChangesNoResult) {
  const auto f = [](const Tensor& w, const Tensor& x) { return sum(square(tanh(matmul(x, w)))); };
  const Tensor w = tensor<double>({{0.1, 0.2, 0.3}, {0.4, -0.5, 0.6}}, {feature, Axis{"hidden"}});
  const Tensor xs = tensor<double>({{1, 2}, {3, 4}}, {batch, feature});
  const auto run = [&] { return vmap(grad(f), batch)(w, xs); };
  const Tensor without = run();
  const auto check = debug::nan_check();
  EXPECT_TRUE(array_equal(run(), without));
}

TEST(PrintTape, Text) {
  Tape tape;
  const Tensor x = tape.watch(tensor<double>({1, 2, 3}, {feature})), c = tape.watch(number(2));
  const Tensor unused = tanh(x);
  sum(x * x) * c + 1;
  std::ostringstream text;
  debug::print_tape(text, tape);
  EXPECT_EQ(text.str(),
            "tape: 2 inputs, 5 operations\n"
            "  %0 = input f64 [feature 3]\n"
            "  %1 = input f64 []\n"
            "  %2 = tanh(%0), keeps f64 [feature 3]\n"
            "  %3 = multiply(%0, %0), keeps f64 [feature 3], f64 [feature 3]\n"
            "  %4 = sum(%3)\n"
            "  %5 = multiply(%4, %1), keeps f64 [], f64 []\n"
            "  %6 = add(%5)\n");
}

TEST(PrintTape, Dot) {
  Tape tape;
  const Tensor x = tape.watch(number(2));
  x* number(3);
  std::ostringstream text;
  debug::print_tape(text, tape, debug::TapeFormat::dot);
  EXPECT_EQ(text.str(),
            "digraph tape {\n"
            "  v0 [shape=box, label=\"f64 []\"];\n"
            "  v1 [label=\"multiply\\nkeeps f64 []\"];\n"
            "  v0 -> v1;\n"
            "}\n");
}

// ---------------------------------------------------------------------------------------------------------------------
// check_grads

TEST(CheckGrads, RightDerivativesPass) {
  const auto f = [](const Tensor& w, const Tensor& x) { return std::pair(tanh(matmul(x, w)), sum(exp(w))); };
  const Tensor w = tensor<double>({{0.1, 0.2}, {0.4, -0.5}, {1.5, 0.3}});
  EXPECT_NO_THROW(check_grads(f, w, tensor<double>({{1, 2, 3}, {-1, 0.5, 0.25}})));
  EXPECT_NO_THROW(check_grads(f, cast(w, DType::f32), tensor<float>({{1, 2, 3}, {-1, 0.5, 0.25}})));
  struct Model {
    Tensor w;
    std::vector<Tensor> biases;
    Tensor count;
  };
  const auto g = [](const Model& m, double factor) { return m.w * m.biases[0] * m.count * factor; };
  EXPECT_NO_THROW(check_grads(g, Model{number(2), {number(3)}, tensor<std::int64_t>(4)}, 5.0));
  const auto product = custom_vjp([](const Tensor& a, const Tensor& b) { return a * b; },
                                  [](const Tensor& a, const Tensor& b) { return std::pair(a * b, std::pair(a, b)); },
                                  [](const std::pair<Tensor, Tensor>& kept, const Tensor& ct) {
                                    return std::tuple(ct * kept.second, ct * kept.first);
                                  });
  EXPECT_NO_THROW(check_grads(product, w, 2 * w, CheckOptions{.forward = false}));
  EXPECT_THROW(check_grads(product, w, 2 * w), LevelError);
}

/// x y^2, with the factor of dy given.
auto rule_with(double factor) {
  return custom_jvp([](const Tensor& x, const Tensor& y) { return x * y * y; },
                    [=](const auto& primals, const auto& tangents) {
                      const auto& [x, y] = primals;
                      const auto& [dx, dy] = tangents;
                      return std::pair(x * y * y, dx * y * y + factor * x * y * dy);
                    });
}

TEST(CheckGrads, AWrongForwardRule) {
  const Tensor x = tensor<double>({1, 2}), y = tensor<double>({3, 4});
  EXPECT_NO_THROW(check_grads(rule_with(2), x, y));
  EXPECT_EQ(refusal<ValueError>([&] { check_grads(rule_with(3), x, y); }),
            "check_grads: the derivative of result 0, entry [0], by argument 1, entry [0], is 9 by jvp and 6 by finite "
            "differences");
}

TEST(CheckGrads, AWrongReverseRule) {
  const auto f = custom_vjp([](const std::vector<Tensor>& v) { return v[0] * v[1]; },
                            [](const std::vector<Tensor>& v) { return std::pair(v[0] * v[1], v); },
                            [](const std::vector<Tensor>& v, const Tensor& ct) {
                              return std::vector<Tensor>{ct * v[1], ct * v[1]};
                            });
  const std::string message = refusal<ValueError>([&] {
    check_grads(f, std::vector<Tensor>{number(2), number(3)}, CheckOptions{.order = 1, .forward = false});
  });
  EXPECT_EQ(message.substr(0, message.find(" is ")),
            "check_grads: the derivative of the results, each times a fixed number, by argument 0, tensor 1");
}

TEST(CheckGrads, AWrongSecondDerivative) {
  // The rule is right, but hides that it depends on x.
  const auto f = custom_jvp([](const Tensor& x) { return square(x); },
                            [](const Tensor& x, const Tensor& dx) {
                              return std::pair(square(x), 2 * dx * tensor<double>(x.item<double>()));
                            });
  EXPECT_NO_THROW(check_grads(f, number(3), CheckOptions{.order = 1}));
  const std::string message = refusal<ValueError>([&] { check_grads(f, number(3)); });
  EXPECT_EQ(message.substr(0, message.find(" is ")),
            "check_grads: of the gradient as a function: the derivative of result 0 by argument 0");
}

}  // namespace
