// Rows of the reductions and of softmax.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/op_rows.hpp"

namespace op_table {

using Positions = std::vector<std::size_t>;

Row row_of_reduction(const std::string& name, Types types, Reduction op, const Line& f, OfNothing of_nothing) {
  const auto [b, fe, h] = axes();
  Row row{.name = name, .types = types};
  const auto add_case = [&](const std::string& label, const Shape& shape, const AxisList& list,
                            const Positions& positions, Keep keep, const Shape& result) {
    row.cases.push_back(
        {label,
         {real(shape)},
         [=](const Tensors& x) { return Tensors{op(x[0], list, keep)}; },
         [=](const ref::Arrays& x) { return ref::Arrays{ref::reduce(x[0], positions, keep == Keep::yes, f)}; },
         {result}});
  };
  add_case("vector", {6}, {}, {0}, Keep::no, {});
  add_case("rank_0", {}, {}, {}, Keep::no, {});
  add_case("all", {2, 3}, {}, {0, 1}, Keep::no, {});
  add_case("all_kept", {2, 3}, {}, {0, 1}, Keep::yes, {1, 1});
  add_case("first", {3, 2}, 0, {0}, Keep::no, {2});
  add_case("last", {3, 2}, -1, {1}, Keep::no, {3});
  add_case("middle", {2, 3, 2}, 1, {1}, Keep::no, {2, 2});
  add_case("middle_kept", {2, 3, 2}, -2, {1}, Keep::yes, {2, 1, 2});
  add_case("outer_two", {2, 3, 2}, {0, -1}, {0, 2}, Keep::no, {3});
  add_case("outer_two_kept", {2, 3, 2}, {2, 0}, {0, 2}, Keep::yes, {1, 3, 1});
  add_case("neighbours", {2, 3, 2}, {1, 2}, {1, 2}, Keep::no, {2});
  add_case("no_axes", {2, 3}, AxisList(std::initializer_list<AxisRef>{}), {}, Keep::no, {2, 3});
  add_case("named", {b(2), fe(3)}, b, {0}, Keep::no, {fe(3)});
  add_case("named_kept", {b(2), fe(3)}, fe, {1}, Keep::yes, {b(2), fe(1)});
  add_case("two_named", {b(2), h(2), fe(3)}, {fe, b}, {0, 2}, Keep::no, {h(2)});
  add_case("extent_1", {3, 1}, 1, {1}, Keep::no, {3});
  add_case("rank_6", {1, 2, 1, 2, 1, 2}, {1, 5}, {1, 5}, Keep::no, {1, 1, 2, 1});
  add_case("none_left", {0, 3}, 1, {1}, Keep::no, {0});
  const auto add_large = [&](const std::string& label, const AxisList& list, const Positions& positions,
                             const Shape& result) {
    add_case(label, {70, 65}, list, positions, Keep::no, result);
    row.cases.back().large = true;
  };
  add_large("large_all", {}, {0, 1}, {});
  add_large("large_first", 0, {0}, {65});
  add_large("large_last", 1, {1}, {70});
  if (of_nothing == OfNothing::defined) {
    add_case("of_nothing", {3, 0}, 1, {1}, Keep::no, {3});
    row.cases.back().smooth = std::isfinite(f({}));
    add_case("of_nothing_kept", {2, 0, 2}, 1, {1}, Keep::yes, {2, 1, 2});
    row.cases.back().smooth = std::isfinite(f({}));
  } else {
    row.errors.push_back(
        {"of_nothing", {some({3, 0})}, [=](const Tensors& x) { return Tensors{op(x[0], 1, Keep::no)}; }, Fault::value});
  }
  const auto add_error = [&](const std::string& label, const Tensor& x, const AxisList& list, Fault fault) {
    row.errors.push_back({label, {x}, [=](const Tensors& in) { return Tensors{op(in[0], list, Keep::no)}; }, fault});
  };
  add_error("no_such_number", some({2, 3}), 2, Fault::axis);
  add_error("no_such_negative", some({2, 3}), -3, Fault::axis);
  add_error("no_such_name", some({b(2), fe(3)}), h, Fault::axis);
  add_error("axis_twice", some({b(2), fe(3)}), {0, b}, Fault::axis);
  add_error("empty_tensor", Tensor(), {}, Fault::value);
  return row;
}

namespace {

/// An operation on every line along one axis.
Row row_along(const std::string& name, Tensor (*op)(const Tensor&, AxisRef),
              const std::function<std::vector<double>(std::vector<double>)>& f) {
  const auto [b, fe, h] = axes();
  Row row{.name = name};
  const auto add_case = [&](const std::string& label, const Shape& shape, AxisRef axis, std::size_t position) {
    row.cases.push_back({label,
                         {real(shape)},
                         [=](const Tensors& x) { return Tensors{op(x[0], axis)}; },
                         [=](const ref::Arrays& x) { return ref::Arrays{ref::along(x[0], position, f)}; },
                         {shape}});
  };
  add_case("vector", {5}, 0, 0);
  add_case("last", {2, 4}, -1, 1);
  add_case("first", {4, 2}, 0, 0);
  add_case("middle", {2, 3, 2}, 1, 1);
  add_case("named", {fe(3), b(2)}, fe, 0);
  add_case("extent_1", {3, 1}, 1, 1);
  add_case("none", {0, 3}, 1, 1);
  add_case("of_nothing", {3, 0}, 1, 1);
  add_case("rank_6", {1, 2, 1, 2, 1, 2}, 3, 3);
  add_case("large", {70, 65}, 1, 1);
  row.cases.back().large = true;
  const auto add_error = [&](const std::string& label, const Tensor& x, AxisRef axis, Fault fault) {
    row.errors.push_back({label, {x}, [=](const Tensors& in) { return Tensors{op(in[0], axis)}; }, fault});
  };
  add_error("no_such_number", some({2, 3}), 2, Fault::axis);
  add_error("no_such_name", some({b(2), fe(3)}), h, Fault::axis);
  add_error("rank_0", some({}), -1, Fault::axis);
  add_error("empty_tensor", Tensor(), 0, Fault::value);
  return row;
}

}  // namespace

Row row_with_indices(const std::string& name, ValuesAndIndices (*op)(const Tensor&, AxisRef, Keep), const Line& place) {
  const auto [b, fe, h] = axes();
  Row row{.name = name, .types = Types::numbers};
  const auto value = [=](const std::vector<double>& line) { return line[static_cast<std::size_t>(place(line))]; };
  const auto call = [op](AxisRef axis, Keep keep) {
    return [=](const Tensors& x) {
      const ValuesAndIndices found = op(x[0], axis, keep);
      return Tensors{found.values, found.indices};
    };
  };
  const auto add_case = [&](const std::string& label, const Shape& shape, AxisRef axis, std::size_t position, Keep keep,
                            const Shape& result) {
    row.cases.push_back({label,
                         {real(shape)},
                         call(axis, keep),
                         [=](const ref::Arrays& x) {
                           return ref::Arrays{ref::reduce(x[0], {position}, keep == Keep::yes, value),
                                              ref::reduce(x[0], {position}, keep == Keep::yes, place)};
                         },
                         {result, result}});
  };
  add_case("vector", {5}, 0, 0, Keep::no, {});
  add_case("last", {2, 4}, -1, 1, Keep::no, {2});
  add_case("first", {4, 2}, 0, 0, Keep::no, {2});
  add_case("middle_kept", {2, 3, 2}, 1, 1, Keep::yes, {2, 1, 2});
  add_case("named", {fe(3), b(2)}, fe, 0, Keep::no, {b(2)});
  add_case("named_kept", {fe(3), b(2)}, fe, 0, Keep::yes, {fe(1), b(2)});
  add_case("extent_1", {3, 1}, 1, 1, Keep::no, {3});
  add_case("none_left", {0, 3}, 1, 1, Keep::no, {0});
  add_case("large", {70, 65}, 1, 1, Keep::no, {70});
  row.cases.back().large = true;
  row.errors = {{"of_nothing", {some({3, 0})}, call(1, Keep::no), Fault::value},
                {"no_such_number", {some({2, 3})}, call(2, Keep::no), Fault::axis},
                {"no_such_name", {some({b(2), fe(3)})}, call(h, Keep::no), Fault::axis},
                {"empty_tensor", {Tensor()}, call(0, Keep::no), Fault::value}};
  return row;
}

std::vector<Row> reduction_rows() {
  const auto mean_of = [](const std::vector<double>& line) {
    return line.empty() ? std::numeric_limits<double>::quiet_NaN() : ref::sum(line) / static_cast<double>(line.size());
  };
  std::vector<Row> rows{row_of_reduction("sum", Types::sums, &sum, ref::sum, OfNothing::defined),
                        row_of_reduction("mean", Types::floats, &mean, mean_of, OfNothing::defined),
                        row_of_reduction("max", Types::numbers, &max, ref::largest, OfNothing::refused),
                        row_of_reduction("logsumexp", Types::floats, &logsumexp, ref::logsumexp, OfNothing::defined),
                        row_along("softmax", &softmax, ref::softmax),
                        row_along("log_softmax", &log_softmax, ref::log_softmax),
                        row_with_indices("max_with_indices", &max_with_indices, [](const std::vector<double>& line) {
                          return static_cast<double>(std::max_element(line.begin(), line.end()) - line.begin());
                        })};
  return rows;
}

}  // namespace op_table
