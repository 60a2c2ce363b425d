// Rows of the operations that take by index, sort, and run along an axis.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/op_table.hpp"

namespace op_table {
namespace {

using Line = std::vector<double>;
using OfLine = std::function<Line(Line)>;

std::size_t at(std::int64_t position) { return static_cast<std::size_t>(position); }

ref::Index joined(std::initializer_list<std::span<const std::int64_t>> parts) {
  ref::Index all;
  for (const auto part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Errors of an operation of one tensor along an axis.
std::vector<BadCall> errors_along(const std::function<Tensor(const Tensor&, AxisRef)>& op) {
  const auto [b, f, h] = axes();
  const auto along = [=](AxisRef axis) { return [=](const Tensors& x) { return Tensors{op(x[0], axis)}; }; };
  return {{"no_such_number", {some({2, 3})}, along(2), Fault::axis},
          {"no_such_name", {some({b(2), f(3)})}, along(h), Fault::axis},
          {"of_integers", {some({2}, DType::i32)}, along(-2), Fault::axis},
          {"rank_0", {some({})}, along(-1), Fault::axis},
          {"empty_tensor", {Tensor()}, along(0), Fault::value}};
}

/// A row of an operation whose results are made of every line along an axis, `extent` elements of each (all of them:
/// -1).
Row row_along(const std::string& name, Types types, const std::function<Tensors(const Tensor&, AxisRef)>& op,
              const std::vector<OfLine>& of_line, std::int64_t extent = -1) {
  const auto [b, f, h] = axes();
  Row row{.name = name, .types = types};
  const auto add_case = [&](const std::string& label, const Shape& shape, AxisRef axis, int number) {
    Shape result = shape;
    if (extent >= 0) result[number] = Dim(shape[number].axis(), extent);
    row.cases.push_back({label,
                         {real(shape)},
                         [=](const Tensors& x) { return op(x[0], axis); },
                         [=](const ref::Arrays& x) {
                           ref::Arrays results;
                           for (const OfLine& f_of_line : of_line)
                             results.push_back(ref::slice(ref::along(x[0], at(number), f_of_line), at(number), 0, 1,
                                                          result[number].extent()));
                           return results;
                         },
                         std::vector<Shape>(of_line.size(), result)});
  };
  add_case("vector", {5}, 0, 0);
  add_case("last", {2, 4}, -1, 1);
  add_case("first", {4, 2}, 0, 0);
  add_case("middle", {2, 3, 2}, 1, 1);
  add_case("named", {f(3), b(2)}, f, 0);
  add_case("rank_6", {1, 2, 1, 2, 1, 2}, 3, 3);
  add_case("none", {0, 3}, 1, 1);
  add_case("large", {70, 65}, 1, 1);
  row.cases.back().large = true;
  add_case("large_first", {65, 70}, 0, 0);
  row.cases.back().large = true;
  if (extent <= 0) add_case("of_nothing", {3, 0}, 1, 1);
  if (extent <= 1) add_case("extent_1", {3, 1}, 1, 1);
  row.errors = errors_along([=](const Tensor& x, AxisRef axis) { return op(x, axis)[0]; });
  return row;
}

/// An operation that runs forwards, with the cases that run backwards.
Row row_running(const std::string& name, Types types, Tensor (*op)(const Tensor&, AxisRef, Reverse),
                double (*f)(double, double)) {
  const OfLine forwards = [=](Line line) {
    for (std::size_t k = 1; k < line.size(); ++k) line[k] = f(line[k - 1], line[k]);
    return line;
  };
  const OfLine backwards = [=](Line line) {
    std::reverse(line.begin(), line.end());
    line = forwards(line);
    std::reverse(line.begin(), line.end());
    return line;
  };
  const auto way = [=](Reverse reverse) {
    return [=](const Tensor& x, AxisRef axis) { return Tensors{op(x, axis, reverse)}; };
  };
  Row row = row_along(name, types, way(Reverse::no), {forwards});
  for (Case& c : row_along(name, types, way(Reverse::yes), {backwards}).cases) {
    c.label += "_backwards";
    row.cases.push_back(std::move(c));
  }
  return row;
}

Line order_of(const Line& line, Descending descending) {
  std::vector<std::size_t> order(line.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return descending == Descending::yes ? line[i] > line[j] : line[i] < line[j];
  });
  return {order.begin(), order.end()};
}

Line sorted(const Line& line, Descending descending) {
  Line result;
  for (const double i : order_of(line, descending)) result.push_back(line[static_cast<std::size_t>(i)]);
  return result;
}

std::vector<Row> sorting_rows() {
  const auto ordered = [](Descending d) { return OfLine([=](const Line& line) { return order_of(line, d); }); };
  const auto in_order = [](Descending d) { return OfLine([=](const Line& line) { return sorted(line, d); }); };
  using enum Descending;
  std::vector<Row> rows;
  const auto add_descending = [&](const Row& other) {
    for (Case c : other.cases) {
      c.label += "_descending";
      rows.back().cases.push_back(std::move(c));
    }
  };
  rows.push_back(
      row_along("sort", Types::any, [](const Tensor& x, AxisRef a) { return Tensors{sort(x, a)}; }, {in_order(no)}));
  add_descending(row_along("sort", Types::any, [](const Tensor& x, AxisRef a) { return Tensors{sort(x, a, yes)}; },
                           {in_order(yes)}));

  rows.push_back(row_along("argsort", Types::any, [](const Tensor& x, AxisRef a) { return Tensors{argsort(x, a)}; },
                           {ordered(no)}));
  add_descending(row_along("argsort", Types::any,
                           [](const Tensor& x, AxisRef a) { return Tensors{argsort(x, a, yes)}; }, {ordered(yes)}));
  rows.back().differentiable = false;
  for (Case& c : rows.back().cases) c.dtype = DType::i64;

  const auto both = [](const ValuesAndIndices& found) { return Tensors{found.values, found.indices}; };
  rows.push_back(row_along("sort_with_indices", Types::any,
                           [=](const Tensor& x, AxisRef a) { return both(sort_with_indices(x, a)); },
                           {in_order(no), ordered(no)}));
  add_descending(row_along("sort_with_indices", Types::any,
                           [=](const Tensor& x, AxisRef a) { return both(sort_with_indices(x, a, yes)); },
                           {in_order(yes), ordered(yes)}));

  // Bad calls ask for one element of axes that are not there, or of nothing.
  const auto first = [=](std::int64_t k, Descending d) {
    return [=](const Tensor& x, AxisRef a) { return both(topk(x, k, a, d)); };
  };
  rows.push_back(row_along("topk", Types::any, first(2, yes), {in_order(yes), ordered(yes)}, 2));
  Row smallest = row_along("topk", Types::any, first(1, no), {in_order(no), ordered(no)}, 1);
  Row none = row_along("topk", Types::any, first(0, yes), {in_order(yes), ordered(yes)}, 0);
  for (Case& c : smallest.cases) c.label += "_smallest";
  for (Case& c : none.cases) c.label += "_of_none";
  for (Row* other : {&smallest, &none})
    for (Case& c : other->cases) rows.back().cases.push_back(std::move(c));
  rows.back().errors.push_back(
      {"too_many", {some({2, 3})}, [](const Tensors& x) { return Tensors{topk(x[0], 4).values}; }, Fault::value});
  rows.back().errors.push_back(
      {"negative", {some({2, 3})}, [](const Tensors& x) { return Tensors{topk(x[0], -1).values}; }, Fault::value});
  return rows;
}

// ---------------------------------------------------------------------------------------------------------------------
// By index

/// Where in a table the element at `position` of what was taken along `axis` comes from; the indices have `picks` axes.
ref::Index source_of(const ref::Index& position, std::size_t axis, const ref::Array& indices) {
  const std::size_t picks = indices.extents.size();
  const std::span<const std::int64_t> all(position);
  const double index = indices[ref::Index(all.begin() + static_cast<std::ptrdiff_t>(axis),
                                          all.begin() + static_cast<std::ptrdiff_t>(axis + picks))];
  const std::int64_t place[] = {static_cast<std::int64_t>(index)};
  return joined({all.first(axis), place, all.subspan(axis + picks)});
}

ref::Array taken(const ref::Array& x, const ref::Array& indices, std::size_t axis) {
  const std::span<const std::int64_t> own(x.extents);
  return ref::make(joined({own.first(axis), indices.extents, own.subspan(axis + 1)}),
                   [&](const ref::Index& position) { return x[source_of(position, axis, indices)]; });
}

ref::Array with_added(const ref::Array& x, const ref::Array& indices, const ref::Array& updates, std::size_t axis) {
  return ref::make(x.extents, [&](const ref::Index& place) {
    double total = x[place];
    ref::make(updates.extents, [&](const ref::Index& position) {
      if (source_of(position, axis, indices) == place) total += updates[position];
      return 0.0;
    });
    return total;
  });
}

struct Pick {
  const char* label;
  Shape table, indices;
  AxisRef axis;
  std::size_t number;
  Shape taken;
};

std::vector<Pick> picks() {
  const auto [b, f, h] = axes();
  return {{"vector", {4}, {3}, 0, 0, {3}},
          {"rank_0_index", {4}, {}, 0, 0, {}},
          {"more_than_there_are", {2}, {5}, 0, 0, {5}},
          {"rows", {4, 2}, {3}, 0, 0, {3, 2}},
          {"columns", {2, 4}, {3}, -1, 1, {2, 3}},
          {"middle", {2, 3, 2}, {2, 2}, 1, 1, {2, 2, 2, 2}},
          {"named", {b(2), f(3)}, {h(2), 2}, f, 1, {b(2), h(2), 2}},
          {"same_name", {b(2), f(3)}, {f(2)}, f, 1, {b(2), f(2)}},
          {"rank_6", {1, 2, 1, 3, 1, 2}, {2}, 3, 3, {1, 2, 1, 2, 1, 2}},
          {"no_indices", {3, 2}, {0}, 0, 0, {0, 2}},
          {"no_rows", {0, 3}, {2}, 1, 1, {0, 2}}};
}

Row take_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "take", .types = Types::any};
  for (const Pick& p : picks())
    row.cases.push_back(
        {p.label,
         {real(p.table), index(p.indices, static_cast<double>(p.table[static_cast<int>(p.number)].extent()))},
         [axis = p.axis](const Tensors& x) { return Tensors{take(x[0], x[1], axis)}; },
         [number = p.number](const ref::Arrays& x) { return ref::Arrays{taken(x[0], x[1], number)}; },
         {p.taken}});
  const Function call = [](const Tensors& x) { return Tensors{take(x[0], x[1], 0)}; };
  const Tensor indices = zeros({2}, DType::i64);
  row.errors = errors_along([=](const Tensor& x, AxisRef axis) { return take(x, indices, axis); });
  row.errors.push_back({"float_indices", {some({2}), some({2})}, call, Fault::dtype});
  row.errors.push_back({"bool_indices", {some({2}), some({2}, DType::boolean)}, call, Fault::dtype});
  row.errors.push_back({"name_twice", {some({b(2), f(3)}), some({f(2)}, DType::i64)}, call, Fault::axis});
  row.errors.push_back({"empty_indices", {some({2}), Tensor()}, call, Fault::value});
  return row;
}

Row scatter_add_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "scatter_add", .types = Types::numbers, .promotes = true};
  const auto add_case = [&](const Pick& p, const std::string& label, const Shape& updates) {
    row.cases.push_back(
        {label,
         {real(p.table), index(p.indices, static_cast<double>(p.table[static_cast<int>(p.number)].extent())),
          real(updates)},
         [axis = p.axis](const Tensors& x) { return Tensors{scatter_add(x[0], x[1], x[2], axis)}; },
         [number = p.number, full = p.taken](const ref::Arrays& x) {
           ref::Index extents;
           for (const Dim dim : full) extents.push_back(dim.extent());
           return ref::Arrays{with_added(x[0], x[1], ref::broadcast_to(x[2], extents), number)};
         },
         {p.table}});
  };
  for (const Pick& p : picks()) add_case(p, p.label, p.taken);
  add_case(picks()[0], "one_number", {});
  add_case(picks()[3], "one_row", {2});
  add_case(picks()[4], "one_column", {2, 1});
  const Function call = [](const Tensors& x) { return Tensors{scatter_add(x[0], x[1], x[2], 0)}; };
  const Tensor indices = zeros({2}, DType::i64);
  row.errors = errors_along([=](const Tensor& x, AxisRef axis) { return scatter_add(x, indices, some({}), axis); });
  row.errors.push_back({"float_indices", {some({2}), some({2}), some({2})}, call, Fault::dtype});
  row.errors.push_back({"name_twice", {some({b(2), f(3)}), some({f(2)}, DType::i64), some({})}, call, Fault::axis});
  row.errors.push_back({"too_large", {some({2, 1}), indices, some({2, 3})}, call, Fault::shape});
  row.errors.push_back({"too_many_axes", {some({2, 3}), indices, some({4, 2, 3})}, call, Fault::shape});
  row.errors.push_back({"empty_updates", {some({2}), indices, Tensor()}, call, Fault::value});
  return row;
}

