// Taking and adding by index: values against loops, derivatives in both modes, every way of mapping, and messages.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/both_modes.hpp"

namespace {

using namespace both_modes;

using Long = std::int64_t;

Tensor indices_of(const std::vector<Long>& values, const Shape& shape) { return from_data(values, shape); }
/// 0, 1, 2, ... of that shape.
Tensor counted(const Shape& shape, DType dtype = DType::f64) { return reshape(arange(shape.size(), dtype), shape); }

/// take() by loops over [outer, extent, inner].
Doubles taken(const Doubles& x, std::size_t outer, std::size_t extent, std::size_t inner, const std::vector<Long>& at) {
  Doubles result;
  for (std::size_t o = 0; o < outer; ++o)
    for (const Long k : at)
      for (std::size_t i = 0; i < inner; ++i)
        result.push_back(x[(o * extent + static_cast<std::size_t>(k)) * inner + i]);
  return result;
}
/// x with updates [outer, at.size(), inner] added.
Doubles scattered(Doubles x, std::size_t outer, std::size_t extent, std::size_t inner, const std::vector<Long>& at,
                  const Doubles& updates) {
  std::size_t n = 0;
  for (std::size_t o = 0; o < outer; ++o)
    for (const Long k : at)
      for (std::size_t i = 0; i < inner; ++i) x[(o * extent + static_cast<std::size_t>(k)) * inner + i] += updates[n++];
  return x;
}

// ---------------------------------------------------------------------------------------------------------------------
// Values

TEST(Indexing, TakesAndAddsAlongEveryAxisInEveryTypeAndLayout) {
  const std::vector<Long> at{2, 0, 0, 1, 2, 2};
  for (const Shape& extents : {Shape{1, 3, 1}, Shape{4, 3, 1}, Shape{1, 3, 5}, Shape{2, 3, 4}, Shape{70, 3, 65}}) {
    const auto outer = static_cast<std::size_t>(extents[0].extent());
    const auto inner = static_cast<std::size_t>(extents[2].extent());
    for (const DType dtype : {DType::i32, DType::i64, DType::f32, DType::f64}) {
      const Tensor x = counted(extents, dtype);
      const Tensor updates = counted({extents[0], 2, 3, extents[2]}, dtype);
      const Doubles wanted = taken(values_of(cast(x, DType::f64)), outer, 3, inner, at);
      const Doubles sums =
          scattered(values_of(cast(x, DType::f64)), outer, 3, inner, at, values_of(cast(updates, DType::f64)));
      for (const DType index : {DType::i32, DType::i64}) {
        const Tensor where = cast(indices_of(at, {2, 3}), index);
        const Tensor result = take(x, where, 1);
        EXPECT_EQ(result.shape(), (Shape{extents[0], 2, 3, extents[2]}));
        EXPECT_EQ(result.dtype(), dtype);
        EXPECT_EQ(values_of(cast(result, DType::f64)), wanted);
        EXPECT_EQ(values_of(cast(scatter_add(x, where, updates, 1), DType::f64)), sums);
        // The same through views of all operands.
        const Tensor x_view = transpose(contiguous(transpose(x)));
        const Tensor where_view = transpose(contiguous(transpose(where)));
        const Tensor updates_view = transpose(contiguous(transpose(updates)));
        EXPECT_TRUE(array_equal(take(x_view, where_view, 1), result));
        EXPECT_EQ(values_of(cast(scatter_add(x_view, where_view, updates_view, 1), DType::f64)), sums);
      }
    }
  }
  const Tensor bools = tensor<bool>({true, false});
  EXPECT_TRUE(array_equal(take(bools, tensor<std::int32_t>({1, 0, 0}), 0), tensor<bool>({false, true, true})));
  EXPECT_TRUE(array_equal(scatter_add(bools, tensor<std::int32_t>({1, 1}), bools, 0), tensor<std::int32_t>({1, 1})));
}

TEST(Indexing, LargeEnoughToBeShared) {
  const std::size_t count = 40000;
  std::vector<Long> at;
  for (std::size_t i = 0; i < count; ++i) at.push_back(static_cast<Long>(i * i % 257));
  for (const std::int64_t inner : {1, 3, 200}) {
    const Tensor x = counted({257, inner});
    const Tensor where = indices_of(at, {static_cast<Long>(count)});
    const Tensor rows = take(x, where, 0);
    EXPECT_EQ(values_of(rows), taken(values_of(x), 1, 257, static_cast<std::size_t>(inner), at));
    EXPECT_EQ(values_of(scatter_add(x, where, rows, 0)),
              scattered(values_of(x), 1, 257, static_cast<std::size_t>(inner), at, values_of(rows)));
  }
}

TEST(Indexing, Names) {
  const Axis batch("batch"), time("time"), vocab("vocab"), feature("feature");
  const Tensor table = counted({vocab(5), feature(2)});
  const Tensor words = indices_of({4, 0, 1, 4, 2, 2}, {batch(2), time(3)});
  const Tensor rows = take(table, words, vocab);
  EXPECT_EQ(rows.shape(), (Shape{batch(2), time(3), feature(2)}));
  EXPECT_EQ(values_of(rows), (Doubles{8, 9, 0, 1, 2, 3, 8, 9, 4, 5, 4, 5}));
  EXPECT_EQ(take(transpose(table), words, vocab).shape(), (Shape{feature(2), batch(2), time(3)}));
  EXPECT_EQ(select(table, vocab, tensor<Long>(3)).shape(), (Shape{feature(2)}));
  // The gradient has the table's names.
  EXPECT_EQ(grad([&](const Tensor& t) { return sum(take(t, words, vocab)); })(table).shape(), table.shape());
  // Updates align by name.
  const Tensor updates = permute(rows, {feature, time, batch});
  EXPECT_TRUE(array_equal(scatter_add(table, words, updates, vocab), scatter_add(table, words, rows, vocab)));
  EXPECT_EQ(scatter_add(table, words, updates, vocab).shape(), table.shape());
}

TEST(Indexing, TakeAlongAxis) {
  const Tensor x = tensor<double>({{5, 1, 3}, {2, 4, 6}});
  EXPECT_EQ(values_of(take_along_axis(x, tensor<Long>({{2, 2}, {0, 1}}), 1)), (Doubles{3, 3, 2, 4}));
  EXPECT_EQ(values_of(take_along_axis(x, tensor<Long>({{1, 0, 1}}), 0)), (Doubles{2, 1, 6}));
  // An extent of 1 stretches, on either side.
  EXPECT_EQ(values_of(take_along_axis(x, tensor<Long>({{1, 0}}), 1)), (Doubles{1, 5, 4, 2}));
  EXPECT_EQ(values_of(take_along_axis(slice(x, 0, 0, 1), tensor<Long>({{1, 0}, {2, 2}}), 1)), (Doubles{1, 5, 3, 3}));

  const Axis b("b"), c("c"), pick("pick");
  const Tensor named = rename(x, {b, c});
  const Tensor best = tensor<Long>({{2}, {0}}, {b, pick});
  EXPECT_TRUE(array_equal(take_along_axis(named, best, c), tensor<double>({{3}, {2}}, {b, pick})));
  EXPECT_TRUE(array_equal(take_along_axis(named, transpose(best), c), tensor<double>({{3}, {2}}, {b, pick})));
  // The same places in every row, and an axis of the indices alone.
  EXPECT_TRUE(
      array_equal(take_along_axis(named, tensor<Long>({1, 1}, {c}), c), tensor<double>({{1, 1}, {4, 4}}, {b, c})));
  const Tensor one = select(named, b, 0);
  EXPECT_TRUE(
      array_equal(take_along_axis(one, tensor<Long>({{2}, {0}}, {b, c}), c), tensor<double>({{3}, {5}}, {b, c})));
  // An unnamed axis of indices keeps the name of the axis.
  EXPECT_EQ(take_along_axis(named, tensor<Long>({{2}, {0}}), c).shape(), (Shape{b(2), c(1)}));
}

TEST(Indexing, OfNothing) {
  const Tensor none_yet = zeros({0}, DType::i64);
  EXPECT_EQ(take(zeros({3, 2}), none_yet, 0).shape(), (Shape{0, 2}));
  EXPECT_EQ(take(zeros({0, 2}), none_yet, 0).shape(), (Shape{0, 2}));
  EXPECT_EQ(take(zeros({3, 0}), tensor<Long>({2, 1}), 0).shape(), (Shape{2, 0}));
  EXPECT_EQ(values_of(cast(scatter_add(ones({3}), none_yet, zeros({0}), 0), DType::f64)), (Doubles{1, 1, 1}));
  EXPECT_EQ(take_along_axis(zeros({2, 3}), zeros({2, 0}, DType::i64), 1).shape(), (Shape{2, 0}));
  EXPECT_EQ(take_along_axis(zeros({0, 3}), zeros({0, 2}, DType::i64), 1).shape(), (Shape{0, 2}));
  EXPECT_EQ(grad([&](const Tensor& x) { return sum(take(x, none_yet, 0)); })(zeros({3})).shape(), (Shape{3}));
}

TEST(Indexing, KeepsWhatWasNotAddedTo) {
  const auto x = scatter_add(tensor<float>({-0.0F, 1, std::numeric_limits<float>::quiet_NaN()}), tensor<Long>({1}),
                             tensor<float>({2}), 0)
                     .to_vector<float>();
  EXPECT_TRUE(std::signbit(x[0]));
  EXPECT_EQ(x[1], 3);
  EXPECT_TRUE(std::isnan(x[2]));
}

TEST(Indexing, ScatterAddStretchesAndPromotes) {
  const Tensor where = tensor<Long>({0, 2, 2});
  EXPECT_TRUE(
      array_equal(scatter_add(zeros({3}, DType::i64), where, tensor<double>(0.5), 0), tensor<double>({0.5, 0, 1})));
  EXPECT_TRUE(array_equal(scatter_add(zeros({3, 2}), where, tensor<float>({1, 10}), 0),
                          tensor<float>({{1, 10}, {0, 0}, {2, 20}})));
  const auto total = [&](const Tensor& u) { return sum(scatter_add(zeros({3, 2}, DType::f64), where, u, 0)); };
  EXPECT_EQ(gradient(total, tensor<double>({1, 10})), (Doubles{3, 3}));
}

// ---------------------------------------------------------------------------------------------------------------------
// Cases on which programs elsewhere have gone wrong

TEST(Indexing, D_index) {
  const Tensor c = tensor<double>({10, 20, 30, 40});
  const Tensor i = tensor<Long>({3, 0, 3});
  const auto pick = [](const Tensor& table, const Tensor& at) { return select(table, 0, at); };
  const auto mapped = vmap(pick, in_axes(none, 0));
  EXPECT_EQ(values_of(mapped(c, i)), (Doubles{40, 10, 40}));
  EXPECT_EQ(gradient(
                [&](const Tensor& table) {
                  return sum(mapped(table, i) * tensor<double>({1, 2, 5}));
                },
                c),
            (Doubles{2, 0, 0, 6}));
}

TEST(Indexing, D_nestidx) {
  const Tensor e = tensor<double>({{1, 2}, {3, 4}, {5, 6}});
  const Tensor i = tensor<Long>({{0, 2}, {1, 1}});
  const Doubles wanted{1, 2, 5, 6, 3, 4, 3, 4};
  EXPECT_EQ(values_of(take(e, i, 0)), wanted);
  const auto one = [&](const Tensor& at) { return select(e, 0, at); };
  EXPECT_EQ(values_of(vmap(vmap(one))(i)), wanted);
  EXPECT_EQ(values_of(vmap([&](const Tensor& row) { return take(e, row, 0); })(i)), wanted);
  EXPECT_EQ(values_of(vmap(vmap(one, in_axes(0), out_axes(-1)))(transpose(i))), (Doubles{1, 3, 2, 4, 5, 3, 6, 4}));
}

TEST(Indexing, F_embed) {
  const Tensor at = tensor<Long>({2, 0, 2});
  const Tensor weights = tensor<double>({1, 10, 100});
  const Tensor table = tensor<double>({7, 8, 9});
  const Function loss = [&](const Tensor& t) { return sum(take(t, at, 0) * weights); };
  EXPECT_EQ(gradient(loss, table), (Doubles{10, 0, 101}));
  const auto one = [](const Tensor& t, const Tensor& i, const Tensor& w) { return select(t, 0, i) * w; };
  EXPECT_EQ(values_of(vmap(grad(one), in_axes(none, 0, 0))(table, at, weights)),
            (Doubles{0, 0, 1, 10, 0, 0, 0, 0, 100}));
  // Index 0 as padding, which has no row.
  const Function padded = [&](const Tensor& t) { return sum(where(at != 0, take(t, at, 0), 0.0) * weights); };
  EXPECT_EQ(gradient(padded, table), (Doubles{0, 0, 101}));
}

TEST(Indexing, F_take) {
  const Tensor at = tensor<Long>({0, 0, 1, 1, 2, 2});
  const Function f = [&](const Tensor& x) { return sum(take(x * tensor<double>({{0, 1, 2}}), at, 1)); };
  EXPECT_EQ(f(tensor<double>(1.5)).item<double>(), 9);
  EXPECT_EQ(gradient(f, tensor<double>(1.5)), (Doubles{6}));
  // What is broadcast, and then taken from.
  const Function g = [&](const Tensor& x) { return sum(square(take(broadcast_to(x, {3, 2}), at, 0))); };
  EXPECT_EQ(gradient(g, tensor<double>({1.5, 2})), (Doubles{18, 24}));
}

TEST(Indexing, F_setrule) {
  const auto loss = [](const Tensor& b, const Tensor& s) {
    const Tensor y = scatter_add(b, tensor<Long>(1), s, 0);
    return 2 * select(y, 0, 0) + square(select(y, 0, 1));
  };
  const Tensor b = tensor<double>({1, 2}), s = tensor<double>(3);
  const auto [db, ds] = grad(loss, argnums<0, 1>)(b, s);
  EXPECT_EQ(values_of(db), (Doubles{2, 10}));
  EXPECT_EQ(values_of(ds), (Doubles{10}));
  const auto slope = [&](const Tensor& tb, const Tensor& ts) {
    return jvp([&](const Tensor& v, const Tensor& w) { return loss(v, w); }, std::tuple{b, s}, std::tuple{tb, ts})
        .second.item<double>();
  };
  EXPECT_EQ(slope(ones({2}, DType::f64), ones({}, DType::f64)), 22);
  EXPECT_EQ(slope(Tensor(), ones({}, DType::f64)), 10);
  EXPECT_EQ(slope(ones({2}, DType::f64), Tensor()), 12);
  // (t + 1)(t + 3)(4t + 1), its factors put together by index.
  const Function product = [](const Tensor& t) {
    const Tensor factors = scatter_add(tensor<double>({1, 3, 1}), tensor<Long>({0, 2, 1, 2, 2, 2}), t, 0);
    return select(cumprod(factors, 0), 0, -1);
  };
  EXPECT_EQ(gradient(product, tensor<double>(0)), (Doubles{16}));
  EXPECT_EQ(hessian_of(product, tensor<double>(0)), (Doubles{34}));
}

// ---------------------------------------------------------------------------------------------------------------------
// Batching

/// f with every set of its operands mapped, twice over with all pairs of sets, is the stack of single calls.
template <class F>
void expect_maps_agree(const F& f, const std::vector<Tensor>& x) {
  // Every example has numbers of its own, and other indices below 3.
  const auto copies = [](const Tensor& v, Long examples, Long stride) {
    std::vector<Tensor> all;
    for (Long e = 0; e < examples; ++e) {
      const Tensor moved = is_float(v.dtype()) ? v + static_cast<double>(e * stride) : v + e * stride % 3;
      all.push_back(is_float(v.dtype()) ? moved : where(moved < 3, moved, moved - 3));
    }
    return all;
  };
  const auto axes_of = [](unsigned set) {
    InAxes axes;
    for (unsigned i = 0; i < 3; ++i) axes.entries.push_back((set >> i & 1) != 0 ? MapAxis(0) : MapAxis(none));
    return axes;
  };
  for (unsigned outer = 0; outer < 8; ++outer)
    for (unsigned inner = 0; inner < 8; ++inner) {
      SCOPED_TRACE("outer " + std::to_string(outer) + ", inner " + std::to_string(inner));
      constexpr Long outer_size = 2, inner_size = 3;
      std::vector<std::vector<std::vector<Tensor>>> examples;  // operand, outer, inner
      std::vector<Tensor> stacked;
      for (unsigned i = 0; i < 3; ++i) {
        const bool by_outer = (outer >> i & 1) != 0, by_inner = (inner >> i & 1) != 0;
        examples.emplace_back();
        std::vector<Tensor> whole;
        for (const Tensor& v : copies(x[i], outer_size, by_outer ? 1 : 0)) {
          examples.back().push_back(copies(v, inner_size, by_inner ? 2 : 0));
          whole.push_back(by_inner ? stack(examples.back().back()) : v);
        }
        stacked.push_back(by_outer ? stack(whole) : whole[0]);
      }
      std::vector<Tensor> singles;
      for (std::size_t o = 0; o < std::size_t{outer_size}; ++o)
        for (std::size_t i = 0; i < std::size_t{inner_size}; ++i)
          singles.push_back(f(examples[0][o][i], examples[1][o][i], examples[2][o][i]));
      const auto mapped = vmap(vmap(f, axes_of(inner), axis_size(inner_size)), axes_of(outer), axis_size(outer_size));
      const Tensor result = mapped(stacked[0], stacked[1], stacked[2]);
      Shape shape{outer_size, inner_size};
      for (const Dim dim : singles[0].shape()) shape.push_back(dim);
      EXPECT_EQ(result.shape(), shape);
      expect_near(values_of(result), values_of(stack(singles)));
    }
}

TEST(Indexing, EverySetOfOperandsMappedTwice) {
  const Tensor table = counted({2, 3, 2}) / 4;
  const Tensor at = tensor<Long>({{2, 0}, {2, 1}});
  const Tensor weights = counted({2, 2, 2, 2}) / 8;
  const auto taken_from = [](const Tensor& x, const Tensor& i, const Tensor& w) { return take(x, i, 1) * w; };
  const auto added_to = [](const Tensor& x, const Tensor& i, const Tensor& w) { return scatter_add(x, i, w, 1); };
  const auto loss = [](const Tensor& x, const Tensor& i, const Tensor& w) { return sum(square(take(x, i, 1)) * w); };
  const auto other_loss = [](const Tensor& x, const Tensor& i, const Tensor& w) {
    return sum(square(scatter_add(x, i, square(w), 1)) * x);
  };
  expect_maps_agree(taken_from, {table, at, weights});
  expect_maps_agree(added_to, {table, at, weights});
  expect_maps_agree(grad(loss), {table, at, weights});
  expect_maps_agree(grad(loss, argnums<2>), {table, at, weights});
  expect_maps_agree(grad(other_loss), {table, at, weights});
  expect_maps_agree(grad(other_loss, argnums<2>), {table, at, weights});
}

TEST(Indexing, EverySetOfOperandsMappedTwiceAlongAxis) {
  for (const int axis : {0, 1, 2}) {
    Shape shape{2, 2, 2};
    shape[axis] = 3;
    const Tensor table = counted(shape) / 4;
    const Tensor number = counted(shape, DType::i64);
    const Tensor at = where(number > 7, full({}, 2), where(number > 4, full({}, 0), full({}, 1)));
    const Tensor weights = counted(table.shape()) / 8;
    const auto loss = [axis](const Tensor& x, const Tensor& i, const Tensor& w) {
      return sum(square(take_along_axis(x, i, axis)) * w);
    };
    expect_maps_agree(
        [axis](const Tensor& x, const Tensor& i, const Tensor& w) { return take_along_axis(x, i, axis) * w; },
        {table, at, weights});
    expect_maps_agree(grad(loss), {table, at, weights});
  }
}

TEST(Indexing, BatchesOfNothing) {
  const Tensor c = tensor<double>({1, 2, 3});
  const auto pick = [](const Tensor& x, const Tensor& i) { return sum(take(x, i, 0)); };
  EXPECT_EQ(vmap(pick, in_axes(none, 0))(c, zeros({0, 2}, DType::i64)).shape(), (Shape{0}));
  EXPECT_EQ(vmap(pick)(zeros({0, 3}), zeros({0, 2}, DType::i64)).shape(), (Shape{0}));
  EXPECT_EQ(vmap(grad(pick), in_axes(none, 0))(c, zeros({0, 2}, DType::i64)).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap(grad(pick), in_axes(0, none))(zeros({0, 3}), tensor<Long>({1, 1})).shape(), (Shape{0, 3}));
  const auto total = [&](const Tensor& x) { return sum(vmap(pick, in_axes(none, 0))(x, zeros({0, 2}, DType::i64))); };
  EXPECT_EQ(values_of(grad(total)(c)), (Doubles{0, 0, 0}));
}

TEST(Indexing, SecondDerivatives) {
  const Tensor at = tensor<Long>({{2, 0}, {2, 1}});
  const Function f = [&](const Tensor& x) {
    const Tensor y = take(x, at, 0);
    return sum(square(y) * y) + sum(square(scatter_add(x, at, y * y, 0)));
  };
  // By hand, with x taken at 2 twice: f = sum n_i x_i^3 + (x_i + n_i x_i^2)^2.
  const Doubles x{0.5, -1, 2}, n{1, 1, 2};
  Doubles first, second(9, 0.0);
  for (std::size_t i = 0; i < 3; ++i) {
    const double y = x[i] + n[i] * x[i] * x[i], slope = 1 + 2 * n[i] * x[i];
    first.push_back(3 * n[i] * x[i] * x[i] + 2 * y * slope);
    second[4 * i] = 6 * n[i] * x[i] + 2 * slope * slope + 4 * n[i] * y;
  }
  expect_near(gradient(f, from_data(x, {3})), first);
  expect_near(hessian_of(f, from_data(x, {3})), second);
}

// ---------------------------------------------------------------------------------------------------------------------
// Errors

TEST(Indexing, IndicesOutsideAreNamed) {
  const Tensor x = zeros({2, 4});
  const Tensor at = tensor<std::int32_t>({{1, 0, 3}, {2, 4, 9}});
  for (const std::string& message :
       {refusal<ValueError>([&] { take(x, at, 1); }), refusal<ValueError>([&] { scatter_add(x, at, zeros({}), -1); })})
    expect_mentions(message, {"index 4 at [1, 1] is", "axis 1", "4 elements", "f32 [2, 4]", "indices i32 [2, 3]"});
  expect_mentions(refusal<ValueError>([&] { select(x, 0, tensor<Long>(-1)); }),
                  {"select: the index -1 is", "axis 0", "2 elements", "i64 []"});
  expect_mentions(refusal<ValueError>([&] { take(zeros({0}), tensor<Long>({0}), 0); }),
                  {"index 0 at [0]", "0 elements"});
  // Where the runs along the axis are elsewhere than in memory.
  expect_mentions(refusal<ValueError>([&] {
                    take_along_axis(zeros({3, 2}), tensor<Long>({{0, 1}, {1, 7}}), 0);
                  }),
                  {"take_along_axis: the index 7 at [1, 1]", "axis 0", "3 elements", "f32 [3, 2]", "i64 [2, 2]"});
  expect_mentions(refusal<ValueError>([&] {
                    take_along_axis(zeros({2, 3, 4}), full({2, 1, 4}, 3), 1);
                  }),
                  {"index 3 at [0, 0, 0]", "axis 1", "f32 [2, 3, 4]", "i64 [2, 1, 4]"});
}

TEST(Indexing, IndicesOutsideAreNamedWithinMaps) {
  const Tensor x = zeros({4});
  const auto taken_from = [](const Tensor& v, const Tensor& i) { return take(v, i, 0); };
  const Tensor at = tensor<Long>({{1, 0}, {2, 3}, {1, 7}});
  expect_mentions(refusal<ValueError>([&] { vmap(taken_from, in_axes(none, 0))(x, at); }),
                  {"take: the index 7 at [1] of example [2]", "axis 0", "f32 [4]", "indices i64 [2];"});
  expect_mentions(refusal<ValueError>([&] {
                    vmap(taken_from)(zeros({3, 4}), at);
                  }),
                  {"index 7 at [1] of example [2]", "axis 0", "f32 [4]", "indices i64 [2];"});
  expect_mentions(refusal<ValueError>([&] {
                    vmap(taken_from, in_axes(0, none))(zeros({5, 4}), tensor<Long>({1, 4}));
                  }),
                  {"index 4 at [1] is", "axis 0", "f32 [4]", "indices i64 [2];"});
  // Two maps, the inner one over the columns.
  const auto nested = vmap(vmap(taken_from, in_axes(none, 1)), in_axes(none, 0));
  const Tensor deep = reshape(tensor<Long>({0, 0, 0, 0, 0, 0, 0, 5}), {2, 2, 2});
  expect_mentions(refusal<ValueError>([&] { nested(x, deep); }),
                  {"index 5 at [1] of example [1, 1]", "indices i64 [2];"});
  // A gradient's tape is as it was.
  const auto careful = [&](const Tensor& v) {
    try {
      return sum(take(v, at, 0));
    } catch (const ValueError&) {
      return sum(square(v));
    }
  };
  EXPECT_EQ(values_of(grad(careful)(tensor<double>({1, 2, 3}))), (Doubles{2, 4, 6}));
}

TEST(Indexing, Errors) {
  const Axis b("b"), c("c"), d("d"), e("e");
  const Tensor x = zeros({b(2), c(3)});
  const Tensor i = tensor<Long>({1, 1});
  expect_mentions(refusal<DTypeError>([&] { take(x, ones({2}), 0); }), {"take: ", "f32", "cast"});
  expect_mentions(refusal<DTypeError>([&] { take(x, tensor<bool>({true}), 0); }), {"take: ", "bool", "where"});
  expect_mentions(refusal<DTypeError>([&] { take_along_axis(x, x, 0); }), {"take_along_axis: ", "f32"});
  expect_mentions(refusal<DTypeError>([&] { scatter_add(x, x, x, 0); }), {"scatter_add: ", "f32"});
  expect_mentions(refusal<DTypeError>([&] { scatter_add(x, i, zeros({}, DType::f64), 0); }), {"scatter_add: ", "f64"});
  expect_mentions(refusal<AxisError>([&] { take(x, i, 2); }), {"take: axis 2"});
  expect_mentions(refusal<AxisError>([&] { take(x, i, d); }), {"take: ", " d"});
  expect_mentions(refusal<AxisError>([&] { take(x, rename(i, {c}), b); }),
                  {"take: ", "axis c twice", "take_along_axis"});
  expect_mentions(refusal<ShapeError>([&] { select(x, 0, i); }), {"select: ", "1 axes", "take()"});
  expect_mentions(refusal<ShapeError>([&] { scatter_add(x, i, zeros({4}), 0); }), {"scatter_add: ", "f32 [4]"});
  expect_mentions(refusal<ShapeError>([&] {
                    scatter_add(x, i, zeros({5, 2, 3}), 0);
                  }),
                  {"scatter_add: ", "f32 [5, 2, 3]"});
  expect_mentions(refusal<ShapeError>([&] {
                    scatter_add(zeros({3, 1}), i, zeros({2, 4}), 0);
                  }),
                  {"scatter_add: ", "[2, 4]"});
  expect_mentions(refusal<AxisError>([&] { scatter_add(x, rename(i, {d}), zeros({e(1)}), 0); }), {"scatter_add: "});
  expect_mentions(refusal<ShapeError>([&] { take_along_axis(x, i, 1); }), {"take_along_axis: ", "1 axes", "2"});
  expect_mentions(refusal<ShapeError>([&] { take_along_axis(x, zeros({3, 1}, DType::i64), 1); }), {"2 and 3 meet"});
  expect_mentions(refusal<ShapeError>([&] {
                    take_along_axis(x, zeros({b(1), d(1)}, DType::i64), c);
                  }),
                  {"2 and 1 meet"});
  expect_mentions(refusal<AxisError>([&] {
                    take_along_axis(x, zeros({d(2), 1}, DType::i64), 1);
                  }),
                  {"axes b and d meet"});
  expect_mentions(refusal<AxisError>([&] {
                    take_along_axis(x, zeros({d(2), e(1)}, DType::i64), c);
                  }),
                  {"axes d and e"});
  expect_mentions(refusal<AxisError>([&] { take_along_axis(x, zeros({b(2)}, DType::i64), c); }), {"along c"});
  expect_mentions(refusal<AxisError>([&] {
                    take_along_axis(x, zeros({c(1), d(2)}, DType::i64), c);
                  }),
                  {"neither operand"});
  for (const auto& call :
       {std::function<void()>([&] { take(Tensor(), i, 0); }), std::function<void()>([&] { take(x, Tensor(), 0); }),
        std::function<void()>([&] { scatter_add(x, i, Tensor(), 0); }),
        std::function<void()>([&] { take_along_axis(x, Tensor(), 0); }),
        std::function<void()>([&] { select(x, 0, Tensor()); })})
    expect_mentions(refusal<ValueError>(call), {"empty"});
  // The mapped axis, shown by an operand from outside.
  const auto captured = [&](const Tensor& at) { return take(x, at, c); };
  expect_mentions(refusal<AxisError>([&] { vmap(captured, b)(rename(i, {b})); }), {"take: ", "axis b", "maps"});
}

}  // namespace
