// Functions with rules of their own: that the rules are used, under every nesting, and that what they return is
// checked.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/refusals.hpp"
#include "tests/sines.hpp"

namespace {

using namespace tlaloc;
using refusals::refusal;
using namespace sines;

Tensor number(double value) { return tensor<double>(value); }
std::vector<double> values_of(const Tensor& x) { return x.to_vector<double>(); }

const Axis batch{"batch"}, feature{"feature"}, other{"other"};

// ---------------------------------------------------------------------------------------------------------------------
// custom_vjp

/// Rounds; its gradient is ten times that of the identity, which no transform of the pieces could find.
auto straight_through() {
  return custom_vjp([](const Tensor& x) { return round(x); },
                    [](const Tensor& x) { return std::pair(round(x), std::tuple<>()); },
                    [](const std::tuple<>&, const Tensor& ct) { return 10 * ct; });
}

TEST(CustomVjp, TheRuleIsUsed) {
  const auto f = straight_through();
  EXPECT_EQ(f(number(1.7)).item<double>(), 2);
  EXPECT_EQ(grad(f)(number(1.7)).item<double>(), 10);
  EXPECT_EQ(value_and_grad(f)(number(1.7)).first.item<double>(), 2);
  EXPECT_EQ(values_of(vmap(grad(f))(tensor<double>({1, 2, 3}))), (std::vector<double>{10, 10, 10}));
  const auto total = [&](const Tensor& x) { return sum(vmap(f)(x) * tensor<double>({1, 2, 3})); };
  EXPECT_EQ(values_of(grad(total)(tensor<double>({1, 2, 3}))), (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(values_of(jacrev(f)(tensor<double>({1, 2}))), (std::vector<double>{10, 0, 0, 10}));
  const auto in_chunks = [&](const Tensor& x) { return sum(vmap(f, chunk_size(2))(x)); };
  EXPECT_EQ(values_of(grad(in_chunks)(tensor<double>({1, 2, 3}))), (std::vector<double>{10, 10, 10}));
}

TEST(CustomVjp, ForwardRunsInsteadOfTheFunction) {
  int calls = 0, forwards = 0, backwards = 0;
  const auto f = custom_vjp(
      [&](const Tensor& x) {
        ++calls;
        return 2 * x;
      },
      [&](const Tensor& x) {
        ++forwards;
        return std::pair(2 * x, 0);
      },
      [&](int, const Tensor& ct) {
        ++backwards;
        return 2 * ct;
      });
  grad(f)(number(1));
  EXPECT_EQ(std::tuple(calls, forwards, backwards), std::tuple(0, 1, 1));
  const auto pullback = vjp(f, number(1)).second;
  pullback(number(1));
  pullback(number(1));
  EXPECT_EQ(std::tuple(calls, forwards, backwards), std::tuple(0, 2, 3));
  vmap(f)(tensor<double>({1, 2}));
  f(number(1));
  EXPECT_EQ(std::tuple(calls, forwards, backwards), std::tuple(2, 2, 3));
}

// E-custom: y_i = c x_i.
TEST(CustomVjp, ASharedArgumentGetsTheSumOverTheBatch) {
  const auto scaled = custom_vjp([](const Tensor& c, const Tensor& x) { return c * x; },
                                 [](const Tensor& c, const Tensor& x) { return std::pair(c * x, std::pair(c, x)); },
                                 [](const std::pair<Tensor, Tensor>& kept, const Tensor& ct) {
                                   return std::tuple(sum(ct * kept.second), ct * kept.first);
                                 });
  const Tensor x = tensor<double>({{1, 2}, {3, 4}, {5, 6}}, {batch, feature});
  const auto total = [&](const Tensor& c, const Tensor& rows) { return sum(vmap(scaled, batch)(c, rows)); };
  const auto [dc, dx] = grad(total, argnums<0, 1>)(number(2), x);
  EXPECT_EQ(dc.shape(), Shape{});
  EXPECT_EQ(dc.item<double>(), 21);
  EXPECT_TRUE(array_equal(dx, full_like(x, 2)));
  // An example's own gradient by the shared argument is not added up.
  const auto one = [&](const Tensor& c, const Tensor& row) { return sum(scaled(c, row)); };
  EXPECT_EQ(values_of(vmap(grad(one), batch)(number(2), x)), (std::vector<double>{3, 7, 11}));
}

TEST(CustomVjp, AGradientThatDoesNotDependOnTheBatchCountsOnceForEachExample) {
  const auto f = custom_vjp([](const Tensor& c, const Tensor& x) { return c + x; },
                            [](const Tensor& c, const Tensor& x) { return std::pair(c + x, 0); },
                            [](int, const Tensor&) { return std::tuple(number(5), none); });
  const auto total = [&](const Tensor& c) { return sum(vmap(f, in_axes(none, 0))(c, tensor<double>({1, 2, 3}))); };
  EXPECT_EQ(grad(total)(number(1)).item<double>(), 15);
}

struct Weights {
  Tensor w;
  std::vector<Tensor> biases;
  int width;
};

TEST(CustomVjp, TreesEverywhere) {
  using Result = std::map<std::string, Tensor>;
  const auto f = custom_vjp(
      [](const Weights& p, const Tensor& x, double factor) {
        return Result{{"a", p.w * x * factor}, {"b", p.biases[0] + p.biases[1]}};
      },
      [](const Weights& p, const Tensor& x, double factor) {
        return std::pair(Result{{"a", p.w * x * factor}, {"b", p.biases[0] + p.biases[1]}},
                         std::tuple(p, x, factor, std::string("kept")));
      },
      [](const std::tuple<Weights, Tensor, double, std::string>& kept, const Result& ct) {
        const auto& [p, x, factor, text] = kept;
        EXPECT_EQ(text, "kept");
        EXPECT_EQ(p.width, 7);
        Weights gradient{ct.at("a") * x * factor, {ct.at("b"), Tensor()}, 0};
        return std::tuple(gradient, ct.at("a") * p.w * factor, none);
      });
  const Weights weights{number(3), {number(1), number(2)}, 7};
  const auto loss = [&](const Weights& p, const Tensor& x) {
    const Result y = f(p, x, 10.0);
    return y.at("a") * y.at("b");
  };
  const auto [dp, dx] = grad(loss, argnums<0, 1>)(weights, number(2));
  EXPECT_EQ(dp.w.item<double>(), 60);
  EXPECT_EQ(dp.biases[0].item<double>(), 60);
  EXPECT_EQ(dp.biases[1].item<double>(), 0);
  EXPECT_EQ(dp.width, 7);
  EXPECT_EQ(dx.item<double>(), 90);
}

TEST(CustomVjp, MissingCotangentsAreZerosAndIntegersHaveNone) {
  const auto f = custom_vjp([](const Tensor& x) { return std::tuple(x, 2 * x, tensor<std::int64_t>(7)); },
                            [](const Tensor& x) { return std::pair(std::tuple(x, 2 * x, tensor<std::int64_t>(7)), 0); },
                            [](int, const std::tuple<Tensor, Tensor, Tensor>& ct) {
                              const auto& [a, b, c] = ct;
                              EXPECT_EQ(a.item<double>(), 1);
                              EXPECT_EQ(b.item<double>(), 0);
                              EXPECT_FALSE(c.defined());
                              return std::tuple(a + 2 * b);
                            });
  EXPECT_EQ(grad([&](const Tensor& x) { return std::get<0>(f(x)); })(number(3)).item<double>(), 1);
}

TEST(CustomVjp, RulesRunWithNamesOn) {
  bool aligned = false;
  const auto f = custom_vjp([](const Tensor& x, const Tensor& w) { return x * w; },
                            [](const Tensor& x, const Tensor& w) { return std::pair(x * w, std::pair(x, w)); },
                            [&](const std::pair<Tensor, Tensor>& kept, const Tensor& ct) {
                              // By name, wherever the axes stand; the cotangent has the result's names.
                              aligned = ct.shape() == kept.first.shape();
                              return std::tuple(ct * kept.second, sum(ct * kept.first, feature));
                            });
  const Tensor x = tensor<double>({{1, 2, 3}, {4, 5, 6}}, {feature, other});
  const Tensor w = tensor<double>({10, 20, 30}, {other});
  const auto loss = [&](const Tensor& a, const Tensor& b) { return sum(permute(f(a, b), {other, feature})); };
  const auto [dx, dw] = grad(loss, argnums<0, 1>)(x, w);
  EXPECT_TRUE(aligned);
  EXPECT_TRUE(array_equal(dx, tensor<double>({{10, 20, 30}, {10, 20, 30}}, {feature, other})));
  EXPECT_TRUE(array_equal(dw, tensor<double>({5, 7, 9}, {other})));
}

TEST(CustomVjp, SecondDerivativesAreThoseOfTheRules) {
  // backward's derivative by the cotangent and by the residual: 3 ct x, from a rule that says x^2's derivative is 3 x.
  const auto f =
      custom_vjp([](const Tensor& x) { return square(x); }, [](const Tensor& x) { return std::pair(square(x), x); },
                 [](const Tensor& x, const Tensor& ct) { return 3 * ct * x; });
  EXPECT_EQ(grad(f)(number(2)).item<double>(), 6);
  EXPECT_EQ(grad(grad(f))(number(2)).item<double>(), 3);
  EXPECT_EQ(hessian(f)(number(2)).item<double>(), 3);
  EXPECT_EQ(hvp(f, number(2), number(10)).item<double>(), 30);
}

TEST(CustomVjp, MoveOnlyFunctionsAndPlainOnes) {
  const auto f =
      custom_vjp([p = std::make_unique<double>(4)](Tensor x) { return *p * x; },
                 [](Tensor&& x) { return std::pair(4 * x, 0); }, +[](const int&, const Tensor& ct) { return 5 * ct; });
  EXPECT_EQ(grad(f)(number(1)).item<double>(), 5);
  EXPECT_EQ(f(number(1)).item<double>(), 4);
}

// ---------------------------------------------------------------------------------------------------------------------
// custom_jvp

/// x y, with derivatives 10 y and 100 x.
auto odd_product() {
  return custom_jvp([](const Tensor& x, const Tensor& y) { return x * y; },
                    [](const auto& primals, const auto& tangents) {
                      const auto& [x, y] = primals;
                      const auto& [dx, dy] = tangents;
                      return std::pair(x * y, 10 * dx * y + 100 * x * dy);
                    });
}

TEST(CustomJvp, TheRuleIsUsedInBothModes) {
  const auto f = odd_product();
  EXPECT_EQ(f(number(2), number(3)).item<double>(), 6);
  const auto [y, dy] = jvp(f, std::tuple(number(2), number(3)), std::tuple(number(1), Tensor()));
  EXPECT_EQ(y.item<double>(), 6);
  EXPECT_EQ(dy.item<double>(), 30);
  const auto [dx, dz] = grad(f, argnums<0, 1>)(number(2), number(3));
  EXPECT_EQ(dx.item<double>(), 30);
  EXPECT_EQ(dz.item<double>(), 200);
  const Tensor xs = tensor<double>({1, 2, 3});
  EXPECT_EQ(values_of(vmap(grad(f), in_axes(0, none))(xs, number(3))), (std::vector<double>{30, 30, 30}));
  const auto total = [&](const Tensor& c) { return sum(vmap(f, in_axes(0, none))(xs, c)); };
  EXPECT_EQ(grad(total)(number(3)).item<double>(), 600);
  EXPECT_EQ(jvp(total, number(3), number(1)).second.item<double>(), 600);
  EXPECT_EQ(values_of(jacfwd(f)(xs, tensor<double>({1, 1, 1}))), (std::vector<double>{10, 0, 0, 0, 10, 0, 0, 0, 10}));
  EXPECT_EQ(values_of(jacrev(f)(xs, tensor<double>({1, 1, 1}))), (std::vector<double>{10, 0, 0, 0, 10, 0, 0, 0, 10}));
  const auto pullback = vjp(f, number(2), number(3)).second;
  EXPECT_EQ(std::get<1>(pullback(number(1))).item<double>(), 200);
  EXPECT_EQ(std::get<1>(pullback(number(2))).item<double>(), 400);
  EXPECT_EQ(linearize(f, number(2), number(3)).second(number(1), number(1)).item<double>(), 230);
}

TEST(CustomJvp, AZeroCotangentAsksForNothing) {
  const auto root = custom_jvp([](const Tensor& x) { return sqrt(x); },
                               [](const Tensor& x, const Tensor& dx) {
                                 const Tensor y = sqrt(x);
                                 return std::pair(y, dx * (0.5 / y));
                               });
  const auto f = [&](const Tensor& x) { return sum(where(x > 0, root(x), 0)); };
  EXPECT_EQ(values_of(grad(f)(tensor<double>({0, 4}))), (std::vector<double>{0, 0.25}));
}

TEST(CustomJvp, IntegersHaveNoTangentsAndEmptyOnesAreZero) {
  const auto f = custom_jvp([](const Tensor& x, const Tensor& n) { return std::pair(x * n, x); },
                            [](const auto& primals, const auto& tangents) {
                              EXPECT_FALSE(std::get<1>(tangents).defined());
                              const auto& [x, n] = primals;
                              return std::pair(std::pair(x * n, x), std::pair(std::get<0>(tangents) * n, Tensor()));
                            });
  const auto first = [&](const Tensor& x) { return f(x, tensor<std::int64_t>(3)).first; };
  const auto second = [&](const Tensor& x) { return f(x, tensor<std::int64_t>(3)).second; };
  EXPECT_EQ(grad(first)(number(2)).item<double>(), 3);
  EXPECT_EQ(grad(second)(number(2)).item<double>(), 0);
  EXPECT_EQ(jvp(second, number(2), number(1)).second.item<double>(), 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// custom_vmap

TEST(CustomVmap, TheRuleGetsTheWholeBatch) {
  std::vector<std::vector<bool>> seen;
  const auto f =
      custom_vmap([](const Tensor& x, const Tensor& y) { return x * y; },
                  [&](std::int64_t extent, const std::vector<bool>& mapped, const Tensor& x, const Tensor& y) {
                    EXPECT_EQ(extent, 3);
                    seen.push_back(mapped);
                    EXPECT_EQ(x.rank(), mapped[0] ? 1 : 0);
                    EXPECT_EQ(y.rank(), mapped[1] ? 1 : 0);
                    return 1000 + x * y;
                  });
  const Tensor xs = tensor<double>({1, 2, 3});
  EXPECT_EQ(f(number(2), number(3)).item<double>(), 6);
  EXPECT_EQ(values_of(vmap(f, in_axes(0, none))(xs, number(2))), (std::vector<double>{1002, 1004, 1006}));
  EXPECT_EQ(values_of(vmap(f, in_axes(none, 0))(number(2), xs)), (std::vector<double>{1002, 1004, 1006}));
  EXPECT_EQ(values_of(vmap(f)(xs, xs)), (std::vector<double>{1001, 1004, 1009}));
  EXPECT_EQ(seen, (std::vector<std::vector<bool>>{{true, false}, {false, true}, {true, true}}));
}

TEST(CustomVmap, TheRuleIsUsedInsideDerivatives) {
  // The rule says 10 x^2 where the function says x^2: whose derivative one gets shows which was used.
  const auto f = custom_vmap(
      [](const Tensor& x, const Tensor& c) { return c * square(x); },
      [](std::int64_t, const std::vector<bool>&, const Tensor& x, const Tensor& c) { return 10 * c * square(x); });
  const Tensor xs = tensor<double>({1, 2, 3});
  const Tensor one = number(1);
  EXPECT_EQ(values_of(vmap(grad(f), in_axes(0, none))(xs, one)), (std::vector<double>{20, 40, 60}));
  EXPECT_EQ(values_of(vmap(grad(f, argnums<1>), in_axes(0, none))(xs, one)), (std::vector<double>{10, 40, 90}));
  EXPECT_EQ(values_of(vmap(grad(grad(f)), in_axes(0, none))(xs, one)), (std::vector<double>{20, 20, 20}));
  const auto total = [&](const Tensor& x, const Tensor& c) { return sum(vmap(f, in_axes(0, none))(x, c)); };
  EXPECT_EQ(values_of(grad(total)(xs, one)), (std::vector<double>{20, 40, 60}));
  EXPECT_EQ(grad(total, argnums<1>)(xs, one).item<double>(), 140);
  const auto along = [&](const Tensor& x) { return jvp([&](const Tensor& y) { return f(y, one); }, x, one).second; };
  EXPECT_EQ(values_of(vmap(along)(xs)), (std::vector<double>{20, 40, 60}));
  EXPECT_EQ(grad(f)(number(3), one).item<double>(), 6);
}

TEST(CustomVmap, AnArgumentIsMappedAsAWhole) {
  const auto f =
      custom_vmap([](const std::pair<Tensor, Tensor>& p) { return p.first + p.second; },
                  [](std::int64_t extent, const std::vector<bool>& mapped, const std::pair<Tensor, Tensor>& p) {
                    EXPECT_EQ(mapped, std::vector<bool>{true});
                    EXPECT_EQ(p.first.shape(), (Shape{extent, feature(2)}));
                    EXPECT_EQ(p.second.shape(), (Shape{extent, feature(2)}));
                    return p.first + p.second;
                  });
  const Tensor rows = tensor<double>({{1, 2}, {3, 4}, {5, 6}}, {batch, feature});
  const Tensor shared = tensor<double>({10, 20}, {feature});
  EXPECT_TRUE(array_equal(vmap(f, batch)(std::pair(rows, shared)), rows + shared));
}

TEST(CustomVmap, NestedMapsAndEmptyBatches) {
  const auto f = vmap_sin();
  EXPECT_EQ(vmap(vmap(f))(zeros({2, 3}, DType::f64)).shape(), (Shape{2, 3}));
  EXPECT_EQ(vmap(f)(zeros({0, 3}, DType::f64)).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap(vjp_sin())(zeros({0, 3}, DType::f64)).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap(grad(jvp_sin()))(zeros({0}, DType::f64)).shape(), Shape{0});
}

// ---------------------------------------------------------------------------------------------------------------------
// What is refused

TEST(CustomErrors, ForwardModeThroughACustomVjp) {
  const auto f = straight_through();
  const std::string expected =
      "custom_vjp: the function has a reverse mode of its own and is used in forward mode (jvp); got f64 []; give it a "
      "custom_jvp instead, which serves both modes";
  EXPECT_EQ(refusal<LevelError>([&] { jvp(f, number(1), number(1)); }), expected);
  EXPECT_EQ(
      refusal<LevelError>([&] {
        jvp([&](const Tensor& x) { return vmap(f)(x); }, tensor<double>({1, 2}), tensor<double>({1, 2}));
      }),
      "custom_vjp: the function has a reverse mode of its own and is used in forward mode (jvp); got f64 [2]; give "
      "it a custom_jvp instead, which serves both modes");
}

TEST(CustomErrors, GradientsThatDoNotFit) {
  const auto with = [](auto gradient_of) {
    return custom_vjp([](const Tensor& x, const Tensor& y) { return sum(x) + sum(y); },
                      [](const Tensor& x, const Tensor& y) { return std::pair(sum(x) + sum(y), 0); },
                      [=](int, const Tensor& ct) { return std::tuple(none, gradient_of(ct)); });
  };
  const Tensor x = number(1);
  const Tensor y = tensor<double>({{1, 2}, {3, 4}}, {feature, other});
  const auto run = [&](const auto& f) { return [=] { grad(f, argnums<0, 1>)(x, y); }; };
  EXPECT_EQ(
      refusal<ShapeError>(run(with([](const Tensor& ct) { return ct; }))),
      "custom_vjp: backward returned f64 [] as the gradient of argument 1, which is f64 [feature 2, other 2]; the "
      "two have one shape: sum over what was repeated");
  EXPECT_EQ(
      refusal<AxisError>(run(with([&](const Tensor& ct) {
        return ct * permute(y, {other, feature});
      }))),
      "custom_vjp: backward returned f64 [other 2, feature 2] as the gradient of argument 1, which is f64 [feature "
      "2, other 2]; the two have the same names in the same order: permute or rename it");
  EXPECT_EQ(
      refusal<DTypeError>(run(with([&](const Tensor&) { return cast(y, DType::f32); }))),
      "custom_vjp: backward returned f32 [feature 2, other 2] as the gradient of argument 1, which is f64 [feature "
      "2, other 2]; the two have one dtype: cast it");
  const auto of_integers = custom_vjp([](const Tensor& a, const Tensor&) { return a; },
                                      [](const Tensor& a, const Tensor&) { return std::pair(a, 0); },
                                      [](int, const Tensor& ct) { return std::tuple(ct, ct); });
  EXPECT_EQ(
      refusal<DTypeError>([&] { grad(of_integers)(number(1), tensor<std::int64_t>(1)); }),
      "custom_vjp: backward returned f64 [] as the gradient of argument 1, which is i64 []; only floats have one: "
      "return the empty tensor, which stands for zero");
  const auto of_list = custom_vjp([](const std::vector<Tensor>& v) { return v[0] + v[1]; },
                                  [](const std::vector<Tensor>& v) { return std::pair(v[0] + v[1], 0); },
                                  [](int, const Tensor& ct) { return std::vector<Tensor>{ct}; });
  EXPECT_EQ(
      refusal<ShapeError>([&] {
        grad(of_list)(std::vector<Tensor>{number(1), number(2)});
      }),
      "custom_vjp: backward returned 1 tensors as the gradient of argument 0, which holds 2; a gradient is a tree "
      "like its argument, or `none`");
  const auto in_list = custom_vjp([](const std::vector<Tensor>& v) { return v[0] + v[1]; },
                                  [](const std::vector<Tensor>& v) { return std::pair(v[0] + v[1], 0); },
                                  [](int, const Tensor& ct) {
                                    return std::vector<Tensor>{ct, ct + tensor<double>({1, 2})};
                                  });
  EXPECT_EQ(
      refusal<ShapeError>([&] {
        grad(in_list)(std::vector<Tensor>{number(1), number(2)});
      }),
      "custom_vjp: backward returned f64 [2] as the gradient of argument 0, tensor 1, which is f64 []; the two have "
      "one shape: sum over what was repeated");
}

TEST(CustomErrors, GradientsAreCheckedForOneExample) {
  const auto f =
      custom_vjp([](const Tensor& x) { return sum(x); }, [](const Tensor& x) { return std::pair(sum(x), 0); },
                 [](int, const Tensor& ct) { return ct; });
  const auto total = [&](const Tensor& x) { return sum(vmap(f, batch)(x)); };
  EXPECT_EQ(
      refusal<ShapeError>([&] {
        grad(total)(zeros({batch(3), feature(2)}));
      }),
      "custom_vjp: backward returned f32 [] as the gradient of argument 0, which is f32 [feature 2]; the two have "
      "one shape: sum over what was repeated");
}

TEST(CustomErrors, TangentsThatDoNotFit) {
  const auto with = [](auto rule) { return custom_jvp([](const Tensor& x) { return 2 * x; }, rule); };
  const auto run = [&](const auto& f) { return [=] { jvp(f, number(1), number(1)); }; };
  EXPECT_EQ(
      refusal<ShapeError>(run(with([](const Tensor& x, const Tensor& dx) {
        return std::pair(2 * x, dx * tensor<double>({1, 2}));
      }))),
      "custom_jvp: the rule returned f64 [2] as the tangent of result 0, which is f64 []; the two have one shape: "
      "sum over what was repeated");
  const auto swapped = with([](const Tensor& x, const Tensor& dx) { return std::pair(2 * dx, 2 * x); });
  EXPECT_EQ(refusal<ValueError>([&] { grad(swapped)(number(1)); }),
            "custom_jvp: result 0 depends on the tangents; the rule returns std::pair(result, tangent), in that order");
  const auto lists = custom_jvp(
      [](const Tensor& x) {
        return std::vector<Tensor>{x, x};
      },
      [](const Tensor& x, const Tensor& dx) {
        return std::pair(std::vector<Tensor>{x, x}, std::vector<Tensor>{dx});
      });
  EXPECT_EQ(
      refusal<ShapeError>(run(lists)),
      "custom_jvp: the rule returned 1 tensors as the tangent of a result that holds 2; the tangent is a tree like "
      "the result");
}

TEST(CustomErrors, BatchesThatDoNotFit) {
  const auto f = custom_vmap([](const Tensor& x) { return sum(x); },
                             [](std::int64_t, const std::vector<bool>&, const Tensor& x) { return sum(x, 0); });
  EXPECT_EQ(
      refusal<ShapeError>([&] {
        vmap(f, batch)(zeros({batch(3), feature(2)}));
      }),
      "custom_vmap: the rule returned f32 [feature 2] as result 0 of 3 examples; every tensor of the result has the "
      "batch in front");
}

TEST(CustomErrors, ACapturedTensorOfTheSameTransform) {
  const auto through_forward = [](const Tensor& x) {
    return custom_vjp([&](const Tensor& y) { return x * y; }, [&](const Tensor& y) { return std::pair(x * y, y); },
                      [&](const Tensor&, const Tensor& ct) { return ct; })(x);
  };
  EXPECT_EQ(
      refusal<LevelError>([&] { grad(through_forward)(number(1)); }),
      "custom_vjp: an operation inside meets a tensor of a running grad that is not one of the arguments; got f64 [], "
      "f64 []; pass it as an argument");
  EXPECT_EQ(
      refusal<LevelError>([&] { vmap(through_forward, batch)(zeros({batch(2)})); }),
      "custom_vjp: an operation inside meets a tensor of a running vmap over batch that is not one of the arguments; "
      "got f32 []; pass it as an argument");
  const auto returned = [](const Tensor& x) {
    return custom_vjp([&](const Tensor&) { return x; }, [&](const Tensor&) { return std::pair(x, 0); },
                      [](int, const Tensor& ct) { return ct; })(x);
  };
  EXPECT_EQ(
      refusal<LevelError>([&] { grad(returned)(number(1)); }),
      "custom_vjp: a rule returned a tensor of a running grad that is not one of the arguments; got f64 []; pass it "
      "as an argument");
  const auto in_backward = [](const Tensor& x) {
    return custom_vjp([](const Tensor& y) { return y; }, [](const Tensor& y) { return std::pair(y, 0); },
                      [x](int, const Tensor& ct) { return ct * x; })(x);
  };
  EXPECT_EQ(
      refusal<LevelError>([&] { grad(in_backward)(number(1)); }),
      "multiply: argument 1 belongs to a grad that has ended, or that runs on another thread; got f64 [], f64 []; "
      "return the tensor from the transformed function instead of storing it elsewhere; in the backward function of "
      "a custom_vjp, pass it as an argument or among the residuals");
  const auto in_jvp = [](const Tensor& x) {
    return custom_jvp([](const Tensor& y) { return y; },
                      [&](const Tensor& y, const Tensor& dy) { return std::pair(y, dy * x); })(x);
  };
  EXPECT_EQ(
      refusal<LevelError>([&] { jvp(in_jvp, number(1), number(1)); }),
      "custom_jvp: an operation inside meets a tensor of a running jvp that is not one of the arguments; got f64 [], "
      "f64 []; pass it as an argument");
  const auto residual = [](const Tensor& x) {
    return custom_vjp([](const Tensor& y) { return y; }, [x](const Tensor& y) { return std::pair(y, x); },
                      [](const Tensor& kept, const Tensor& ct) { return ct * kept; })(x);
  };
  EXPECT_THROW(grad(residual)(number(1)), LevelError);
  EXPECT_EQ(grad(vjp_sin())(number(0)).item<double>(), 1);
}

TEST(CustomErrors, ATensorOfATransformFurtherOutMayBeCaptured) {
  // d/dx of d/dy (x y^2) at y = 3
  const auto outer = [](const Tensor& x) {
    const auto inner = custom_vjp([&](const Tensor& y) { return x * square(y); },
                                  [&](const Tensor& y) { return std::pair(x * square(y), y); },
                                  [x](const Tensor& y, const Tensor& ct) { return 2 * ct * x * y; });
    return grad(inner)(number(3));
  };
  EXPECT_EQ(grad(outer)(number(5)).item<double>(), 6);
  EXPECT_EQ(values_of(vmap(outer)(tensor<double>({1, 2}))), (std::vector<double>{6, 12}));
}

TEST(CustomErrors, WhatARuleThrowsPassesThroughAndChangesNothing) {
  const auto f = custom_vjp([](const Tensor& x) { return x; }, [](const Tensor& x) { return std::pair(x, 0); },
                            [](int, const Tensor& ct) -> Tensor {
                              if (ct.item<double>() < 0) throw std::runtime_error("no");
                              return 2 * ct;
                            });
  const auto pullback = vjp(f, number(1)).second;
  EXPECT_THROW(pullback(number(-1)), std::runtime_error);
  EXPECT_EQ(pullback(number(1)).item<double>(), 2);
  EXPECT_EQ(grad(f)(number(1)).item<double>(), 2);
}

TEST(Custom, InABranchThatNotEveryExampleTakes) {
  const auto root =
      custom_vjp([](const Tensor& x) { return sqrt(x); }, [](const Tensor& x) { return std::pair(sqrt(x), sqrt(x)); },
                 [](const Tensor& y, const Tensor& ct) { return 0.5 * ct / y; });
  const auto f = [&](const Tensor& x) {
    return cond(
        x > 0, [&](const Tensor& a) { return root(a); }, [](const Tensor& a) { return -a; }, x);
  };
  const Tensor xs = tensor<double>({-1, 4, 0, 16});
  EXPECT_EQ(values_of(vmap(f)(xs)), (std::vector<double>{1, 2, 0, 4}));
  EXPECT_EQ(values_of(vmap(grad(f))(xs)), (std::vector<double>{-1, 0.25, -1, 0.125}));
  const auto total = [&](const Tensor& x) { return sum(vmap(f)(x)); };
  EXPECT_EQ(values_of(grad(total)(xs)), (std::vector<double>{-1, 0.25, -1, 0.125}));
}

TEST(Custom, NothingIsKept) {
  const auto run = [] {
    const auto f = [](const Tensor& x) { return sum(vjp_sin()(x)) + sum(jvp_sin()(x)) + sum(vmap_sin()(x)); };
    vmap(grad(f))(ones({3, 4}, DType::f64));
    grad([&](const Tensor& x) { return sum(vmap(f)(x)); })(ones({3, 4}, DType::f64));
  };
  run();
  const std::int64_t before = memory_stats().in_use;
  run();
  EXPECT_EQ(memory_stats().in_use, before);
}

}  // namespace
