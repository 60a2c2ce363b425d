// Levels at run time: derivatives of derivatives and what they capture, tensors that outlive their transform, functions
// that throw, pull-backs, and the memory that all of them give back.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

using Function = std::function<Tensor(const Tensor&)>;

Tensor number(double value) { return tensor<double>(value); }
double value_of(const Tensor& x) { return x.item<double>(); }
std::vector<double> values_of(const Tensor& x) { return x.to_vector<double>(); }

Tensor jvp_along_one(const Function& f, const Tensor& x) { return jvp(f, x, ones_like(x)).second; }
Tensor derivative(char mode, const Function& f, const Tensor& x) {
  return mode == 'G' ? grad(f)(x) : jvp_along_one(f, x);
}
constexpr const char* pairs[] = {"GG", "GJ", "JG", "JJ"};

/// Whether transforms work, at the depth they should: what runs after something has gone wrong.
void expect_transforms_work() {
  const Function cube = [](const Tensor& x) { return x * x * x; };
  EXPECT_EQ(value_of(grad(cube)(number(2))), 12);
  EXPECT_EQ(value_of(jvp_along_one(grad(cube), number(2))), 12);
  EXPECT_EQ(values_of(vmap(grad(cube))(tensor<double>({1, 2, 3}))), (std::vector<double>{3, 12, 27}));
}

std::int64_t in_use() { return memory_stats().in_use; }

// ---------------------------------------------------------------------------------------------------------------------
// Derivatives of derivatives

TEST(Confusion, InnerDerivativesCloseOverOuterVariables) {
  for (const char* modes : pairs) {
    SCOPED_TRACE(modes);
    // D_x[x * D_y[x * y^2](2)](3) = D_x[4 x^2](3)
    const Tensor product = derivative(
        modes[0],
        [&](const Tensor& x) {
          return x * derivative(modes[1], [&](const Tensor& y) { return x * square(y); }, number(2));
        },
        number(3));
    EXPECT_EQ(value_of(product), 24);
    // D_x[x * D_y[x + y](1)](4) = D_x[x](4)
    const Tensor sum = derivative(
        modes[0],
        [&](const Tensor& x) { return x * derivative(modes[1], [&](const Tensor& y) { return x + y; }, number(1)); },
        number(4));
    EXPECT_EQ(value_of(sum), 1);
    // The inner derivative at the outer variable itself: D_x[D_y[x y](x)](5) = D_x[x](5)
    const Tensor same = derivative(
        modes[0], [&](const Tensor& x) { return derivative(modes[1], [&](const Tensor& y) { return x * y; }, x); },
        number(5));
    EXPECT_EQ(value_of(same), 1);
    // An inner function that ignores its own variable: D_x[D_y[x^2](x)] = 0
    const Tensor ignored = derivative(
        modes[0], [&](const Tensor& x) { return derivative(modes[1], [&](const Tensor&) { return square(x); }, x); },
        number(5));
    EXPECT_EQ(value_of(ignored), 0);
  }
}

TEST(Confusion, TangentsAndCotangentsThatBelongToAnOuterLevel) {
  // D_v[jvp(sin-like f, x, v)] is f'(x), and the tangent is the variable.
  const auto f = [](const Tensor& x) { return tanh(x); };
  const double slope = 1 - std::tanh(0.4) * std::tanh(0.4);
  for (const char mode : {'G', 'J'})
    EXPECT_DOUBLE_EQ(value_of(derivative(mode, [&](const Tensor& v) { return jvp(f, number(0.4), v).second; }, number(3))),
                     slope);
  // The same with a pull-back made outside, its cotangent being the variable.
  const auto [y, pullback] = vjp(f, number(0.4));
  for (const char mode : {'G', 'J'})
    EXPECT_DOUBLE_EQ(value_of(derivative(mode, [&](const Tensor& ct) { return pullback(ct); }, number(3))), slope);
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
                          number(2));
                    },
                    number(3));
              },
              number(1));
        },
        number(2));
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
    EXPECT_EQ(value_of(repeated(quartic, 3)(number(2))), 48);
    EXPECT_EQ(value_of(repeated(quartic, 4)(number(2))), 24);
    EXPECT_NEAR(value_of(repeated(hyperbolic, 3)(number(0.3))), third, 1e-14);
    EXPECT_NEAR(value_of(repeated(hyperbolic, 4)(number(0.3))), fourth, 1e-14);
    EXPECT_EQ(value_of(repeated([](const Tensor& x) { return 0.3 * x; }, 3)(number(2))), 0);
    EXPECT_EQ(value_of(repeated([](const Tensor&) { return number(7); }, 4)(number(2))), 0);
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
  EXPECT_EQ(values_of(vmap([&](const Tensor& v) {
              return grad([&](const Tensor& y) { return sum(gradient(y) * v); })(x);
            })(rows)),
            expected);
  EXPECT_EQ(values_of(vmap([&](const Tensor& v) {
              return grad([&](const Tensor& y) { return jvp(f, y, v).second; })(x);
            })(rows)),
            expected);
  const auto [g, pullback] = vjp(gradient, x);
  EXPECT_EQ(values_of(vmap([&](const Tensor& v) { return pullback(v); })(rows)), expected);
}

