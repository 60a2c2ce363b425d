// Rows of the operations that cut, turn, pad and pick.
#include <algorithm>

#include "tests/op_table.hpp"

namespace op_table {
namespace {

using Call = std::function<Tensor(const Tensor&)>;
using Source = std::function<ref::Index(const ref::Index&)>;

Function of_one(const Call& call) {
  return [=](const Tensors& x) { return Tensors{call(x[0])}; };
}

ref::Index extents_of(const Shape& shape) {
  ref::Index extents;
  for (const Dim dim : shape) extents.push_back(dim.extent());
  return extents;
}

/// A row of an operation whose result holds elements of its operand: `from` says which, for each position of the
/// result; an empty index stands for `otherwise`.
struct Picking {
  Row row;

  void add(const std::string& label, const Shape& shape, const Shape& result, const Call& call, const Source& from,
           double otherwise = 0) {
    row.cases.push_back({label,
                         {real(shape)},
                         of_one(call),
                         [=](const ref::Arrays& x) {
                           return ref::Arrays{ref::make(extents_of(result), [&](const ref::Index& at) {
                             const ref::Index source = from(at);
                             return source.empty() ? otherwise : x[0][source];
                           })};
                         },
                         {result}});
  }
  void refuse(const std::string& label, const Tensor& x, const Call& call, Fault fault) {
    row.errors.push_back({label, {x}, of_one(call), fault});
  }
};

Row split_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "split", .types = Types::any};
  const auto add_case = [&](const std::string& label, const Shape& shape, const Function& call, std::size_t axis,
                            const std::vector<std::int64_t>& extents) {
    std::vector<Shape> results;
    for (const std::int64_t extent : extents) {
      results.push_back(shape);
      Dim& dim = results.back()[static_cast<int>(axis)];
      dim = Dim(dim.axis(), extent);
    }
    row.cases.push_back({label,
                         {real(shape)},
                         call,
                         [=](const ref::Arrays& x) {
                           ref::Arrays parts;
                           std::int64_t start = 0;
                           for (const std::int64_t extent : extents) {
                             parts.push_back(ref::slice(x[0], axis, start, 1, extent));
                             start += extent;
                           }
                           return parts;
                         },
                         results});
  };
  const auto equal_parts = [](AxisRef axis, int count) {
    return [=](const Tensors& x) { return split(x[0], axis, count); };
  };
  const auto of_extents = [](AxisRef axis, const std::vector<std::int64_t>& extents) {
    return [=](const Tensors& x) { return split(x[0], axis, std::span<const std::int64_t>(extents)); };
  };
  add_case("in_two", {4}, equal_parts(0, 2), 0, {2, 2});
  add_case("last", {2, 6}, equal_parts(-1, 3), 1, {2, 2, 2});
  add_case("whole", {2, 3}, equal_parts(1, 1), 1, {3});
  add_case("named", {b(2), f(4)}, equal_parts(f, 2), 1, {2, 2});
  add_case("empty", {0, 2}, equal_parts(0, 2), 0, {0, 0});
  add_case("uneven", {5, 2}, of_extents(0, {3, 0, 2}), 0, {3, 0, 2});
  add_case("list", {2, 3}, [](const Tensors& x) { return split(x[0], 1, {1, 2}); }, 1, {1, 2});
  row.errors = {{"does_not_divide", {some({5})}, equal_parts(0, 2), Fault::shape},
                {"no_parts", {some({4})}, equal_parts(0, 0), Fault::value},
                {"too_few", {some({4})}, of_extents(0, {1, 2}), Fault::shape},
                {"too_many", {some({4})}, of_extents(0, {3, 2}), Fault::shape},
                {"negative", {some({4})}, of_extents(0, {5, -1}), Fault::shape},
                {"no_such_number", {some({4})}, equal_parts(1, 2), Fault::axis},
                {"no_such_name", {some({b(4)})}, equal_parts(f, 2), Fault::axis},
                {"empty_tensor", {Tensor()}, equal_parts(0, 2), Fault::value}};
  return row;
}

