// grad, value_and_grad, vjp and jvp: which arguments they differentiate by, the trees they take and return, the
// functions they take, and what is constant.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

using Doubles = std::vector<double>;

Tensor number(double value) { return tensor<double>(value); }
double value_of(const Tensor& x) { return x.item<double>(); }
Doubles values(const Tensor& x) { return x.to_vector<double>(); }
Tensor cube(const Tensor& x) { return x * x * x; }

// ---------------------------------------------------------------------------------------------------------------------
// Arguments

TEST(ArgNumbers, OneGivesTheTreeAndSeveralATuple) {
  const auto f = [](const Tensor& x, const Tensor& y, const Tensor& z) { return x * y + 10 * y * z; };
  const Tensor x = number(2), y = number(3), z = number(5);
  static_assert(std::is_same_v<decltype(grad(f)(x, y, z)), Tensor>);
  EXPECT_EQ(value_of(grad(f)(x, y, z)), 3);
  EXPECT_EQ(value_of(grad(f, argnums<1>)(x, y, z)), 52);
  EXPECT_EQ(value_of(grad(f, argnums<-1>)(x, y, z)), 30);
  EXPECT_EQ(value_of(grad(f, argnums<-3>)(x, y, z)), 3);
  const auto [dx, dz] = grad(f, argnums<0, -1>)(x, y, z);
  EXPECT_EQ(value_of(dx), 3);
  EXPECT_EQ(value_of(dz), 30);
  static_assert(std::is_same_v<decltype(grad(f, argnums<0, 2>)(x, y, z)), std::tuple<Tensor, Tensor>>);
}

TEST(ArgNumbers, GradientsComeInTheOrderTheyAreAskedFor) {
  const auto f = [](const Tensor& x, const Tensor& y, const Tensor& z) { return x * y + 10 * y * z; };
  const auto [dz, dx, dy] = grad(f, argnums<2, 0, 1>)(number(2), number(3), number(5));
  EXPECT_EQ(value_of(dx), 3);
  EXPECT_EQ(value_of(dy), 52);
  EXPECT_EQ(value_of(dz), 30);
}

TEST(ArgNumbers, OtherArgumentsArePassedOnAsTheyCome) {
  const auto f = [](const Tensor& x, std::unique_ptr<int> n, const std::string& text, int& calls) {
    ++calls;
    EXPECT_EQ(text, "kept");
    return x * *n;
  };
  int calls = 0;
  EXPECT_EQ(value_of(grad(f)(number(1), std::make_unique<int>(7), "kept", calls)), 7);
  EXPECT_EQ(calls, 1) << "the function runs once, on the caller's own object";
}

TEST(ArgNumbers, TheCallersTensorStaysItsOwn) {
  Tensor x = number(2);
  EXPECT_EQ(value_of(grad([](Tensor y) {
              y = y * y;
              return y;
            })(x)),
            4);
  EXPECT_EQ(value_of(x), 2);
  EXPECT_EQ(value_of(x + 1), 3) << "not a tensor of the gradient that has ended";
  EXPECT_EQ(value_of(grad(cube)(std::move(x))), 12);
}

// ---------------------------------------------------------------------------------------------------------------------
// Trees

struct Layer {
  Tensor w;
  Tensor b;
  int steps = 0;
  std::string name;
};

TEST(Trees, AGradientIsATreeLikeTheArgument) {
  const Layer layer{number(2), number(3), 7, "dense"};
  const Layer g = grad([](const Layer& l, const Tensor& x) { return l.w * l.w * x + l.b * l.steps; })(layer, number(5));
  EXPECT_EQ(value_of(g.w), 20);
  EXPECT_EQ(value_of(g.b), 7);
  EXPECT_EQ(g.steps, 7) << "members that are no tensors are copied";
  EXPECT_EQ(g.name, "dense");
}