TEST(HigherOrder, MoreThanSixtyThreeLevelsAreRefused) {
  // A value that belongs to sixteen transforms at once still works; the levels themselves end at 63.
  Function f = [](const Tensor& x) { return exp(x); };
  for (int i = 0; i < 8; ++i) f = [f](const Tensor& x) { return jvp_along_one(f, x); };
  EXPECT_DOUBLE_EQ(value_of(f(number(0.5))), std::exp(0.5));
  const std::int64_t before = in_use();
  int reached = 0;
  std::function<Tensor(int)> nest = [&](int depth) -> Tensor {
    return grad([&](const Tensor& x) {
      reached = depth;
      return depth == 63 ? x * 2 : nest(depth + 1) * x;
    })(number(1));
  };
  EXPECT_EQ(value_of(nest(1)), 2);
  EXPECT_EQ(reached, 63);
  std::function<Tensor(int)> endless = [&](int depth) -> Tensor {
    return grad([&](const Tensor& x) {
      reached = depth;
      return endless(depth + 1) * x;
    })(number(1));
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
  EXPECT_THROW(f(number(1)), LevelError);
  EXPECT_EQ(in_use(), before);
  expect_transforms_work();
}

TEST(Unused, ArgumentsHaveZerosOfTheirShapeAndNames) {
  const Axis feature("feature");
  const Tensor unused = ones({feature(2), 3}, DType::f64);
  const auto f = [](const Tensor& x, const Tensor&) { return x * x; };
  const auto [dx, du] = grad(f, argnums<0, 1>)(number(3), unused);
  EXPECT_EQ(value_of(dx), 6);
  EXPECT_TRUE(array_equal(du, zeros({feature(2), 3}, DType::f64)));
  EXPECT_TRUE(array_equal(grad(f, argnums<1>)(number(3), ones({feature(2)})), zeros({feature(2)})));
  const auto [y, dy] = jvp([](const Tensor&) { return ones({2}, DType::f64); }, number(1), number(1));
  EXPECT_TRUE(array_equal(dy, zeros({2}, DType::f64)));
  // A constant result, and one that is the argument itself.
  EXPECT_EQ(value_of(grad([](const Tensor&) { return number(4); })(number(3))), 0);
  EXPECT_EQ(value_of(grad([](const Tensor& x) { return x; })(number(3))), 1);
  EXPECT_EQ(value_of(jvp_along_one([](const Tensor& x) { return x; }, number(3))), 1);
  // Unused inside a vmap, whether it is mapped or not.
  const auto mapped = vmap(grad(f, argnums<0, 1>), in_axes(0, 0));
  const auto [mx, mu] = mapped(tensor<double>({1, 2, 3}), ones({3, 2}, DType::f64));
  EXPECT_EQ(values_of(mx), (std::vector<double>{2, 4, 6}));
  EXPECT_TRUE(array_equal(mu, zeros({3, 2}, DType::f64)));
}

// ---------------------------------------------------------------------------------------------------------------------
// Tensors that outlive their transform

/// A way to use a tensor of shape [1, 3], and how the message about it must begin: with the operation that meets it first,
/// which for a composed function is the one under it.
struct Use {
  const char* begins;
  std::function<void(const Tensor&)> with;
};
const std::vector<Use>& uses() {
  static const Tensor other = tensor<double>({{1, 2, 3}});
  static const Tensor flags = tensor<bool>({{true, false, true}});
  static const std::vector<Use> all{
      {"add", [](const Tensor& x) { x + other; }},
      {"add", [](const Tensor& x) { 1.0 + x; }},
      {"subtract", [](const Tensor& x) { other - x; }},
      {"multiply", [](const Tensor& x) { x* x; }},
      {"divide", [](const Tensor& x) { 1.0 / x; }},
      {"maximum", [](const Tensor& x) { maximum(x, 0.0); }},
      {"negative", [](const Tensor& x) { -x; }},
      {"square", [](const Tensor& x) { square(x); }},
      {"exp", [](const Tensor& x) { exp(x); }},
      {"log", [](const Tensor& x) { log(x); }},
      {"sqrt", [](const Tensor& x) { sqrt(x); }},
      {"tanh", [](const Tensor& x) { tanh(x); }},
      {"sigmoid", [](const Tensor& x) { sigmoid(x); }},
      {"relu", [](const Tensor& x) { relu(x); }},
      {"where", [](const Tensor& x) { where(flags, x, other); }},
      {"where", [](const Tensor& x) { where(flags, 0.0, x); }},
      {"equal", [](const Tensor& x) { x == other; }},
      {"not_equal", [](const Tensor& x) { x != 1.0; }},
      {"less", [](const Tensor& x) { x < other; }},
      {"less_equal", [](const Tensor& x) { x <= other; }},
      {"greater", [](const Tensor& x) { x > 0.0; }},
      {"greater_equal", [](const Tensor& x) { other >= x; }},
      {"cast", [](const Tensor& x) { cast(x, DType::f32); }},
      {"sum", [](const Tensor& x) { sum(x); }},
      {"sum", [](const Tensor& x) { mean(x, 1); }},
      {"max", [](const Tensor& x) { max(x, -1); }},
      {"max_with_indices", [](const Tensor& x) { max_with_indices(x, 1); }},
      {"logsumexp", [](const Tensor& x) { logsumexp(x); }},
      {"softmax", [](const Tensor& x) { softmax(x, 1); }},
      {"log_softmax", [](const Tensor& x) { log_softmax(x, 1); }},
      {"matmul", [](const Tensor& x) { matmul(x, transpose(other)); }},
      {"matmul", [](const Tensor& x) { matmul(transpose(other), x); }},
      {"matmul", [](const Tensor& x) { outer(other, x); }},
      {"cross_entropy", [](const Tensor& x) { cross_entropy(x, other); }},
      {"cross_entropy", [](const Tensor& x) { cross_entropy(other, x); }},
      {"slice", [](const Tensor& x) { cross_entropy(x, tensor<std::int64_t>({2})); }},
      {"reshape", [](const Tensor& x) { reshape(x, {3}); }},
      {"permute", [](const Tensor& x) { permute(x, {1, 0}); }},
      {"permute", [](const Tensor& x) { transpose(x); }},
      {"reshape", [](const Tensor& x) { broadcast_to(x, {4, 3}); }},
      {"broadcast_to", [](const Tensor& x) { expand_dims(x, 1); }},
      {"reshape", [](const Tensor& x) { squeeze(x); }},
      {"concat", [](const Tensor& x) { concat({other, x}, 0); }},
      {"broadcast_to", [](const Tensor& x) { stack({other, x, other, other, other}); }},
      {"slice", [](const Tensor& x) { slice(x, 1, 1); }},
      {"slice", [](const Tensor& x) { select(x, 1, 2); }},
      {"to_vector", [](const Tensor& x) { x.to_vector<double>(); }},
      {"span", [](const Tensor& x) { static_cast<void>(x.span<double>()); }},
      {"item", [](const Tensor& x) { x.item<double>(); }},
      {"bool", [](const Tensor& x) { static_cast<void>(static_cast<bool>(x)); }},
      {"array_equal", [](const Tensor& x) { array_equal(other, x); }},
  };
  return all;
}

void expect_refused(const Tensor& leaked) {
  for (const Use& use : uses()) {
    SCOPED_TRACE(use.begins);
    try {
      use.with(leaked);
      ADD_FAILURE() << "not refused";
    } catch (const LevelError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(std::string(use.begins) + ":")) << error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "refused for another reason: " << error.what();
    }
  }
  // What does not look at the elements, or must show them whatever happens.
  EXPECT_EQ(leaked.dtype(), DType::f64);
  EXPECT_EQ(leaked.size(), 3);
  std::ostringstream text;
  text << leaked;
  EXPECT_NE(text.str().find("f64"), std::string::npos);
  EXPECT_FALSE(to_string(leaked).empty());
  Tensor copy = leaked;
  copy = Tensor();
}

