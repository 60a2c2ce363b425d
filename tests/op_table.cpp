#include "tests/op_table.hpp"

#include <iterator>

namespace op_table {

const Axes& axes() {
  static const Axes axes;
  return axes;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> rows;
    for (auto family : {creation_rows, elementwise_rows, comparison_rows, everyday_rows, reduction_rows,
                        statistics_rows, structure_rows, arrange_rows, indexing_rows, product_rows, window_rows})
      for (Row& row : family()) rows.push_back(std::move(row));
    return rows;
  }();
  return all;
}

namespace {

/// A reference without operands.
Reference constant(const ref::Index& extents, const std::function<double(const ref::Index&)>& f) {
  return [=](const ref::Arrays&) { return ref::Arrays{ref::make(extents, f)}; };
}

Row filled_row(const std::string& name, double value, Tensor (*make)(const Shape&, DType)) {
  const auto [b, f, h] = axes();
  const auto number = [=](const ref::Index&) { return value; };
  Row row{.name = name, .types = Types::made, .differentiable = false};
  for (const DType dtype : {DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64}) {
    const auto fill = [=](const Shape& shape) { return [=](const Tensors&) { return Tensors{make(shape, dtype)}; }; };
    const std::string suffix = "_" + std::string(tlaloc::name(dtype));
    row.cases.push_back({"rank_0" + suffix, {}, fill({}), constant({}, number), {Shape{}}, dtype});
    row.cases.push_back({"named" + suffix, {}, fill({b(2), f(3)}), constant({2, 3}, number), {{b(2), f(3)}}, dtype});
    row.cases.push_back({"empty" + suffix, {}, fill({2, 0}), constant({2, 0}, number), {{2, 0}}, dtype});
  }
  row.errors.push_back({"name_twice",
                        {},
                        [=](const Tensors&) {
                          return Tensors{make({b(2), b(2)}, DType::f32)};
                        },
                        Fault::axis});
  return row;
}

Row like_row(const std::string& name, double value, Tensor (*make)(const Tensor&)) {
  const auto [b, f, h] = axes();
  Row row{.name = name, .types = Types::any, .differentiable = false};
  const Function call = [=](const Tensors& x) { return Tensors{make(x[0])}; };
  const Reference reference = [=](const ref::Arrays& x) {
    return ref::Arrays{ref::make(x[0].extents, [=](const ref::Index&) { return value; })};
  };
  for (const Shape& shape : {Shape{}, Shape{b(2), f(3)}, Shape{0, 2}})
    row.cases.push_back({"rank_" + std::to_string(shape.rank()) + (shape.size() == 0 ? "_empty" : ""),
                         {real(shape)},
                         call,
                         reference,
                         {shape}});
  row.errors.push_back({"empty_tensor", {Tensor()}, call, Fault::value});
  return row;
}

}  // namespace

