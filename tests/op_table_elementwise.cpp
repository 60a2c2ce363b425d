// Rows of the operations element by element.
#include <algorithm>
#include <cmath>

#include "tests/op_rows.hpp"

namespace op_table {

Reference by_position(const Scalars& f) {
  return [=](const ref::Arrays& x) { return ref::Arrays{ref::elementwise(x, f)}; };
}

std::vector<BadCall> errors_of_two(const Function& call) {
  const auto [b, f, h] = axes();
  return {{"extents", {some({2, 3}), some({2})}, call, Fault::shape},
          {"names_meet", {some({b(2), f(2)}), some({h(2), 2})}, call, Fault::axis},
          {"neither_contains", {some({b(2), f(2)}), some({f(2), h(2)})}, call, Fault::axis},
          {"named_extents", {some({b(2), f(3)}), some({f(1)})}, call, Fault::shape},
          {"name_twice", {some({b(2), 1}), some({b(2)})}, call, Fault::axis},
          {"floats_mix", {some({2}, DType::f32), some({2}, DType::f64)}, call, Fault::dtype},
          {"empty_left", {Tensor(), some({2})}, call, Fault::value},
          {"empty_right", {some({2}), Tensor()}, call, Fault::value}};
}

namespace {

std::vector<Case> cases_of_two(const Input& left, const Input& right, const Function& call, const Scalars& f) {
  const auto [b, fe, h] = axes();
  const auto in = [](Input input, const Shape& shape) {
    input.shape = shape;
    return input;
  };
  std::vector<Case> cases;
  const auto add_case = [&](const std::string& label, const Shape& l, const Shape& r, const Shape& result) {
    cases.push_back({label, {in(left, l), in(right, r)}, call, by_position(f), {result}});
  };
  add_case("same_shape", {5}, {5}, {5});
  add_case("rank_0", {}, {}, {});
  add_case("matrix_and_rank_0", {2, 3}, {}, {2, 3});
  add_case("both_stretch", {2, 1}, {1, 3}, {2, 3});
  add_case("row", {3}, {2, 3}, {2, 3});
  add_case("empty", {0, 3}, {3}, {0, 3});
  add_case("empty_stretch", {2, 1}, {0}, {2, 0});
  add_case("extent_1", {1, 1}, {1}, {1, 1});
  add_case("rank_6", {1, 2, 1, 2, 1, 2}, {2, 1, 1, 2}, {1, 2, 2, 2, 1, 2});
  add_case("named", {b(2), fe(3)}, {b(2), fe(3)}, {b(2), fe(3)});
  add_case("some_names", {b(2), 3}, {fe(3)}, {b(2), fe(3)});
  add_case("large", {70, 65}, {65}, {70, 65});
  cases.back().large = true;
  cases.push_back({"by_name",
                   {in(left, {b(2), fe(3)}), in(right, {fe(3), b(2)})},
                   call,
                   [=](const ref::Arrays& x) {
                     return ref::Arrays{ref::elementwise({x[0], ref::permute(x[1], {1, 0})}, f)};
                   },
                   {{b(2), fe(3)}}});
  cases.push_back({"name_contained",
                   {in(left, {b(2)}), in(right, {b(2), fe(3)})},
                   call,
                   [=](const ref::Arrays& x) {
                     return ref::Arrays{ref::elementwise({ref::reshape(x[0], {2, 1}), x[1]}, f)};
                   },
                   {{b(2), fe(3)}}});
  return cases;
}

}  // namespace

Row row_of_two(const std::string& name, Types types, const Input& left, const Input& right,
               Tensor (*op)(const Tensor&, const Tensor&), const Scalars& f) {
  const Function call = [=](const Tensors& x) { return Tensors{op(x[0], x[1])}; };
  return {.name = name,
          .types = types,
          .cases = cases_of_two(left, right, call, f),
          .errors = errors_of_two(call),
          .promotes = true,
          .scalar = f};
}

void add_ways(Row& row, const Input& input,
              std::initializer_list<std::pair<const char*, Tensor (*)(const Tensor&)>> ways,
              const std::vector<Scalars>& references) {
  std::size_t i = 0;
  for (const auto& [label, op] : ways) {
    const Function call = [op](const Tensors& x) { return Tensors{op(x[0])}; };
    row.cases.push_back(
        {label, {input}, call, by_position(references[std::min(i, references.size() - 1)]), {input.shape}});
    ++i;
  }
  row.errors.push_back({std::string(ways.begin()->first) + "_of_empty",
                        {Tensor()},
                        [op = ways.begin()->second](const Tensors& x) { return Tensors{op(x[0])}; },
                        Fault::value});
}
Row row_of_one(const std::string& name, Types types, const Input& domain, Tensor (*op)(const Tensor&),
               const std::function<double(double)>& f) {
  const auto [b, fe, h] = axes();
  const Function call = [=](const Tensors& x) { return Tensors{op(x[0])}; };
  const Scalars scalar = [=](const double* x) { return f(x[0]); };
  Row row{.name = name, .types = types, .scalar = scalar};
  for (const auto& [label, shape] : std::vector<std::pair<std::string, Shape>>{{"vector", {7}},
                                                                               {"rank_0", {}},
                                                                               {"matrix", {2, 3}},
                                                                               {"empty", {0}},
                                                                               {"empty_matrix", {3, 0}},
                                                                               {"named", {b(2), fe(3)}},
                                                                               {"extent_1", {1, 1}},
                                                                               {"rank_6", {1, 2, 1, 2, 1, 2}},
                                                                               {"large", {70, 65}}}) {
    Input input = domain;
    input.shape = shape;
    row.cases.push_back({label, {input}, call, by_position(scalar), {shape}});
  }
  row.cases.back().large = true;
  row.errors.push_back({"empty_tensor", {Tensor()}, call, Fault::value});
  return row;
}

namespace {

void add_operator(Row& row, const Input& left, const Input& right, Tensor (*op)(const Tensor&, const Tensor&)) {
  row.cases.push_back({"operator",
                       {left, right},
                       [op](const Tensors& x) { return Tensors{op(x[0], x[1])}; },
                       by_position(row.scalar),
                       {left.shape}});
}

}  // namespace

std::vector<Row> elementwise_rows() {
  const auto [b, fe, h] = axes();
  const Input any = real({});
  const Input away_from_0 = positive({});
  const Input matrix = real({b(2), 3});
  std::vector<Row> rows;

  Row add_row = row_of_two(
      "add", Types::numbers, any, any, [](const Tensor& x, const Tensor& y) { return add(x, y); },
      [](const double* x) { return x[0] + x[1]; });
  add_operator(add_row, matrix, matrix, [](const Tensor& x, const Tensor& y) { return x + y; });
  add_ways(add_row, matrix,
           {{"number", [](const Tensor& x) { return add(x, 3); }},
            {"operator_number", [](const Tensor& x) { return x + 3; }},
            {"number_operator", [](const Tensor& x) { return 3 + x; }}},
           {[](const double* x) { return x[0] + 3; }});
  rows.push_back(std::move(add_row));

  Row subtract_row = row_of_two(
      "subtract", Types::numbers, any, any, [](const Tensor& x, const Tensor& y) { return subtract(x, y); },
      [](const double* x) { return x[0] - x[1]; });
  add_operator(subtract_row, matrix, matrix, [](const Tensor& x, const Tensor& y) { return x - y; });
  add_ways(subtract_row, matrix,
           {{"number", [](const Tensor& x) { return subtract(x, 3); }},
            {"operator_number", [](const Tensor& x) { return x - 3; }}},
           {[](const double* x) { return x[0] - 3; }});
  add_ways(subtract_row, matrix,
           {{"number_left", [](const Tensor& x) { return subtract(3, x); }},
            {"number_operator", [](const Tensor& x) { return 3 - x; }}},
           {[](const double* x) { return 3 - x[0]; }});
  rows.push_back(std::move(subtract_row));

  Row multiply_row = row_of_two(
      "multiply", Types::numbers, any, any, [](const Tensor& x, const Tensor& y) { return multiply(x, y); },
      [](const double* x) { return x[0] * x[1]; });
  add_operator(multiply_row, matrix, matrix, [](const Tensor& x, const Tensor& y) { return x * y; });
  add_ways(multiply_row, matrix,
           {{"number", [](const Tensor& x) { return multiply(x, 3); }},
            {"operator_number", [](const Tensor& x) { return x * 3; }},
            {"number_operator", [](const Tensor& x) { return 3 * x; }}},
           {[](const double* x) { return x[0] * 3; }});
  rows.push_back(std::move(multiply_row));

  Row divide_row = row_of_two(
      "divide", Types::floats, any, away_from_0, [](const Tensor& x, const Tensor& y) { return divide(x, y); },
      [](const double* x) { return x[0] / x[1]; });
  add_operator(divide_row, matrix, positive({b(2), 3}), [](const Tensor& x, const Tensor& y) { return x / y; });
  divide_row.cases.push_back({"negative_denominator",
                              {real({4}), Input{{4}, -3, -0.5}},
                              [](const Tensors& x) { return Tensors{divide(x[0], x[1])}; },
                              by_position(divide_row.scalar),
                              {{4}}});
  add_ways(divide_row, matrix,
           {{"number", [](const Tensor& x) { return divide(x, 3); }},
            {"operator_number", [](const Tensor& x) { return x / 3; }}},
           {[](const double* x) { return x[0] / 3; }});
  add_ways(divide_row, positive({b(2), 3}),
           {{"number_left", [](const Tensor& x) { return divide(3, x); }},
            {"number_operator", [](const Tensor& x) { return 3 / x; }}},
           {[](const double* x) { return 3 / x[0]; }});
  rows.push_back(std::move(divide_row));

  Row maximum_row = row_of_two(
      "maximum", Types::numbers, any, any, [](const Tensor& x, const Tensor& y) { return maximum(x, y); },
      [](const double* x) { return std::isnan(x[0]) || x[0] > x[1] ? x[0] : x[1]; });
  maximum_row.signed_zeros = false;
  // No operand of the case is 0.
  add_ways(maximum_row, matrix, {{"number", [](const Tensor& x) { return maximum(x, 0); }}},
           {[](const double* x) { return std::max(x[0], 0.0); }});
  rows.push_back(std::move(maximum_row));

  rows.push_back(row_of_one("negative", Types::numbers, any, &negative, [](double x) { return -x; }));
  add_ways(rows.back(), matrix, {{"operator", [](const Tensor& x) { return -x; }}},
           {[](const double* x) { return -x[0]; }});
  rows.push_back(row_of_one("square", Types::numbers, any, &square, [](double x) { return x * x; }));
  rows.push_back(row_of_one("exp", Types::floats, any, &exp, [](double x) { return std::exp(x); }));
  rows.push_back(row_of_one("log", Types::floats, away_from_0, &log, [](double x) { return std::log(x); }));
  rows.push_back(row_of_one("sqrt", Types::floats, away_from_0, &sqrt, [](double x) { return std::sqrt(x); }));
  rows.push_back(row_of_one("tanh", Types::floats, any, &tanh, [](double x) { return std::tanh(x); }));
  rows.push_back(row_of_one("sigmoid", Types::floats, any, &sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }));
  rows.push_back(row_of_one("relu", Types::floats, any, &relu, [](double x) { return x <= 0 ? 0 : x; }));
  rows.back().signed_zeros = false;

