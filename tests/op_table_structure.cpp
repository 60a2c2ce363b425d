// Rows of the operations that rearrange.
#include <algorithm>

#include "tests/op_table.hpp"

namespace op_table {
namespace {

using Call = std::function<Tensor(const Tensor&)>;
using ReferenceOfOne = std::function<ref::Array(const ref::Array&)>;

Function of_one(const Call& call) {
  return [=](const Tensors& x) { return Tensors{call(x[0])}; };
}
Reference of_one(const ReferenceOfOne& reference) {
  return [=](const ref::Arrays& x) { return ref::Arrays{reference(x[0])}; };
}

ref::Index extents_of(const Shape& shape) {
  ref::Index extents;
  for (const Dim dim : shape) extents.push_back(dim.extent());
  return extents;
}

/// A row of an operation that keeps the elements in their order.
struct Reshaping {
  Row row;

  void add(const std::string& label, const Shape& from, const Shape& to, const Call& call) {
    row.cases.push_back({label,
                         {real(from)},
                         of_one(call),
                         of_one([=](const ref::Array& x) { return ref::reshape(x, extents_of(to)); }),
                         {to}});
  }
  void refuse(const std::string& label, const Tensor& x, const Call& call, Fault fault) {
    row.errors.push_back({label, {x}, of_one(call), fault});
  }
};

Row reshape_row() {
  const auto [b, f, h] = axes();
  Reshaping reshaping{{.name = "reshape", .types = Types::any}};
  const auto to = [](const Shape& shape) { return [=](const Tensor& x) { return reshape(x, shape); }; };
  const auto add_case = [&](const std::string& label, const Shape& from, const Shape& shape) {
    reshaping.add(label, from, shape, to(shape));
  };
  add_case("flatten", {2, 3}, {6});
  add_case("fold", {6}, {3, 2});
  add_case("regroup", {2, 3, 2}, {4, 3});
  add_case("to_rank_0", {1, 1}, {});
  add_case("from_rank_0", {}, {1, 1, 1});
  add_case("empty", {0, 3}, {5, 0, 2});
  add_case("rank_6", {4, 2}, {1, 2, 1, 2, 1, 2});
  add_case("names", {b(2), f(3)}, {h(6)});
  add_case("same", {2, 3}, {2, 3});
  reshaping.refuse("elements", some({2, 3}), to({5}), Fault::shape);
  reshaping.refuse("to_empty", some({2, 3}), to({0}), Fault::shape);
  reshaping.refuse("name_twice", some({4}), to({b(2), b(2)}), Fault::axis);
  reshaping.refuse("empty_tensor", Tensor(), to({1}), Fault::value);
  return reshaping.row;
}

Row squeeze_row() {
  const auto [b, f, h] = axes();
  Reshaping squeezing{{.name = "squeeze", .types = Types::any}};
  const auto of = [](AxisRef axis) { return [=](const Tensor& x) { return squeeze(x, axis); }; };
  const Call all = [](const Tensor& x) { return squeeze(x); };
  squeezing.add("first", {1, 3}, {3}, of(0));
  squeezing.add("last", {3, 1, 1}, {3, 1}, of(-1));
  squeezing.add("named", {b(1), f(3)}, {f(3)}, of(b));
  squeezing.add("all", {1, b(2), 1, 3, f(1)}, {b(2), 3}, all);
  squeezing.add("all_of_rank_0", {}, {}, all);
  squeezing.add("all_of_empty", {0, 1}, {0}, all);
  squeezing.refuse("extent", some({2, 3}), of(0), Fault::shape);
  squeezing.refuse("extent_0", some({0}), of(0), Fault::shape);
  squeezing.refuse("no_such_number", some({1}), of(1), Fault::axis);
  squeezing.refuse("no_such_name", some({b(1)}), of(f), Fault::axis);
  squeezing.refuse("empty_tensor", Tensor(), of(0), Fault::value);
  squeezing.refuse("empty_tensor_all", Tensor(), all, Fault::value);
  return squeezing.row;
}

Row expand_dims_row() {
  const auto [b, f, h] = axes();
  Reshaping expanding{{.name = "expand_dims", .types = Types::any}};
  const auto at = [](int place, Axis name = Axis::none) {
    return [=](const Tensor& x) { return expand_dims(x, place, name); };
  };
  expanding.add("front", {2, 3}, {1, 2, 3}, at(0));
  expanding.add("middle", {2, 3}, {2, 1, 3}, at(1));
  expanding.add("back", {2, 3}, {2, 3, 1}, at(2));
  expanding.add("last", {2, 3}, {2, 3, 1}, at(-1));
  expanding.add("first_by_negative", {2, 3}, {1, 2, 3}, at(-3));
  expanding.add("named", {b(2)}, {b(2), f(1)}, at(1, f));
  expanding.add("rank_0", {}, {1}, at(0));
  expanding.add("empty", {0}, {0, 1}, at(1));
  expanding.refuse("no_such_place", some({2}), at(2), Fault::axis);
  expanding.refuse("no_such_negative", some({2}), at(-3), Fault::axis);
  expanding.refuse("name_twice", some({b(2)}), at(0, b), Fault::axis);
  expanding.refuse("empty_tensor", Tensor(), at(0), Fault::value);
  return expanding.row;
}

Row rename_row() {
  const auto [b, f, h] = axes();
  Reshaping renaming{{.name = "rename", .types = Types::any}};
  renaming.add("all", {b(2), f(3)}, {f(2), h(3)}, [=](const Tensor& x) { return rename(x, {f, h}); });
  renaming.add("drop", {b(2), f(3)}, {2, f(3)}, [=](const Tensor& x) { return rename(x, {Axis::none, f}); });
  renaming.add("unnamed", {2, 3}, {b(2), f(3)}, [=](const Tensor& x) { return rename(x, {b, f}); });
  renaming.add("rank_0", {}, {}, [](const Tensor& x) { return rename(x, {}); });
  renaming.add("empty", {0}, {b(0)}, [=](const Tensor& x) { return rename(x, {b}); });
  renaming.refuse(
      "count", some({2, 3}), [=](const Tensor& x) { return rename(x, {b}); }, Fault::axis);
  renaming.refuse(
      "name_twice", some({2, 3}),
      [=](const Tensor& x) {
        return rename(x, {b, b});
      },
      Fault::axis);
  renaming.refuse(
      "empty_tensor", Tensor(), [=](const Tensor& x) { return rename(x, {b}); }, Fault::value);
  return renaming.row;
}

Row contiguous_row() {
  const auto [b, f, h] = axes();
  Reshaping copying{{.name = "contiguous", .types = Types::any}};
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0}, Shape{b(2), f(3), h(2)}})
    copying.add("rank_" + std::to_string(shape.rank()), shape, shape, &contiguous);
  copying.refuse("empty_tensor", Tensor(), &contiguous, Fault::value);
  return copying.row;
}