/// The ways a tensor of shape [1, 3] can get out of a transform; `during` runs while it is still at home.
struct Leak {
  const char* from;
  std::function<Tensor(const std::function<void(const Tensor&)>& during)> make;
};
std::vector<Leak> leaks() {
  const Tensor start = tensor<double>({{0.5, 1.5, 2.5}});
  const auto keep = [](Tensor& kept, Tensor value, const auto& during) {
    kept = std::move(value);
    during(kept);
  };
  return {
      {"grad, the argument",
       [=](const auto& during) {
         Tensor kept;
         grad([&](const Tensor& x) { keep(kept, x, during); return sum(x); })(start);
         return kept;
       }},
      {"grad, a result",
       [=](const auto& during) {
         Tensor kept;
         grad([&](const Tensor& x) { keep(kept, tanh(x), during); return sum(kept); })(start);
         return kept;
       }},
      {"vjp, a view",
       [=](const auto& during) {
         Tensor kept;
         const auto result = vjp([&](const Tensor& x) {
           keep(kept, transpose(transpose(x) * 1.0), during);
           return sum(x);
         }, start);
         EXPECT_TRUE(array_equal(result.second(number(1)), ones({1, 3}, DType::f64)));
         return kept;
       }},
      {"jvp",
       [=](const auto& during) {
         Tensor kept;
         jvp([&](const Tensor& x) { keep(kept, exp(x), during); return x; }, start, start);
         return kept;
       }},
      {"vmap",
       [=](const auto& during) {
         Tensor kept;
         vmap([&](const Tensor& x) { keep(kept, x * 2, during); return x; })(stack({start, start}));
         return kept;
       }},
      {"a grad inside a grad",
       [=](const auto& during) {
         Tensor kept;
         grad([&](const Tensor& y) {
           return sum(grad([&](const Tensor& x) { keep(kept, x * y, during); return sum(kept * x); })(y));
         })(start);
         return kept;
       }},
      {"a vmap inside a jvp inside a grad",
       [=](const auto& during) {
         Tensor kept;
         grad([&](const Tensor& y) {
           return jvp([&](const Tensor& x) {
             return sum(vmap([&](const Tensor& z) { keep(kept, z * x, during); return sum(kept); })(stack({x, y})));
           }, y, y).second;
         })(start);
         return kept;
       }},
  };
}

