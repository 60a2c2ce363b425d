// cond, switch_case, while_loop, fori_loop and scan: alone, and per example under vmap, against a loop over the
// examples.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <tlaloc/tlaloc.hpp>
#include <vector>

namespace {

using namespace tlaloc;

const Axis batch{"batch"};
using Function = std::function<Tensor(const Tensor&)>;

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector<double>();
  const auto y = b.to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-12 * (1 + std::abs(y[i]))) << "element " << i;
}

/// f and its first and second derivatives in both modes, mapped, against one example at a time.
void expect_mapped_as_looped(const Function& f, const std::vector<double>& points) {
  const Function derivatives[] = {
      f,
      grad(f),
      [&](const Tensor& x) { return jvp(f, x, ones_like(x)).second; },
      grad(Function(grad(f))),
      [&](const Tensor& x) { return jvp(Function(grad(f)), x, ones_like(x)).second; },
      [&](const Tensor& x) { return grad([&](const Tensor& y) { return jvp(f, y, ones_like(y)).second; })(x); },
  };
  const Tensor xs = from_data(points, {batch(points.size())});
  for (const Function& g : derivatives) {
    std::vector<Tensor> rows;
    for (std::size_t i = 0; i < points.size(); ++i) rows.push_back(g(select(xs, batch, static_cast<int>(i))));
    expect_same(vmap(g, batch)(xs), stack(rows, 0, batch));
  }
  const Tensor of_sum = grad([&](const Tensor& all) { return sum(vmap(f, batch)(all)); })(xs);
  expect_same(of_sum, vmap(grad(f), batch)(xs));
}

TEST(Cond, TakesOneBranchWhereTheConditionIsOneNumber) {
  int yes = 0;
  int no = 0;
  const auto f = [&](const Tensor& x) {
    return cond(
        x > 0, [&](const Tensor& a) { return ++yes, 2.0 * a; }, [&](const Tensor& a) { return ++no, -1.0 * a; }, x);
  };
  EXPECT_EQ(f(tensor<double>(3)).item<double>(), 6);
  EXPECT_EQ(grad(f)(tensor<double>(-3)).item<double>(), -1);
  EXPECT_EQ(yes, 1);
  EXPECT_EQ(no, 1);
}

TEST(Cond, GivesEachExampleItsOwnBranch) {
  expect_mapped_as_looped(
      [](const Tensor& x) {
        return cond(
            x > 0, [](const Tensor& a) { return a * sqrt(a); }, [](const Tensor& a) { return square(a) * a; }, x);
      },
      {4, -1, 0.25, -3});
}

TEST(Cond, NothingInABranchNotTakenLeaks) {
  // At 0 and below, log and its derivatives are inf or nan, for captured values as for arguments.
  expect_mapped_as_looped(
      [](const Tensor& x) {
        return cond(
            x > 0, [&] { return log(x); }, [&] { return x * x; });
      },
      {0, 2, -3, 0.5});
}

TEST(Cond, AllExamplesOnOneSideRunThatBranchOnly) {
  int no = 0;
  const Tensor xs = tensor<double>({1, 2, 3}, {batch});
  const Tensor ys = vmap(
      [&](const Tensor& x) {
        return cond(
            x > 0, [&] { return 2.0 * x; }, [&] { return ++no, x; });
      },
      batch)(xs);
  EXPECT_TRUE(array_equal(ys, tensor<double>({2, 4, 6}, {batch})));
  EXPECT_EQ(no, 0);
}

TEST(Cond, Nested) {
  expect_mapped_as_looped(
      [](const Tensor& x) {
        return cond(
            x > 0,
            [&] {
              return cond(
                  x > 2, [&] { return log(x - 2.0); }, [&] { return sqrt(2.0 - x) * x; });
            },
            [&] { return x * x * x; });
      },
      {3, 1, -1, 5, 0.5, -2});
}

TEST(Cond, NormOfTheZeroVectorIsSafeUnderVmap) {
  const auto f = [](const Tensor& v) {
    const Tensor length = sqrt(sum(square(v)));
    return cond(
        length > 0, [&] { return sum(v) / sqrt(sum(square(v))); }, [&] { return 0.0 * sum(v); });
  };
  const Tensor vs = tensor<double>({{0, 0}, {3, 4}}, {batch, Axis::none});
  const auto g = vmap(grad([&](const Tensor& v) {
                        return cond(
                            sum(square(v)) > 0, [](const Tensor& u) { return sum(u) / sqrt(sum(square(u))); },
                            [](const Tensor& u) { return 0.0 * sum(u); }, v);
                      }),
                      batch)(vs)
                     .to_vector<double>();
  const std::vector<double> expected = {0, 0, 0.032, -0.024};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(g[i], expected[i], 1e-12);
  EXPECT_EQ(vmap(f, batch)(vs).to_vector<double>()[0], 0);
}

TEST(Cond, UnderTwoVmapsWithTheConditionInBoth) {
  const Axis row{"row"};
  const Tensor xs = tensor<double>({1, -2, 3}, {batch});
  const Tensor ys = tensor<double>({2, -1}, {row});
  const auto f = [](const Tensor& x, const Tensor& y) {
    return cond(
        x + y > 0, [&] { return log(x + y) * x; }, [&] { return x * y; });
  };
  const auto mapped =
      vmap([&](const Tensor& x) { return vmap([&](const Tensor& y) { return grad(f)(x, y); }, row)(ys); }, batch)(xs);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      EXPECT_NEAR(select(select(mapped, batch, i), row, j).item<double>(),
                  grad(f)(select(xs, batch, i), select(ys, row, j)).item<double>(), 1e-12);
}