Row permute_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "permute", .types = Types::any};
  const auto order_of = [](const std::vector<AxisRef>& order) {
    return of_one([=](const Tensor& x) { return permute(x, order); });
  };
  const auto add_case = [&](const std::string& label, const Shape& shape, const std::vector<AxisRef>& order,
                            const std::vector<std::size_t>& positions) {
    Shape result;
    for (const std::size_t axis : positions) result.push_back(shape[static_cast<int>(axis)]);
    row.cases.push_back({label,
                         {real(shape)},
                         order_of(order),
                         of_one([=](const ref::Array& x) { return ref::permute(x, positions); }),
                         {result}});
  };
  add_case("swap", {2, 3}, {1, 0}, {1, 0});
  add_case("rotate", {2, 3, 4}, {2, 0, 1}, {2, 0, 1});
  add_case("rotate_negative", {2, 3, 4}, {1, -1, 0}, {1, 2, 0});
  add_case("named", {b(2), f(3), h(2)}, {h, b, f}, {2, 0, 1});
  add_case("identity", {2, 3}, {0, 1}, {0, 1});
  add_case("rank_0", {}, {}, {});
  add_case("rank_1", {3}, {0}, {0});
  add_case("empty", {0, 3}, {1, 0}, {1, 0});
  add_case("rank_6", {1, 2, 1, 3, 1, 2}, {5, 3, 1, 0, 2, 4}, {5, 3, 1, 0, 2, 4});
  row.errors = {{"axis_twice", {some({2, 3})}, order_of({0, -2}), Fault::axis},
                {"too_few", {some({2, 3})}, order_of({0}), Fault::axis},
                {"no_such_number", {some({2, 3})}, order_of({0, 2}), Fault::axis},
                {"no_such_name", {some({b(2), f(3)})}, order_of({b, h}), Fault::axis},
                {"empty_tensor", {Tensor()}, order_of({0}), Fault::value}};
  return row;
}