TEST(Leak, IsRefusedByTheOperationThatMeetsIt) {
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    const Tensor kept = leak.make([](const Tensor&) {});
    expect_refused(kept);
    expect_transforms_work();
  }
}

TEST(Leak, IsRefusedInsideALaterTransformOfEqualDepth) {
  const Tensor fresh = tensor<double>({{1, 2, 3}});
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    const Tensor kept = leak.make([](const Tensor&) {});
    const auto refused_here = [&](const Tensor& x) {
      expect_refused(kept);
      // Together with a tensor that is at home here, in both orders.
      EXPECT_THROW(x * kept, LevelError);
      EXPECT_THROW(concat({kept, x}, 0), LevelError);
      EXPECT_THROW(matmul(x, transpose(kept)), LevelError);
      return sum(x);
    };
    const auto refused_deeper = [&](const Tensor& x) { return sum(grad(refused_here)(x)); };
    EXPECT_EQ(values_of(grad(refused_here)(fresh)), (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(value_of(jvp(refused_here, fresh, fresh).second), 6);
    EXPECT_EQ(values_of(vmap(refused_here)(stack({fresh, fresh}))), (std::vector<double>{6, 6}));
    EXPECT_EQ(values_of(grad(refused_deeper)(fresh)), (std::vector<double>{0, 0, 0}));
  }
}

TEST(Leak, IsRefusedByTransformsThatTakeIt) {
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    const Tensor kept = leak.make([](const Tensor&) {});
    const Tensor fresh = tensor<double>({{1, 2, 3}});
    const std::int64_t before = in_use();
    EXPECT_THROW(grad([](const Tensor& x) { return sum(x); })(kept), LevelError);
    EXPECT_THROW(jvp([](const Tensor& x) { return sum(x); }, kept, kept), LevelError);
    EXPECT_THROW(vmap([](const Tensor& x) { return x * 2; })(kept), LevelError);
    EXPECT_THROW(vmap([](const Tensor& x) { return x * 2; }, in_axes(1))(kept), LevelError);
    EXPECT_THROW(grad([&](const Tensor& x) { return sum(x * kept); })(fresh), LevelError);
    const auto [y, pullback] = vjp([](const Tensor& x) { return square(x); }, fresh);
    EXPECT_THROW(pullback(kept), LevelError);
    EXPECT_EQ(values_of(pullback(fresh)), (std::vector<double>{2, 8, 18}));
    EXPECT_THROW(jvp([](const Tensor& x) { return x * 2; }, fresh, kept), LevelError);
    expect_transforms_work();
    EXPECT_GE(in_use(), before);
  }
}

