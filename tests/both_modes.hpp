// Derivatives by every way there is to them, for tests that know the answer: the ways must agree with it and each
// other.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/refusals.hpp"

namespace both_modes {

using namespace tlaloc;

using Doubles = std::vector<double>;
using Function = std::function<Tensor(const Tensor&)>;

inline Doubles values_of(const Tensor& x) { return x.to_vector<double>(); }

inline void expect_near(const Doubles& values, const Doubles& expected, double tolerance = 1e-14) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(expected[i]))
      EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "at " << i;
    else
      EXPECT_EQ(values[i], expected[i]) << "at " << i;
  }
}

/// The unit vectors of x's space, in front.
inline Tensor units(const Tensor& x) {
  Shape shape{x.size()};
  for (const Dim dim : x.shape()) shape.push_back(dim);
  return reshape(eye(x.size(), DType::f64), shape);
}

/// The gradient of f at x by reverse mode, forward mode, and each of them in a batch.
inline Doubles gradient(const Function& f, const Tensor& x) {
  const Doubles reverse = values_of(grad(f)(x));
  const auto slope = [&](const Tensor& at, const Tensor& direction) { return jvp(f, at, direction).second; };
  const Tensor directions = units(x);
  Doubles forward;
  for (std::int64_t i = 0; i < x.size(); ++i) forward.push_back(slope(x, select(directions, 0, i)).item<double>());
  expect_near(forward, reverse);
  expect_near(values_of(vmap(slope, in_axes(none, 0))(x, directions)), reverse);
  Doubles twice = reverse;
  twice.insert(twice.end(), reverse.begin(), reverse.end());
  expect_near(values_of(vmap(grad(f))(stack({x, x}))), twice);
  // The sum over a batch, differentiated outside the map.
  const Function total = [&](const Tensor& v) { return sum(vmap(f, axis_size(2), in_axes(none))(v)); };
  for (double& value : twice) value *= 2;
  expect_near(values_of(grad(total)(x)), Doubles(twice.begin(), twice.begin() + static_cast<std::ptrdiff_t>(x.size())));
  return reverse;
}

/// The Hessian of f at x, row by row: reverse and forward mode over each other and themselves.
inline Doubles hessian_of(const Function& f, const Tensor& x) {
  const Tensor directions = units(x);
  const Function by_reverse = grad(f);
  const auto in_direction = [&](const Tensor& v) { return [&f, v](const Tensor& at) { return jvp(f, at, v).second; }; };
  Doubles over_reverse, reverse_over_forward, forward_over_forward, reverse_over_reverse;
  const auto append = [](Doubles& to, const Tensor& row) {
    for (const double value : values_of(row)) to.push_back(value);
  };
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Tensor v = select(directions, 0, i);
    append(over_reverse, jvp(by_reverse, x, v).second);
    append(reverse_over_forward, grad(in_direction(v))(x));
    append(reverse_over_reverse, grad([&](const Tensor& at) { return sum(by_reverse(at) * v); })(x));
    append(forward_over_forward, vmap([&](const Tensor& w) { return jvp(in_direction(v), x, w).second; })(directions));
  }
  expect_near(over_reverse, reverse_over_reverse);
  expect_near(reverse_over_forward, reverse_over_reverse);
  expect_near(forward_over_forward, reverse_over_reverse);
  return reverse_over_reverse;
}

using refusals::expect_mentions;
using refusals::refusal;

}  // namespace both_modes
