// Sorting: order, ties, nan and both directions against std::stable_sort; derivatives by position; maps and messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/both_modes.hpp"

namespace {

using namespace both_modes;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Longs = std::vector<std::int64_t>;

/// Where the elements of a row stand in order; nan is the largest.
Longs order_of(const Doubles& row, bool descending) {
  Longs order(row.size());
  std::iota(order.begin(), order.end(), 0);
  const auto before = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    const double a = row[static_cast<std::size_t>(i)], b = row[static_cast<std::size_t>(j)];
    return descending ? before(b, a) : before(a, b);
  });
  return order;
}

/// Few different numbers, so that most are equal to others.
Doubles numbers(std::size_t count, unsigned seed) {
  Doubles values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(std::round(20 * std::sin(1.7 * static_cast<double>(i * i + 1) + 2.3 * seed)));
  return values;
}

void expect_same(const Doubles& values, const Doubles& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE(values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i]))) << "at " << i;
}

void expect_sorted(const Tensor& x, const Doubles& rows, std::size_t count) {
  for (const Descending descending : {Descending::no, Descending::yes}) {
    Longs wanted;
    Doubles sorted;
    for (std::size_t r = 0; r * count < rows.size(); ++r) {
      const Doubles row(rows.begin() + static_cast<std::ptrdiff_t>(r * count),
                        rows.begin() + static_cast<std::ptrdiff_t>((r + 1) * count));
      for (const std::int64_t at : order_of(row, descending == Descending::yes)) {
        wanted.push_back(at);
        sorted.push_back(row[static_cast<std::size_t>(at)]);
      }
    }
    const auto [values, indices] = sort_with_indices(x, -1, descending);
    EXPECT_EQ(values.dtype(), x.dtype());
    EXPECT_EQ(indices.to_vector<std::int64_t>(), wanted);
    expect_same(values_of(cast(values, DType::f64)), sorted);
    EXPECT_TRUE(array_equal(sort(x, -1, descending), values));
    EXPECT_TRUE(array_equal(argsort(x, -1, descending), indices));
    EXPECT_TRUE(array_equal(take_along_axis(x, indices, -1), values));
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, count / 2, count}) {
      if (k > count) continue;
      const ValuesAndIndices first = topk(x, static_cast<std::int64_t>(k), -1, descending);
      EXPECT_TRUE(array_equal(first.values, slice(values, -1, 0, static_cast<std::int64_t>(k))));
      EXPECT_TRUE(array_equal(first.indices, slice(indices, -1, 0, static_cast<std::int64_t>(k))));
    }
  }
}

TEST(Sorting, StableInEveryTypeAndLength) {
  for (const std::size_t count : {1u, 2u, 3u, 7u, 16u, 40u, 3000u}) {
    const Doubles rows = numbers(3 * count, static_cast<unsigned>(count));
    const Tensor x = from_data(rows, {3, static_cast<std::int64_t>(count)});
    SCOPED_TRACE(count);
    for (const DType dtype : {DType::f64, DType::f32, DType::i64, DType::i32})
      expect_sorted(cast(x, dtype), rows, count);
    Doubles truths = rows;
    for (double& value : truths) value = value != 0 ? 1 : 0;
    expect_sorted(cast(x, DType::boolean), truths, count);
  }
}

TEST(Sorting, ManyRowsAndStrides) {
  const Doubles rows = numbers(500 * 37, 3);
  const Tensor x = from_data(rows, {500, 37});
  expect_sorted(x, rows, 37);
  expect_sorted(transpose(contiguous(transpose(x))), rows, 37);
  EXPECT_TRUE(array_equal(sort(transpose(x), 0), transpose(sort(x))));
}