TEST(Trees, IntegerMembersHaveTheEmptyTensorAsGradient) {
  struct Embedding {
    Tensor table;
    Tensor index;
    Tensor mask;
    Tensor unset;
  };
  const Embedding e{tensor<double>({1, 2, 3}), tensor<std::int64_t>(2), tensor<bool>({true, false, true}), Tensor()};
  const Embedding g =
      grad([](const Embedding& p) { return sum(where(p.mask, p.table, 0.0)) * cast(p.index, DType::f64); })(e);
  EXPECT_EQ(values(g.table), (Doubles{2, 0, 2}));
  EXPECT_FALSE(g.index.defined());
  EXPECT_FALSE(g.mask.defined());
  EXPECT_FALSE(g.unset.defined());
  // Which is what an update that goes through both trees needs.
  const Embedding next = tree_map([](const Tensor& p, const Tensor& d) { return p - d; }, e, g);
  EXPECT_EQ(values(next.table), (Doubles{-1, 2, 1}));
  EXPECT_EQ(next.index.item<std::int64_t>(), 2);
}

TEST(Trees, ContainersOfEveryKind) {
  const auto total = [](const auto&... x) { return (x + ...); };
  const std::vector<Tensor> list{number(2), number(3)};
  EXPECT_EQ(value_of(grad([&](const std::vector<Tensor>& p) { return p[0] * p[1]; })(list).at(1)), 2);
  const std::map<std::string, Tensor> by_name{{"a", number(2)}, {"b", number(3)}};
  EXPECT_EQ(
      value_of(grad([](const std::map<std::string, Tensor>& p) { return p.at("a") * p.at("b"); })(by_name).at("a")), 3);
  const std::tuple<Tensor, int, Tensor> mixed{number(2), 5, number(3)};
  const auto gradient = grad([](const std::tuple<Tensor, int, Tensor>& p) {
    return std::get<0>(p) * std::get<1>(p) + square(std::get<2>(p));
  })(mixed);
  EXPECT_EQ(value_of(std::get<0>(gradient)), 5);
  EXPECT_EQ(std::get<1>(gradient), 5);
  EXPECT_EQ(value_of(std::get<2>(gradient)), 6);
  const std::array<Tensor, 2> two{number(2), number(3)};
  EXPECT_EQ(value_of(grad([&](const std::array<Tensor, 2>& p) { return total(p[0], p[1], p[1]); })(two)[1]), 2);
  const std::optional<Tensor> maybe = number(2);
  EXPECT_EQ(value_of(*grad([](const std::optional<Tensor>& p) { return cube(*p); })(maybe)), 12);
  EXPECT_FALSE(grad([](const std::optional<Tensor>&) { return number(1); })(std::optional<Tensor>()).has_value());
  const std::vector<Layer> layers{{number(1), number(2), 1, "first"}, {number(3), number(4), 2, "second"}};
  const auto [gl, gx] =
      grad([](const std::vector<Layer>& p, const Tensor& x) { return (x * p[0].w + p[0].b) * p[1].w + p[1].b; },
           argnums<0, 1>)(layers, number(10));
  EXPECT_EQ(value_of(gl[0].w), 30);
  EXPECT_EQ(value_of(gl[1].w), 12);
  EXPECT_EQ(value_of(gl[1].b), 1);
  EXPECT_EQ(gl[1].name, "second");
  EXPECT_EQ(value_of(gx), 3);
  EXPECT_TRUE(grad([](const std::vector<Tensor>&) { return number(1); })(std::vector<Tensor>{}).empty());
}

TEST(Trees, OneTensorTwiceInATreeIsTwoVariables) {
  const Tensor x = number(3);
  const auto g = grad([](const std::pair<Tensor, Tensor>& p) { return p.first * p.first * p.second; })(std::pair(x, x));
  EXPECT_EQ(value_of(g.first), 18);
  EXPECT_EQ(value_of(g.second), 9);
}

// ---------------------------------------------------------------------------------------------------------------------
// Values and what is handed on

