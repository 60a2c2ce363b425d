// Names of axes: how operands align by them, which operations take them, and what the results of operations and
// transforms are called.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

struct Axes {
  Axis batch{"batch"}, feature{"feature"}, hidden{"hidden"}, time{"time"};
};
const Axes& ax() {
  static const Axes axes;
  return axes;
}

/// A shape as text: what a test says it expects.
std::string shape(const Tensor& x) { return x.shape().to_string(); }

/// 0, 1, 2, ... in a shape.
Tensor counted(const Shape& to) { return reshape(arange(to.size(), DType::f32), to); }

std::vector<float> values(const Tensor& x) { return x.to_vector<float>(); }

// ---------------------------------------------------------------------------------------------------------------------
// Alignment

TEST(Align, ByNameInEveryOrder) {
  const Tensor x = counted({ax().batch(2), ax().feature(3), ax().time(4)});
  const Tensor doubled = x + x;
  std::vector<int> order{0, 1, 2};
  do {
    const Tensor y = permute(x, {order[0], order[1], order[2]});
    SCOPED_TRACE(shape(y));
    EXPECT_TRUE(array_equal(x + y, doubled)) << "the result has the order of the first at equal sets";
    EXPECT_TRUE(array_equal(y + x, permute(doubled, {order[0], order[1], order[2]})));
    EXPECT_TRUE(array_equal(where(x < y, x, y), x));
    EXPECT_EQ(shape(maximum(y, x)), shape(y));
    EXPECT_EQ(shape(y == x), shape(y));
    EXPECT_EQ(shape(y / x), shape(y));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Align, TheNamesOfOneContainThoseOfTheOther) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  const Tensor by_batch = tensor<float>({10, 20}, {ax().batch});
  const Tensor by_feature = tensor<float>({100, 200, 300}, {ax().feature});
  EXPECT_EQ(values(x + by_batch), (std::vector<float>{10, 11, 12, 23, 24, 25}));
  EXPECT_EQ(values(by_batch + x), values(x + by_batch));
  EXPECT_EQ(shape(by_batch + x), "[batch 2, feature 3]") << "the order of the wider one";
  EXPECT_EQ(values(x + by_feature), (std::vector<float>{100, 201, 302, 103, 204, 305}));
  EXPECT_EQ(values(x + tensor<float>(1)), (std::vector<float>{1, 2, 3, 4, 5, 6})) << "rank 0 has no names to lack";
  EXPECT_EQ(shape(tensor<float>(1) + x), "[batch 2, feature 3]");
  // Three operands: the widest has all names.
  EXPECT_EQ(shape(where(by_batch > 15, by_feature, transpose(x))), "[feature 3, batch 2]");
  EXPECT_EQ(values(where(by_batch > 15, by_feature, transpose(x))), (std::vector<float>{0, 100, 1, 200, 2, 300}));
}

TEST(Align, NoAccidentalOuterProducts) {
  const Tensor by_batch = ones({ax().batch(2)});
  const Tensor by_feature = ones({ax().feature(2)});
  EXPECT_THROW(by_batch + by_feature, AxisError);
  EXPECT_THROW(ones({ax().batch(2), ax().time(3)}) * ones({ax().batch(2), ax().feature(3)}), AxisError);
  EXPECT_THROW((void)(by_batch < by_feature), AxisError);
  EXPECT_THROW(where(by_batch > 0, by_batch, by_feature), AxisError);
  // Said explicitly it is fine.
  EXPECT_EQ(shape(outer(by_batch, by_feature)), "[batch 2, feature 2]");
  EXPECT_EQ(shape(broadcast_to(by_batch, {ax().batch(2), ax().feature(2)}) + by_feature), "[batch 2, feature 2]");
}

