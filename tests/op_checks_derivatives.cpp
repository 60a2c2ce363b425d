// Checks of derivatives of every order: forward mode against differences, reverse mode against forward mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/op_checks.hpp"
#include "tests/op_derivatives.hpp"
#include "tests/op_subjects.hpp"

namespace op_table {
namespace {

Tensor shifted(const Tensor& x, const Tensor& direction, double by) {
  std::vector<double> values = numbers(x);
  const std::vector<double> along = numbers(direction);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += by * along[i];
  return from_data(values, x.shape());
}

/// The sum of products, and of their absolute values.
struct Inner {
  double value = 0;
  double size = 0;

  Inner(const Tensors& a, const Tensors& b) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      const std::vector<double> x = numbers(a[k]);
      const std::vector<double> y = numbers(b[k]);
      for (std::size_t i = 0; i < x.size(); ++i) {
        value += x[i] * y[i];
        size += std::abs(x[i] * y[i]);
      }
    }
  }
};

void expect_like(const Tensors& got, const Tensors& primals, const char* what) {
  ASSERT_EQ(got.size(), primals.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    ASSERT_TRUE(got[k].defined()) << what << ' ' << k;
    EXPECT_EQ(got[k].dtype(), primals[k].dtype()) << what << ' ' << k;
    EXPECT_EQ(got[k].shape(), primals[k].shape())
        << what << ' ' << k << " is " << got[k].shape().to_string() << ", not " << primals[k].shape().to_string();
  }
}

Tensors pick(const Tensors& x, const std::vector<std::size_t>& which) {
  Tensors picked;
  for (const std::size_t i : which) picked.push_back(x[i]);
  return picked;
}

/// The subject differentiated by those of its `by` that are in the set.
Subject by_some(const Subject& subject, unsigned set) {
  Subject some = subject;
  some.by.clear();
  for (std::size_t k = 0; k < subject.by.size(); ++k)
    if ((set >> k & 1) != 0) some.by.push_back(subject.by[k]);
  return some;
}

/// <cotangents, J tangents> = <J' cotangents, tangents>, to the rounding of the least exact of them.
void expect_adjoint(const Subject& subject, const Tensors& x, const Tensors& tangents, const Tensors& cotangents) {
  const Tensors y = subject.f(x);
  const Tensors pushed = push_forward(subject, x, tangents);
  const Tensors pulled = pull_back(subject, x, cotangents);
  expect_like(pushed, y, "tangent");
  expect_like(pulled, pick(x, subject.by), "gradient");
  if (testing::Test::HasFatalFailure()) return;
  const auto has_f32 = [](const Tensors& tensors) {
    return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.dtype() == DType::f32; });
  };
  const double tolerance = has_f32(pushed) || has_f32(pulled) ? 1e-5 : 1e-12;
  const Inner forwards(cotangents, pushed);
  const Inner backwards(pulled, tangents);
  EXPECT_LE(std::abs(forwards.value - backwards.value), tolerance * (1e-3 + forwards.size + backwards.size))
      << forwards.value << " forwards, " << backwards.value << " backwards";
}

}  // namespace

void expect_forward_is_difference(const Subject& subject) {
  const Tensors x = draw(subject.inputs, DType::f64);
  const Tensors all = draw(inputs_by(subject), DType::f64, 1);
  // In all directions at once, then along one operand at a time: the others have no tangent then.
  for (std::size_t which = 0; which <= all.size(); ++which) {
    if (all.size() == 1 && which == 1) break;
    Tensors tangents(all.size());
    for (std::size_t k = 0; k < all.size(); ++k)
      if (which == all.size() || which == k) tangents[k] = all[k];
    const auto at = [&](double by) {
      Tensors moved = x;
      for (std::size_t k = 0; k < tangents.size(); ++k) {
        Tensor& operand = moved[subject.by[k]];
        if (tangents[k].defined()) operand = shifted(operand, tangents[k], by);
      }
      return subject.f(moved);
    };
    constexpr double h = 1e-3;
    const Tensors far = at(2 * h), near = at(h), before = at(-h), far_before = at(-2 * h);
    const Tensors pushed = push_forward(subject, x, tangents);
    expect_like(pushed, near, "tangent");
    if (testing::Test::HasFatalFailure()) return;
    for (std::size_t k = 0; k < pushed.size(); ++k) {
      const std::vector<double> a = numbers(far[k]), b = numbers(near[k]), c = numbers(before[k]),
                                d = numbers(far_before[k]);
      std::vector<double> slope;
      for (std::size_t i = 0; i < a.size(); ++i) slope.push_back((8 * (b[i] - c[i]) - (a[i] - d[i])) / (12 * h));
      EXPECT_EQ(difference(numbers(pushed[k]), slope, 2e-8), "") << "tangent " << k << ", direction " << which;
    }
  }
}

