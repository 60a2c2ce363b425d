// jacrev, jacfwd, hessian, hvp and linearize, against closed forms and each other.
#include <gtest/gtest.h>

#include <cmath>
#include <tlaloc/tlaloc.hpp>
#include <vector>

namespace {

using namespace tlaloc;

const Axis in{"in"}, out{"out"}, batch{"batch"};

Tensor weights() { return tensor<double>({{1, -2}, {0.5, 4}, {-1, 0.25}}, {in, out}); }
Tensor point() { return tensor<double>({0.1, 0.2, 0.3}, {in}); }

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape()) << a << b;
  const auto x = a.to_vector<double>();
  const auto y = b.to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], tolerance) << "element " << i;
}

/// d tanh(x W)_o / d x_i = (1 - tanh(x W)_o^2) W_io, element by element.
Tensor jacobian_by_hand(const Tensor& x, const Tensor& w) {
  const auto v = x.to_vector<double>();
  const auto m = w.to_vector<double>();
  std::vector<double> j;
  for (std::size_t o = 0; o < 2; ++o) {
    double z = 0;
    for (std::size_t i = 0; i < 3; ++i) z += v[i] * m[2 * i + o];
    for (std::size_t i = 0; i < 3; ++i) j.push_back((1 - std::tanh(z) * std::tanh(z)) * m[2 * i + o]);
  }
  return from_data(j, {out(2), in(3)});
}

TEST(Jacobian, BothModesAgreeWithTheClosedForm) {
  const auto f = [](const Tensor& x) { return tanh(matmul(x, weights())); };
  const Tensor expected = jacobian_by_hand(point(), weights());
  expect_near(jacrev(f)(point()), expected, 1e-12);
  expect_near(jacfwd(f)(point()), expected, 1e-12);
}

TEST(Jacobian, ChunksOfEverySizeGiveTheSame) {
  const auto f = [](const Tensor& x) { return tanh(matmul(x, weights())); };
  const Tensor expected = jacobian_by_hand(point(), weights());
  for (const int size : {1, 2, 3, 5}) {
    expect_near(jacrev(f, chunk_size(size))(point()), expected, 1e-12);
    expect_near(jacfwd(f, chunk_size(size))(point()), expected, 1e-12);
  }
  EXPECT_THROW(chunk_size(0), ValueError);
}

TEST(Jacobian, AnAxisThatTheResultHasTooIsPrimed) {
  const Tensor x = tensor<double>({1, 2}, {in});
  const Tensor expected = tensor<double>({{2, 0}, {0, 4}}, {in, in.primed()});
  EXPECT_TRUE(array_equal(jacrev([](const Tensor& a) { return square(a); })(x), expected));
  EXPECT_TRUE(array_equal(jacfwd([](const Tensor& a) { return square(a); })(x), expected));
  const Tensor third = jacfwd(jacrev([](const Tensor& a) { return a * square(a); }))(x);
  EXPECT_EQ(third.shape(), (Shape{in(2), in.primed()(2), in.primed().primed()(2)}));
  EXPECT_TRUE(array_equal(rename(third, {Axis::none, Axis::none, Axis::none}),
                          tensor<double>({{{6, 0}, {0, 0}}, {{0, 0}, {0, 12}}})));
}

TEST(Jacobian, BySeveralArgumentsIsATuple) {
  const auto f = [](const Tensor& x, const Tensor& w) { return matmul(x, w); };
  const auto [by_x, by_w] = jacrev(f, argnums<0, 1>)(point(), weights());
  EXPECT_EQ(by_x.shape(), (Shape{out(2), in(3)}));
  EXPECT_EQ(by_w.shape(), (Shape{out(2), in(3), out.primed()(2)}));
  const auto [by_w2, by_x2] = jacfwd(f, argnums<-1, 0>)(point(), weights());
  expect_near(by_x2, by_x, 1e-12);
  expect_near(by_w2, by_w, 1e-12);
}

TEST(Jacobian, OfSeveralResultsIsAVectorOfTrees) {
  const auto f = [](const Tensor& x) { return std::pair(sum(x), square(x)); };
  const Tensor x = tensor<double>({1, 2}, {in});
  for (const auto& j : {jacrev(f)(x), jacfwd(f)(x)}) {
    ASSERT_EQ(j.size(), 2u);
    EXPECT_TRUE(array_equal(j[0], tensor<double>({1, 1}, {in})));
    EXPECT_TRUE(array_equal(j[1], tensor<double>({{2, 0}, {0, 4}}, {in, in.primed()})));
  }
}

TEST(Jacobian, OfWhatDoesNotDependOnTheArgumentIsZero) {
  const auto f = [](const Tensor&) { return tensor<double>({1, 2}, {out}); };
  const Tensor zero = zeros({out(2), in(3)}, DType::f64);
  EXPECT_TRUE(array_equal(jacrev(f)(point()), zero));
  EXPECT_TRUE(array_equal(jacfwd(f)(point()), zero));
}

