// What transforms say when they refuse: the exact text, for the main mistakes with each of them, and for tensors that
// outlive theirs. After each refusal everything works as before it.
#include <optional>
#include <string>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/refusals.hpp"

namespace {

using namespace refusals;

// ---------------------------------------------------------------------------------------------------------------------
// Derivatives

TEST(TransformMessage, Grad) {
  const std::string reduce = "; reduce it with sum() or mean(), or map the function with vmap, or use vjp";
  expect_refusal<ShapeError>("grad: the function's result is not a scalar; got f32 [feature 2]" + reduce,
                             [] { grad(identity)(vector()); });
  expect_refusal<ShapeError>("value_and_grad: the function's result is not a scalar; got f32 [3, 2]" + reduce,
                             [] { value_and_grad(identity)(plain()); });
  expect_refusal<ShapeError>(
      "grad: the function's result is not a scalar; got f32 [1]; squeeze() takes an axis of extent 1 away, or use vjp",
      [] { grad(identity)(ones({1})); });
  expect_refusal<DTypeError>(
      "grad: the function's result is not a float; got i64 []; differentiate a float, or cast it",
      [] { grad([](const Tensor& x) { return sum(cast(x, DType::i64)); })(vector()); });
  expect_refusal<DTypeError>(
      "grad: argument 1, i64 [3], is not a float and has no gradient; cast it, or leave it out of argnums",
      [] { grad(sum_of_both, argnums<1>)(scalar(), integers()); });
  expect_refusal<ValueError>("grad: argument 0, empty, has no value; pass a tensor", [] { grad(identity)(Tensor()); });
  expect_refusal<ValueError>("grad: the function returned the empty tensor; return the loss",
                             [] { grad([](const Tensor&) { return Tensor(); })(scalar()); });
}

TEST(TransformMessage, Vjp) {
  const auto [y, back] = vjp([](const Tensor& x) { return std::vector{x, sum(x)}; }, vector());
  expect_refusal<ValueError>(
      "vjp: the cotangent holds 1 tensors and the result 2; a cotangent is a tree like the result",
      [&back = back] { back({vector()}); });
  const std::string rule = "; the result is f32 [feature 2]; a cotangent has the dtype, names and sizes of its result";
  expect_refusal<ShapeError>("vjp: the cotangent of result 0 is f32 [3]" + rule, [&back = back] {
    back({ones({3}), Tensor()});
  });
  expect_refusal<ShapeError>("vjp: the cotangent of result 0 is f64 [feature 2]" + rule, [&back = back] {
    back({cast(vector(), DType::f64), Tensor()});
  });
  expect_refusal<ShapeError>("vjp: the cotangent of result 0 is f32 [hidden 2]" + rule, [&back = back] {
    back({rename(vector(), {ax().hidden}), Tensor()});
  });
  expect_refusal<DTypeError>(
      "vjp: argument 0, i64 [3], is not a float and has no gradient; cast it, or leave it out of argnums",
      [] { vjp(identity, integers()); });
  EXPECT_EQ(back({ones({2}), tensor<float>(2.0f)}).to_vector<float>(), (std::vector<float>{3, 3})) << "usable still";
}

TEST(TransformMessage, Jvp) {
  const std::string rule =
      "; a tangent has the dtype, names and sizes of its primal, and the empty tensor stands for zero";
  expect_refusal<ShapeError>(
      "jvp: a tangent does not have the shape of its primal; got primal f32 [feature 2], tangent f32 [3]" + rule,
      [] { jvp(identity, vector(), ones({3})); });
  expect_refusal<ShapeError>(
      "jvp: a tangent does not have the shape of its primal; got primal f32 [feature 2], tangent f32 [hidden 2]" + rule,
      [] { jvp(identity, vector(), rename(vector(), {ax().hidden})); });
  expect_refusal<DTypeError>(
      "jvp: a tangent has another dtype than its primal; got primal f32 [feature 2], tangent f64 [feature 2]" + rule,
      [] { jvp(identity, vector(), cast(vector(), DType::f64)); });
  expect_refusal<DTypeError>(
      "jvp: a tangent is given for a primal that is not a float; got primal i64 [3], tangent i64 [3]" + rule,
      [] { jvp(identity, integers(), integers()); });
  expect_refusal<ValueError>(
      "jvp: the primals hold 2 tensors and the tangents 1; the tangents are a tree like the primals", [] {
        jvp([](const std::vector<Tensor>& x) { return x[0]; }, std::vector{vector(), vector()}, std::vector{vector()});
      });
}

// ---------------------------------------------------------------------------------------------------------------------
// vmap

TEST(TransformMessage, VmapSizes) {
  const auto three = [](const Tensor& a, const Tensor&, const Tensor&) { return a; };
  const std::string rule = "; all mapped axes need one extent (an extent of 1 does not stretch)";
  expect_refusal<ShapeError>(
      "vmap: argument 1 has 4 examples along its axis 1, but the batch has 3; got argument 0: f32 [3, 2], argument 1: "
      "f32 [2, 4], argument 2: f32 [3]" +
          rule,
      [&] {
        vmap(three, in_axes(0, 1, 0))(plain(), zeros({2, 4}), zeros({3}));
      });
  expect_refusal<ShapeError>(
      "vmap: argument 0 has 3 examples along its axis 0, argument 1 has 1 examples along its axis 0; got argument 0: "
      "f32 [3, 2], argument 1: f32 [1, 2]" +
          rule,
      [] {
        vmap(sum_of_both)(plain(), zeros({1, 2}));
      });
  expect_refusal<ShapeError>(
      "vmap: argument 0 has 3 examples along its axis 0, but axis_size is 5; got argument 0: f32 [3, 2]" + rule,
      [] { vmap(identity, axis_size(5))(plain()); });
  const std::string map_one = "; map one, or say how many examples there are with axis_size()";
  expect_refusal<ValueError>(
      "vmap: no argument is mapped: none has the axis hidden; got argument 0: f32 [batch 3, feature 2]" + map_one,
      [] { vmap(identity, ax().hidden)(matrix()); });
  expect_refusal<ValueError>("vmap: no argument is mapped; got argument 0: f32 [3, 2]" + map_one,
                             [] { vmap(identity, in_axes(none))(plain()); });
  expect_refusal<ValueError>("vmap: no argument is mapped; got no tensors" + map_one,
                             [] { vmap([] { return scalar(); })(); });
}

TEST(TransformMessage, VmapInAxes) {
  expect_refusal<ValueError>(
      "vmap: in_axes has 3 entries and the function is called with 2 arguments; give one entry for each argument, or "
      "one "
      "for all",
      [] { vmap(sum_of_both, in_axes(0, none, 0))(plain(), plain()); });
  expect_refusal<AxisError>(
      "vmap: in_axes asks for axis -3 of argument 1, which has 2 axes; got argument 0: f32 [3, 2], argument 1: f32 [3, "
      "2]; "
      "in_axes says `none` for what is shared",
      [] { vmap(sum_of_both, in_axes(0, -3))(plain(), plain()); });
  expect_refusal<AxisError>(
      "vmap: axis 0 of every tensor is mapped, and argument 1 has no axes; got argument 0: f32 [3, 2], argument 1: f32 "
      "[]; "
      "say with in_axes() what is mapped and what is shared, or map by name",
      [] { vmap(sum_of_both)(plain(), scalar()); });
  expect_refusal<AxisError>(
      "vmap: in_axes maps axis 1 of argument 0 as hidden, but it is called feature; got argument 0: f32 [batch 3, "
      "feature 2]; "
      "map the axis that has the name, or rename it",
      [] { vmap(identity, ax().hidden, in_axes(1))(matrix()); });
  expect_refusal<ValueError>("vmap: in_axes has `summed`, which is for results; say an axis number or `none`",
                             [] { vmap(identity, in_axes(summed))(plain()); });
}

TEST(TransformMessage, VmapOutAxes) {
  expect_refusal<AxisError>(
      "vmap: out_axes says `none` for result 0, which differs from example to example; got f32 [batch 3, feature 2] "
      "with the "
      "batch in front; say where its batch axis goes, or `summed`",
      [] { vmap(identity, ax().batch, out_axes(none))(matrix()); });
  expect_refusal<AxisError>(
      "vmap: out_axes puts the batch at axis 2 of result 0, which has 2 axes with it; got f32 [3, 2]; axes are "
      "numbered from "
      "-2 to 1",
      [] { vmap(identity, out_axes(2))(plain()); });
  expect_refusal<ValueError>(
      "vmap: out_axes has 2 entries and the result holds 1 tensors; give one entry for each, or one for all",
      [] { vmap(identity, out_axes(0, 1))(plain()); });
  expect_refusal<AxisError>(
      "vmap: result 0 shows the axis batch, which this vmap maps; got f32 [batch 3, feature 2]; pass the tensor as an "
      "argument instead of capturing it, or rename its axis",
      [] { vmap([](const Tensor&) { return matrix(); }, ax().batch)(matrix()); });
}

TEST(TransformMessage, VmapInside) {
  const auto mapped = [](auto f) { return [f] { vmap(f, ax().batch)(matrix()); }; };
  const std::string way_out = "; return it from the mapped function and read it there, or choose with where()";
  expect_refusal<LevelError>(
      "item: the value differs from example to example, since it is mapped by a running vmap over batch; got f32 []" +
          way_out,
      mapped([](const Tensor& x) { return sum(x).item<float>(); }));
  expect_refusal<LevelError>(
      "bool: the value differs from example to example, since it is mapped by a running vmap over batch; got bool []" +
          way_out,
      mapped([](const Tensor& x) { return sum(x) > 0 ? x : -x; }));
  expect_refusal<LevelError>(
      "to_vector: the value differs from example to example, since it is mapped by a running vmap; got f32 [2]" +
          way_out,
      [] { vmap([](const Tensor& x) { return x.to_vector<float>(), x; })(plain()); });
  const std::string pass_it = "; pass the tensor as an argument of the mapped function, or rename its axis";
  expect_refusal<AxisError>(
      "add: an operand shows the axis batch, which a running vmap maps; got f32 [feature 2], f32 [batch 3, feature 2]" +
          pass_it,
      mapped([](const Tensor& x) { return x + matrix(); }));
  expect_refusal<AxisError>(
      "exp: an operand shows the axis batch, which a running vmap maps; got f32 [batch 3, feature 2]" + pass_it,
      mapped([](const Tensor& x) { return x + sum(exp(matrix())); }));
  expect_refusal<AxisError>(
      "sum: the axis batch is mapped by a running vmap; got f32 [feature 2]; inside, a tensor is one example's: use "
      "the axis "
      "on what the mapped function returns",
      mapped([](const Tensor& x) { return sum(x, ax().batch); }));
  expect_refusal<AxisError>(
      "vmap: the axis batch is already mapped by a running vmap; got argument 0: f32 [feature 2]; rename the axis of "
      "the "
      "inner one",
      mapped(vmap(identity, ax().batch)));
  expect_refusal<ShapeError>(
      "grad: the function's result is not a scalar; got f32 [feature 2]; reduce it with sum() or mean(), or map the "
      "function "
      "with vmap, or use vjp",
      mapped(grad(identity)));
}

// ---------------------------------------------------------------------------------------------------------------------
// Tensors that outlive their transform

TEST(TransformMessage, EscapedTensors) {
  std::optional<Tensor> leak;
  const auto keep = [&](const Tensor& x) {
    leak = 2 * x;
    return sum(x);
  };
  const std::string ended = " that has ended, or that runs on another thread; got ";
  const std::string keep_out = "; return the tensor from the transformed function instead of storing it elsewhere";
  grad(keep)(vector());
  expect_refusal<LevelError>(
      "multiply: argument 1 belongs to a grad" + ended + "f32 [feature 2], f32 [feature 2]" + keep_out,
      [&] { vector() * *leak; });
  expect_refusal<LevelError>("item: the tensor belongs to a transform" + ended +
                                 "f32 [feature 2]; return it from the transformed function instead",
                             [&] { leak->item<float>(); });
  jvp(keep, vector(), vector());
  expect_refusal<LevelError>("sum: argument 0 belongs to a jvp" + ended + "f32 [feature 2]" + keep_out,
                             [&] { sum(*leak); });
  vmap(keep, ax().batch)(matrix());
  expect_refusal<LevelError>("exp: argument 0 belongs to a vmap" + ended + "f32 [feature 2]" + keep_out,
                             [&] { exp(*leak); });
}

}  // namespace