TEST(Align, EqualNamesNeedEqualExtentsOneIncluded) {
  const Tensor x = ones({ax().batch(2), ax().feature(3)});
  EXPECT_THROW(x + ones({ax().feature(4)}), ShapeError);
  EXPECT_THROW(x + ones({ax().feature(1)}), ShapeError);
  EXPECT_THROW(ones({ax().feature(1)}) + x, ShapeError);
  EXPECT_THROW(x + ones({ax().feature(3), ax().batch(1)}), ShapeError);
  EXPECT_THROW((void)(x == ones({ax().batch(0)})), ShapeError);
}

TEST(Align, FromTheRightWhenAnAxisIsUnnamed) {
  const Tensor x = ones({ax().batch(2), ax().feature(3)});
  EXPECT_EQ(shape(x + ones({3})), "[batch 2, feature 3]");
  EXPECT_EQ(shape(ones({2, 1}) + x), "[batch 2, feature 3]");
  EXPECT_EQ(shape(x + ones({4, 1, 1})), "[4, batch 2, feature 3]");
  EXPECT_EQ(shape(ones({ax().batch(2), 3}) + ones({2, ax().feature(3)})), "[batch 2, feature 3]");
  EXPECT_EQ(shape(ones({ax().batch(1), 3}) + ones({2, 3})), "[batch 2, 3]") << "an extent of 1 stretches, name and all";
  EXPECT_EQ(shape(ones({3}) + ones({3})), "[3]");
}

TEST(Align, NamesThatMeetMustAgreeAndAppearOnce) {
  EXPECT_THROW(ones({ax().batch(2), 3}) + ones({ax().feature(2), 3}), AxisError);
  EXPECT_THROW(ones({ax().batch(2), ax().feature(2)}) + ones({ax().batch(2), 2, 2}) + ones({ax().batch(2)}), AxisError);
  EXPECT_THROW(ones({ax().batch(2), 2}) + ones({2, ax().batch(2)}), AxisError);
  EXPECT_THROW(ones({ax().batch(2), 2}) + ones({ax().batch(2)}), AxisError);
  EXPECT_THROW(ones({ax().batch(2), 3}) + ones({4}), ShapeError);
}

TEST(Align, ATensorNeverHasOneNameTwice) {
  const Tensor x = ones({ax().batch(2), ax().feature(2)});
  EXPECT_THROW(zeros({ax().batch(2), ax().batch(3)}), AxisError);
  EXPECT_THROW(reshape(x, {ax().time(2), ax().time(2)}), AxisError);
  EXPECT_THROW(rename(x, {ax().batch, ax().batch}), AxisError);
  EXPECT_THROW(expand_dims(x, 0, ax().batch), AxisError);
  EXPECT_THROW(stack({x, x}, 0, ax().feature), AxisError);
  EXPECT_THROW(broadcast_to(x, {ax().time(3), ax().time(3), ax().batch(2), ax().feature(2)}), AxisError);
  EXPECT_THROW(outer(x, ones({ax().batch(2)})), AxisError);
  EXPECT_THROW(matmul(x, ones({ax().feature(2), ax().batch(2)})), AxisError);
  EXPECT_THROW(vmap([](const Tensor& y) { return rename(y, {ax().batch}); }, ax().batch)(x), AxisError);
}

// ---------------------------------------------------------------------------------------------------------------------
// Operations along axes