  rows.push_back(row_of_one("stop_gradient", Types::any, any, &stop_gradient, [](double x) { return x; }));
  rows.back().differentiable = false;

  Row cast_row{.name = "cast", .types = Types::any};
  for (const DType to : {DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64}) {
    const Reference reference = by_position([=](const double* x) {
      if (to == DType::boolean) return x[0] != 0 ? 1.0 : 0.0;
      if (to == DType::f32) return static_cast<double>(static_cast<float>(x[0]));
      return is_float(to) ? x[0] : std::trunc(x[0]);
    });
    for (const Shape& shape : {Shape{b(2), fe(3)}, Shape{0}, Shape{}}) {
      cast_row.cases.push_back({"to_" + std::string(tlaloc::name(to)) + "_rank_" + std::to_string(shape.rank()),
                                {real(shape)},
                                [=](const Tensors& x) { return Tensors{cast(x[0], to)}; },
                                reference,
                                {shape},
                                to});
      cast_row.cases.back().smooth = to == DType::f64;
    }
  }
  cast_row.errors.push_back(
      {"empty_tensor", {Tensor()}, [](const Tensors& x) { return Tensors{cast(x[0], DType::f32)}; }, Fault::value});
  rows.push_back(std::move(cast_row));

  const Function where_call = [](const Tensors& x) { return Tensors{where(x[0], x[1], x[2])}; };
  const auto pick = [](const double* x) { return x[0] != 0 ? x[1] : x[2]; };
  Row where_row{.name = "where", .types = Types::any, .promotes = true};
  const auto where_case = [&](const std::string& label, const Shape& c, const Shape& yes, const Shape& no,
                              const Shape& result) {
    where_row.cases.push_back({label, {truth(c), real(yes), real(no)}, where_call, by_position(pick), {result}});
  };
  where_case("same_shape", {6}, {6}, {6}, {6});
  where_case("rank_0", {}, {}, {}, {});
  where_case("condition_stretches", {2, 1}, {2, 3}, {3}, {2, 3});
  where_case("values_stretch", {2, 3}, {}, {1, 3}, {2, 3});
  where_case("named", {b(2)}, {b(2)}, {b(2)}, {b(2)});
  where_case("named_condition", {b(2), fe(3)}, {fe(3)}, {b(2), fe(3)}, {b(2), fe(3)});
  where_case("empty", {0, 2}, {2}, {0, 2}, {0, 2});
  where_row.cases.push_back({"number_for_no",
                             {truth({2, 3}), real({2, 3})},
                             [](const Tensors& x) { return Tensors{where(x[0], x[1], 3)}; },
                             by_position([](const double* x) { return x[0] != 0 ? x[1] : 3; }),
                             {{2, 3}}});
  where_row.cases.back().types = Types::numbers;
  where_row.cases.push_back({"number_for_yes",
                             {truth({2, 3}), real({2, 3})},
                             [](const Tensors& x) { return Tensors{where(x[0], 3, x[1])}; },
                             by_position([](const double* x) { return x[0] != 0 ? 3 : x[1]; }),
                             {{2, 3}}});
  where_row.cases.back().types = Types::numbers;
  const Tensor condition = some({2}, DType::boolean);
  where_row.errors = {
      {"condition_of_numbers", {some({2}), some({2}), some({2})}, where_call, Fault::dtype},
      {"extents", {condition, some({3}), some({})}, where_call, Fault::shape},
      {"names", {some({b(2), fe(2)}, DType::boolean), some({h(2)}), some({b(2)})}, where_call, Fault::axis},
      {"floats_mix", {condition, some({2}), some({2}, DType::f64)}, where_call, Fault::dtype},
      {"empty_tensor", {condition, Tensor(), some({2})}, where_call, Fault::value}};
  rows.push_back(std::move(where_row));
  return rows;
}