Row flip_row() {
  const auto [b, f, h] = axes();
  Picking flips{{.name = "flip", .types = Types::any}};
  const auto along = [](const AxisList& list) { return [=](const Tensor& x) { return flip(x, list); }; };
  const auto add_case = [&](const std::string& label, const Shape& shape, const Call& call,
                            const std::vector<std::size_t>& turned) {
    flips.add(label, shape, shape, call, [=](ref::Index at) {
      for (const std::size_t d : turned) at[d] = shape[static_cast<int>(d)].extent() - 1 - at[d];
      return at;
    });
  };
  add_case("vector", {5}, along(0), {0});
  add_case("last", {2, 3}, along(-1), {1});
  add_case("all", {2, 3}, [](const Tensor& x) { return flip(x); }, {0, 1});
  add_case("two", {2, 2, 3}, along({0, 2}), {0, 2});
  add_case("none", {2, 3}, along(AxisList(std::initializer_list<AxisRef>{})), {});
  add_case("named", {b(2), f(3)}, along(f), {1});
  add_case("empty", {0, 2}, along(0), {0});
  flips.refuse("no_such_number", some({2}), along(1), Fault::axis);
  flips.refuse("axis_twice", some({2}), along({0, -1}), Fault::axis);
  flips.refuse("empty_tensor", Tensor(), along(0), Fault::value);
  return flips.row;
}

Row roll_row() {
  const auto [b, f, h] = axes();
  Picking rolls{{.name = "roll", .types = Types::any}};
  const auto by = [](AxisRef axis, std::int64_t shift) {
    return [=](const Tensor& x) { return roll(x, axis, shift); };
  };
  const auto add_case = [&](const std::string& label, const Shape& shape, AxisRef axis, std::size_t d,
                            std::int64_t shift) {
    const std::int64_t extent = shape[static_cast<int>(d)].extent();
    rolls.add(label, shape, shape, by(axis, shift), [=](ref::Index at) {
      at[d] = ((at[d] - shift) % extent + extent) % extent;
      return at;
    });
  };
  add_case("forward", {5}, 0, 0, 2);
  add_case("backward", {5, 2}, 0, 0, -1);
  add_case("last", {2, 3}, -1, 1, 1);
  add_case("nothing", {4}, 0, 0, 0);
  add_case("once_around", {4}, 0, 0, 4);
  add_case("further", {3}, 0, 0, -7);
  add_case("named", {b(2), f(3)}, f, 1, 1);
  add_case("empty", {0, 2}, 0, 0, 1);
  rolls.refuse("no_such_number", some({2}), by(1, 1), Fault::axis);
  rolls.refuse("no_such_name", some({b(2)}), by(f, 1), Fault::axis);
  rolls.refuse("empty_tensor", Tensor(), by(0, 1), Fault::value);
  return rolls.row;
}

Row pad_row() {
  const auto [b, f, h] = axes();
  Picking pads{{.name = "pad", .types = Types::any}};
  const auto add_case = [&](const std::string& label, const Shape& shape, AxisRef axis, std::size_t d,
                            std::int64_t before, std::int64_t after, int value) {
    Shape result = shape;
    Dim& dim = result[static_cast<int>(d)];
    const std::int64_t extent = dim.extent();
    dim = Dim(dim.axis(), before + extent + after);
    pads.add(
        label, shape, result, [=](const Tensor& x) { return pad(x, axis, before, after, value); },
        [=](ref::Index at) {
          at[d] -= before;
          return at[d] < 0 || at[d] >= extent ? ref::Index{} : at;
        },
        value);
  };
  add_case("zeros", {3}, 0, 0, 2, 1, 0);
  add_case("ones", {3}, 0, 0, 1, 2, 1);
  add_case("last", {2, 3}, -1, 1, 0, 2, 1);
  add_case("middle", {2, 2, 2}, 1, 1, 1, 0, 0);
  add_case("nothing", {2, 2}, 0, 0, 0, 0, 1);
  add_case("named", {b(2), f(3)}, f, 1, 1, 1, 1);
  add_case("empty", {0, 2}, 0, 0, 1, 1, 1);
  add_case("others_empty", {2, 0}, 0, 0, 1, 1, 0);
  const auto by = [](AxisRef axis, std::int64_t before, std::int64_t after, Scalar value) {
    return [=](const Tensor& x) { return pad(x, axis, before, after, value); };
  };
  pads.refuse("negative", some({3}), by(0, -1, 0, 0), Fault::value);
  pads.refuse("float_in_integers", some({3}, DType::i32), by(0, 1, 1, 0.5), Fault::dtype);
  pads.refuse("no_such_number", some({3}), by(1, 1, 1, 0), Fault::axis);
  pads.refuse("empty_tensor", Tensor(), by(0, 1, 1, 0), Fault::value);
  return pads.row;
}