TEST(AlongAxes, ReductionsByName) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  EXPECT_TRUE(array_equal(sum(x, ax().batch), sum(x, 0)));
  EXPECT_TRUE(array_equal(sum(x, ax().batch), tensor<float>({3, 5, 7}, {ax().feature})));
  EXPECT_TRUE(array_equal(sum(transpose(x), ax().batch), tensor<float>({3, 5, 7}, {ax().feature})));
  EXPECT_TRUE(array_equal(mean(x, ax().feature), tensor<float>({1, 4}, {ax().batch})));
  EXPECT_TRUE(array_equal(max(x, ax().feature), tensor<float>({2, 5}, {ax().batch})));
  EXPECT_EQ(shape(logsumexp(x, ax().feature)), "[batch 2]");
  EXPECT_EQ(shape(max_with_indices(x, ax().batch).indices), "[feature 3]");
  EXPECT_EQ(shape(sum(x, {ax().feature, ax().batch})), "[]");
  EXPECT_EQ(shape(sum(x, {ax().feature, -2})), "[]");
  EXPECT_EQ(shape(sum(x)), "[]");
  EXPECT_EQ(shape(sum(x, std::initializer_list<AxisRef>{})), "[batch 2, feature 3]");
  EXPECT_EQ(shape(sum(x, ax().feature, Keep::yes)), "[batch 2, feature 1]");
  EXPECT_EQ(shape(mean(x, {}, Keep::yes)), "[batch 1, feature 1]");
  EXPECT_EQ(shape(max_with_indices(x, ax().batch, Keep::yes).values), "[batch 1, feature 3]");
  EXPECT_THROW(sum(x, ax().hidden), AxisError);
  EXPECT_THROW(sum(x, {ax().feature, -1}), AxisError) << "one axis twice, by name and by number";
  EXPECT_THROW(sum(ones({2, 3}), ax().batch), AxisError);
}

TEST(AlongAxes, NoneNamesNoAxis) {
  const Tensor x = counted({2, ax().feature(3)});
  EXPECT_THROW(sum(x, Axis::none), AxisError);
  EXPECT_THROW(softmax(x, Axis::none), AxisError);
  EXPECT_THROW(x.extent(Axis::none), AxisError);
  EXPECT_THROW(dot(x, x, Axis::none), AxisError);
}

TEST(AlongAxes, SoftmaxByName) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  EXPECT_TRUE(array_equal(softmax(x, ax().batch), softmax(x, 0)));
  EXPECT_TRUE(array_equal(softmax(x, ax().feature), softmax(x, -1)));
  EXPECT_FALSE(array_equal(softmax(x, ax().feature), softmax(x, ax().batch)));
  EXPECT_EQ(shape(log_softmax(transpose(x), ax().batch)), "[feature 3, batch 2]");
  EXPECT_TRUE(array_equal(transpose(softmax(transpose(x), ax().feature)), softmax(x, ax().feature)));
}

TEST(AlongAxes, CrossEntropyRemovesTheClassAxis) {
  const Tensor logits = counted({ax().batch(2), ax().feature(3)});
  const Tensor labels = tensor<float>({{0, 1, 0}, {1, 0, 0}}, {ax().batch, ax().feature});
  const Tensor classes = tensor<std::int64_t>({1, 0}, {ax().batch});
  const Tensor losses = cross_entropy(logits, labels);
  EXPECT_EQ(shape(losses), "[batch 2]");
  EXPECT_TRUE(array_equal(cross_entropy(logits, transpose(labels)), losses)) << "labels align by name";
  EXPECT_TRUE(array_equal(cross_entropy(transpose(logits), labels, ax().feature), losses));
  EXPECT_TRUE(array_equal(cross_entropy(logits, classes), losses));
  EXPECT_TRUE(array_equal(cross_entropy(transpose(logits), classes, 0), losses));
  EXPECT_TRUE(array_equal(cross_entropy(logits, rename(classes, {Axis::none})), losses));
  EXPECT_THROW(cross_entropy(logits, rename(classes, {ax().time})), AxisError);
  const Tensor cube = counted({ax().batch(2), ax().time(2), ax().feature(3)});
  const Tensor grid = tensor<std::int32_t>({{0, 1}, {2, 0}}, {ax().time, ax().batch});
  EXPECT_EQ(shape(cross_entropy(cube, grid)), "[batch 2, time 2]");
  EXPECT_TRUE(array_equal(cross_entropy(cube, grid), cross_entropy(cube, transpose(grid))));
}

// ---------------------------------------------------------------------------------------------------------------------
// Products