std::vector<Row> comparison_rows() {
  const auto [b, fe, h] = axes();
  const Input matrix = real({b(2), 3});
  using Op = Tensor (*)(const Tensor&, const Tensor&);
  using OpOfOne = Tensor (*)(const Tensor&);
  struct Relation {
    const char* name;
    Op call, by_operator;
    OpOfOne with_number, operator_number, number_operator;
    bool (*holds)(double, double);
  };
  const Relation relations[] = {
      {"equal", &equal, [](const Tensor& x, const Tensor& y) { return x == y; },
       [](const Tensor& x) { return equal(x, 1); }, [](const Tensor& x) { return x == 1; },
       [](const Tensor& x) { return 1 == x; }, [](double x, double y) { return x == y; }},
      {"not_equal", &not_equal, [](const Tensor& x, const Tensor& y) { return x != y; },
       [](const Tensor& x) { return not_equal(x, 1); }, [](const Tensor& x) { return x != 1; },
       [](const Tensor& x) { return 1 != x; }, [](double x, double y) { return x != y; }},
      {"less", &less, [](const Tensor& x, const Tensor& y) { return x < y; },
       [](const Tensor& x) { return less(x, 1); }, [](const Tensor& x) { return x < 1; },
       [](const Tensor& x) { return 1 < x; }, [](double x, double y) { return x < y; }},
      {"less_equal", &less_equal, [](const Tensor& x, const Tensor& y) { return x <= y; },
       [](const Tensor& x) { return less_equal(x, 1); }, [](const Tensor& x) { return x <= 1; },
       [](const Tensor& x) { return 1 <= x; }, [](double x, double y) { return x <= y; }},
      {"greater", &greater, [](const Tensor& x, const Tensor& y) { return x > y; },
       [](const Tensor& x) { return greater(x, 1); }, [](const Tensor& x) { return x > 1; },
       [](const Tensor& x) { return 1 > x; }, [](double x, double y) { return x > y; }},
      {"greater_equal", &greater_equal, [](const Tensor& x, const Tensor& y) { return x >= y; },
       [](const Tensor& x) { return greater_equal(x, 1); }, [](const Tensor& x) { return x >= 1; },
       [](const Tensor& x) { return 1 >= x; }, [](double x, double y) { return x >= y; }},
  };
  std::vector<Row> rows;
  for (const Relation& relation : relations) {
    const auto holds = relation.holds;
    Row row = row_of_two(relation.name, Types::truth, real({}), real({}), relation.call,
                         [=](const double* x) { return holds(x[0], x[1]) ? 1.0 : 0.0; });
    row.differentiable = false;
    add_operator(row, matrix, matrix, relation.by_operator);
    add_ways(row, matrix, {{"number", relation.with_number}, {"operator_number", relation.operator_number}},
             {[=](const double* x) { return holds(x[0], 1) ? 1.0 : 0.0; }});
    // The operator with the number on the left is another operation with the tensor there.
    row.cases.push_back({"number_operator",
                         {matrix},
                         [op = relation.number_operator](const Tensors& x) { return Tensors{op(x[0])}; },
                         by_position([=](const double* x) { return holds(1, x[0]) ? 1.0 : 0.0; }),
                         {matrix.shape}});
    const Function call = [op = relation.call](const Tensors& x) { return Tensors{op(x[0], x[1])}; };
    row.cases.push_back({"equal_values",
                         {Input{{6}, 0, 1}, Input{{6}, 0, 1}},
                         [=](const Tensors& x) {
                           return call({x[0], x[0]});
                         },
                         by_position([=](const double* x) { return holds(x[0], x[0]) ? 1.0 : 0.0; }),
                         {{6}}});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace op_table
