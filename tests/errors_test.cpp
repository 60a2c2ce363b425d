// What operations say when they refuse: the exact text, for the main mistakes with every one of them. Every message
// reads `operation: what disagrees; every operand with dtype, names and sizes; the likely fix`. After each refusal
// everything works as before it.
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/refusals.hpp"

namespace {

using namespace refusals;

const std::string assign_first = "; assign a value to it first (it may have been moved from)";
const std::string cast_one = "; cast one of them: cast(x, DType::f64) or cast(x, DType::f32)";
const std::string name_one = "; name one of its axes, or number it from 0 (or from -1, the last)";

// ---------------------------------------------------------------------------------------------------------------------
// What all operations refuse alike

TEST(Message, F32WithF64) {
  const std::string mixed =
      ": f32 and f64 do not mix; got f32 [batch 3, feature 2], f64 [batch 3, feature 2]" + cast_one;
  const Tensor x = matrix();
  const Tensor y = matrix64();
  expect_refusal<DTypeError>("add" + mixed, [&] { x + y; });
  expect_refusal<DTypeError>("subtract" + mixed, [&] { x - y; });
  expect_refusal<DTypeError>("multiply" + mixed, [&] { x* y; });
  expect_refusal<DTypeError>("divide" + mixed, [&] { x / y; });
  expect_refusal<DTypeError>("maximum" + mixed, [&] { maximum(x, y); });
  expect_refusal<DTypeError>("equal" + mixed, [&] { (void)(x == y); });
  expect_refusal<DTypeError>("not_equal" + mixed, [&] { (void)(x != y); });
  expect_refusal<DTypeError>("less" + mixed, [&] { (void)(x < y); });
  expect_refusal<DTypeError>("less_equal" + mixed, [&] { (void)(x <= y); });
  expect_refusal<DTypeError>("greater" + mixed, [&] { (void)(x > y); });
  expect_refusal<DTypeError>("greater_equal" + mixed, [&] { (void)(x >= y); });
  expect_refusal<DTypeError>("concat" + mixed, [&] { concat({x, y}, 0); });
  expect_refusal<DTypeError>("stack" + mixed, [&] { stack({x, y}); });
  expect_refusal<DTypeError>("matmul" + mixed, [&] { matmul(x, y); });
  expect_refusal<DTypeError>("dot" + mixed, [&] { dot(x, y, ax().feature); });
  expect_refusal<DTypeError>("outer" + mixed, [&] { outer(x, y); });
  expect_refusal<DTypeError>("cross_entropy" + mixed, [&] { cross_entropy(x, y); });
  expect_refusal<DTypeError>(
      "where: f32 and f64 do not mix; got bool [], f32 [batch 3, feature 2], f64 [batch 3, feature 2]" + cast_one,
      [&] { where(tensor<bool>(true), x, y); });
}

TEST(Message, EmptyTensors) {
  const Tensor empty;
  const std::string alone = ": argument 0 is the empty tensor; got empty" + assign_first;
  using One = Tensor (*)(const Tensor&);
  const std::vector<std::pair<std::string, One>> unary{
      {"exp", exp},
      {"log", log},
      {"sqrt", sqrt},
      {"tanh", tanh},
      {"sigmoid", sigmoid},
      {"relu", relu},
      {"negative", negative},
      {"square", square},
      {"stop_gradient", stop_gradient},
      {"transpose", transpose},
      {"squeeze", squeeze},
      {"contiguous", contiguous},
      {"zeros_like", zeros_like},
      {"ones_like", ones_like},
      {"sum", [](const Tensor& x) { return sum(x); }},
      {"mean", [](const Tensor& x) { return mean(x); }},
      {"max", [](const Tensor& x) { return max(x); }},
      {"max_with_indices", [](const Tensor& x) { return max_with_indices(x, 0).values; }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x); }},
      {"softmax", [](const Tensor& x) { return softmax(x, 0); }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, 0); }},
      {"cast", [](const Tensor& x) { return cast(x, DType::f32); }},
      {"reshape", [](const Tensor& x) { return reshape(x, {1}); }},
      {"permute", [](const Tensor& x) { return permute(x, {0}); }},
      {"broadcast_to", [](const Tensor& x) { return broadcast_to(x, {1}); }},
      {"expand_dims", [](const Tensor& x) { return expand_dims(x, 0); }},
      {"slice", [](const Tensor& x) { return slice(x, 0, 0); }},
      {"select", [](const Tensor& x) { return select(x, 0, 0); }},
      {"rename", [](const Tensor& x) { return rename(x, {}); }},
      {"full_like", [](const Tensor& x) { return full_like(x, 1); }},
      {"add", [](const Tensor& x) { return x + 1; }},
      {"subtract", [](const Tensor& x) { return 1 - x; }},
      {"less", [](const Tensor& x) { return x < 1; }}};
  for (const auto& [name, f] : unary) expect_refusal<ValueError>(name + alone, [&f = f, &empty] { f(empty); });

  const std::string second = ": argument 1 is the empty tensor; got f32 [batch 3, feature 2], empty" + assign_first;
  const Tensor x = matrix();
  expect_refusal<ValueError>("add" + second, [&] { x + empty; });
  expect_refusal<ValueError>("divide" + second, [&] { x / empty; });
  expect_refusal<ValueError>("less" + second, [&] { (void)(x < empty); });
  expect_refusal<ValueError>("concat" + second, [&] { concat({x, empty}, 0); });
  expect_refusal<ValueError>("stack" + second, [&] { stack({x, empty}); });
  expect_refusal<ValueError>("matmul" + second, [&] { matmul(x, empty); });
  expect_refusal<ValueError>("dot" + second, [&] { dot(x, empty, ax().feature); });
  expect_refusal<ValueError>("outer" + second, [&] { outer(x, empty); });
  expect_refusal<ValueError>("cross_entropy" + second, [&] { cross_entropy(x, empty); });
  expect_refusal<ValueError>("where: argument 1 is the empty tensor; got bool [], empty" + assign_first,
                             [&] { where(tensor<bool>(true), 1.0, empty); });
  expect_refusal<ValueError>("where: argument 0 is the empty tensor; got empty, f32 [], f32 []" + assign_first,
                             [&] { where(empty, scalar(), scalar()); });
}