Row tile_row() {
  const auto [b, f, h] = axes();
  Picking tiles{{.name = "tile", .types = Types::any}};
  const auto along = [](AxisRef axis, std::int64_t count) {
    return [=](const Tensor& x) { return tile(x, axis, count); };
  };
  const auto add_case = [&](const std::string& label, const Shape& shape, AxisRef axis, std::size_t d,
                            std::int64_t count) {
    Shape result = shape;
    Dim& dim = result[static_cast<int>(d)];
    const std::int64_t extent = dim.extent();
    dim = Dim(dim.axis(), extent * count);
    tiles.add(label, shape, result, along(axis, count), [=](ref::Index at) {
      at[d] %= extent;
      return at;
    });
  };
  add_case("vector", {3}, 0, 0, 2);
  add_case("last", {2, 2}, -1, 1, 3);
  add_case("once", {2, 2}, 0, 0, 1);
  add_case("never", {2, 2}, 0, 0, 0);
  add_case("named", {b(2), f(2)}, b, 0, 2);
  add_case("empty", {0, 2}, 0, 0, 2);
  tiles.refuse("negative", some({3}), along(0, -1), Fault::value);
  tiles.refuse("no_such_number", some({3}), along(1, 2), Fault::axis);
  tiles.refuse("too_long", some({3}), along(0, std::int64_t{1} << 42), Fault::size);
  tiles.refuse("empty_tensor", Tensor(), along(0, 2), Fault::value);
  return tiles.row;
}

/// `order[i]` is the operand's axis that is the result's axis i.
void add_permutation(Picking& picking, const std::string& label, const Shape& shape, const Call& call,
                     const std::vector<std::size_t>& order) {
  Shape result;
  for (const std::size_t d : order) result.push_back(shape[static_cast<int>(d)]);
  picking.add(label, shape, result, call, [=](const ref::Index& at) {
    ref::Index from(at.size());
    for (std::size_t d = 0; d < order.size(); ++d) from[order[d]] = at[d];
    return from;
  });
}

Row swap_axes_row() {
  const auto [b, f, h] = axes();
  Picking swaps{{.name = "swap_axes", .types = Types::any}};
  const auto of = [](AxisRef x, AxisRef y) { return [=](const Tensor& in) { return swap_axes(in, x, y); }; };
  add_permutation(swaps, "matrix", {2, 3}, of(0, 1), {1, 0});
  add_permutation(swaps, "outer_two", {2, 3, 1}, of(-1, 0), {2, 1, 0});
  add_permutation(swaps, "same", {2, 3}, of(1, 1), {0, 1});
  add_permutation(swaps, "named", {b(2), f(3), h(2)}, of(b, f), {1, 0, 2});
  add_permutation(swaps, "empty", {0, 2}, of(0, 1), {1, 0});
  swaps.refuse("no_such_number", some({2, 2}), of(0, 2), Fault::axis);
  swaps.refuse("no_such_name", some({b(2), 2}), of(f, 1), Fault::axis);
  swaps.refuse("empty_tensor", Tensor(), of(0, 1), Fault::value);
  return swaps.row;
}

