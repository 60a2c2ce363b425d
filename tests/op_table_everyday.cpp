// Rows of the everyday operations element by element: powers, rounding, tails of exponentials, angles, logic.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/op_rows.hpp"

namespace op_table {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

double softplus_of(double x) { return std::isnan(x) ? x : std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double quotient_rounded_down(const double* x) {
  const double a = x[0];
  const double b = x[1];
  if (std::isinf(a) && b != 0) return std::numeric_limits<double>::quiet_NaN();
  // What is left over has the divisor's sign.
  if (std::isinf(b) && std::isfinite(a) && a != 0 && (a < 0) != (b < 0)) return -1;
  return std::floor(a / b);
}

Row power_row() {
  const auto [b, fe, h] = axes();
  Row row = row_of_two(
      "power", Types::numbers, positive({}), positive({}), [](const Tensor& x, const Tensor& y) { return power(x, y); },
      [](const double* x) { return std::pow(x[0], x[1]); });
  add_ways(row, real({b(2), 3}),
           {{"square", [](const Tensor& x) { return power(x, 2); }},
            {"cube", [](const Tensor& x) { return power(x, 3); }},
            {"fifth", [](const Tensor& x) { return power(x, 5); }},
            {"zeroth", [](const Tensor& x) { return power(x, 0); }},
            {"first", [](const Tensor& x) { return power(x, 1); }}},
           {[](const double* x) { return x[0] * x[0]; }, [](const double* x) { return std::pow(x[0], 3); },
            [](const double* x) { return std::pow(x[0], 5); }, [](const double*) { return 1.0; },
            [](const double* x) { return x[0]; }});
  add_ways(row, positive({4}), {{"number_left", [](const Tensor& x) { return power(2, x); }}},
           {[](const double* x) { return std::pow(2, x[0]); }});
  const std::size_t first_of_floats = row.cases.size();
  add_ways(row, positive({4}),
           {{"float_exponent", [](const Tensor& x) { return power(x, 0.7); }},
            {"inverse", [](const Tensor& x) { return power(x, -1.0); }},
            {"inverse_square", [](const Tensor& x) { return power(x, -2.0); }}},
           {[](const double* x) { return std::pow(x[0], 0.7); }, [](const double* x) { return 1 / x[0]; },
            [](const double* x) { return std::pow(x[0], -2); }});
  for (std::size_t i = first_of_floats; i < row.cases.size(); ++i) row.cases[i].types = Types::floats;
  const Tensor negative = full({2}, -1, DType::i64);
  row.errors.push_back({"negative_exponents_of_integers",
                        {some({2}, DType::i64), negative},
                        [](const Tensors& x) { return Tensors{power(x[0], x[1])}; },
                        Fault::value});
  row.errors.push_back({"negative_exponent_of_integers",
                        {some({2}, DType::i32)},
                        [](const Tensors& x) { return Tensors{power(x[0], -1)}; },
                        Fault::value});
  return row;
}

Row floor_divide_row() {
  const auto [b, fe, h] = axes();
  Row row = row_of_two(
      "floor_divide", Types::numbers, real({}), positive({}),
      [](const Tensor& x, const Tensor& y) { return floor_divide(x, y); }, quotient_rounded_down);
  row.differentiable = false;
  add_ways(
      row, real({b(2), 3}),
      {{"number", [](const Tensor& x) { return floor_divide(x, 2); }},
       {"negative_number", [](const Tensor& x) { return floor_divide(x, -2); }}},
      {[](const double* x) { return std::floor(x[0] / 2); }, [](const double* x) { return std::floor(x[0] / -2); }});
  add_ways(row, positive({b(2), 3}), {{"number_left", [](const Tensor& x) { return floor_divide(-7, x); }}},
           {[](const double* x) { return std::floor(-7 / x[0]); }});
  row.errors.push_back({"integers_by_0",
                        {some({2}, DType::i32), zeros({2}, DType::i32)},
                        [](const Tensors& x) { return Tensors{floor_divide(x[0], x[1])}; },
                        Fault::value});
  row.errors.push_back({"integers_by_number_0",
                        {some({2}, DType::i32)},
                        [](const Tensors& x) { return Tensors{floor_divide(x[0], 0)}; },
                        Fault::value});
  return row;
}

Row clip_row() {
  const auto [b, fe, h] = axes();
  const auto bounded = [](double low, double high) {
    return [=](const double* x) { return std::isnan(x[0]) ? x[0] : std::min(std::max(x[0], low), high); };
  };
  Row row = row_of_one(
      "clip", Types::floats, real({}), [](const Tensor& x) { return clip(x, -0.6, 0.6); },
      [=](double x) { return bounded(-0.6, 0.6)(&x); });
  row.cases.push_back({"whole_numbers",
                       {real({4})},
                       [](const Tensors& x) { return Tensors{clip(x[0], -1, 1)}; },
                       by_position(bounded(-1, 1)),
                       {{4}}});
  row.cases.back().types = Types::numbers;
  const Function of_tensors = [](const Tensors& x) { return Tensors{clip(x[0], x[1], x[2])}; };
  const Scalars reference = [](const double* x) { return std::min(std::max(x[0], x[1]), x[2]); };
  const auto add_case = [&](const std::string& label, const Shape& x, const Shape& low, const Shape& high,
                            const Shape& result) {
    row.cases.push_back(
        {label, {real(x), Input{low, -1, -0.5}, Input{high, 0.5, 1}}, of_tensors, by_position(reference), {result}});
    row.cases.back().types = Types::numbers;
  };
  add_case("tensors", {5}, {5}, {5}, {5});
  add_case("tensors_rank_0", {b(2), 3}, {}, {}, {b(2), 3});
  add_case("bounds_stretch", {3}, {2, 1}, {2, 3}, {2, 3});
  add_case("by_name", {b(2), fe(2)}, {fe(2)}, {b(2)}, {b(2), fe(2)});
  add_case("tensors_empty", {0, 2}, {2}, {0, 1}, {0, 2});
  row.cases.push_back({"crossed_bounds",
                       {Input{{5}, -3, 3}, Input{{5}, 0.5, 1}, Input{{5}, -1, -0.5}},
                       of_tensors,
                       by_position([](const double* x) { return x[2]; }),
                       {{5}}});
  row.cases.back().types = Types::numbers;
  row.errors.push_back({"extents", {some({2}), some({3}), some({})}, of_tensors, Fault::shape});
  row.errors.push_back({"names", {some({b(2)}), some({fe(2)}), some({})}, of_tensors, Fault::axis});
  row.errors.push_back({"floats_mix", {some({2}), some({2}), some({2}, DType::f64)}, of_tensors, Fault::dtype});
  row.errors.push_back({"empty_bound", {some({2}), Tensor(), some({2})}, of_tensors, Fault::value});
  return row;
}

Row logical_row(const std::string& name, Tensor (*op)(const Tensor&, const Tensor&), bool (*f)(bool, bool)) {
  Row row = row_of_two(name, Types::truth, real({}), real({}), op,
                       [=](const double* x) { return f(x[0] != 0, x[1] != 0) ? 1.0 : 0.0; });
  row.differentiable = false;
  // Nothing is lost when both become truth values.
  row.promotes = false;
  std::erase_if(row.errors, [](const BadCall& error) { return error.label == "floats_mix"; });
  return row;
}

}  // namespace

std::vector<Row> everyday_rows() {
  const auto [b, fe, h] = axes();
  const Input any = real({});
  const Input away_from_0 = positive({});
  const Input matrix = real({b(2), 3});
  std::vector<Row> rows{power_row(), floor_divide_row(), clip_row()};

  rows.push_back(row_of_two(
      "minimum", Types::numbers, any, any, [](const Tensor& x, const Tensor& y) { return minimum(x, y); },
      [](const double* x) { return std::isnan(x[0]) || x[0] < x[1] ? x[0] : x[1]; }));
  rows.back().signed_zeros = false;
  add_ways(rows.back(), matrix, {{"number", [](const Tensor& x) { return minimum(x, 0); }}},
           {[](const double* x) { return std::min(x[0], 0.0); }});

  rows.push_back(row_of_one("abs", Types::numbers, any, &abs, [](double x) { return std::abs(x); }));
  rows.push_back(row_of_one("sign", Types::numbers, any, &sign, [](double x) {
    return std::isnan(x) ? x : x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
  }));
  rows.back().differentiable = false;
  rows.push_back(row_of_one("floor", Types::numbers, any, &floor, [](double x) { return std::floor(x); }));
  rows.back().differentiable = false;
  rows.push_back(row_of_one("ceil", Types::numbers, any, &ceil, [](double x) { return std::ceil(x); }));
  rows.back().differentiable = false;
  rows.push_back(row_of_one("round", Types::numbers, any, &round, [](double x) { return std::nearbyint(x); }));
  rows.back().differentiable = false;
  rows.push_back(row_of_one("reciprocal", Types::floats, away_from_0, &reciprocal, [](double x) { return 1 / x; }));
  rows.push_back(row_of_one("rsqrt", Types::floats, away_from_0, &rsqrt, [](double x) { return 1 / std::sqrt(x); }));

  rows.push_back(row_of_one("expm1", Types::floats, any, &expm1, [](double x) { return std::expm1(x); }));
  rows.push_back(row_of_one("log1p", Types::floats, away_from_0, &log1p, [](double x) { return std::log1p(x); }));
  rows.push_back(row_of_one("softplus", Types::floats, any, &softplus, softplus_of));
  rows.back().signed_zeros = false;
  rows.push_back(
      row_of_one("log_sigmoid", Types::floats, any, &log_sigmoid, [](double x) { return -softplus_of(-x); }));
  rows.back().signed_zeros = false;
  rows.push_back(row_of_two(
      "logaddexp", Types::floats, any, any, [](const Tensor& x, const Tensor& y) { return logaddexp(x, y); },
      [](const double* x) {
        if (std::isnan(x[0]) || std::isnan(x[1])) return x[0] + x[1];
        const double gap = x[0] == x[1] ? 0 : std::abs(x[0] - x[1]);
        return std::max(x[0], x[1]) + std::log1p(std::exp(-gap));
      }));
  add_ways(rows.back(), matrix, {{"number", [](const Tensor& x) { return logaddexp(x, 1); }}},
           {[](const double* x) { return std::log(std::exp(x[0]) + std::exp(1)); }});
  rows.push_back(row_of_two(
      "xlogy", Types::floats, away_from_0, away_from_0, [](const Tensor& x, const Tensor& y) { return xlogy(x, y); },
      [](const double* x) { return x[0] == 0 && !std::isnan(x[1]) ? 0 : x[0] * std::log(x[1]); }));

  rows.push_back(row_of_one("sin", Types::floats, any, &sin, [](double x) { return std::sin(x); }));
  rows.push_back(row_of_one("cos", Types::floats, any, &cos, [](double x) { return std::cos(x); }));
  rows.push_back(row_of_one("erf", Types::floats, any, &erf, [](double x) { return std::erf(x); }));
  // The jump at the negative half of the x axis is not met by points to its right.
  rows.push_back(row_of_two(
      "atan2", Types::floats, any, away_from_0, [](const Tensor& y, const Tensor& x) { return atan2(y, x); },
      [](const double* x) { return std::atan2(x[0], x[1]); }));

  rows.push_back(logical_row("logical_and", &logical_and, [](bool x, bool y) { return x && y; }));
  rows.push_back(logical_row("logical_or", &logical_or, [](bool x, bool y) { return x || y; }));
  rows.push_back(logical_row("logical_xor", &logical_xor, [](bool x, bool y) { return x != y; }));
  rows.push_back(
      row_of_one("logical_not", Types::truth, any, &logical_not, [](double x) { return x != 0 ? 0.0 : 1.0; }));
  rows.back().differentiable = false;
  return rows;
}

std::vector<Row> statistics_rows() {
  const auto product = [](const std::vector<double>& line) {
    double result = 1;
    for (const double x : line) result *= x;
    return result;
  };
  const auto smallest = [](const std::vector<double>& line) { return *std::min_element(line.begin(), line.end()); };
  const auto spread = [](const std::vector<double>& line, double correction) {
    const auto n = static_cast<double>(line.size());
    const double mean = ref::sum(line) / n;
    double squares = 0;
    for (const double x : line) squares += (x - mean) * (x - mean);
    return squares / (n - correction);
  };
  const auto norm_of = [](double p) {
    return [=](const std::vector<double>& line) {
      double result = 0;
      for (const double x : line) result = p == inf ? std::max(result, std::abs(x)) : result + std::pow(std::abs(x), p);
      return p == inf ? result : std::pow(result, 1 / p);
    };
  };
  const auto place_of_least = [](const std::vector<double>& line) {
    return static_cast<double>(std::min_element(line.begin(), line.end()) - line.begin());
  };
  const auto place_of_largest = [](const std::vector<double>& line) {
    return static_cast<double>(std::max_element(line.begin(), line.end()) - line.begin());
  };
  const auto is_true = [](double x) { return x != 0; };

  std::vector<Row> rows{
      row_of_reduction("prod", Types::sums, &prod, product, OfNothing::defined),
      row_of_reduction("min", Types::numbers, &min, smallest, OfNothing::refused),
      row_with_indices("min_with_indices", &min_with_indices, place_of_least),
      row_of_reduction(
          "any", Types::truth, &any,
          [=](const std::vector<double>& line) { return std::any_of(line.begin(), line.end(), is_true) ? 1.0 : 0.0; },
          OfNothing::defined),
      row_of_reduction(
          "all", Types::truth, &all,
          [=](const std::vector<double>& line) { return std::all_of(line.begin(), line.end(), is_true) ? 1.0 : 0.0; },
          OfNothing::defined),
      row_of_reduction(
          "var", Types::floats, [](const Tensor& x, const AxisList& list, Keep keep) { return var(x, list, keep, 0); },
          [=](const std::vector<double>& line) { return spread(line, 0); }, OfNothing::defined),
      row_of_reduction(
          "stddev", Types::floats,
          [](const Tensor& x, const AxisList& list, Keep keep) { return stddev(x, list, keep, 0); },
          [=](const std::vector<double>& line) { return std::sqrt(spread(line, 0)); }, OfNothing::defined),
      row_of_reduction(
          "norm", Types::floats, [](const Tensor& x, const AxisList& list, Keep keep) { return norm(x, list, keep); },
          norm_of(2), OfNothing::defined)};
  // A power of thousands is infinite, and its derivative lost.
  std::erase_if(rows.front().cases, [](const Case& c) { return c.label == "large_all"; });
  for (Row& row : rows) row.differentiable = row.types != Types::truth;

  // Other parameters than those of the rows' functions.
  const auto add_case = [&](const std::string& name, const std::string& label,
                            const std::function<Tensor(const Tensor&)>& op, const Line& f) {
    Row& row = *std::find_if(rows.begin(), rows.end(), [&](const Row& one) { return one.name == name; });
    row.cases.push_back({label,
                         {real({3, 4})},
                         [=](const Tensors& x) { return Tensors{op(x[0])}; },
                         [=](const ref::Arrays& x) { return ref::Arrays{ref::reduce(x[0], {1}, false, f)}; },
                         {{3}}});
  };
  add_case(
      "var", "of_a_sample", [](const Tensor& x) { return var(x, 1); },
      [=](const std::vector<double>& line) { return spread(line, 1); });
  add_case(
      "stddev", "of_a_sample", [](const Tensor& x) { return stddev(x, 1); },
      [=](const std::vector<double>& line) { return std::sqrt(spread(line, 1)); });
  add_case(
      "norm", "p_1", [](const Tensor& x) { return norm(x, 1, Keep::no, 1); }, norm_of(1));
  add_case(
      "norm", "p_3", [](const Tensor& x) { return norm(x, 1, Keep::no, 3); }, norm_of(3));
  add_case(
      "norm", "p_2_5", [](const Tensor& x) { return norm(x, 1, Keep::no, 2.5); }, norm_of(2.5));
  add_case(
      "norm", "p_inf", [](const Tensor& x) { return norm(x, 1, Keep::no, inf); }, norm_of(inf));
  rows.back().errors.push_back(
      {"p_below_1", {some({2})}, [](const Tensors& x) { return Tensors{norm(x[0], 0, Keep::no, 0.5)}; }, Fault::value});

  const auto positions = [&](const std::string& name, Tensor (*op)(const Tensor&, AxisRef, Keep), const Line& place) {
    Row row{.name = name, .types = Types::made, .differentiable = false};
    const auto add = [&](const std::string& label, const Shape& shape, AxisRef axis, std::size_t position, Keep keep,
                         const Shape& result) {
      row.cases.push_back(
          {label,
           {real(shape)},
           [=](const Tensors& x) { return Tensors{op(x[0], axis, keep)}; },
           [=](const ref::Arrays& x) { return ref::Arrays{ref::reduce(x[0], {position}, keep == Keep::yes, place)}; },
           {result},
           DType::i64});
    };
    const auto [b, fe, h] = axes();
    add("vector", {5}, 0, 0, Keep::no, {});
    add("last", {2, 4}, -1, 1, Keep::no, {2});
    add("middle_kept", {2, 3, 2}, 1, 1, Keep::yes, {2, 1, 2});
    add("named", {fe(3), b(2)}, fe, 0, Keep::no, {b(2)});
    add("none_left", {0, 3}, 1, 1, Keep::no, {0});
    const auto call = [=](AxisRef axis) { return [=](const Tensors& x) { return Tensors{op(x[0], axis, Keep::no)}; }; };
    row.errors = {{"of_nothing", {some({3, 0})}, call(1), Fault::value},
                  {"no_such_number", {some({2, 3})}, call(2), Fault::axis},
                  {"no_such_name", {some({b(2), fe(3)})}, call(h), Fault::axis},
                  {"empty_tensor", {Tensor()}, call(0), Fault::value}};
    return row;
  };
  rows.push_back(positions("argmax", &argmax, place_of_largest));
  rows.push_back(positions("argmin", &argmin, place_of_least));
  return rows;
}

}  // namespace op_table