TEST(Sorting, SpecialValues) {
  const Doubles row{3, nan, -0.0, inf, 0.0, -inf, nan, -1e-310, 1e-310, -3};
  expect_sorted(from_data(row, {10}), row, 10);
  expect_sorted(cast(from_data(row, {10}), DType::f32),
                values_of(cast(cast(from_data(row, {10}), DType::f32), DType::f64)), 10);
  // Equal zeros keep their signs and order.
  const Doubles zeros_sorted = values_of(sort(tensor<double>({0.0, -0.0, -1})));
  EXPECT_FALSE(std::signbit(zeros_sorted[1]));
  EXPECT_TRUE(std::signbit(zeros_sorted[2]));
  // nan of either sign comes last, as in NumPy, and first in descending order.
  EXPECT_EQ(argsort(tensor<double>({-nan, 1, nan})).to_vector<std::int64_t>(), (Longs{1, 0, 2}));
  EXPECT_EQ(argsort(tensor<double>({-nan, 1, nan}), 0, Descending::yes).to_vector<std::int64_t>(), (Longs{0, 2, 1}));
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(sort(tensor<std::int64_t>({most, 0, least, -1})).to_vector<std::int64_t>(), (Longs{least, -1, 0, most}));
}

TEST(Sorting, NamesAndAxes) {
  const Axis b("b"), c("c");
  const Tensor x = tensor<double>({{3, 1, 2}, {6, 4, 5}}, {b, c});
  EXPECT_TRUE(array_equal(sort(x), tensor<double>({{1, 2, 3}, {4, 5, 6}}, {b, c})));
  EXPECT_TRUE(array_equal(sort(x, b, Descending::yes), tensor<double>({{6, 4, 5}, {3, 1, 2}}, {b, c})));
  const auto [values, indices] = topk(x, 1, b);
  EXPECT_TRUE(array_equal(values, tensor<double>({{6, 4, 5}}, {b, c})));
  EXPECT_TRUE(array_equal(indices, tensor<std::int64_t>({{1, 1, 1}}, {b, c})));
  EXPECT_EQ(topk(x, 2, c).values.shape(), (Shape{b(2), c(2)}));
}

TEST(Sorting, OfNothing) {
  for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}})
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const Tensor x = zeros(shape);
      EXPECT_EQ(sort(x, axis).shape(), shape);
      EXPECT_EQ(argsort(x, axis).shape(), shape);
      EXPECT_EQ(grad([&](const Tensor& v) { return sum(sort(v, axis)); })(x).shape(), shape);
    }
  EXPECT_EQ(vmap([](const Tensor& v) { return sort(v); })(zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap(grad([](const Tensor& v) { return sum(topk(v, 2).values); }))(zeros({0, 3})).shape(), (Shape{0, 3}));
}

// ---------------------------------------------------------------------------------------------------------------------
// Derivatives and maps

TEST(Sorting, C_topk) {
  const Tensor x = tensor<double>({1, 7, 3, 9, 5});
  EXPECT_EQ(gradient([](const Tensor& v) { return sum(topk(v, 2).values); }, x), (Doubles{0, 1, 0, 1, 0}));
  EXPECT_EQ(gradient(
                [](const Tensor& v) {
                  return sum(topk(v, 2).values * tensor<double>({10, 1}));
                },
                x),
            (Doubles{0, 1, 0, 10, 0}));
  EXPECT_EQ(gradient(
                [](const Tensor& v) {
                  return sum(topk(v, 2, 0, Descending::no).values * tensor<double>({10, 1}));
                },
                x),
            (Doubles{10, 0, 1, 0, 0}));
}

TEST(Sorting, C_sort_axis) {
  const Tensor x = tensor<double>({{5, 1}, {2, 4}, {0, 9}});
  const auto sorted = vmap([](const Tensor& column) { return sort(column, -1); }, in_axes(1), out_axes(1));
  EXPECT_TRUE(array_equal(sorted(x), tensor<double>({{0, 1}, {2, 4}, {5, 9}})));
}

TEST(Sorting, DerivativeGoesByPosition) {
  const Tensor w = tensor<double>({1, 10, 100, 1000});
  // Equal elements keep their order, in both directions.
  EXPECT_EQ(gradient([&](const Tensor& v) { return sum(sort(v) * w); }, tensor<double>({2, 1, 2, 1})),
            (Doubles{100, 1, 1000, 10}));
  EXPECT_EQ(
      gradient([&](const Tensor& v) { return sum(sort(v, 0, Descending::yes) * w); }, tensor<double>({2, 1, 2, 1})),
      (Doubles{1, 100, 10, 1000}));
  // Along the first axis.
  const Tensor x = tensor<double>({{3, 1}, {2, 4}});
  EXPECT_EQ(gradient(
                [](const Tensor& v) {
                  return sum(sort(v, 0) * tensor<double>({{1, 2}, {3, 4}}));
                },
                x),
            (Doubles{3, 2, 1, 4}));
}