Row move_axis_row() {
  const auto [b, f, h] = axes();
  Picking moves{{.name = "move_axis", .types = Types::any}};
  const auto of = [](AxisRef axis, int to) { return [=](const Tensor& x) { return move_axis(x, axis, to); }; };
  add_permutation(moves, "to_back", {2, 3, 2}, of(0, 2), {1, 2, 0});
  add_permutation(moves, "to_front", {2, 3, 2}, of(-1, 0), {2, 0, 1});
  add_permutation(moves, "to_last", {2, 3, 1}, of(0, -1), {1, 2, 0});
  add_permutation(moves, "stays", {2, 3}, of(1, 1), {0, 1});
  add_permutation(moves, "named", {b(2), f(3)}, of(f, 0), {1, 0});
  add_permutation(moves, "empty", {0, 2}, of(0, 1), {1, 0});
  moves.refuse("no_such_place", some({2, 2}), of(0, 2), Fault::axis);
  moves.refuse("no_such_name", some({b(2), 2}), of(f, 0), Fault::axis);
  moves.refuse("empty_tensor", Tensor(), of(0, 0), Fault::value);
  return moves.row;
}

Row flatten_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "flatten", .types = Types::any};
  const auto add_case = [&](const std::string& label, const Shape& shape, const Shape& result, const Call& call) {
    row.cases.push_back({label,
                         {real(shape)},
                         of_one(call),
                         [=](const ref::Arrays& x) { return ref::Arrays{ref::reshape(x[0], extents_of(result))}; },
                         {result}});
  };
  const Call plainly = [](const Tensor& x) { return flatten(x); };
  add_case("matrix", {2, 3}, {6}, plainly);
  add_case("vector", {b(3)}, {3}, plainly);
  add_case("rank_0", {}, {1}, plainly);
  add_case("empty", {2, 0}, {0}, plainly);
  add_case("named", {b(2), f(3)}, {h(6)}, [=](const Tensor& x) { return flatten(x, h); });
  row.errors = {{"empty_tensor", {Tensor()}, of_one(plainly), Fault::value}};
  return row;
}

Row triangle_row(const std::string& name, Tensor (*op)(const Tensor&, std::int64_t),
                 bool (*inside)(std::int64_t row, std::int64_t column, std::int64_t diagonal)) {
  const auto [b, f, h] = axes();
  Picking triangles{{.name = name, .types = Types::any}};
  const auto of = [=](std::int64_t diagonal) { return [=](const Tensor& x) { return op(x, diagonal); }; };
  const auto add_case = [&](const std::string& label, const Shape& shape, std::int64_t diagonal) {
    triangles.add(label, shape, shape, of(diagonal), [=](const ref::Index& at) {
      return inside(at[at.size() - 2], at.back(), diagonal) ? at : ref::Index{};
    });
  };
  add_case("square", {3, 3}, 0);
  add_case("wide", {2, 4}, 1);
  add_case("tall", {4, 2}, -1);
  add_case("all", {2, 3}, name == "tril" ? 9 : -9);
  add_case("nothing", {2, 3}, name == "tril" ? -9 : 9);
  add_case("named", {b(2), f(2), h(3)}, 0);
  add_case("no_rows", {0, 3}, 0);
  add_case("no_columns", {2, 3, 0}, 0);
  triangles.refuse("vector", some({3}), of(0), Fault::shape);
  triangles.refuse("empty_tensor", Tensor(), of(0), Fault::value);
  return triangles.row;
}