TEST(Products, MatmulIsPositionalAndChecksTheContractedPair) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  const Tensor w = counted({ax().feature(3), ax().hidden(4)});
  EXPECT_EQ(shape(matmul(x, w)), "[batch 2, hidden 4]");
  EXPECT_EQ(shape(matmul(x, ones({3, ax().hidden(4)}))), "[batch 2, hidden 4]") << "an unnamed axis meets any name";
  EXPECT_EQ(shape(matmul(x, ones({ax().feature(3)}))), "[batch 2]");
  EXPECT_EQ(shape(matmul(ones({ax().feature(3)}), w)), "[hidden 4]");
  EXPECT_EQ(shape(matmul(ones({ax().feature(3)}), ones({ax().feature(3)}))), "[]");
  EXPECT_THROW(matmul(x, rename(w, {ax().time, ax().hidden})), AxisError);
  EXPECT_THROW(matmul(x, transpose(w)), AxisError);
  EXPECT_THROW(matmul(x, ones({ax().feature(4), ax().hidden(2)})), ShapeError);
}

TEST(Products, MatmulOfBatches) {
  const Tensor x = counted({ax().time(5), ax().batch(2), ax().feature(3)});
  const Tensor w = counted({ax().feature(3), ax().hidden(4)});
  EXPECT_EQ(shape(matmul(x, w)), "[time 5, batch 2, hidden 4]");
  EXPECT_EQ(shape(matmul(x, broadcast_to(w, {ax().time(5), ax().feature(3), ax().hidden(4)}))),
            "[time 5, batch 2, hidden 4]");
  EXPECT_EQ(shape(matmul(x, broadcast_to(w, {5, 3, 4}))), "[time 5, batch 2, 4]");
  EXPECT_EQ(shape(matmul(transpose(w), ones({ax().time(5), ax().feature(3), ax().batch(2)}))),
            "[time 5, hidden 4, batch 2]");
  EXPECT_THROW(matmul(x, ones({ax().batch(5), ax().feature(3), ax().hidden(4)})), AxisError);
}

TEST(Products, DotContractsByNameAndBatchesOverOtherSharedNames) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  const Tensor w = counted({ax().hidden(4), ax().feature(3)});
  EXPECT_TRUE(array_equal(dot(x, w, ax().feature), matmul(x, transpose(w))));
  EXPECT_TRUE(array_equal(dot(transpose(x), transpose(w), ax().feature), matmul(x, transpose(w))));
  EXPECT_TRUE(array_equal(dot(x, x, ax().feature), sum(x * x, ax().feature)));
  EXPECT_EQ(shape(dot(x, ones({ax().time(5), ax().batch(2), ax().feature(3)}), ax().feature)), "[batch 2, time 5]");
  const std::vector<Axis> both{ax().batch, ax().feature};
  EXPECT_TRUE(array_equal(dot(x, transpose(x), both), sum(x * x)));
  EXPECT_EQ(shape(dot(ones({2, ax().feature(3)}), ones({5, ax().feature(3)}), ax().feature)), "[2, 5]")
      << "unnamed axes are never shared";
  EXPECT_THROW(dot(x, w, ax().hidden), AxisError);
  EXPECT_THROW(dot(x, ones({ax().feature(4)}), ax().feature), ShapeError);
  EXPECT_THROW(dot(x, ones({ax().feature(3), ax().batch(1)}), ax().feature), ShapeError);
}

TEST(Products, OuterHasTheAxesOfBoth) {
  EXPECT_EQ(shape(outer(ones({ax().batch(2), 3}), ones({ax().feature(4)}))), "[batch 2, 3, feature 4]");
  EXPECT_EQ(shape(outer(ones({2}), ones({2}))), "[2, 2]");
}

// ---------------------------------------------------------------------------------------------------------------------
// Structure