Row transpose_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "transpose", .types = Types::any};
  const Function call = of_one(Call(&transpose));
  for (const Shape& shape :
       {Shape{b(2), f(3)}, Shape{}, Shape{3}, Shape{0, 2}, Shape{2, 3, 2}, Shape{1, 2, 1, 2, 1, 3}}) {
    Shape result;
    for (int i = shape.rank() - 1; i >= 0; --i) result.push_back(shape[i]);
    row.cases.push_back({"rank_" + std::to_string(shape.rank()) + (shape.size() == 0 ? "_empty" : ""),
                         {real(shape)},
                         call,
                         of_one([](const ref::Array& x) {
                           std::vector<std::size_t> order;
                           for (std::size_t i = x.extents.size(); i-- > 0;) order.push_back(i);
                           return ref::permute(x, order);
                         }),
                         {result}});
  }
  row.errors = {{"empty_tensor", {Tensor()}, call, Fault::value}};
  return row;
}

Row broadcast_to_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "broadcast_to", .types = Types::any};
  const auto to = [](const Shape& shape) { return of_one([=](const Tensor& x) { return broadcast_to(x, shape); }); };
  const auto add_case = [&](const std::string& label, const Shape& from, const Shape& shape,
                            const ReferenceOfOne& ordered) {
    row.cases.push_back({label,
                         {real(from)},
                         to(shape),
                         of_one([=](const ref::Array& x) { return ref::broadcast_to(ordered(x), extents_of(shape)); }),
                         {shape}});
  };
  const ReferenceOfOne as_is = [](const ref::Array& x) { return x; };
  add_case("front", {3}, {2, 3}, as_is);
  add_case("stretch", {2, 1}, {2, 3}, as_is);
  add_case("both", {1, 3, 1}, {2, 2, 3, 2}, as_is);
  add_case("rank_0", {}, {2, 3}, as_is);
  add_case("same", {2, 3}, {2, 3}, as_is);
  add_case("to_empty", {2, 1}, {2, 0}, as_is);
  add_case("from_empty", {0}, {2, 0}, as_is);
  add_case("names_given", {2, 1}, {b(2), f(3)}, as_is);
  add_case("rank_6", {2, 1, 2}, {2, 1, 2, 2, 3, 2}, as_is);
  add_case("by_name_back", {b(2)}, {b(2), f(3)}, [](const ref::Array& x) { return ref::reshape(x, {2, 1}); });
  add_case("by_name_between", {b(2), f(3)}, {f(3), h(2), b(2)}, [](const ref::Array& x) {
    return ref::reshape(ref::permute(x, {1, 0}), {3, 1, 2});
  });
  row.errors = {{"extent", {some({2})}, to({3}), Fault::shape},
                {"fewer_axes", {some({2, 3})}, to({3}), Fault::shape},
                {"other_name", {some({b(2), 3})}, to({f(2), 3}), Fault::axis},
                {"lacks_axis", {some({b(2)})}, to({f(2), h(2)}), Fault::axis},
                {"named_extent", {some({b(1)})}, to({b(2)}), Fault::shape},
                {"name_twice", {some({2})}, to({b(2), b(2)}), Fault::axis},
                {"empty_tensor", {Tensor()}, to({2}), Fault::value}};
  return row;
}