TEST(Jacobian, OfNoElementsHasNone) {
  const Tensor none_at_all = zeros({in(0)}, DType::f64);
  const auto f = [](const Tensor& x) { return square(x); };
  EXPECT_EQ(jacrev(f)(none_at_all).shape(), (Shape{in(0), in.primed()(0)}));
  EXPECT_EQ(jacfwd(f)(none_at_all).shape(), (Shape{in(0), in.primed()(0)}));
}

TEST(Jacobian, OfAnIntegerResultIsRefused) {
  EXPECT_THROW(jacrev([](const Tensor& x) { return cast(x, DType::i64); })(point()), DTypeError);
}

double loss_by_hand(const std::vector<double>& v) {
  const auto m = weights().to_vector<double>();
  double total = 0;
  for (std::size_t o = 0; o < 2; ++o) {
    double z = 0;
    for (std::size_t i = 0; i < 3; ++i) z += v[i] * m[2 * i + o];
    total += std::tanh(z) * std::tanh(z);
  }
  return total;
}

Tensor loss(const Tensor& x) { return sum(square(tanh(matmul(x, weights())))); }

TEST(Hessian, AgreesWithSecondDifferences) {
  const auto h = hessian(loss)(point()).to_vector<double>();
  const double step = 2e-5;  // truncation and rounding are both below 3e-7 here
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double difference = 0;
      for (const int a : {-1, 1})
        for (const int b : {-1, 1}) {
          auto v = point().to_vector<double>();
          v[i] += a * step;
          v[j] += b * step;
          difference += a * b * loss_by_hand(v);
        }
      EXPECT_NEAR(h[3 * i + j], difference / (4 * step * step), 1e-6) << i << ' ' << j;
    }
}

TEST(Hessian, TimesAVectorIsHvp) {
  const Tensor v = tensor<double>({1, -2, 0.5}, {in});
  const Tensor h = rename(hessian(loss)(point()), {in, Axis{"column"}});
  expect_near(hvp(loss, point(), v), matmul(h, rename(v, {Axis{"column"}})), 1e-12);
}

TEST(Hessian, OfEveryExampleIsTheHessianOfEach) {
  const Tensor xs = stack({point(), 2 * point(), -1 * point()}, 0, batch);
  const Tensor mapped = vmap(hessian(loss), batch)(xs);
  for (int i = 0; i < 3; ++i) expect_near(select(mapped, batch, i), hessian(loss)(select(xs, batch, i)), 1e-12);
}

struct Model {
  Tensor w, b;
};

TEST(Hessian, OfATreeHasATreeForEachOfItsTensors) {
  const auto f = [](const Model& m) { return sum(square(matmul(point(), m.w) + m.b)); };
  const auto h = hessian(f)(Model{weights(), zeros({out(2)}, DType::f64)});
  ASSERT_EQ(h.size(), 2u);
  EXPECT_EQ(h[0].w.shape(), (Shape{in(3), out(2), in.primed()(3), out.primed()(2)}));
  EXPECT_EQ(h[0].b.shape(), (Shape{in(3), out(2), out.primed()(2)}));
  EXPECT_EQ(h[1].w.shape(), (Shape{out(2), in(3), out.primed()(2)}));
  EXPECT_TRUE(array_equal(h[1].b, tensor<double>({{2, 0}, {0, 2}}, {out, out.primed()})));
}

TEST(Linearize, IsTheJvpWithoutRunningTheFunctionAgain) {
  int runs = 0;
  const auto f = [&](const Tensor& x) {
    ++runs;
    return tanh(matmul(x, weights()));
  };
  const auto [value, derivative] = linearize(f, point());
  expect_near(value, tanh(matmul(point(), weights())), 1e-15);
  for (const double scale : {1.0, -2.0, 0.0}) {
    const Tensor tangent = scale * tensor<double>({1, 2, -1}, {in});
    const Tensor pushed = derivative(tangent);
    EXPECT_EQ(runs, 1);
    expect_near(pushed, jvp([](const Tensor& x) { return tanh(matmul(x, weights())); }, point(), tangent).second,
                1e-12);
  }
}

TEST(Linearize, TakesOneTangentForEachArgument) {
  const auto [value, derivative] =
      linearize([](const Tensor& x, const Tensor& w) { return matmul(x, w); }, point(), weights());
  const Tensor dx = tensor<double>({1, 0, -1}, {in});
  const Tensor dw = 0.5 * weights();
  expect_near(derivative(dx, dw), matmul(dx, weights()) + matmul(point(), dw), 1e-12);
}

}  // namespace