TEST(Structure, ResultsKeepAndTakeNames) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  EXPECT_EQ(shape(reshape(x, {ax().time(6)})), "[time 6]");
  EXPECT_EQ(shape(reshape(x, {3, 2})), "[3, 2]");
  EXPECT_EQ(shape(permute(x, {ax().feature, ax().batch})), "[feature 3, batch 2]");
  EXPECT_EQ(shape(permute(x, {ax().feature, 0})), "[feature 3, batch 2]");
  EXPECT_EQ(shape(transpose(x)), "[feature 3, batch 2]");
  EXPECT_EQ(shape(expand_dims(x, 1, ax().time)), "[batch 2, time 1, feature 3]");
  EXPECT_EQ(shape(expand_dims(x, -1)), "[batch 2, feature 3, 1]");
  EXPECT_EQ(shape(squeeze(ones({ax().batch(1), ax().feature(3)}), ax().batch)), "[feature 3]");
  EXPECT_EQ(shape(squeeze(ones({1, ax().feature(3), ax().time(1)}))), "[feature 3]");
  EXPECT_EQ(shape(slice(x, ax().feature, 1)), "[batch 2, feature 2]");
  EXPECT_TRUE(array_equal(slice(x, ax().feature, 1), slice(x, 1, 1)));
  EXPECT_EQ(shape(select(x, ax().batch, -1)), "[feature 3]");
  EXPECT_EQ(values(select(x, ax().batch, -1)), (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(shape(rename(x, {ax().time, Axis::none})), "[time 2, 3]");
  EXPECT_EQ(shape(rename(x, {ax().feature, ax().batch})), "[feature 2, batch 3]")
      << "names, not elements, change places";
  EXPECT_EQ(values(rename(x, {ax().feature, ax().batch})), values(x));
  EXPECT_EQ(shape(contiguous(transpose(x))), "[feature 3, batch 2]");
  EXPECT_EQ(shape(cast(x, DType::i32)), "[batch 2, feature 3]");
  EXPECT_EQ(shape(stop_gradient(x)), "[batch 2, feature 3]");
}

TEST(Structure, BroadcastToByNameOrFromTheRight) {
  const Tensor x = tensor<float>({1, 2}, {ax().batch});
  EXPECT_TRUE(array_equal(broadcast_to(x, {ax().batch(2), ax().time(2)}),
                          tensor<float>({{1, 1}, {2, 2}}, {ax().batch, ax().time})));
  EXPECT_TRUE(array_equal(broadcast_to(x, {ax().time(2), ax().batch(2)}),
                          tensor<float>({{1, 2}, {1, 2}}, {ax().time, ax().batch})));
  const Tensor matrix = counted({ax().batch(2), ax().feature(3)});
  EXPECT_TRUE(array_equal(broadcast_to(matrix, {ax().feature(3), ax().batch(2)}), transpose(matrix)));
  EXPECT_EQ(shape(broadcast_to(x, {3, 2})), "[3, 2]") << "the shape's names are the result's";
  EXPECT_EQ(shape(broadcast_to(ones({2}), {ax().time(3), ax().batch(2)})), "[time 3, batch 2]");
  EXPECT_EQ(shape(broadcast_to(tensor<float>(1), {ax().time(3)})), "[time 3]");
  EXPECT_THROW(broadcast_to(x, {ax().batch(3)}), ShapeError);
  EXPECT_THROW(broadcast_to(ones({ax().batch(1)}), {ax().batch(3)}), ShapeError) << "no stretching by name";
  EXPECT_THROW(broadcast_to(x, {ax().time(2)}), AxisError);
  EXPECT_THROW(broadcast_to(x, {ax().time(3), 3, 2, ax().feature(2)}), AxisError);
}

TEST(Structure, ConcatAndStack) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  const Tensor y = ones({ax().batch(1), ax().feature(3)});
  EXPECT_EQ(shape(concat({x, y}, ax().batch)), "[batch 3, feature 3]");
  EXPECT_TRUE(array_equal(concat({x, y}, ax().batch), concat({x, y}, 0)));
  EXPECT_EQ(shape(concat({x, ones({1, 3})}, 0)), "[batch 3, feature 3]");
  EXPECT_EQ(shape(concat({ones({1, 3}), x}, 0)), "[batch 3, feature 3]") << "a name that any of them has";
  EXPECT_EQ(shape(stack({x, x}, 0, ax().time)), "[time 2, batch 2, feature 3]");
  EXPECT_EQ(shape(stack({x, x}, -1)), "[batch 2, feature 3, 2]");
  EXPECT_EQ(shape(stack({tensor<float>(1), tensor<float>(2)}, 0, ax().time)), "[time 2]");
  EXPECT_THROW(concat({x, transpose(ones({ax().batch(3), ax().feature(2)}))}, 0), AxisError);
  EXPECT_THROW(stack({x, rename(x, {ax().batch, ax().time})}), AxisError);
}