TEST(Message, AxesThatAreNotThere) {
  using Along = void (*)(const Tensor&, AxisRef);
  const std::vector<std::pair<std::string, Along>> operations{
      {"sum", [](const Tensor& x, AxisRef axis) { sum(x, axis); }},
      {"mean", [](const Tensor& x, AxisRef axis) { mean(x, axis); }},
      {"max", [](const Tensor& x, AxisRef axis) { max(x, axis); }},
      {"max_with_indices", [](const Tensor& x, AxisRef axis) { max_with_indices(x, axis); }},
      {"logsumexp", [](const Tensor& x, AxisRef axis) { logsumexp(x, axis); }},
      {"softmax", [](const Tensor& x, AxisRef axis) { softmax(x, axis); }},
      {"log_softmax", [](const Tensor& x, AxisRef axis) { log_softmax(x, axis); }},
      {"permute", [](const Tensor& x, AxisRef axis) { permute(x, {axis}); }},
      {"squeeze", [](const Tensor& x, AxisRef axis) { squeeze(x, axis); }},
      {"slice", [](const Tensor& x, AxisRef axis) { slice(x, axis, 0); }},
      {"select", [](const Tensor& x, AxisRef axis) { select(x, axis, 0); }},
      {"concat",
       [](const Tensor& x, AxisRef axis) {
         concat({x, x}, axis);
       }},
      {"cross_entropy", [](const Tensor& x, AxisRef axis) { cross_entropy(x, x, axis); }}};
  for (const auto& [name, f] : operations) {
    expect_refusal<AxisError>(name + ": there is no axis hidden; got f32 [batch 3, feature 2]" + name_one,
                              [&f = f] { f(matrix(), ax().hidden); });
    expect_refusal<AxisError>(
        name + ": axis 2 is not one of the 2 axes; got f32 [batch 3, feature 2]; axes are numbered from -2 to 1",
        [&f = f] { f(matrix(), 2); });
    expect_refusal<AxisError>(
        name + ": axis -3 is not one of the 2 axes; got f32 [batch 3, feature 2]; axes are numbered from -2 to 1",
        [&f = f] { f(matrix(), -3); });
    expect_refusal<AxisError>(name + ": axis 0 is not one of the 0 axes; got f32 []; a tensor of rank 0 has no axis",
                              [&f = f] { f(scalar(), 0); });
  }
  expect_refusal<AxisError>("sum: axis 0 is given twice; got f32 [batch 3, feature 2]; give every axis once", [] {
    sum(matrix(), {0, ax().batch});
  });
  expect_refusal<AxisError>("Shape: there is no axis hidden in [batch 3, feature 2]",
                            [] { matrix().extent(ax().hidden); });
  expect_refusal<AxisError>("Shape: axis 4 is not one of the 2 axes of [batch 3, feature 2]",
                            [] { matrix().extent(4); });
}

