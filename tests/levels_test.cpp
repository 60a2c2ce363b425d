// Levels at run time: derivatives of derivatives and what they capture, how deep transforms may nest, functions that
// throw, and what can be read inside a transform.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/transforms.hpp"

namespace {

using namespace transform_test;

Tensor jvp_along_one(const Function& f, const Tensor& x) { return jvp(f, x, ones_like(x)).second; }
Tensor derivative(char mode, const Function& f, const Tensor& x) {
  return mode == 'G' ? grad(f)(x) : jvp_along_one(f, x);
}
constexpr const char* pairs[] = {"GG", "GJ", "JG", "JJ"};

// ---------------------------------------------------------------------------------------------------------------------
// Derivatives of derivatives

TEST(Confusion, InnerDerivativesCloseOverOuterVariables) {
  for (const char* modes : pairs) {
    SCOPED_TRACE(modes);
    // D_x[x * D_y[x * y^2](2)](3) = D_x[4 x^2](3)
    const Tensor product = derivative(
        modes[0],
        [&](const Tensor& x) {
          return x * derivative(
                         modes[1], [&](const Tensor& y) { return x * square(y); }, scalar(2));
        },
        scalar(3));
    EXPECT_EQ(value_of(product), 24);
    // D_x[x * D_y[x + y](1)](4) = D_x[x](4)
    const Tensor sum = derivative(
        modes[0],
        [&](const Tensor& x) {
          return x * derivative(
                         modes[1], [&](const Tensor& y) { return x + y; }, scalar(1));
        },
        scalar(4));
    EXPECT_EQ(value_of(sum), 1);
    // The inner derivative at the outer variable itself: D_x[D_y[x y](x)](5) = D_x[x](5)
    const Tensor same = derivative(
        modes[0],
        [&](const Tensor& x) {
          return derivative(
              modes[1], [&](const Tensor& y) { return x * y; }, x);
        },
        scalar(5));
    EXPECT_EQ(value_of(same), 1);
    // An inner function that ignores its own variable: D_x[D_y[x^2](x)] = 0
    const Tensor ignored = derivative(
        modes[0],
        [&](const Tensor& x) {
          return derivative(
              modes[1], [&](const Tensor&) { return square(x); }, x);
        },
        scalar(5));
    EXPECT_EQ(value_of(ignored), 0);
  }
}

TEST(Confusion, TangentsAndCotangentsThatBelongToAnOuterLevel) {
  // D_v[jvp(sin-like f, x, v)] is f'(x), and the tangent is the variable.
  const auto f = [](const Tensor& x) { return tanh(x); };
  const double slope = 1 - std::tanh(0.4) * std::tanh(0.4);
  for (const char mode : {'G', 'J'})
    EXPECT_DOUBLE_EQ(value_of(derivative(
                         mode, [&](const Tensor& v) { return jvp(f, scalar(0.4), v).second; }, scalar(3))),
                     slope);
  // The same with a pull-back made outside, its cotangent being the variable.
  const auto [y, pullback] = vjp(f, scalar(0.4));
  for (const char mode : {'G', 'J'})
    EXPECT_DOUBLE_EQ(value_of(derivative(
                         mode, [&](const Tensor& ct) { return pullback(ct); }, scalar(3))),
                     slope);
}

TEST(Confusion, EachOfFourLevelsCapturesAllLevelsOutside) {
  // D_a D_b D_c D_d of a^2 b^3 c^4 d^5 ab cd, mixed modes, at (2, 1, 3, 2): 3a^2 4b^3 5c^4 6d^5
  for (const char* modes : {"GGGG", "JJJJ", "GJGJ", "JGJG", "GGJJ", "JJGG", "GJJG", "JGGJ"}) {
    SCOPED_TRACE(modes);
    const auto power = [](const Tensor& x, int n) {
      Tensor p = x;
      for (int i = 1; i < n; ++i) p = p * x;
      return p;
    };
    const Tensor d = derivative(
        modes[0],
        [&](const Tensor& a) {
          return derivative(
              modes[1],
              [&](const Tensor& b) {
                return derivative(
                    modes[2],
                    [&](const Tensor& c) {
                      return derivative(
                          modes[3],
                          [&](const Tensor& e) {
                            return power(a, 2) * power(b, 3) * power(c, 4) * power(e, 5) * (a * b) * (c * e);
                          },
                          scalar(2));
                    },
                    scalar(3));
              },
              scalar(1));
        },
        scalar(2));
    EXPECT_EQ(value_of(d), 3.0 * 4 * 4 * 5 * 81 * 6 * 32);
  }
}

TEST(HigherOrder, ThirdAndFourthDerivatives) {
  const Function quartic = [](const Tensor& x) { return square(square(x)); };
  const Function hyperbolic = [](const Tensor& x) { return tanh(x); };
  const double t = std::tanh(0.3), d = 1 - t * t;
  const double third = (6 * t * t - 2) * d, fourth = (16 * t - 24 * t * t * t) * d;
  for (int choice = 0; choice < 16; ++choice) {
    std::string modes;
    for (int i = 0; i < 4; ++i) modes += (choice >> i & 1) != 0 ? 'G' : 'J';
    SCOPED_TRACE(modes);
    const auto repeated = [&](const Function& f, std::size_t order) {
      Function g = f;
      for (std::size_t i = 0; i < order; ++i)
        g = [g, mode = modes[i]](const Tensor& x) { return derivative(mode, g, x); };
      return g;
    };
    EXPECT_EQ(value_of(repeated(quartic, 3)(scalar(2))), 48);
    EXPECT_EQ(value_of(repeated(quartic, 4)(scalar(2))), 24);
    EXPECT_NEAR(value_of(repeated(hyperbolic, 3)(scalar(0.3))), third, 1e-14);
    EXPECT_NEAR(value_of(repeated(hyperbolic, 4)(scalar(0.3))), fourth, 1e-14);
    EXPECT_EQ(value_of(repeated([](const Tensor& x) { return 0.3 * x; }, 3)(scalar(2))), 0);
    EXPECT_EQ(value_of(repeated([](const Tensor&) { return scalar(7); }, 4)(scalar(2))), 0);
  }
}

TEST(HigherOrder, TheHessianOfAFunctionOfAVector) {
  // f = sum(x)^3 + sum(x^4): H_ij = 6 sum(x) + 12 x_i^2 [i = j]
  const Function f = [](const Tensor& x) {
    const Tensor s = sum(x);
    return s * s * s + sum(square(square(x)));
  };
  const Tensor x = tensor<double>({1, -2, 3});
  const std::vector<double> expected{12 + 12, 12, 12, 12, 12 + 48, 12, 12, 12, 12 + 108};
  const Tensor rows = eye(3, DType::f64);
  const Function gradient = grad(f);
  EXPECT_EQ(values_of(vmap([&](const Tensor& v) { return jvp(gradient, x, v).second; })(rows)), expected);
  EXPECT_EQ(values_of(vmap(
                [&](const Tensor& v) { return grad([&](const Tensor& y) { return sum(gradient(y) * v); })(x); })(rows)),
            expected);
  EXPECT_EQ(values_of(vmap(
                [&](const Tensor& v) { return grad([&](const Tensor& y) { return jvp(f, y, v).second; })(x); })(rows)),
            expected);
  const auto [g, pullback] = vjp(gradient, x);
  EXPECT_EQ(values_of(vmap([&](const Tensor& v) { return pullback(v); })(rows)), expected);
}

TEST(HigherOrder, MoreThanSixtyThreeLevelsAreRefused) {
  // A value that belongs to sixteen transforms at once still works; the levels themselves end at 63.
  Function f = [](const Tensor& x) { return exp(x); };
  for (int i = 0; i < 8; ++i) f = [f](const Tensor& x) { return jvp_along_one(f, x); };
  EXPECT_DOUBLE_EQ(value_of(f(scalar(0.5))), std::exp(0.5));
  const std::int64_t before = in_use();
  int reached = 0;
  std::function<Tensor(int)> nest = [&](int depth) -> Tensor {
    return grad([&](const Tensor& x) {
      reached = depth;
      return depth == 63 ? x * 2 : nest(depth + 1) * x;
    })(scalar(1));
  };
  EXPECT_EQ(value_of(nest(1)), 2);
  EXPECT_EQ(reached, 63);
  std::function<Tensor(int)> endless = [&](int depth) -> Tensor {
    return grad([&](const Tensor& x) {
      reached = depth;
      return endless(depth + 1) * x;
    })(scalar(1));
  };
  EXPECT_THROW(endless(1), LevelError);
  EXPECT_EQ(reached, 63);
  EXPECT_EQ(in_use(), before);
  expect_transforms_work();
}

TEST(HigherOrder, AValueOfMoreThanSixteenLevelsIsRefused) {
  const std::int64_t before = in_use();
  Function f = [](const Tensor& x) { return x * 3; };
  for (int i = 0; i < 17; ++i) f = [f](const Tensor& x) { return jvp_along_one(f, x); };
  EXPECT_THROW(f(scalar(1)), LevelError);
  EXPECT_EQ(in_use(), before);
  expect_transforms_work();
}

TEST(Unused, ArgumentsHaveZerosOfTheirShapeAndNames) {
  const Axis feature("feature");
  const Tensor unused = ones({feature(2), 3}, DType::f64);
  const auto f = [](const Tensor& x, const Tensor&) { return x * x; };
  const auto [dx, du] = grad(f, argnums<0, 1>)(scalar(3), unused);
  EXPECT_EQ(value_of(dx), 6);
  EXPECT_TRUE(array_equal(du, zeros({feature(2), 3}, DType::f64)));
  EXPECT_TRUE(array_equal(grad(f, argnums<1>)(scalar(3), ones({feature(2)})), zeros({feature(2)})));
  const auto [y, dy] = jvp([](const Tensor&) { return ones({2}, DType::f64); }, scalar(1), scalar(1));
  EXPECT_TRUE(array_equal(dy, zeros({2}, DType::f64)));
  // A constant result, and one that is the argument itself.
  EXPECT_EQ(value_of(grad([](const Tensor&) { return scalar(4); })(scalar(3))), 0);
  EXPECT_EQ(value_of(grad([](const Tensor& x) { return x; })(scalar(3))), 1);
  EXPECT_EQ(value_of(jvp_along_one([](const Tensor& x) { return x; }, scalar(3))), 1);
  // Unused inside a vmap, whether it is mapped or not.
  const auto mapped = vmap(grad(f, argnums<0, 1>), in_axes(0, 0));
  const auto [mx, mu] = mapped(tensor<double>({1, 2, 3}), ones({3, 2}, DType::f64));
  EXPECT_EQ(values_of(mx), (std::vector<double>{2, 4, 6}));
  EXPECT_TRUE(array_equal(mu, zeros({3, 2}, DType::f64)));
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions that throw

struct Mine {
  int number;
};

/// Runs a transform of a function that calls `fail` when it is half done.
const std::vector<std::pair<const char*, std::function<void(const std::function<void()>& fail)>>>& failing_runs() {
  using Fail = std::function<void()>;
  static const Tensor x = tensor<double>({0.5, 1.5, 2.5});
  static const auto body = [](const Tensor& y, const Fail& fail) {
    const Tensor z = tanh(y) * y;
    fail();
    return sum(z * z);
  };
  static const std::vector<std::pair<const char*, std::function<void(const Fail&)>>> all{
      {"grad", [](const Fail& fail) { grad([&](const Tensor& y) { return body(y, fail); })(x); }},
      {"value_and_grad", [](const Fail& fail) { value_and_grad([&](const Tensor& y) { return body(y, fail); })(x); }},
      {"vjp", [](const Fail& fail) { vjp([&](const Tensor& y) { return body(y, fail); }, x); }},
      {"jvp", [](const Fail& fail) { jvp([&](const Tensor& y) { return body(y, fail); }, x, x); }},
      {"vmap", [](const Fail& fail) { vmap([&](const Tensor& y) { return body(y, fail); })(x); }},
      {"named vmap",
       [](const Fail& fail) {
         const Axis axis("levels");
         vmap([&](const Tensor& y) { return body(y, fail); }, axis)(rename(x, {axis}));
       }},
      {"vmap of grad", [](const Fail& fail) { vmap(grad([&](const Tensor& y) { return body(y, fail); }))(x); }},
      {"grad of vmap",
       [](const Fail& fail) {
         grad([&](const Tensor& y) { return sum(vmap([&](const Tensor& z) { return body(z * y, fail); })(x)); })(x);
       }},
      {"grad of jvp of vmap of grad",
       [](const Fail& fail) {
         grad([&](const Tensor& a) {
           return jvp(
                      [&](const Tensor& b) {
                        return sum(vmap(grad([&](const Tensor& c) { return body(c * a * sum(b), fail); }))(b));
                      },
                      a, x)
               .second;
         })(x);
       }},
  };
  return all;
}

TEST(Throwing, TheSameExceptionArrivesAndNothingIsLeft) {
  for (const auto& [name, run] : failing_runs()) {
    SCOPED_TRACE(name);
    const std::int64_t before = in_use();
    EXPECT_EQ(before, in_use());
    try {
      run([] { throw Mine{42}; });
      ADD_FAILURE() << "nothing arrived";
    } catch (const Mine& mine) {
      EXPECT_EQ(mine.number, 42);
    }
    EXPECT_EQ(in_use(), before);
    expect_transforms_work();
    EXPECT_THROW(run([] { throw std::runtime_error("mine"); }), std::runtime_error);
    EXPECT_THROW(run([] { matmul(ones({2, 3}), ones({2, 3})); }), ShapeError);
    EXPECT_THROW(run([] { ones({2}) + ones({2}, DType::f64); }), DTypeError);
    EXPECT_THROW(run([] { sum(ones({2}), Axis("nowhere")); }), AxisError);
    EXPECT_THROW(run([] { select(ones({2}), 0, 5); }), ValueError);
    EXPECT_THROW(run([] { add(ones({2}), Tensor()); }), ValueError);
    EXPECT_THROW(run([] { zeros({std::int64_t{1} << 42, 1 << 20}) + 1.0; }), SizeError);
    EXPECT_EQ(in_use(), before);
    expect_transforms_work();
    run([] {});
    EXPECT_EQ(in_use(), before);
  }
}

TEST(Throwing, ACaughtErrorLetsTheFunctionGoOn) {
  const Tensor x = tensor<double>({1, 2, 3});
  const auto careful = [](const Tensor& y) {
    Tensor z = y * y;
    try {
      z = z * ones({2}, DType::f64);
      ADD_FAILURE() << "not refused";
    } catch (const ShapeError&) {
      z = z * y;
    }
    EXPECT_THROW(matmul(z, ones({7, 7}, DType::f64)), ShapeError);
    EXPECT_THROW(concat({z, ones({2, 2}, DType::f64)}, 0), ShapeError);
    EXPECT_THROW(cross_entropy(z, tensor<std::int64_t>(3)), ValueError);
    EXPECT_THROW(grad([&](const Tensor& w) { return w * z; })(y), ShapeError);  // not a scalar
    EXPECT_THROW(grad([&](const Tensor& w) { return sum(w * z * ones({4}, DType::f64)); })(y), ShapeError);
    EXPECT_THROW(vmap([&](const Tensor& w) { return w * ones({2}, DType::f64); }, in_axes(5))(y), AxisError);
    try {
      jvp([&](const Tensor& w) -> Tensor { throw Mine{static_cast<int>((w * z).rank())}; }, y, y);
    } catch (const Mine& mine) {
      EXPECT_EQ(mine.number, 1);
    }
    return sum(z);
  };
  const std::int64_t before = in_use();
  EXPECT_EQ(values_of(grad(careful)(x)), (std::vector<double>{3, 12, 27}));
  EXPECT_EQ(value_of(jvp(careful, x, x).second), 3 + 24 + 81);
  EXPECT_EQ(values_of(vmap(grad(careful))(stack({x, 2 * x}))), (std::vector<double>{3, 12, 27, 12, 48, 108}));
  EXPECT_EQ(values_of(grad([&](const Tensor& y) { return sum(grad(careful)(y)); })(x)),
            (std::vector<double>{6, 12, 18}));
  EXPECT_EQ(in_use(), before);
}

TEST(Throwing, ResultsThatATransformRefuses) {
  const Tensor x = tensor<double>({1, 2, 3});
  const std::int64_t before = in_use();
  EXPECT_THROW(grad([](const Tensor& y) { return y * 2; })(x), ShapeError);
  EXPECT_THROW(grad([](const Tensor& y) { return sum(y > 0.0); })(x), DTypeError);
  EXPECT_THROW(grad([](const Tensor&) { return Tensor(); })(x), ValueError);
  EXPECT_THROW(grad([](const Tensor& y) { return y; })(tensor<std::int64_t>(3)), DTypeError);
  EXPECT_THROW(grad([](const Tensor& y) { return y; })(Tensor()), ValueError);
  EXPECT_THROW(jvp([](const Tensor& y) { return y; }, x, ones({2}, DType::f64)), ShapeError);
  EXPECT_THROW(jvp([](const Tensor& y) { return y; }, x, ones({3}, DType::f32)), DTypeError);
  EXPECT_THROW(vmap([](const Tensor& y) { return y; }, out_axes(none))(x), AxisError);
  EXPECT_THROW(vmap([](const Tensor& y) { return y; }, out_axes(3))(x), AxisError);
  EXPECT_THROW(vmap([](const Tensor& y) { return y; }, out_axes(0, 0))(x), ValueError);
  EXPECT_EQ(in_use(), before);
  expect_transforms_work();
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

TEST(Reading, GoesThroughGradAndJvpAndStopsAtVmap) {
  const Axis axis("levels");
  const auto steps = [](const Tensor& x) {
    Tensor y = x;
    while (static_cast<bool>(y < 100.0)) y = y * y;  // as many times as the value asks for
    EXPECT_GE(y.item<double>(), 100);
    std::ostringstream text;
    text << y;
    EXPECT_NE(text.str().find("256"), std::string::npos) << text.str();
    return y;
  };
  EXPECT_EQ(value_of(grad(steps)(scalar(2))), 8 * 128);
  EXPECT_EQ(value_of(jvp_along_one(grad(steps), scalar(2))), 8 * 7 * 64);
  for (const auto& read : std::vector<std::function<void(const Tensor&)>>{
           [](const Tensor& x) { x.item<double>(); },
           [](const Tensor& x) { x.to_vector<double>(); },
           [](const Tensor& x) { static_cast<void>(x.span<double>()); },
           [](const Tensor& x) { static_cast<void>(static_cast<bool>(x > 0.0)); },
           [](const Tensor& x) { array_equal(x, x); },
       }) {
    const auto f = [&](const Tensor& x) {
      const Tensor shared = scalar(5);
      EXPECT_EQ(shared.item<double>(), 5);  // what does not vary can be read
      try {
        read(x * 2);
        ADD_FAILURE() << "not refused";
      } catch (const LevelError& error) {
        EXPECT_NE(std::string(error.what()).find("levels"), std::string::npos) << error.what();
      }
      std::ostringstream text;
      text << x;
      EXPECT_NE(text.str().find("of each example in 3"), std::string::npos) << text.str();
      return x;
    };
    vmap(f, axis)(tensor<double>({1, 2, 3}, {axis}));
    vmap(grad(f), axis)(tensor<double>({1, 2, 3}, {axis}));
    jvp([&](const Tensor& y) { return vmap(f, axis)(y); }, tensor<double>({1, 2, 3}, {axis}), ones({3}, DType::f64));
  }
}

}  // namespace