// ---------------------------------------------------------------------------------------------------------------------
// Derivatives

TEST(Derivatives, AGradientHasItsArgumentsNames) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  const Tensor w = counted({ax().feature(3), ax().hidden(2)});
  const auto loss = [](const Tensor& a, const Tensor& b) {
    EXPECT_EQ(shape(a), "[batch 2, feature 3]") << "inside, as outside";
    const Tensor y = matmul(a, b);
    EXPECT_EQ(shape(y), "[batch 2, hidden 2]");
    EXPECT_EQ(shape(sum(y, ax().hidden)), "[batch 2]");
    return sum(square(y) * sum(a, ax().feature));
  };
  const auto [dx, dw] = grad(loss, argnums<0, 1>)(x, w);
  EXPECT_EQ(shape(dx), "[batch 2, feature 3]");
  EXPECT_EQ(shape(dw), "[feature 3, hidden 2]");
  EXPECT_EQ(shape(grad([](const Tensor& y) { return sum(transpose(y)); })(x)), "[batch 2, feature 3]");
  EXPECT_EQ(shape(grad([](const Tensor& y) { return sum(reshape(y, {6})); })(x)), "[batch 2, feature 3]");
  EXPECT_EQ(shape(grad([](const Tensor& y) {
              return sum(rename(y, {Axis::none, ax().time}));
            })(x)),
            "[batch 2, feature 3]");
  EXPECT_EQ(shape(grad([](const Tensor&) { return tensor<float>(1); })(x)), "[batch 2, feature 3]");
  // A derivative of a gradient meets itself by name.
  const auto second = grad([&](const Tensor& y) { return sum(square(grad(loss)(y, w)) * y); })(x);
  EXPECT_EQ(shape(second), "[batch 2, feature 3]");
}

TEST(Derivatives, TangentsHaveTheResultsNamesAndPullBacksTheArguments) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  const auto f = [](const Tensor& a) { return std::pair(sum(a, ax().feature), transpose(a)); };
  const auto [y, dy] = jvp(f, x, x);
  EXPECT_EQ(shape(y.first), "[batch 2]");
  EXPECT_EQ(shape(dy.first), "[batch 2]");
  EXPECT_EQ(shape(dy.second), "[feature 3, batch 2]");
  EXPECT_EQ(shape(jvp(f, x, rename(x, {Axis::none, Axis::none})).second.second), "[feature 3, batch 2]")
      << "an unnamed tangent takes its primal's place";
  EXPECT_EQ(shape(jvp([](const Tensor& a) { return a; }, x, rename(x, {Axis::none, Axis::none})).second),
            "[batch 2, feature 3]");
  EXPECT_THROW(jvp(f, x, rename(x, {ax().feature, ax().batch})), ShapeError);
  const auto [value, back] = vjp(f, x);
  EXPECT_EQ(shape(back(value)), "[batch 2, feature 3]");
  EXPECT_EQ(shape(back(std::pair(ones({2}), Tensor()))), "[batch 2, feature 3]");
  EXPECT_THROW(back(std::pair(ones({ax().feature(2)}), Tensor())), ShapeError);
}