TEST(Leak, IsRefusedOnAnotherThreadWhileTheTransformRuns) {
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    leak.make([](const Tensor& at_home) {
      std::thread([&] {
        expect_refused(at_home);
        // Also inside transforms of this thread, at the same depth.
        const Tensor fresh = tensor<double>({{1, 2, 3}});
        EXPECT_THROW(grad([&](const Tensor& x) { return sum(x * at_home); })(fresh), LevelError);
        EXPECT_THROW(jvp([&](const Tensor& x) { return x + at_home; }, fresh, fresh), LevelError);
        EXPECT_THROW(vmap([&](const Tensor& x) { return x + at_home; })(stack({fresh, fresh})), LevelError);
        expect_transforms_work();
      }).join();
    });
  }
}

TEST(Leak, OfAGradReturnedFromAnInnerTransformStillCounts) {
  // A tensor of the outer level may leave the inner one, by the back door too.
  Tensor kept;
  const Tensor g = grad([&](const Tensor& x) {
    grad([&](const Tensor& y) {
      kept = x * 3;
      return y * 2;
    })(number(1));
    return kept * x;
  })(number(2));
  EXPECT_EQ(value_of(g), 12);
}

TEST(Leak, KeepsNothingAliveButItself) {
  const std::int64_t before = in_use();
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    Tensor kept = leak.make([](const Tensor&) {});
    kept = Tensor();
  }
  EXPECT_EQ(in_use(), before);
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
           return jvp([&](const Tensor& b) {
             return sum(vmap(grad([&](const Tensor& c) { return body(c * a * sum(b), fail); }))(b));
           }, a, x).second;
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
// Pull-backs

/// y_i = tanh(sum_j a_ij x_j) x_i, and its Jacobian in closed form.
struct Curved {
  Tensor a = tensor<double>({{0.1, 0.2, -0.3}, {0.4, -0.5, 0.6}, {-0.7, 0.8, 0.9}});
  Tensor x = tensor<double>({0.3, -0.8, 0.5});

  Tensor operator()(const Tensor& y) const { return tanh(matmul(a, y)) * y; }
  std::vector<double> jacobian() const {
    const std::vector<double> m = values_of(a), v = values_of(x);
    std::vector<double> j(9);
    for (std::size_t i = 0; i < 3; ++i) {
      const double t = std::tanh(m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2]);
      for (std::size_t k = 0; k < 3; ++k) j[3 * i + k] = (1 - t * t) * m[3 * i + k] * v[i] + (i == k ? t : 0);
    }
    return j;
  }
};

void expect_near(const std::vector<double>& values, const std::vector<double>& expected, double tolerance = 1e-15) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << "at " << i;
}

TEST(Pullback, IsCalledAsOftenAsWantedInAnyOrder) {
  const Curved f;
  const std::vector<double> expected = f.jacobian();
  const auto row = [&](std::size_t i) {
    return std::vector<double>(expected.begin() + static_cast<std::ptrdiff_t>(3 * i),
                               expected.begin() + static_cast<std::ptrdiff_t>(3 * i + 3));
  };
  const Tensor unit = eye(3, DType::f64);
  const auto [y, first] = vjp(f, f.x);
  const auto [z, second] = vjp([](const Tensor& x) { return square(x); }, f.x);
  for (const std::size_t i : {2u, 0u, 1u, 1u, 0u, 2u}) {
    expect_near(values_of(first(select(unit, 0, static_cast<std::int64_t>(i)))), row(i));
    expect_near(values_of(second(ones({3}, DType::f64))), {0.6, -1.6, 1.0});
  }
  // A copy shares the tape and works when the first is gone.
  auto copy = std::optional(first);
  const auto other = *copy;
  copy.reset();
  expect_near(values_of(other(select(unit, 0, 1))), row(1));
  // The empty cotangent is zero.
  EXPECT_TRUE(array_equal(first(Tensor()), zeros({3}, DType::f64)));
}