TEST(Message, OperandsThatDoNotAlign) {
  expect_refusal<ShapeError>(
      "add: the axis feature has 2 elements in one operand and 4 in another; got f32 [batch 3, feature 2], "
      "f32 [feature 4, batch 3]; equal names need equal extents (an extent of 1 does not stretch by name: squeeze it)",
      [] {
        matrix() + zeros({ax().feature(4), ax().batch(3)});
      });
  expect_refusal<AxisError>(
      "multiply: neither operand has all the axes of the other; got f32 [batch 3, feature 2], f32 [hidden 3]; outer() "
      "or "
      "broadcast_to() say it when every pair is meant",
      [] { matrix() * zeros({ax().hidden(3)}); });
  expect_refusal<ShapeError>(
      "maximum: extents 3 and 4 meet in one place; got f32 [3, 2], f32 [4, 2]; operands align from the right, and only "
      "an "
      "extent of 1 stretches",
      [] {
        maximum(plain(), zeros({4, 2}));
      });
  expect_refusal<AxisError>(
      "less: the axes batch and hidden meet in one place; got f32 [batch 3, feature 2], f32 [hidden 3, 2]; operands "
      "with an "
      "unnamed axis align from the right: name all axes to align by name, or permute one operand",
      [] {
        (void)(matrix() < zeros({ax().hidden(3), 2}));
      });
  expect_refusal<AxisError>(
      "subtract: the result would have the axis batch twice; got f32 [batch 3, 3], f32 [2, 1, batch 3]; rename one of "
      "them",
      [] {
        zeros({ax().batch(3), 3}) - zeros({2, 1, ax().batch(3)});
      });
  expect_refusal<DTypeError>(
      "where: the condition is not a bool tensor; got f32 [3, 2], f32 [], f32 []; compare it: where(x != 0, ...)",
      [] { where(plain(), scalar(), scalar()); });
}

// ---------------------------------------------------------------------------------------------------------------------
// What one operation refuses

TEST(Message, Reductions) {
  expect_refusal<ValueError>(
      "max: the largest of no elements; got f32 [batch 0, 2]; an axis of extent 0 has no maximum", [] {
        max(zeros({ax().batch(0), 2}), ax().batch);
      });
  expect_refusal<ValueError>(
      "max_with_indices: the largest of no elements; got f32 [2, 0]; an axis of extent 0 has no maximum", [] {
        max_with_indices(zeros({2, 0}), -1);
      });
}