TEST(Aux, IsHandedOnFromBelowTheTransform) {
  const auto f = [](const Tensor& x) {
    return std::pair(cube(x), std::vector<Tensor>{x * 2, tensor<std::int32_t>(7)});
  };
  const auto [g, aux] = grad(f)(number(2));
  EXPECT_EQ(value_of(g), 12);
  EXPECT_EQ(value_of(aux[0] + 1), 5) << "usable after the transform";
  EXPECT_EQ(aux[1].item<std::int32_t>(), 7);
  const auto [value, gradient, more] = value_and_grad(f)(number(2));
  EXPECT_EQ(value_of(value), 8);
  EXPECT_EQ(value_of(gradient), 12);
  EXPECT_EQ(value_of(more[0]), 4);
  const auto [g2, text] = grad([](const Tensor& x) { return std::tuple(cube(x), std::string("text")); })(number(2));
  EXPECT_EQ(value_of(g2), 12);
  EXPECT_EQ(text, "text");
  const auto [both, none] = grad([](const Tensor& x, const Tensor& y) { return std::pair(x * y, Tensor()); },
                                 argnums<0, 1>)(number(2), number(3));
  EXPECT_EQ(value_of(std::get<1>(both)), 2);
  EXPECT_FALSE(none.defined());
}

TEST(Aux, CarriesNoGradientInwardsAndKeepsItOutwards) {
  // The auxiliary result belongs to the outer transform still.
  const Tensor second = grad([](const Tensor& x) {
    return grad([&](const Tensor& y) { return std::pair(cube(y), x * y); })(x).second;
  })(number(3));
  EXPECT_EQ(value_of(second), 6) << "d x^2 / dx";
}

TEST(ValueAndGrad, GivesThePair) {
  const auto [value, gradient] = value_and_grad(cube)(number(2));
  EXPECT_EQ(value_of(value), 8);
  EXPECT_EQ(value_of(gradient), 12);
  EXPECT_EQ(value_of(value * gradient), 96) << "plain tensors, both";
  const auto [v, gradients] =
      value_and_grad([](const Tensor& x, const Tensor& y) { return x * y; }, argnums<0, 1>)(number(2), number(3));
  EXPECT_EQ(value_of(v), 6);
  EXPECT_EQ(value_of(std::get<0>(gradients)), 3);
}

// ---------------------------------------------------------------------------------------------------------------------
// Functions

TEST(Functions, GradTakesEveryKind) {
  const Tensor x = number(2);
  EXPECT_EQ(value_of(grad(cube)(x)), 12);
  EXPECT_EQ(value_of(grad(&cube)(x)), 12);
  EXPECT_EQ(value_of(grad(std::function<Tensor(const Tensor&)>(cube))(x)), 12);
  EXPECT_EQ(value_of(grad([](auto y) { return cube(y); })(x)), 12);
  EXPECT_EQ(value_of(grad([](Tensor&& y) { return cube(y); })(x)), 12);
  EXPECT_EQ(value_of(grad([p = std::make_unique<double>(3)](const Tensor& y) { return *p * y; })(x)), 3);
  struct Functor {
    double factor;
    Tensor operator()(const Tensor& y) const { return factor * y; }
  };
  const auto derivative = grad(Functor{5});
  EXPECT_EQ(value_of(derivative(x)), 5);
  EXPECT_EQ(value_of(derivative(x)), 5);
  auto counter = grad([calls = 0](const Tensor& y) mutable { return y * ++calls; });
  EXPECT_EQ(value_of(counter(x)), 1);
  EXPECT_EQ(value_of(counter(x)), 2);
  EXPECT_EQ(value_of(grad(grad(grad(cube)))(x)), 6);
  EXPECT_EQ(values(vmap(grad(grad(cube)))(tensor<double>({1, 2}))), (Doubles{6, 12}));
}

TEST(Functions, VjpAndJvpTakeThemToo) {
  const Tensor x = number(2);
  EXPECT_EQ(value_of(vjp(cube, x).second(number(1))), 12);
  EXPECT_EQ(value_of(vjp([p = std::make_unique<double>(3)](const Tensor& y) { return *p * y; }, x).second(number(1))),
            3);
  EXPECT_EQ(value_of(jvp(&cube, x, number(1)).second), 12);
  auto counter = [calls = 0](Tensor&& y) mutable { return y * ++calls; };
  EXPECT_EQ(value_of(jvp(counter, x, number(1)).second), 1);
  EXPECT_EQ(value_of(jvp(counter, x, number(1)).second), 2) << "the caller's own object is called";
}