TEST(Pullback, UnderAVmapOverUnitCotangentsIsTheJacobian) {
  const Curved f;
  const auto [y, pullback] = vjp(f, f.x);
  const auto back = [&, &p = pullback](const Tensor& ct) { return p(ct); };
  expect_near(values_of(vmap(back)(eye(3, DType::f64))), f.jacobian());
  // By columns, in forward mode.
  const Tensor columns = vmap([&](const Tensor& v) { return jvp(f, f.x, v).second; }, out_axes(1))(eye(3, DType::f64));
  expect_near(values_of(columns), f.jacobian());
  // Nothing of the vmap stays behind.
  expect_near(values_of(pullback(tensor<double>({1, 0, 0}))),
              {f.jacobian()[0], f.jacobian()[1], f.jacobian()[2]});
  // Nested twice: every row times every number.
  const Tensor scaled = vmap([&](const Tensor& s) {
    return vmap([&](const Tensor& ct) { return back(s * ct); })(eye(3, DType::f64));
  })(tensor<double>({1, -2}));
  std::vector<double> expected = f.jacobian();
  for (std::size_t i = 0; i < 9; ++i) expected.push_back(-2 * expected[i]);
  expect_near(values_of(scaled), expected);
  // Made and called inside the vmap: the Jacobian at every point of a batch.
  const Tensor batch = vmap([&](const Tensor& x) {
    const auto inner = vjp(f, x).second;
    return vmap([&](const Tensor& ct) { return inner(ct); })(eye(3, DType::f64));
  })(stack({f.x, f.x}));
  std::vector<double> twice = f.jacobian();
  twice.insert(twice.end(), twice.begin(), twice.begin() + 9);
  expect_near(values_of(batch), twice);
}

TEST(Pullback, InsideADerivativeGivesTheSecondOrder) {
  const Curved f;
  // d/dx sum(J(x)^T w) by both modes, against differences of the closed form.
  const Tensor w = tensor<double>({0.2, -0.4, 0.7});
  const auto contracted = [&](const Tensor& x) {
    const auto pullback = vjp(f, x).second;
    return sum(pullback(w));
  };
  std::vector<double> expected;
  for (std::size_t k = 0; k < 3; ++k) {
    constexpr double step = 1e-5;
    const auto at = [&](double t) {
      Curved moved;
      std::vector<double> point = values_of(f.x);
      point[k] += t;
      moved.x = from_data(point, {3});
      const std::vector<double> j = moved.jacobian();
      double total = 0;
      for (std::size_t i = 0; i < 3; ++i) total += values_of(w)[i] * (j[3 * i] + j[3 * i + 1] + j[3 * i + 2]);
      return total;
    };
    expected.push_back((8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step));
  }
  expect_near(values_of(grad(contracted)(f.x)), expected, 1e-10);
  const Tensor forward = vmap([&](const Tensor& v) { return jvp(contracted, f.x, v).second; })(eye(3, DType::f64));
  expect_near(values_of(forward), expected, 1e-10);
  // By the cotangent it is linear: the gradient is the Jacobian times ones.
  const auto [y, pullback] = vjp(f, f.x);
  const auto by_cotangent = [&, &p = pullback](const Tensor& ct) { return sum(p(ct)); };
  const std::vector<double> j = f.jacobian();
  expect_near(values_of(grad(by_cotangent)(w)), {j[0] + j[1] + j[2], j[3] + j[4] + j[5], j[6] + j[7] + j[8]});
}