TEST(Message, Structure) {
  const std::string x = "; got f32 [batch 3, feature 2]";
  expect_refusal<ShapeError>("reshape: 6 elements do not fill [4]" + x + "; the new shape needs as many elements",
                             [] { reshape(matrix(), {4}); });
  expect_refusal<AxisError>(
      "reshape: the result would have the axis hidden twice" + x + "; no tensor has one name twice", [] {
        reshape(matrix(), {ax().hidden(3), ax().hidden(2)});
      });
  expect_refusal<AxisError>("permute: 1 axes are given" + x + "; give every axis once", [] { permute(matrix(), {0}); });
  expect_refusal<AxisError>("permute: axis 1 is given twice" + x + "; give every axis once", [] {
    permute(matrix(), {ax().feature, -1});
  });
  const std::string rule =
      "; axes align by name when all have one, else from the right, where an extent of 1 stretches";
  expect_refusal<AxisError>(
      "broadcast_to: the shape lacks the axis feature" + x + " for the shape [batch 3, hidden 2]" + rule, [] {
        broadcast_to(matrix(), {ax().batch(3), ax().hidden(2)});
      });
  expect_refusal<ShapeError>(
      "broadcast_to: the axis feature has another extent" + x + " for the shape [batch 3, feature 5]" + rule, [] {
        broadcast_to(matrix(), {ax().batch(3), ax().feature(5)});
      });
  expect_refusal<ShapeError>(
      "broadcast_to: axis 0 has 3 elements, not 1 or 4; got f32 [3, 2] for the shape [4, 2]" + rule, [] {
        broadcast_to(plain(), {4, 2});
      });
  expect_refusal<ShapeError>(
      "broadcast_to: the tensor has more axes than the shape; got f32 [3, 2] for the shape [2]" + rule,
      [] { broadcast_to(plain(), {2}); });
  expect_refusal<AxisError>(
      "broadcast_to: axis 1 is called feature, not batch" + x + " for the shape [3, batch 2]" + rule, [] {
        broadcast_to(matrix(), {3, ax().batch(2)});
      });
  expect_refusal<AxisError>("expand_dims: there is no place 3 for a new axis" + x + "; places go from -3 to 2",
                            [] { expand_dims(matrix(), 3); });
  expect_refusal<ShapeError>("squeeze: axis 0 has 3 elements" + x +
                                 "; only an axis of extent 1 can go; select() or a reduction takes others away",
                             [] { squeeze(matrix(), ax().batch); });
  expect_refusal<ValueError>("slice: the step is 0" + x + "; step forwards or backwards",
                             [] { slice(matrix(), 0, 0, 1, 0); });
  expect_refusal<ValueError>(
      "select: position 3 is outside axis 0 with its 3 elements" + x + "; positions go from 0, or back from -1",
      [] { select(matrix(), ax().batch, 3); });
  expect_refusal<AxisError>("rename: 1 names for 2 axes" + x + "; give one name an axis, Axis::none for none",
                            [] { rename(matrix(), {ax().hidden}); });
}

TEST(Message, ConcatAndStack) {
  expect_refusal<ShapeError>(
      "concat: the tensors differ in more than axis 0; got f32 [batch 3, feature 2], f32 [batch 3, feature 3]; all "
      "other "
      "extents must be equal",
      [] {
        concat({matrix(), zeros({ax().batch(3), ax().feature(3)})}, 0);
      });
  expect_refusal<AxisError>(
      "concat: the axes feature and hidden meet in one place; got f32 [batch 3, feature 2], f32 [batch 3, hidden 2]; "
      "permute "
      "the tensors to one order",
      [] {
        concat({matrix(), zeros({ax().batch(3), ax().hidden(2)})}, 0);
      });
  expect_refusal<AxisError>(
      "concat: the result would have the axis batch twice; got f32 [batch 3, 2], f32 [3, batch 2]; rename one of them",
      [] {
        concat({zeros({ax().batch(3), 2}), zeros({3, ax().batch(2)})}, 0);
      });
  expect_refusal<ValueError>("concat: no tensors; give at least one", [] { concat(std::span<const Tensor>{}, 0); });
  expect_refusal<ValueError>("stack: no tensors; give at least one", [] { stack(std::span<const Tensor>{}); });
  expect_refusal<ShapeError>(
      "stack: the tensors have different shapes; got f32 [3, 2], f32 [2]; concat() joins along an axis that they have",
      [] {
        stack({plain(), zeros({2})});
      });
  expect_refusal<AxisError>(
      "stack: there is no place 3 for a new axis; got f32 [3, 2], f32 [3, 2]; places go from -3 to 2", [] {
        stack({plain(), plain()}, 3);
      });
  expect_refusal<AxisError>(
      "stack: the tensors have the axis batch already; got f32 [batch 3, feature 2], f32 [batch 3, feature 2]; give "
      "the new "
      "axis another name, or join along it with concat()",
      [] {
        stack({matrix(), matrix()}, 0, ax().batch);
      });
}