void expect_reverse_is_adjoint(const Subject& subject, DType dtype) {
  const Tensors x = draw(subject.inputs, dtype);
  const Tensors tangents = draw(inputs_by(subject), dtype, 1);
  const Tensors cotangents = draw(inputs_like(subject.f(x)), dtype, 2);
  expect_adjoint(subject, x, tangents, cotangents);
}

namespace {

Subject of(const Row& row, const Case& c) { return subject_of(row, c); }

void check_forward(const Row& row, const Case& c) { expect_forward_is_difference(of(row, c)); }

/// For both floats and every layout of operands, tangents and cotangents.
void check_reverse(const Row& row, const Case& c) {
  const Subject subject = of(row, c);
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Tensors x = draw(subject.inputs, dtype);
    const Tensors tangents = draw(inputs_by(subject), dtype, 1);
    const Tensors cotangents = draw(inputs_like(subject.f(x)), dtype, 2);
    const auto all_in = [](const Tensors& dense, Layout layout) {
      Tensors result;
      for (const Tensor& one : dense) result.push_back(laid_out(one, layout));
      return result;
    };
    for (const Layout layout : all_layouts) {
      SCOPED_TRACE(std::string(name(dtype)) + ", " + name_of(layout));
      expect_adjoint(subject, all_in(x, layout), tangents, cotangents);
      expect_adjoint(subject, x, all_in(tangents, layout), cotangents);
      expect_adjoint(subject, x, tangents, all_in(cotangents, layout));
    }
  }
}

/// What is kept for the way back depends on which gradients are asked for: each set of them gives the same ones.
void check_some_gradients(const Row& row, const Case& c) {
  const Subject subject = of(row, c);
  const Tensors x = draw(subject.inputs, DType::f64);
  const Tensors cotangents = draw(inputs_like(subject.f(x)), DType::f64, 2);
  const Tensors all = pull_back(subject, x, cotangents);
  for (const unsigned set : subsets(subject.by.size())) {
    const Tensors some = pull_back(by_some(subject, set), x, cotangents);
    std::size_t next = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if ((set >> k & 1) == 0) continue;
      EXPECT_TRUE(array_equal(some[next++], all[k])) << "gradient " << k << " of set " << set;
    }
  }
}

/// A pull-back can be called again, with the cotangents used elsewhere, and changes neither them nor the operands; an
/// absent cotangent is zero.
void check_pull_back_again(const Row& row, const Case& c) {
  const Subject subject = of(row, c);
  const Tensors x = draw(subject.inputs, DType::f64);
  const Tensors cotangents = draw(inputs_like(subject.f(x)), DType::f64, 2);
  const auto of_all = [&](const Tensors& active) {
    Tensors all = x;
    for (std::size_t k = 0; k < subject.by.size(); ++k) all[subject.by[k]] = active[k];
    return subject.f(all);
  };
  const auto [y, back] = vjp(of_all, pick(x, subject.by));
  const std::vector<double> y_before = numbers(y[0]);
  const Tensors once = back(cotangents);
  const Tensors twice = back(cotangents);
  for (std::size_t k = 0; k < once.size(); ++k) EXPECT_TRUE(array_equal(once[k], twice[k])) << "gradient " << k;
  const Tensors fresh_x = draw(subject.inputs, DType::f64);
  const Tensors fresh_cotangents = draw(inputs_like(fresh_x.empty() ? Tensors{} : y), DType::f64, 2);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_TRUE(array_equal(x[i], fresh_x[i])) << "operand " << i << " changed";
  for (std::size_t k = 0; k < cotangents.size(); ++k)
    EXPECT_TRUE(array_equal(cotangents[k], fresh_cotangents[k])) << "cotangent " << k << " changed";
  EXPECT_EQ(difference(numbers(y[0]), y_before, 0), "") << "the result changed";
  for (const Tensor& gradient : back(Tensors(y.size())))
    for (const double number : numbers(gradient)) EXPECT_EQ(number, 0);
}

