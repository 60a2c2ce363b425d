// Tape: gradients without a function to differentiate, as often as wanted, nested, and what it refuses.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/refusals.hpp"

namespace {

using namespace tlaloc;
using refusals::refusal;

Tensor number(double value) { return tensor<double>(value); }
std::vector<double> values_of(const Tensor& x) { return x.to_vector<double>(); }

static_assert(!std::is_copy_constructible_v<Tape> && !std::is_move_constructible_v<Tape>);
static_assert(!std::is_copy_assignable_v<Tape> && !std::is_move_assignable_v<Tape>);

TEST(Tape, GradientsAsOftenAsWanted) {
  Tape tape;
  const Tensor x = tape.watch(number(2)), y = tape.watch(number(3));
  const Tensor z = x * x * y;
  EXPECT_EQ(z.item<double>(), 12);
  EXPECT_EQ(tape.gradient(z, x).item<double>(), 12);
  EXPECT_EQ(tape.gradient(z, y).item<double>(), 4);
  const auto both = tape.gradient(z, {x, y});
  EXPECT_EQ(both[0].item<double>(), 12);
  EXPECT_EQ(both[1].item<double>(), 4);
  const auto [dy, dx] = tape.gradient(z, std::tuple(y, x));
  EXPECT_EQ(dy.item<double>(), 4);
  EXPECT_EQ(dx.item<double>(), 12);
  // It goes on recording.
  const Tensor w = z + exp(y - 3);
  EXPECT_EQ(tape.gradient(w, y).item<double>(), 5);
  EXPECT_EQ(tape.gradient(z, y).item<double>(), 4);
  EXPECT_EQ(tape.gradient(y, x).item<double>(), 0);
  EXPECT_EQ(tape.gradient(x, x).item<double>(), 1);
  EXPECT_EQ(tape.gradient(number(1), x).item<double>(), 0);
  const auto twice = tape.gradient(z, {x, x});
  EXPECT_EQ(twice[0].item<double>() + twice[1].item<double>(), 24);
}

struct Model {
  Tensor w, b;
  Tensor steps;
  int width;
};

TEST(Tape, TreesNamesAndIntegers) {
  const Axis feature{"feature"};
  Tape tape;
  const Model model = tape.watch(Model{tensor<double>({1, 2}, {feature}), number(3), tensor<std::int64_t>(5), 7});
  const Model gradient = tape.gradient(sum(square(model.w)) * model.b, model);
  EXPECT_TRUE(array_equal(gradient.w, tensor<double>({6, 12}, {feature})));
  EXPECT_EQ(gradient.b.item<double>(), 5);
  EXPECT_FALSE(gradient.steps.defined());
  EXPECT_EQ(gradient.width, 7);
}

TEST(Tape, CotangentsForTargetsOfAnyShape) {
  Tape tape;
  const Tensor x = tape.watch(tensor<double>({1, 2, 3}));
  const Tensor y = x * x;
  EXPECT_EQ(values_of(tape.gradient(y, x, tensor<double>({1, 10, 100}))), (std::vector<double>{2, 40, 600}));
  EXPECT_EQ(values_of(tape.gradient(y, x, ones_like(y))), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(values_of(tape.gradient(y, {x}, ones_like(y))[0]), (std::vector<double>{2, 4, 6}));
  // A Jacobian: the pull-back, mapped.
  const auto row = [&](const Tensor& ct) { return tape.gradient(y, x, ct); };
  EXPECT_EQ(values_of(vmap(row)(eye(3, DType::f64))), (std::vector<double>{2, 0, 0, 0, 4, 0, 0, 0, 6}));
}

TEST(Tape, NestedTapesGiveHigherDerivatives) {
  Tape outer;
  const Tensor x = outer.watch(number(2));
  Tensor first;
  {
    Tape inner;
    const Tensor y = inner.watch(x);
    first = inner.gradient(y * y * y * x, y);
  }
  EXPECT_EQ(first.item<double>(), 24);
  EXPECT_EQ(outer.gradient(first, x).item<double>(), 36);
}

TEST(Tape, WithTheOtherTransforms) {
  Tape tape;
  const Tensor x = tape.watch(tensor<double>({1, 2, 3}));
  const auto cube = [](const Tensor& y) { return y * y * y; };
  const auto sum_of_cubes = [&](const Tensor& y) { return sum(cube(y)); };
  EXPECT_EQ(values_of(tape.gradient(sum(grad(sum_of_cubes)(x)), x)), (std::vector<double>{6, 12, 18}));
  EXPECT_EQ(values_of(tape.gradient(sum(vmap(grad(cube))(x)), x)), (std::vector<double>{6, 12, 18}));
  EXPECT_EQ(values_of(tape.gradient(sum(jvp(cube, x, ones_like(x)).second), x)), (std::vector<double>{6, 12, 18}));
  EXPECT_EQ(values_of(tape.gradient(sum(jacrev(cube)(x)), x)), (std::vector<double>{6, 12, 18}));
  EXPECT_EQ(values_of(tape.gradient(checkpoint(sum_of_cubes)(x), x)), (std::vector<double>{3, 12, 27}));

  const auto with_tape = [](const Tensor& y) {
    Tape inside;
    const Tensor z = inside.watch(y);
    return inside.gradient(z * z * z, z);
  };
  EXPECT_EQ(values_of(vmap(with_tape)(tensor<double>({1, 2, 3}))), (std::vector<double>{3, 12, 27}));
  EXPECT_EQ(grad(with_tape)(number(2)).item<double>(), 12);
  EXPECT_EQ(jvp(with_tape, number(2), number(1)).second.item<double>(), 12);
}

TEST(Tape, ValuesOutliveIt) {
  Tensor loss, value;
  {
    Tape tape;
    const Tensor x = tape.watch(number(3));
    loss = x * x;
    value = tape.value(loss);
    // A value is a constant for the tape.
    EXPECT_EQ(tape.gradient(value * x, x).item<double>(), 9);
  }
  EXPECT_EQ(value.item<double>(), 9);
  EXPECT_EQ((value + 1).item<double>(), 10);
  EXPECT_EQ(refusal<LevelError>([&] { loss + 1; }),
            "add: argument 0 belongs to a grad that has ended, or that runs on another thread; got f64 []; return the "
            "tensor from the transformed function instead of storing it elsewhere");
}

TEST(Tape, AfterItsEndGradientsCanStillBeAskedFor) {
  Tape tape;
  const Tensor x = tape.watch(number(3));
  const Tensor y = x * x;
  tape.end();
  tape.end();
  EXPECT_EQ(tape.gradient(y, x).item<double>(), 6);
  EXPECT_EQ(tape.value(y).item<double>(), 9);
  EXPECT_THROW(y + 1, LevelError);
  EXPECT_EQ(refusal<LevelError>([&] { tape.watch(number(1)); }),
            "tape: watch() of a tape that has ended, or that belongs to another thread; got f64 []; make a new one");
  // Another transform in its place is not taken for it.
  EXPECT_EQ(grad([&](const Tensor& z) { return z * tape.gradient(y, x); })(number(1)).item<double>(), 6);
}

TEST(Tape, TapesEndInReverseOrder) {
  Tape outer;
  const Tensor x = outer.watch(number(2));
  Tape inner;
  const Tensor y = inner.watch(x);
  EXPECT_EQ(refusal<LevelError>([&] { outer.end(); }),
            "tape: end() while a tape that began later still runs; end them in reverse order");
  EXPECT_EQ(inner.gradient(y * y, y).item<double>(), 4);
  inner.end();
  outer.end();
  EXPECT_EQ(grad([](const Tensor& z) { return z * z; })(number(3)).item<double>(), 6);
}

TEST(Tape, DestroyedOutOfOrderItOnlyEndsItself) {
  auto outer = std::make_unique<Tape>();
  const Tensor x = outer->watch(number(2));
  auto inner = std::make_unique<Tape>();
  const Tensor y = inner->watch(number(5));
  outer.reset();
  EXPECT_THROW(x + 1, LevelError);
  EXPECT_EQ(inner->gradient(y * y, y).item<double>(), 10);
  EXPECT_EQ(vmap(grad([](const Tensor& z) { return z * z; }))(tensor<double>({1, 2})).to_vector<double>(),
            (std::vector<double>{2, 4}));
  EXPECT_EQ(inner->gradient(y * y * y, y).item<double>(), 75);
  inner.reset();
  EXPECT_THROW(y + 1, LevelError);
  for (int i = 0; i < 100; ++i) {
    Tape tape;
    const Tensor z = tape.watch(number(1));
    EXPECT_EQ(tape.gradient(z + z, z).item<double>(), 2);
  }
}

TEST(TapeErrors, Targets) {
  Tape tape;
  const Tensor x = tape.watch(tensor<double>({1, 2}));
  EXPECT_EQ(refusal<ShapeError>([&] { tape.gradient(x * x, x); }),
            "gradient: the target is not a scalar; got f64 [2]; reduce it with sum() or mean(), or give a cotangent");
  EXPECT_EQ(
      refusal<ShapeError>([&] { tape.gradient(x * x, x, ones({3}, DType::f64)); }),
      "gradient: the cotangent is f64 [3]; the target is f64 [2]; a cotangent has the dtype, names and sizes of its "
      "target");
  EXPECT_EQ(refusal<DTypeError>([&] { tape.gradient(tensor<std::int64_t>(1), x); }),
            "gradient: the target is not a float; got i64 []; differentiate a float, or cast it");
  EXPECT_EQ(refusal<ValueError>([&] { tape.gradient(Tensor(), x); }),
            "gradient: the target is the empty tensor; compute it first");
  EXPECT_EQ(
      refusal<LevelError>([&] { tape.gradient(x, x, x); }),
      "gradient: the cotangent belongs to the tape itself; got f64 [2]; pass tape.value(cotangent), or nest two tapes "
      "for a second derivative");
  EXPECT_EQ(
      refusal<LevelError>([&] { vmap([&](const Tensor& y) { return tape.gradient(y, x); })(ones({2})); }),
      "gradient: the target belongs to a transform that began after the tape; got f32 []; ask for the gradient of "
      "what it returns");
  EXPECT_EQ(values_of(tape.gradient(sum(x * x), x)), (std::vector<double>{2, 4}));
}

TEST(TapeErrors, Sources) {
  Tape tape;
  const Tensor x = tape.watch(number(1));
  const Tensor unwatched = number(2);
  const Tensor y = x * unwatched;
  EXPECT_EQ(refusal<ValueError>([&] {
              tape.gradient(y, {x, unwatched});
            }),
            "gradient: source 1 is not watched by this tape; got f64 []; pass what watch() returned, and compute the "
            "target from it");
  EXPECT_THROW(tape.gradient(y * y, y), ValueError);
  EXPECT_EQ(
      refusal<LevelError>([&] { tape.watch(y); }),
      "tape: watch() of a tensor that belongs to the tape already, or to a transform that began after it; got f64 "
      "[]; watch what the computation begins with");
  EXPECT_EQ(
      refusal<LevelError>([&] { vmap([&](const Tensor& z) { return tape.watch(z); })(ones({2})); }),
      "tape: watch() of a tensor that belongs to the tape already, or to a transform that began after it; got f32 "
      "[]; watch what the computation begins with");
  EXPECT_THROW(tape.watch(tensor<std::int64_t>(1)), DTypeError);
  EXPECT_EQ(tape.gradient(y, x).item<double>(), 2);
}

TEST(TapeErrors, ABackwardRuleThatUsesATensorOfTheTape) {
  Tape tape;
  const Tensor x = tape.watch(number(3));
  const auto f = custom_vjp([](const Tensor& y) { return y; }, [](const Tensor& y) { return std::pair(y, 0); },
                            [&](int, const Tensor& ct) { return ct * x; });
  EXPECT_EQ(refusal<LevelError>([&] { tape.gradient(f(x), x); }),
            "gradient: an operation inside meets a tensor of a running tape that is not one of the arguments; got f64 "
            "[], f64 "
            "[]; pass it as an argument; in the backward function of a custom_vjp, pass it as an argument or among the "
            "residuals");
  EXPECT_EQ(tape.gradient(x * x, x).item<double>(), 6);
}

TEST(Tape, NothingIsKept) {
  const auto run = [] {
    Tape tape;
    const Tensor x = tape.watch(ones({100}, DType::f64));
    const Tensor y = sum(tanh(x) * x);
    tape.gradient(y, x);
    tape.gradient(y, x);
  };
  run();
  const std::int64_t before = memory_stats().in_use;
  run();
  EXPECT_EQ(memory_stats().in_use, before);
}

}  // namespace