TEST(Sorting, SecondDerivative) {
  // sum w_k s_k^3 of the sorted s, and a product of neighbours.
  const Tensor w = tensor<double>({1, 2, 3});
  const Function f = [&](const Tensor& v) {
    const Tensor s = sort(v);
    return sum(w * s * s * s) + select(s, 0, 0) * select(s, 0, 2);
  };
  // Sorted: x[1] = -1, x[2] = 0.5, x[0] = 2.
  const Tensor x = tensor<double>({2, -1, 0.5});
  expect_near(gradient(f, x), {9 * 4 - 1, 3 + 2, 6 * 0.25});
  expect_near(hessian_of(f, x), {36, 1, 0, 1, -6, 0, 0, 0, 6});
}

TEST(Sorting, ArgsortIsAConstant) {
  const Function f = [](const Tensor& v) { return sum(take(v, argsort(v), 0) * tensor<double>({1, 10, 100})); };
  EXPECT_EQ(gradient(f, tensor<double>({3, 1, 2})), (Doubles{100, 1, 10}));
  // Indices beside differentiated values.
  const auto both = [](const Tensor& v) {
    const auto [values, indices] = topk(v, 2);
    return sum(values * cast(indices, DType::f64));
  };
  EXPECT_EQ(gradient(both, tensor<double>({1, 7, 3, 9})), (Doubles{0, 1, 0, 3}));
}

TEST(Sorting, NestedMapsAndPerExampleGradients) {
  const Tensor x = from_data(numbers(2 * 3 * 4, 7), {2, 3, 4});
  const auto along_last = [](const Tensor& v) { return sort(v, -1, Descending::yes); };
  EXPECT_TRUE(array_equal(vmap(vmap(along_last))(x), sort(x, 2, Descending::yes)));
  const auto along_first = [](const Tensor& v) { return sort(v, 0); };
  EXPECT_TRUE(array_equal(vmap(vmap(along_first, in_axes(-1), out_axes(-1)), in_axes(1), out_axes(1))(x), sort(x, 0)));
  const auto loss = [](const Tensor& v) { return sum(square(topk(v, 2).values) * tensor<double>({1, 3})); };
  const Tensor flat = reshape(x, {6, 4});
  Doubles singles;
  for (std::int64_t i = 0; i < 6; ++i)
    for (const double g : values_of(grad(loss)(select(flat, 0, i)))) singles.push_back(g);
  expect_near(values_of(vmap(grad(loss))(flat)), singles);
  expect_near(values_of(vmap(vmap(grad(loss)))(x)), singles);
  expect_near(values_of(grad([&](const Tensor& v) { return sum(vmap(loss)(v)); })(flat)), singles);
}

TEST(Sorting, Errors) {
  const Axis b("b");
  const Tensor x = zeros({b(3), 2});
  expect_mentions(refusal<ValueError>([&] { topk(x, 4, b); }), {"topk: ", " 4 ", "axis 0", "f32 [b 3, 2]", "0 to 3"});
  expect_mentions(refusal<ValueError>([&] { topk(x, -1); }), {"topk: ", "-1"});
  expect_mentions(refusal<AxisError>([&] { sort(x, 2); }), {"sort: axis 2"});
  expect_mentions(refusal<AxisError>([&] { argsort(x, Axis("other")); }), {"argsort: ", "other"});
  expect_mentions(refusal<AxisError>([&] { sort_with_indices(zeros({})); }), {"sort_with_indices: ", "rank 0"});
  expect_mentions(refusal<AxisError>([&] { topk(zeros({}), 1); }), {"topk: ", "rank 0"});
  expect_mentions(refusal<ValueError>([&] { sort(Tensor()); }), {"sort: ", "empty"});
  expect_mentions(refusal<ValueError>([&] { argsort(Tensor()); }), {"argsort: ", "empty"});
  expect_mentions(refusal<ValueError>([&] { topk(Tensor(), 1); }), {"topk: ", "empty"});
  expect_mentions(refusal<AxisError>([&] { vmap([&](const Tensor& v) { return sort(v, b); }, b)(x); }),
                  {"sort: ", "mapped"});
}

}  // namespace