Row take_along_axis_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "take_along_axis", .types = Types::any};
  const auto add_case = [&](const std::string& label, const Shape& table, const Shape& indices, AxisRef axis,
                            std::size_t number, const Shape& result) {
    row.cases.push_back({label,
                         {real(table), index(indices, static_cast<double>(table[static_cast<int>(number)].extent()))},
                         [=](const Tensors& x) { return Tensors{take_along_axis(x[0], x[1], axis)}; },
                         [=](const ref::Arrays& x) {
                           ref::Index extents;
                           for (const Dim dim : result) extents.push_back(dim.extent());
                           return ref::Arrays{ref::make(extents, [&](const ref::Index& position) {
                             ref::Index from = position, picked = position;
                             for (std::size_t d = 0; d < position.size(); ++d) {
                               if (x[0].extents[d] == 1) from[d] = 0;
                               if (x[1].extents[d] == 1) picked[d] = 0;
                             }
                             from[number] = static_cast<std::int64_t>(x[1][picked]);
                             return x[0][from];
                           })};
                         },
                         {result}});
  };
  add_case("vector", {4}, {3}, 0, 0, {3});
  add_case("last", {2, 3}, {2, 4}, -1, 1, {2, 4});
  add_case("first", {3, 2}, {4, 2}, 0, 0, {4, 2});
  add_case("middle", {2, 3, 2}, {2, 2, 2}, 1, 1, {2, 2, 2});
  add_case("indices_stretch", {2, 3, 2}, {1, 2, 2}, 1, 1, {2, 2, 2});
  add_case("table_stretches", {1, 3}, {2, 2}, 1, 1, {2, 2});
  add_case("named", {b(2), f(3)}, {b(2), f(2)}, f, 1, {b(2), f(2)});
  add_case("other_name", {b(2), f(3)}, {b(2), h(2)}, f, 1, {b(2), h(2)});
  add_case("unnamed_indices", {b(2), f(3)}, {2, 2}, f, 1, {b(2), f(2)});
  add_case("none", {0, 3}, {0, 2}, 1, 1, {0, 2});
  add_case("no_indices", {2, 3}, {2, 0}, 1, 1, {2, 0});
  const Function call = [](const Tensors& x) { return Tensors{take_along_axis(x[0], x[1], -1)}; };
  const auto indices = [](const Shape& shape) { return zeros(shape, DType::i64); };
  row.errors = {{"float_indices", {some({2}), some({2})}, call, Fault::dtype},
                {"ranks", {some({2, 3}), indices({2})}, call, Fault::shape},
                {"extents", {some({2, 3}), indices({3, 1})}, call, Fault::shape},
                {"named_extents", {some({b(2), f(3)}), indices({b(1), f(1)})}, call, Fault::shape},
                {"names_meet", {some({b(2), 3}), indices({h(2), 1})}, call, Fault::axis},
                {"no_axis_along", {some({b(2), f(3)}), indices({b(2)})}, call, Fault::axis},
                {"two_axes_along", {some({f(3)}), indices({b(2), h(2)})}, call, Fault::axis},
                {"empty_tensor", {Tensor(), indices({2})}, call, Fault::value},
                {"empty_indices", {some({2}), Tensor()}, call, Fault::value}};
  return row;
}

}  // namespace

std::vector<Row> indexing_rows() {
  std::vector<Row> rows = sorting_rows();
  rows.push_back(take_row());
  rows.push_back(take_along_axis_row());
  rows.push_back(scatter_add_row());
  rows.push_back(row_running("cumsum", Types::sums, &cumsum, [](double a, double b) { return a + b; }));
  rows.push_back(row_running("cumprod", Types::sums, &cumprod, [](double a, double b) { return a * b; }));
  rows.push_back(row_running("logcumsumexp", Types::floats, &logcumsumexp, [](double a, double b) {
    return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
  }));
  return rows;
}

}  // namespace op_table
