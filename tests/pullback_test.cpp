// Pull-backs: called often, in any order, under other transforms, with cotangents that cannot be used; and the memory
// that they and all transforms give back.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/transforms.hpp"

namespace {

using namespace transform_test;

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
  expect_near(values_of(pullback(tensor<double>({1, 0, 0}))), {f.jacobian()[0], f.jacobian()[1], f.jacobian()[2]});
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
  const auto [dx, dy] = pullback({one, scalar(10), 100 * one, Tensor(), one});
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
      constant.emplace(vjp(Function([](const Tensor& y) { return y * 2; }), scalar(3)).second);
      EXPECT_EQ(value_of((*kept)(scalar(1))), 8);
      return x;
    })(scalar(2));
    EXPECT_THROW((*kept)(scalar(1)), LevelError);
    EXPECT_EQ(value_of((*constant)(scalar(1))), 2);
  }
  EXPECT_EQ(in_use(), before);
  expect_transforms_work();
}

TEST(Pullback, ThatFailsHalfWayLeavesNoCotangentBehind) {
  // The second result needs a value of a transform that has ended; the first does not.
  const auto f = [](const Tensor& x) {
    return [&x](const Tensor& y) {
      const Tensor doubled = y * 2;
      return std::pair(doubled, y * x);
    };
  };
  using Back = decltype(vjp(f(Tensor()), Tensor()).second);
  std::optional<Back> pullback;
  grad([&](const Tensor& x) {
    pullback.emplace(vjp(f(x), scalar(3)).second);
    return x;
  })(scalar(5));
  EXPECT_EQ(value_of((*pullback)({scalar(1), Tensor()})), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW((*pullback)({scalar(1), scalar(1)}), LevelError);
    EXPECT_EQ(value_of((*pullback)({scalar(1), Tensor()})), 2);
  }
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

}  // namespace