Row diagonal_row() {
  const auto [b, f, h] = axes();
  Picking diagonals{{.name = "diagonal", .types = Types::any}};
  const auto of = [](std::int64_t offset, Axis axis = Axis::none) {
    return [=](const Tensor& x) { return diagonal(x, offset, axis); };
  };
  const auto add_case = [&](const std::string& label, const Shape& shape, const Shape& result, const Call& call,
                            std::int64_t offset) {
    diagonals.add(label, shape, result, call, [=](ref::Index at) {
      const std::int64_t i = at.back();
      at.back() = i + std::max<std::int64_t>(-offset, 0);
      at.push_back(i + std::max<std::int64_t>(offset, 0));
      return at;
    });
  };
  add_case("square", {3, 3}, {3}, of(0), 0);
  add_case("wide", {2, 4}, {2}, of(1), 1);
  add_case("tall", {4, 2}, {2}, of(-1), -1);
  add_case("corner", {3, 3}, {1}, of(2), 2);
  add_case("beyond", {3, 3}, {0}, of(4), 4);
  add_case("matrices", {2, 2, 3}, {2, 2}, of(0), 0);
  add_case("names_gone", {b(2), f(2), h(3)}, {b(2), 2}, of(0), 0);
  add_case("named", {b(2), f(2), h(3)}, {b(2), f(2)}, of(0, f), 0);
  add_case("empty", {0, 3}, {0}, of(0), 0);
  diagonals.refuse("vector", some({3}), of(0), Fault::shape);
  diagonals.refuse("name_twice", some({b(2), 2, 2}), of(0, b), Fault::axis);
  diagonals.refuse("empty_tensor", Tensor(), of(0), Fault::value);
  return diagonals.row;
}

Row one_hot_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "one_hot", .types = Types::made, .differentiable = false};
  const auto to = [](Dim classes) { return [=](const Tensors& x) { return Tensors{one_hot(x[0], classes)}; }; };
  const auto add_case = [&](const std::string& label, const Shape& shape, Dim classes, const Function& call,
                            DType dtype) {
    Shape result = shape;
    result.push_back(classes);
    row.cases.push_back({label,
                         {index(shape, static_cast<double>(classes.extent()))},
                         call,
                         [=](const ref::Arrays& x) {
                           return ref::Arrays{ref::make(extents_of(result), [&](const ref::Index& at) {
                             const ref::Index example(at.begin(), at.end() - 1);
                             return x[0][example] == static_cast<double>(at.back()) ? 1.0 : 0.0;
                           })};
                         },
                         {result},
                         dtype});
  };
  add_case("vector", {5}, 3, to(3), DType::f32);
  add_case("rank_0", {}, 2, to(2), DType::f32);
  add_case("named", {b(4), 2}, h(3), to(h(3)), DType::f32);
  add_case("empty", {0}, 3, to(3), DType::f32);
  add_case(
      "of_f64", {4}, 3, [](const Tensors& x) { return Tensors{one_hot(x[0], 3, DType::f64)}; }, DType::f64);
  add_case(
      "of_bools", {4}, 3, [](const Tensors& x) { return Tensors{one_hot(x[0], 3, DType::boolean)}; }, DType::boolean);
  row.errors = {{"too_large", {full({2}, 3)}, to(3), Fault::value},
                {"negative", {full({2}, -1)}, to(3), Fault::value},
                {"floats", {some({2})}, to(3), Fault::dtype},
                {"name_twice", {some({b(2)}, DType::i64)}, to(b(3)), Fault::axis},
                {"empty_tensor", {Tensor()}, to(3), Fault::value}};
  return row;
}

}  // namespace

std::vector<Row> arrange_rows() {
  return {split_row(),
          flip_row(),
          roll_row(),
          pad_row(),
          tile_row(),
          swap_axes_row(),
          move_axis_row(),
          flatten_row(),
          triangle_row(
              "tril", &tril,
              [](std::int64_t row, std::int64_t column, std::int64_t diagonal) { return column <= row + diagonal; }),
          triangle_row(
              "triu", &triu,
              [](std::int64_t row, std::int64_t column, std::int64_t diagonal) { return column >= row + diagonal; }),
          diagonal_row(),
          one_hot_row()};
}

}  // namespace op_table