TEST(Pullback, OfSeveralArgumentsAndResults) {
  const auto f = [](const Tensor& x, const Tensor& y) { return std::tuple(x * y, sum(x), x, x > y, x * y); };
  const Tensor x = tensor<double>({1, 2}), y = tensor<double>({3, 5});
  const auto [value, pullback] = vjp(f, x, y);
  const Tensor one = ones({2}, DType::f64);
  const auto [dx, dy] = pullback({one, number(10), 100 * one, Tensor(), one});
  EXPECT_EQ(values_of(dx), (std::vector<double>{2 * 3 + 110, 2 * 5 + 110}));
  EXPECT_EQ(values_of(dy), (std::vector<double>{2, 4}));
  const auto [nx, ny] = pullback({Tensor(), Tensor(), Tensor(), Tensor(), Tensor()});
  EXPECT_TRUE(array_equal(nx, 0 * one));
  EXPECT_TRUE(array_equal(ny, 0 * one));
}

TEST(Pullback, RefusesAndStaysUsable) {
  const Tensor x = tensor<double>({1, 2, 3});
  const std::int64_t before = in_use();
  {
    Tensor escaped;
    grad([&](const Tensor& y) {
      escaped = y * 1.0;
      return sum(y);
    })(x);
    // The same tensor twice, so that a cotangent that cannot be used is added to one that can.
    const auto [y, pullback] = vjp(
        [](const Tensor& a) {
          const Tensor b = exp(a);
          return std::pair(b, b);
        },
        x);
    const std::vector<double> expected = values_of(2 * exp(x));
    const Tensor one = ones({3}, DType::f64);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(values_of(pullback({one, one})), expected);
      EXPECT_THROW(pullback({one, ones({2}, DType::f64)}), ShapeError);
      EXPECT_THROW(pullback({ones({3}, DType::f32), one}), Error);
      EXPECT_THROW(pullback({one, escaped}), LevelError);
      EXPECT_EQ(values_of(pullback({one, one})), expected);
      EXPECT_THROW(pullback({escaped, one}), LevelError);
      EXPECT_THROW(pullback({escaped, Tensor()}), LevelError);
      EXPECT_EQ(values_of(pullback({one, one})), expected);
    }
  }
  EXPECT_EQ(in_use(), before);
}

TEST(Pullback, OutlivesTheTransformsItWasMadeIn) {
  // Made inside a grad and called after it: its tape holds values of a transform that has ended.
  using Back = decltype(vjp(std::declval<Function>(), std::declval<const Tensor&>()).second);
  const std::int64_t before = in_use();
  {
    std::optional<Back> kept, constant;
    grad([&](const Tensor& x) {
      kept.emplace(vjp(Function([&](const Tensor& y) { return y * x * y; }), x).second);
      constant.emplace(vjp(Function([](const Tensor& y) { return y * 2; }), number(3)).second);
      EXPECT_EQ(value_of((*kept)(number(1))), 8);
      return x;
    })(number(2));
    EXPECT_THROW((*kept)(number(1)), LevelError);
    EXPECT_EQ(value_of((*constant)(number(1))), 2);
  }
  EXPECT_EQ(in_use(), before);
  expect_transforms_work();
}

TEST(Memory, IsGivenBackHoweverATransformIsUsed) {
  const Curved f;
  const auto run = [&] {
    grad([&](const Tensor& y) { return sum(f(y)); })(f.x);
    vjp(f, f.x);  // never called
    {
      const auto [y, pullback] = vjp(f, f.x);
      pullback(f.x);
      pullback(f.x);
    }
    grad([&](const Tensor& y) {
      vjp(f, y);
      return sum(vjp(f, y).second(y));
    })(f.x);
    jvp([&](const Tensor& y) { return jvp(f, y, f.x).second; }, f.x, f.x);
    vmap(grad([&](const Tensor& y) { return sum(f(y)); }))(stack({f.x, f.x}));
  };
  const std::int64_t before = in_use();
  for (int i = 0; i < 3; ++i) {
    run();
    EXPECT_EQ(in_use(), before);
  }
}

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
  EXPECT_EQ(value_of(grad(steps)(number(2))), 8 * 128);
  EXPECT_EQ(value_of(jvp_along_one(grad(steps), number(2))), 8 * 7 * 64);
  for (const auto& read : std::vector<std::function<void(const Tensor&)>>{
           [](const Tensor& x) { x.item<double>(); },
           [](const Tensor& x) { x.to_vector<double>(); },
           [](const Tensor& x) { static_cast<void>(x.span<double>()); },
           [](const Tensor& x) { static_cast<void>(static_cast<bool>(x > 0.0)); },
           [](const Tensor& x) { array_equal(x, x); },
       }) {
    const auto f = [&](const Tensor& x) {
      const Tensor shared = number(5);
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