/// grad and value_and_grad, by each argument and by several, are vjp of the same sum.
void check_grad(const Row& row, const Case& c) {
  const Subject subject = of(row, c);
  const Tensors x = draw(subject.inputs, DType::f64);
  const Tensors weights = draw(inputs_like(subject.f(x)), DType::f64, 2);
  const auto loss = [&](const Tensors& active) {
    Tensors all = x;
    for (std::size_t k = 0; k < subject.by.size(); ++k) all[subject.by[k]] = active[k];
    const Tensors y = subject.f(all);
    Tensor total = sum(y[0] * weights[0]);
    for (std::size_t k = 1; k < y.size(); ++k) total = total + sum(y[k] * weights[k]);
    return total;
  };
  const Tensors active = pick(x, subject.by);
  const Tensors wanted = pull_back(subject, x, weights);
  const auto expect_same = [&](const Tensor& got, std::size_t k) {
    EXPECT_EQ(got.shape(), wanted[k].shape());
    EXPECT_EQ(difference(numbers(got), numbers(wanted[k]), 1e-13), "") << "gradient " << k;
  };
  const Tensors gradients = grad(loss)(active);
  const auto [value, gradients_too] = value_and_grad(loss)(active);
  EXPECT_TRUE(array_equal(value, loss(active)));
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    expect_same(gradients[k], k);
    expect_same(gradients_too[k], k);
  }
  if (active.size() != 2) return;
  const auto of_two = [&](const Tensor& a, const Tensor& b) { return loss({a, b}); };
  expect_same(grad(of_two)(active[0], active[1]), 0);
  expect_same(grad(of_two, argnums<1>)(active[0], active[1]), 1);
  const auto [last, first] = grad(of_two, argnums<-1, 0>)(active[0], active[1]);
  expect_same(first, 0);
  expect_same(last, 1);
}

/// One tensor for all operands of its shape, used a second time beside the operation.
void check_shared_operand(const Row& row, const Case& c) {
  const Subject subject = of(row, c);
  Subject shared{{}, {subject.inputs[subject.by[0]]}, {0}, subject.results};
  shared.f = [=](const Tensors& in) {
    Tensors x = draw(subject.inputs, in[0].dtype());
    for (const std::size_t i : subject.by)
      if (x[i].shape() == in[0].shape()) x[i] = in[0];
    const Tensor doubled = in[0] * 2;
    Tensors results = subject.f(x);
    for (Tensor& y : results) y = y + cast(sum(doubled * in[0]), y.dtype());
    return results;
  };
  expect_reverse_is_adjoint(shared, DType::f64);
  if (c.smooth) expect_forward_is_difference(shared);
}

/// Both derivatives of both derivatives.
void check_second_order(const Row& row, const Case& c) {
  const Subject subject = of(row, c);
  for (const bool back : {true, false}) {
    SCOPED_TRACE(back ? "of reverse mode" : "of forward mode");
    const Subject derivative = back ? reverse(subject) : forward(subject);
    expect_reverse_is_adjoint(derivative, DType::f64);
    expect_reverse_is_adjoint(derivative, DType::f32);
    if (c.smooth) expect_forward_is_difference(derivative);
  }
}

void check_third_order(const Row& row, const Case& c) {
  const Subject subject = of(row, c);
  for (const bool back : {true, false})
    for (const bool back_again : {true, false}) {
      SCOPED_TRACE(std::string(back_again ? "of reverse" : "of forward") + (back ? " of reverse" : " of forward"));
      const Subject derivative = back ? reverse(subject) : forward(subject);
      const Subject second = back_again ? reverse(derivative) : forward(derivative);
      expect_reverse_is_adjoint(second, DType::f64);
      if (c.smooth) expect_forward_is_difference(second);
    }
}

std::int64_t elements(const Case& c) {
  std::int64_t count = 0;
  for (const Input& input : c.inputs) count += input.shape.size();
  return count;
}

bool has_derivative(const Row& row, const Case& c) {
  return row.differentiable && (!c.dtype || is_float(*c.dtype)) && !c.inputs.empty();
}
bool has_small_derivative(const Row& row, const Case& c) { return has_derivative(row, c) && !c.large; }
bool shows_differences(const Row& row, const Case& c) { return has_small_derivative(row, c) && c.smooth; }
bool has_third_order(const Row& row, const Case& c) { return has_small_derivative(row, c) && elements(c) <= 12; }

}  // namespace

std::vector<Check> derivative_checks() {
  return {{"Forward", check_forward, shows_differences},
          {"Reverse", check_reverse, has_derivative},
          {"SomeGradients", check_some_gradients, has_small_derivative},
          {"PullBackAgain", check_pull_back_again, has_small_derivative},
          {"Grad", check_grad, has_small_derivative},
          {"SharedOperand", check_shared_operand, has_small_derivative},
          {"SecondOrder", check_second_order, has_small_derivative},
          {"ThirdOrder", check_third_order, has_third_order}};
}

}  // namespace op_table