Row concat_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "concat", .types = Types::any, .promotes = true};
  const auto along = [](AxisRef axis) { return [=](const Tensors& x) { return Tensors{concat(x, axis)}; }; };
  const auto add_case = [&](const std::string& label, const std::vector<Shape>& shapes, AxisRef axis,
                            std::size_t position, const Shape& result) {
    std::vector<Input> inputs;
    for (const Shape& shape : shapes) inputs.push_back(real(shape));
    row.cases.push_back({label,
                         inputs,
                         along(axis),
                         [=](const ref::Arrays& x) { return ref::Arrays{ref::concat(x, position)}; },
                         {result}});
  };
  add_case("two", {{2, 3}, {1, 3}}, 0, 0, {3, 3});
  add_case("three_last", {{2, 1}, {2, 3}, {2, 2}}, -1, 1, {2, 6});
  add_case("middle", {{2, 1, 2}, {2, 2, 2}}, 1, 1, {2, 3, 2});
  add_case("one", {{3}}, 0, 0, {3});
  add_case("with_empty", {{0, 2}, {2, 2}, {0, 2}}, 0, 0, {2, 2});
  add_case("empty_others", {{2, 0}, {1, 0}}, 0, 0, {3, 0});
  add_case("named", {{b(2), f(3)}, {b(2), f(1)}}, f, 1, {b(2), f(4)});
  row.cases.push_back({"list",
                       {real({2}), real({2})},
                       [](const Tensors& x) {
                         return Tensors{concat({x[0], x[1], x[0]}, 0)};
                       },
                       [](const ref::Arrays& x) {
                         return ref::Arrays{ref::concat({x[0], x[1], x[0]}, 0)};
                       },
                       {{6}}});
  row.errors = {{"none", {}, along(0), Fault::value},
                {"extents", {some({2, 3}), some({2, 2})}, along(0), Fault::shape},
                {"ranks", {some({2, 3}), some({2})}, along(0), Fault::shape},
                {"names", {some({b(2), f(3)}), some({h(2), f(3)})}, along(1), Fault::axis},
                {"rank_0", {some({}), some({})}, along(0), Fault::axis},
                {"no_such_name", {some({b(2)}), some({b(2)})}, along(h), Fault::axis},
                {"floats_mix", {some({2}), some({2}, DType::f64)}, along(0), Fault::dtype},
                {"empty_tensor", {some({2}), Tensor()}, along(0), Fault::value}};
  return row;
}

Row stack_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "stack", .types = Types::any, .promotes = true};
  const auto at = [](int place, Axis name = Axis::none) {
    return [=](const Tensors& x) { return Tensors{stack(x, place, name)}; };
  };
  const auto add_case = [&](const std::string& label, const Shape& shape, std::size_t count, const Function& call,
                            std::size_t position, const Shape& result) {
    row.cases.push_back({label,
                         std::vector<Input>(count, real(shape)),
                         call,
                         [=](const ref::Arrays& x) {
                           ref::Arrays expanded;
                           for (const ref::Array& one : x) {
                             ref::Index extents = one.extents;
                             extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(position), 1);
                             expanded.push_back(ref::reshape(one, extents));
                           }
                           return ref::Arrays{ref::concat(expanded, position)};
                         },
                         {result}});
  };
  add_case("front", {3}, 2, at(0), 0, {2, 3});
  add_case("back", {3}, 2, at(-1), 1, {3, 2});
  add_case("middle", {2, 2}, 3, at(1), 1, {2, 3, 2});
  add_case("rank_0", {}, 3, at(0), 0, {3});
  add_case("one", {2}, 1, at(0), 0, {1, 2});
  add_case("empty", {0}, 2, at(1), 1, {0, 2});
  add_case("named", {b(2)}, 3, at(0, f), 0, {f(3), b(2)});
  add_case("list", {2}, 2, [](const Tensors& x) { return Tensors{stack({x[0], x[1]})}; }, 0, {2, 2});
  row.errors = {{"none", {}, at(0), Fault::value},
                {"shapes", {some({2}), some({3})}, at(0), Fault::shape},
                {"no_such_place", {some({2}), some({2})}, at(2), Fault::axis},
                {"name_twice", {some({b(2)}), some({b(2)})}, at(0, b), Fault::axis},
                {"floats_mix", {some({2}), some({2}, DType::f64)}, at(0), Fault::dtype},
                {"empty_tensor", {some({2}), Tensor()}, at(0), Fault::value}};
  return row;
}