TEST(Message, Products) {
  const std::string pairing =
      "; the last axis of the first operand meets the last but one (or the only one) of the second: transpose an "
      "operand, "
      "or pair axes by name with dot()";
  expect_refusal<ShapeError>(
      "matmul: the contracted axes have 2 and 3 elements; got f32 [batch 3, feature 2], f32 [feature 3, hidden 4]" +
          pairing,
      [] {
        matmul(matrix(), zeros({ax().feature(3), ax().hidden(4)}));
      });
  expect_refusal<AxisError>(
      "matmul: the axes feature and hidden would be contracted with each other; got f32 [batch 3, feature 2], "
      "f32 [hidden 2, class 4]" +
          pairing,
      [] {
        matmul(matrix(), zeros({ax().hidden(2), ax().klass(4)}));
      });
  expect_refusal<ShapeError>(
      "matmul: an operand has no axis to contract; got f32 [3, 2], f32 []; multiply by a scalar with *",
      [] { matmul(plain(), scalar()); });
  expect_refusal<AxisError>(
      "matmul: the result would have the axis batch twice; got f32 [batch 3, feature 2], f32 [feature 2, batch 4]; "
      "rename it "
      "in one operand, or use dot() to pair axes by name",
      [] {
        matmul(matrix(), zeros({ax().feature(2), ax().batch(4)}));
      });
  expect_refusal<ShapeError>(
      "matmul: batch extents 5 and 4 meet in one place; got f32 [5, 3, 2], f32 [4, 2, 3]; only an extent of 1 "
      "stretches",
      [] {
        matmul(zeros({5, 3, 2}), zeros({4, 2, 3}));
      });
  expect_refusal<AxisError>(
      "matmul: the batch axes batch and class meet in one place; got f32 [batch 5, 3, 2], f32 [class 5, 2, 3]; permute "
      "one "
      "operand, or use dot() to pair axes by name",
      [] {
        matmul(zeros({ax().batch(5), 3, 2}), zeros({ax().klass(5), 2, 3}));
      });
  expect_refusal<AxisError>(
      "dot: the axis hidden is not in both operands; got f32 [batch 3, feature 2], f32 [batch 3, feature 2]; sum or "
      "rename "
      "the axis of one operand",
      [] { dot(matrix(), matrix(), ax().hidden); });
  expect_refusal<ShapeError>(
      "dot: the axis feature has 2 and 3 elements; got f32 [batch 3, feature 2], f32 [feature 3]; equal names need "
      "equal "
      "extents",
      [] { dot(matrix(), zeros({ax().feature(3)}), ax().feature); });
  expect_refusal<AxisError>("dot: Axis::none names no axis; got f32 [3, 2], f32 [3, 2]; use matmul to pair by position",
                            [] { dot(plain(), plain(), Axis::none); });
  expect_refusal<AxisError>(
      "outer: the result would have the axis feature twice; got f32 [feature 2], f32 [feature 2]; rename it in one "
      "operand, "
      "or use dot() to pair axes by name",
      [] { outer(vector(), vector()); });
}

TEST(Message, CrossEntropy) {
  const std::string one_each = "; give one index for every row of logits";
  expect_refusal<ValueError>(
      "cross_entropy: the class index 2 of row 1 is not in [0, 2); got f32 [3, 2], i64 [3]; number the classes from 0",
      [] {
        cross_entropy(plain(), tensor<std::int64_t>({0, 2, 1}));
      });
  expect_refusal<ValueError>(
      "cross_entropy: the class index -1 of row 0 is not in [0, 2); got f32 [batch 3, feature 2], i32 [batch 3]; "
      "number the classes from "
      "0",
      [] {
        cross_entropy(matrix(), tensor<std::int32_t>({-1, 0, 1}, {ax().batch}));
      });
  expect_refusal<DTypeError>(
      "cross_entropy: class indices are integers, not bools; got f32 [3, 2], bool [3]; cast them to i64",
      [] { cross_entropy(plain(), zeros({3}, DType::boolean)); });
  expect_refusal<ShapeError>(
      "cross_entropy: there are 2 class indices for 3 rows of logits; got f32 [batch 3, feature 2], i64 [batch 2]" +
          one_each,
      [] {
        cross_entropy(matrix(), tensor<std::int64_t>({0, 1}, {ax().batch}));
      });
  expect_refusal<AxisError>(
      "cross_entropy: the class indices have the axis hidden, which the rows of logits lack; got f32 [batch 3, feature "
      "2], "
      "i64 [hidden 3]" +
          one_each,
      [] { cross_entropy(matrix(), rename(integers(), {ax().hidden})); });
  expect_refusal<ShapeError>(
      "cross_entropy: the labels have other extents than the logits; got f32 [3, 2], f32 [3, 1]; give one row of "
      "labels "
      "for every row of logits",
      [] {
        cross_entropy(plain(), zeros({3, 1}));
      });
  expect_refusal<ShapeError>(
      "cross_entropy: labels are rows like the logits, or class indices of one rank less; got f32 [batch 3, feature "
      "2], "
      "f32 [batch 3]; the class axis is axis 1 of the logits",
      [] { cross_entropy(matrix(), zeros({ax().batch(3)})); });
}