// ---------------------------------------------------------------------------------------------------------------------
// vjp and jvp

TEST(Vjp, TreesAsResultsAndCotangents) {
  struct Result {
    Tensor product;
    std::vector<Tensor> list;
    int count;
  };
  const auto f = [](const Tensor& x, const std::pair<Tensor, Tensor>& p) {
    return Result{x * p.first, {x + p.second, tensor<std::int32_t>(1)}, 3};
  };
  const auto [value, back] = vjp(f, number(2), std::pair(number(3), number(5)));
  EXPECT_EQ(value_of(value.product), 6);
  EXPECT_EQ(value.count, 3);
  const auto [dx, dp] = back(Result{number(10), {number(100), Tensor()}, 0});
  EXPECT_EQ(value_of(dx), 130);
  EXPECT_EQ(value_of(dp.first), 20);
  EXPECT_EQ(value_of(dp.second), 100);
  // Again, with other cotangents; empty ones are zeros.
  const auto [dx2, dp2] = back(Result{number(1), {Tensor(), Tensor()}, 0});
  EXPECT_EQ(value_of(dx2), 3);
  EXPECT_EQ(value_of(dp2.second), 0);
  EXPECT_EQ(value_of(std::get<0>(back(Result{number(10), {number(100), Tensor()}, 0}))), 130);
  const auto [dx3, dp3] = back(Result{Tensor(), {Tensor(), Tensor()}, 0});
  EXPECT_EQ(value_of(dx3), 0);
  EXPECT_EQ(value_of(dp3.first), 0);
}

TEST(Vjp, OfAResultThatIsAnArgumentOrAConstant) {
  const auto [value, back] = vjp([](const Tensor& x) { return std::tuple(x, x, number(7)); }, number(2));
  EXPECT_EQ(value_of(back(std::tuple(number(1), number(10), number(100)))), 11);
  EXPECT_EQ(value_of(std::get<2>(value)), 7);
}

TEST(Jvp, SeveralPrimals) {
  const auto f = [](const Tensor& x, const Tensor& y) { return x * y; };
  const auto [value, tangent] = jvp(f, std::tuple(number(2), number(3)), std::tuple(number(1), number(10)));
  EXPECT_EQ(value_of(value), 6);
  EXPECT_EQ(value_of(tangent), 23);
  // The empty tensor stands for zero.
  EXPECT_EQ(value_of(jvp(f, std::tuple(number(2), number(3)), std::tuple(number(1), Tensor())).second), 3);
  EXPECT_EQ(value_of(jvp(f, std::tuple(number(2), number(3)), std::tuple(Tensor(), Tensor())).second), 0);
  // A tree that is no tuple is one argument.
  EXPECT_EQ(value_of(jvp([](const std::vector<Tensor>& p) { return p[0] * p[1]; }, std::vector{number(2), number(3)},
                         std::vector{number(1), number(10)})
                         .second),
            23);
  // A primal that is not a float has the empty tensor as tangent.
  EXPECT_EQ(value_of(jvp([](const Tensor& x, const Tensor& n) { return x * n; },
                         std::tuple(number(2), tensor<std::int32_t>(3)), std::tuple(number(1), Tensor()))
                         .second),
            3);
}

TEST(Jvp, TreesAsResults) {
  const auto f = [](const Tensor& x) {
    return std::tuple(cube(x), number(1), tensor<std::int64_t>(4), std::string("text"), x);
  };
  const auto [value, tangent] = jvp(f, number(2), number(1));
  EXPECT_EQ(value_of(std::get<0>(value)), 8);
  EXPECT_EQ(value_of(std::get<0>(tangent)), 12);
  EXPECT_EQ(value_of(std::get<1>(tangent)), 0) << "a constant's tangent is zeros";
  EXPECT_FALSE(std::get<2>(tangent).defined()) << "what is not a float has none";
  EXPECT_EQ(std::get<3>(tangent), "text");
  EXPECT_EQ(value_of(std::get<4>(tangent)), 1);
}