Row slice_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "slice", .types = Types::any};
  const auto part = [](AxisRef axis, std::int64_t start, std::int64_t stop, std::int64_t step) {
    return of_one([=](const Tensor& x) { return slice(x, axis, start, stop, step); });
  };
  struct Expected {
    std::size_t axis;
    std::int64_t start, step, extent;
  };
  const auto add_case = [&](const std::string& label, const Shape& shape, const Function& call,
                            const Expected& part_of) {
    Shape result = shape;
    Dim& dim = result[static_cast<int>(part_of.axis)];
    dim = Dim(dim.axis(), part_of.extent);
    row.cases.push_back({label,
                         {real(shape)},
                         call,
                         of_one([=](const ref::Array& x) {
                           return ref::slice(x, part_of.axis, part_of.start, part_of.step, part_of.extent);
                         }),
                         {result}});
  };
  add_case("middle", {6}, part(0, 1, 4, 1), {0, 1, 1, 3});
  add_case("to_end", {6}, of_one([](const Tensor& x) { return slice(x, 0, 2); }), {0, 2, 1, 4});
  add_case("step_2", {2, 5}, part(1, 0, slice_end, 2), {1, 0, 2, 3});
  add_case("step_2_uneven", {2, 5}, part(-1, 1, 4, 2), {1, 1, 2, 2});
  add_case("negative_positions", {6, 2}, part(0, -4, -1, 1), {0, 2, 1, 3});
  add_case("backwards", {5}, part(0, -1, slice_end, -1), {0, 4, -1, 5});
  add_case("backwards_by_2", {5, 2}, part(0, 4, 0, -2), {0, 4, -2, 2});
  add_case("backwards_clipped", {3}, part(0, 9, -9, -1), {0, 2, -1, 3});
  add_case("clipped", {3, 2}, part(0, -9, 9, 1), {0, 0, 1, 3});
  add_case("nothing", {3, 2}, part(0, 2, 1, 1), {0, 0, 1, 0});
  add_case("nothing_backwards", {3, 2}, part(0, 0, 2, -1), {0, 0, -1, 0});
  add_case("of_empty", {0, 2}, part(0, 0, slice_end, 1), {0, 0, 1, 0});
  add_case("of_empty_backwards", {0, 2}, part(0, -1, slice_end, -1), {0, 0, -1, 0});
  add_case("named", {b(2), f(4)}, part(f, 1, 3, 1), {1, 1, 1, 2});
  add_case("rank_6", {1, 2, 1, 4, 1, 2}, part(3, 3, slice_end, -2), {3, 3, -2, 2});
  row.errors = {{"step_0", {some({3})}, part(0, 0, 2, 0), Fault::value},
                {"no_such_number", {some({3})}, part(1, 0, 2, 1), Fault::axis},
                {"no_such_name", {some({b(3)})}, part(f, 0, 2, 1), Fault::axis},
                {"empty_tensor", {Tensor()}, part(0, 0, 2, 1), Fault::value}};
  return row;
}

Row select_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "select", .types = Types::any};
  const auto at = [](AxisRef axis, std::int64_t position) {
    return of_one([=](const Tensor& x) { return select(x, axis, position); });
  };
  const auto add_case = [&](const std::string& label, const Shape& shape, const Function& call, std::size_t axis,
                            std::int64_t position) {
    Shape result;
    for (int i = 0; i < shape.rank(); ++i)
      if (i != static_cast<int>(axis)) result.push_back(shape[i]);
    row.cases.push_back({label,
                         {real(shape)},
                         call,
                         of_one([=](const ref::Array& x) {
                           return ref::reshape(ref::slice(x, axis, position, 1, 1), extents_of(result));
                         }),
                         {result}});
  };
  add_case("first", {3, 2}, at(0, 0), 0, 0);
  add_case("last", {3, 2}, at(0, -1), 0, 2);
  add_case("column", {3, 2}, at(-1, 1), 1, 1);
  add_case("middle", {2, 3, 2}, at(1, -2), 1, 1);
  add_case("of_vector", {4}, at(0, 2), 0, 2);
  add_case("named", {b(2), f(3)}, at(b, 1), 0, 1);
  add_case("empty", {2, 0}, at(0, 1), 0, 1);
  row.errors = {
      {"beyond", {some({3})}, at(0, 3), Fault::value},   {"before", {some({3})}, at(0, -4), Fault::value},
      {"of_empty", {some({0})}, at(0, 0), Fault::value}, {"no_such_number", {some({3})}, at(1, 0), Fault::axis},
      {"rank_0", {some({})}, at(0, 0), Fault::axis},     {"empty_tensor", {Tensor()}, at(0, 0), Fault::value}};
  return row;
}

}  // namespace

std::vector<Row> structure_rows() {
  return {reshape_row(),   squeeze_row(),      expand_dims_row(), rename_row(), contiguous_row(), permute_row(),
          transpose_row(), broadcast_to_row(), concat_row(),      stack_row(),  slice_row(),      select_row()};
}

}  // namespace op_table