std::vector<Row> creation_rows() {
  const auto [b, f, h] = axes();
  const auto number = [](const ref::Index&) { return 2.0; };
  std::vector<Row> rows{filled_row("zeros", 0, &zeros), filled_row("ones", 1, &ones),
                        like_row("zeros_like", 0, &zeros_like), like_row("ones_like", 1, &ones_like),
                        like_row("full_like", 1, [](const Tensor& x) { return full_like(x, 1); })};

  rows.push_back({.name = "full",
                  .types = Types::made,
                  .cases = {{"of_a_float",
                             {},
                             [=](const Tensors&) { return Tensors{full({b(3)}, 2.0)}; },
                             constant({3}, number),
                             {{b(3)}},
                             DType::f32},
                            {"of_an_integer",
                             {},
                             [=](const Tensors&) { return Tensors{full({b(3)}, 2)}; },
                             constant({3}, number),
                             {{b(3)}},
                             DType::i64},
                            {"of_a_dtype",
                             {},
                             [=](const Tensors&) {
                               return Tensors{full({1, 2}, 2, DType::f64)};
                             },
                             constant({1, 2}, number),
                             {{1, 2}},
                             DType::f64},
                            {"of_bools",
                             {},
                             [=](const Tensors&) { return Tensors{full({2}, 3, DType::boolean)}; },
                             constant({2}, [](const ref::Index&) { return 1.0; }),
                             {{2}},
                             DType::boolean}},
                  .errors = {{"float_for_integers",
                              {},
                              [](const Tensors&) { return Tensors{full({2}, 1.5, DType::i32)}; },
                              Fault::dtype}},
                  .differentiable = false});

  const auto count = [](const ref::Index& at) { return static_cast<double>(at[0]); };
  rows.push_back(
      {.name = "arange",
       .types = Types::made,
       .cases =
           {{"named",
             {},
             [=](const Tensors&) { return Tensors{arange(b(5))}; },
             constant({5}, count),
             {{b(5)}},
             DType::i64},
            {"empty", {}, [](const Tensors&) { return Tensors{arange(0)}; }, constant({0}, count), {{0}}, DType::i64},
            {"i32",
             {},
             [](const Tensors&) { return Tensors{arange(4, DType::i32)}; },
             constant({4}, count),
             {{4}},
             DType::i32},
            {"f32",
             {},
             [](const Tensors&) { return Tensors{arange(4, DType::f32)}; },
             constant({4}, count),
             {{4}},
             DType::f32},
            {"f64",
             {},
             [](const Tensors&) { return Tensors{arange(4, DType::f64)}; },
             constant({4}, count),
             {{4}},
             DType::f64}},
       .errors = {{"of_bools", {}, [](const Tensors&) { return Tensors{arange(2, DType::boolean)}; }, Fault::dtype}},
       .differentiable = false});

  const auto diagonal = [](const ref::Index& at) { return at[0] == at[1] ? 1.0 : 0.0; };
  Row eye_row{.name = "eye", .types = Types::made, .differentiable = false};
  for (const DType dtype : {DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64})
    eye_row.cases.push_back({std::string(tlaloc::name(dtype)),
                             {},
                             [=](const Tensors&) { return Tensors{eye(b(3), dtype)}; },
                             constant({3, 3}, diagonal),
                             {{b(3), 3}},
                             dtype});
  eye_row.cases.push_back(
      {"empty", {}, [](const Tensors&) { return Tensors{eye(0)}; }, constant({0, 0}, diagonal), {{0, 0}}, DType::f32});
  rows.push_back(std::move(eye_row));

  rows.push_back({.name = "from_data",
                  .types = Types::made,
                  .cases = {{"vector",
                             {},
                             [=](const Tensors&) {
                               return Tensors{from_data(std::vector<double>{0, 1, 2}, {b(3)})};
                             },
                             constant({3}, count),
                             {{b(3)}},
                             DType::f64},
                            {"span",
                             {},
                             [](const Tensors&) {
                               static constexpr std::int32_t data[] = {0, 1};
                               return Tensors{from_data(std::span<const std::int32_t>(data), {2, 1})};
                             },
                             constant({2, 1}, count),
                             {{2, 1}},
                             DType::i32},
                            {"braces",
                             {},
                             [=](const Tensors&) {
                               return Tensors{tensor<float>({{0, 0}, {1, 1}}, {b, f})};
                             },
                             constant({2, 2}, count),
                             {{b(2), f(2)}},
                             DType::f32},
                            {"four_levels",
                             {},
                             [](const Tensors&) {
                               return Tensors{tensor<std::int64_t>({{{{0}}}, {{{1}}}})};
                             },
                             constant({2, 1, 1, 1}, count),
                             {{2, 1, 1, 1}},
                             DType::i64},
                            {"number",
                             {},
                             [](const Tensors&) { return Tensors{tensor<double>(2)}; },
                             constant({}, number),
                             {Shape{}},
                             DType::f64}},
                  .differentiable = false});
  rows.back().errors = {
      {"too_few", {}, [](const Tensors&) { return Tensors{from_data(std::vector<float>{1}, {2})}; }, Fault::shape},
      {"names",
       {},
       [=](const Tensors&) {
         return Tensors{tensor<float>({{1, 2}}, {b})};
       },
       Fault::shape}};
  return rows;
}

}  // namespace op_table