// ---------------------------------------------------------------------------------------------------------------------
// Constants

TEST(Constants, ResultsAndUnusedArgumentsHaveZeros) {
  const Tensor x = tensor<double>({{1, 2}, {3, 4}});
  EXPECT_TRUE(array_equal(grad([](const Tensor&) { return number(3); })(x), zeros({2, 2}, DType::f64)));
  EXPECT_TRUE(array_equal(grad([](const Tensor& y) { return sum(zeros_like(y)); })(x), zeros({2, 2}, DType::f64)));
  EXPECT_TRUE(array_equal(grad([](const Tensor& y) { return sum(cast(cast(y, DType::i64), DType::f64)); })(x),
                          zeros({2, 2}, DType::f64)))
      << "nothing passes through integers";
  const auto [dx, dy] =
      grad([](const Tensor&, const Tensor& y) { return y; }, argnums<0, 1>)(tensor<float>({1, 2}), number(3));
  EXPECT_TRUE(array_equal(dx, zeros({2})));
  EXPECT_EQ(value_of(dy), 1);
  EXPECT_EQ(value_of(grad(grad([](const Tensor& y) { return 3 * y; }))(number(2))), 0);
}

TEST(Constants, StopGradientAtEveryLevel) {
  const auto f = [](const Tensor& x) { return x * stop_gradient(x); };
  EXPECT_EQ(value_of(grad(f)(number(3))), 3);
  EXPECT_EQ(value_of(jvp(f, number(3), number(1)).second), 3);
  EXPECT_EQ(value_of(grad(grad(f))(number(3))), 0) << "constant for the outer derivative too";
  EXPECT_EQ(value_of(grad([&](const Tensor& x) { return jvp(f, x, number(1)).second; })(number(3))), 0);
  EXPECT_EQ(value_of(grad([](const Tensor& x) { return stop_gradient(cube(x)); })(number(3))), 0);
  EXPECT_EQ(values(vmap(grad(f))(tensor<double>({3, 4}))), (Doubles{3, 4}));
  // A value from further out is a constant there as well.
  const Tensor outer = grad([](const Tensor& x) {
    return grad([&](const Tensor& y) { return y * stop_gradient(x) * x; })(number(1));
  })(number(5));
  EXPECT_EQ(value_of(outer), 5);
}

TEST(Constants, CastBetweenFloatsIsDifferentiable) {
  const Tensor g = grad([](const Tensor& x) { return sum(square(cast(x, DType::f64))); })(tensor<float>({1, 2}));
  EXPECT_EQ(g.dtype(), DType::f32) << "a gradient has its argument's type";
  EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{2, 4}));
  const Tensor h = grad([](const Tensor& x) { return sum(cast(cast(x, DType::f32) * 3, DType::f64)); })(number(1));
  EXPECT_EQ(h.dtype(), DType::f64);
  EXPECT_EQ(value_of(h), 3);
  const auto [y, dy] = jvp([](const Tensor& x) { return cast(x, DType::f64); }, tensor<float>(2), tensor<float>(3));
  EXPECT_EQ(dy.dtype(), DType::f64);
  EXPECT_EQ(value_of(dy), 3);
}

TEST(Constants, MixedTypesHaveGradientsOfTheirOwn) {
  const Tensor n = tensor<std::int32_t>({1, 2});
  const Tensor g = grad([&](const Tensor& x) { return sum(n * x); })(tensor<float>({5, 5}));
  EXPECT_EQ(g.dtype(), DType::f32);
  EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(ControlFlow, RunsOnOrdinaryValues) {
  const auto power = [](const Tensor& x, int n) {
    Tensor y = number(1);
    for (int i = 0; i < n; ++i) y = y * x;
    if (y > 100) y = y * 2;
    return y;
  };
  EXPECT_EQ(value_of(grad(power)(number(3), 3)), 27);
  EXPECT_EQ(value_of(grad(power)(number(5), 3)), 150);
  EXPECT_EQ(value_of(grad([](const Tensor& x) { return x.item<double>() > 0 ? x * 2 : x * 3; })(number(-1))), 3);
}

}  // namespace