TEST(Message, Making) {
  expect_refusal<ShapeError>("tensor: 2 elements do not fill the shape [3]; it has 3", [] {
    from_data(std::vector<float>{1, 2}, {3});
  });
  expect_refusal<ShapeError>("tensor: 2 axis names for data with 1 dimensions; give one name a dimension, or none", [] {
    tensor<float>({1, 2}, {ax().batch, ax().feature});
  });
  expect_refusal<AxisError>("zeros: the axis batch appears twice in [batch 2, batch 3]; no tensor has one name twice",
                            [] {
                              zeros({ax().batch(2), ax().batch(3)});
                            });
  expect_refusal<DTypeError>("full: a floating-point number for a tensor of i64; give an integer, or another dtype",
                             [] { full({2}, 1.5, DType::i64); });
  expect_refusal<ValueError>("full: i32 does not hold 2147483648; give another dtype",
                             [] { full({2}, std::int64_t{1} << 31, DType::i32); });
  expect_refusal<DTypeError>("arange: a range of bools; use another dtype", [] { arange(3, DType::boolean); });
  expect_refusal<SizeError>("Dim: the extent -3 of axis batch is not in [0, 8796093022207]", [] { ax().batch(-3); });
  expect_refusal<SizeError>("Dim: the extent 8796093022208 is not in [0, 8796093022207]",
                            [] { zeros({Dim::max_extent + 1}); });
  expect_refusal<SizeError>(
      "Shape: more than 16 dimensions, the batch axes of running vmaps included; merge some of them with reshape",
      [] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}; });
  expect_refusal<SizeError>("Shape: [1099511627776, 1099511627776] has more than 2^63 - 1 elements", [] {
    zeros({std::int64_t{1} << 40, std::int64_t{1} << 40});
  });
  expect_refusal<AxisError>(
      "Axis: ' ' cannot be part of a name; got \"a b\"; use letters, digits, '_', '-', '.' and ':'",
      [] { Axis("a b"); });
  expect_refusal<AxisError>("Axis: the name is empty; an unnamed dimension is Axis::none", [] { Axis(""); });
}

TEST(Message, Reading) {
  expect_refusal<ShapeError>(
      "item: the tensor does not have exactly one element; got f32 [batch 3, feature 2]; reduce it first, or read "
      "to_vector()",
      [] { matrix().item<float>(); });
  expect_refusal<DTypeError>("item: f32 does not hold every f64; got f64 []; read it as its own type, or cast it first",
                             [] { tensor<double>(1.0).item<float>(); });
  expect_refusal<DTypeError>(
      "to_vector: i32 does not hold every f32; got f32 [3, 2]; read it as its own type, or cast it first",
      [] { plain().to_vector<std::int32_t>(); });
  const Tensor x = plain();
  const Tensor turned = transpose(x);
  expect_refusal<DTypeError>("span: asked for f64; got f32 [3, 2]; ask for its own type, or read to_vector()",
                             [&] { (void)x.span<double>(); });
  expect_refusal<ShapeError>(
      "span: the elements are not contiguous (the tensor is a transposed, sliced or repeated view); got f32 [2, 3]; "
      "call "
      "contiguous() first",
      [&] { (void)turned.span<float>(); });
  expect_refusal<ShapeError>(
      "bool: only a tensor of rank 0 is true or false; got bool [3, 2]; compare whole tensors with array_equal(), or "
      "reduce "
      "first",
      [&] { (void)static_cast<bool>(x == x); });
  const Tensor empty;
  expect_refusal<ValueError>("item: the tensor is empty" + assign_first, [&] { empty.item<float>(); });
  expect_refusal<ValueError>("shape: the tensor is empty" + assign_first, [&] { empty.shape(); });
}

}  // namespace