// ---------------------------------------------------------------------------------------------------------------------
// vmap

TEST(Mapped, TheAxisWhereverItStands) {
  const Tensor x = counted({ax().batch(2), ax().feature(3), ax().time(4)});
  const auto f = [](const Tensor& y) {
    EXPECT_EQ(y.rank(), 2);
    EXPECT_EQ(y.shape().position(ax().batch), -1) << "the mapped axis is hidden";
    return sum(y, ax().time);
  };
  const Tensor expected = sum(x, ax().time);
  for (const auto& order : {std::vector<AxisRef>{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}})
    EXPECT_TRUE(array_equal(vmap(f, ax().batch)(permute(x, order)), expected));
}

TEST(Mapped, SeveralArgumentsWithTheAxisAtDifferentPlaces) {
  const Tensor x = counted({ax().feature(3), ax().batch(2)});
  const Tensor y = counted({ax().batch(2), ax().feature(3)});
  const Tensor shared = counted({ax().feature(3)});
  const auto f = [](const Tensor& a, const Tensor& b, const Tensor& c) {
    EXPECT_EQ(shape(a), "[feature 3]");
    EXPECT_EQ(shape(b), "[feature 3]");
    EXPECT_EQ(shape(c), "[feature 3]");
    return a * b + c;
  };
  const Tensor expected = transpose(x) * y + broadcast_to(shared, y.shape());
  EXPECT_TRUE(array_equal(vmap(f, ax().batch)(x, y, shared), expected));
}

TEST(Mapped, OutAxesPlaceTheNamedAxis) {
  const Tensor x = counted({ax().feature(3), ax().batch(2)});
  const auto twice = [](const Tensor& y) { return 2 * y; };
  EXPECT_EQ(shape(vmap(twice, ax().batch)(x)), "[batch 2, feature 3]");
  EXPECT_TRUE(array_equal(vmap(twice, ax().batch, out_axes(-1))(x), 2 * x));
  EXPECT_EQ(shape(vmap([](const Tensor&) { return ones({ax().time(3)}); }, ax().batch, out_axes(1))(x)),
            "[time 3, batch 2]");
}

TEST(Mapped, InAxesGiveTheNameToUnnamedAxes) {
  const Tensor x = counted({3, 2});
  const auto f = [](const Tensor& y) { return 2 * y; };
  EXPECT_EQ(shape(vmap(f, ax().batch, in_axes(1))(x)), "[batch 2, 3]");
  EXPECT_EQ(shape(vmap(f, ax().batch, in_axes(1))(rename(x, {ax().feature, ax().batch}))), "[batch 2, feature 3]");
  EXPECT_THROW(vmap(f, ax().batch, in_axes(0))(rename(x, {ax().feature, ax().batch})), AxisError);
  EXPECT_EQ(shape(vmap(f, in_axes(1))(x)), "[2, 3]") << "a map without a name";
}

TEST(Mapped, NestedOverTwoNames) {
  const Tensor x = counted({ax().feature(3), ax().batch(2), ax().time(4)});
  const Tensor y = counted({ax().time(4), ax().feature(3)});
  const auto f = [](const Tensor& a, const Tensor& b) {
    EXPECT_EQ(shape(a), "[feature 3]");
    EXPECT_EQ(shape(b), "[feature 3]");
    return sum(a * b);
  };
  const Tensor batch_outside = vmap(vmap(f, ax().time), ax().batch)(x, y);
  EXPECT_EQ(shape(batch_outside), "[batch 2, time 4]");
  EXPECT_TRUE(array_equal(batch_outside, transpose(dot(y, x, ax().feature))));
  EXPECT_TRUE(array_equal(vmap(vmap(f, ax().batch), ax().time)(x, y), dot(y, x, ax().feature)));
}