TEST(Cond, RefusesWhatIsNoCondition) {
  const auto run = [](const Tensor& c) {
    return cond(
        c, [] { return 1; }, [] { return 2; });
  };
  EXPECT_THROW(run(tensor<double>(1)), DTypeError);
  EXPECT_THROW(run(tensor<bool>({true, false})), ShapeError);
  EXPECT_THROW(run(Tensor()), ValueError);
  EXPECT_EQ(run(tensor<bool>(true)), 1);
  const Tensor xs = tensor<double>({1, -1}, {batch});
  EXPECT_THROW(vmap(
                   [](const Tensor& x) {
                     return cond(
                         x > 0, [&] { return x; },
                         [&] {
                           return stack({x, x});
                         });
                   },
                   batch)(xs),
               ShapeError);
}

TEST(SwitchCase, TakesTheBranchOfEachExample) {
  const std::vector<Function> branches = {[](const Tensor& x) { return x; }, [](const Tensor& x) { return 10.0 * x; },
                                          [](const Tensor& x) { return square(x); }};
  const Tensor xs = tensor<double>({2, 3, 4, 5, 6}, {batch});
  const Tensor index = tensor<std::int64_t>({1, 0, 2, -4, 9}, {batch});
  const auto f = [&](const Tensor& i, const Tensor& x) { return switch_case(i, branches, x); };
  expect_same(vmap(f, batch)(index, xs), tensor<double>({20, 3, 16, 5, 36}, {batch}));
  EXPECT_EQ(f(tensor<std::int64_t>(1), tensor<double>(7)).item<double>(), 70);
}

TEST(WhileLoop, EachExampleMakesItsOwnTrips) {
  expect_mapped_as_looped(
      [](const Tensor& x) {
        return while_loop([](const Tensor& a) { return a < 100; }, [](const Tensor& a) { return a * a + 1.0; }, x);
      },
      {4, 0.5, -3, 200, 9});
}

TEST(WhileLoop, WhatWouldHappenAfterTheLastTripDoesNot) {
  // The body is log: a trip too many makes nan.
  expect_mapped_as_looped(
      [](const Tensor& x) {
        return while_loop([](const Tensor& a) { return a > 1.0; }, [](const Tensor& a) { return log(a); }, x);
      },
      {20, 0.5, 3, 1.5, 1e6});
}

TEST(WhileLoop, StopsAtOnceWhereTheConditionIsFalse) {
  int trips = 0;
  const Tensor x =
      while_loop([](const Tensor& a) { return a < 0; }, [&](const Tensor& a) { return ++trips, a; }, tensor<double>(1));
  EXPECT_EQ(x.item<double>(), 1);
  EXPECT_EQ(trips, 0);
}

TEST(ForiLoop, WithNumbersAndWithTensorsThatDiffer) {
  const auto tripled = [](const auto&, const Tensor& s) { return 3.0 * s; };
  EXPECT_EQ(fori_loop(0, 4, tripled, tensor<double>(1)).item<double>(), 81);
  const Tensor xs = tensor<double>({1, 2, 3}, {batch});
  const Tensor counts = tensor<std::int64_t>({0, 1, 3}, {batch});
  const auto f = [&](const Tensor& x, const Tensor& n) { return fori_loop(tensor<std::int64_t>(0), n, tripled, x); };
  expect_same(vmap(f, batch)(xs, counts), tensor<double>({1, 6, 81}, {batch}));
  expect_same(vmap(grad(f), batch)(xs, counts), tensor<double>({1, 3, 27}, {batch}));
}

TEST(Scan, StacksItsOutputsAndDifferentiates) {
  const Tensor xs = tensor<double>({2, 3, 5});
  const auto f = [](const Tensor& carry, const Tensor& x) { return std::pair(carry * x, carry + x); };
  const auto [last, sums] = scan(f, tensor<double>(1), xs);
  EXPECT_EQ(last.item<double>(), 30);
  EXPECT_TRUE(array_equal(sums, tensor<double>({3, 5, 11})));
  const Tensor g = grad([&](const Tensor& all) { return scan(f, tensor<double>(1), all).first; })(xs);
  expect_same(g, tensor<double>({15, 10, 6}));
  EXPECT_THROW(scan(f, tensor<double>(1), slice(xs, 0, 0, 0)), ValueError);
}

TEST(Regions, EndWhenABranchThrows) {
  const Tensor xs = tensor<double>({1, -1}, {batch});
  const auto throwing = [](const Tensor& x) {
    return cond(
        x > 0, [&]() -> Tensor { throw std::runtime_error("out"); }, [&] { return x; });
  };
  EXPECT_THROW(vmap(throwing, batch)(xs), std::runtime_error);
  expect_mapped_as_looped(
      [](const Tensor& x) {
        return cond(
            x > 0, [&] { return log(x); }, [&] { return x * x; });
      },
      {1, -1});
}

}  // namespace