TEST(Mapped, AnOperandThatShowsTheNameIsRefused) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  const Tensor shows = ones({ax().batch(2)});
  const auto mapped = [&](auto f) { return vmap(f, ax().batch)(x); };
  EXPECT_THROW(mapped([&](const Tensor& y) { return y + x; }), AxisError);
  EXPECT_THROW(mapped([&](const Tensor& y) { return y + shows; }), AxisError);
  EXPECT_THROW(mapped([&](const Tensor& y) { return sum(y) * exp(shows); }), AxisError);
  EXPECT_THROW(mapped([&](const Tensor& y) { return matmul(shows, x) + y; }), AxisError);
  EXPECT_THROW(mapped([&](const Tensor& y) { return concat({shows, shows}, 0), y; }), AxisError);
  EXPECT_THROW(mapped([&](const Tensor& y) { return y + ones({ax().batch(2), ax().feature(3)}); }), AxisError);
  EXPECT_THROW(mapped([&](const Tensor&) { return x; }), AxisError) << "nor can it be a result";
  EXPECT_THROW(mapped([&](const Tensor& y) { return sum(y, ax().batch); }), AxisError);
  // Reading what it is called is no operation, and a rename outside lets it in.
  EXPECT_EQ(mapped([&](const Tensor& y) { return y * static_cast<double>(shows.size()); }).shape(), x.shape());
  const Tensor renamed = rename(shows, {ax().time});
  EXPECT_EQ(mapped([&](const Tensor& y) { return y + sum(renamed); }).shape(), x.shape());
}

TEST(Mapped, OneNameIsMappedOnce) {
  const Tensor x = counted({ax().batch(2), ax().feature(3)});
  const auto f = [](const Tensor& y) { return y; };
  EXPECT_THROW(vmap(vmap(f, ax().batch), ax().batch)(x), AxisError);
  EXPECT_THROW(
      vmap([&](const Tensor& y) { return sum(vmap(f, ax().batch)(ones({ax().batch(2)}))) + y; }, ax().batch)(x),
      AxisError);
  EXPECT_THROW(vmap(vmap(f, ax().batch, axis_size(2)), ax().batch)(x), AxisError);
  // One after the other is fine.
  EXPECT_TRUE(array_equal(vmap(f, ax().batch)(vmap(f, ax().batch)(x)), x));
}

TEST(Mapped, GradientsOfOneExampleAndGradientsOfABatch) {
  const Tensor w = counted({ax().feature(3), ax().hidden(2)});
  const Tensor x = counted({ax().feature(3), ax().batch(4)});
  const auto loss = [](const Tensor& v, const Tensor& one) { return sum(square(matmul(one, v))); };
  const auto [dw, dx] = vmap(grad(loss, argnums<0, 1>), ax().batch)(w, x);
  EXPECT_EQ(shape(dw), "[batch 4, feature 3, hidden 2]");
  EXPECT_EQ(shape(dx), "[batch 4, feature 3]");
  const auto total = [&](const Tensor& v, const Tensor& all) { return sum(vmap(loss, ax().batch)(v, all)); };
  const auto [sum_dw, sum_dx] = grad(total, argnums<0, 1>)(w, x);
  EXPECT_EQ(shape(sum_dw), "[feature 3, hidden 2]");
  EXPECT_EQ(shape(sum_dx), "[feature 3, batch 4]") << "where the argument has it";
  EXPECT_TRUE(array_equal(sum(dw, ax().batch), sum_dw));
  EXPECT_TRUE(array_equal(transpose(dx), sum_dx));
  EXPECT_EQ(shape(vmap(grad([](const Tensor&) { return tensor<float>(1); }), ax().batch)(x)), "[batch 4, feature 3]");
}

}  // namespace
