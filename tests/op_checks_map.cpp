// Checks of vmap: against a loop, of operations and of their derivatives, nested, and differentiated.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/op_checks.hpp"
#include "tests/op_derivatives.hpp"
#include "tests/op_subjects.hpp"

namespace op_table {
namespace {

using Place = Mapping::Place;

/// The inputs with one more axis in front of those that a set has.
std::vector<Input> stacked(std::vector<Input> inputs, unsigned set, std::int64_t extent) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if ((set >> i & 1) == 0) continue;
    Shape shape{extent};
    for (const Dim dim : inputs[i].shape) shape.push_back(dim);
    inputs[i].shape = shape;
  }
  return inputs;
}

Shape with_examples(const Shape& shape, int place, Dim examples) {
  Shape result;
  for (int d = 0; d <= shape.rank(); ++d) result.push_back(d == place ? examples : shape[d < place ? d : d - 1]);
  return result;
}

/// Operand i of one example.
Tensor example_of(const Tensors& x, const std::vector<Input>& inputs, std::size_t i, const Mapping& mapping,
                  std::int64_t example) {
  if (!mapping.maps(i)) return x[i];
  return select(x[i], mapping.place_in(i, inputs[i].shape.rank()), example);
}

double rounding(DType dtype) { return dtype == DType::f32 ? 1e-5 : 1e-12; }

/// The mapped function gives, for each example, what the function gives for that example alone.
void expect_loop(const Subject& subject, const Mapping& mapping, DType dtype) {
  SCOPED_TRACE(mapping.describe() + ", " + std::string(name(dtype)));
  Tensors x = draw(stacked(subject.inputs, mapping.subset, mapping.extent), dtype, 3);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (mapping.maps(i)) x[i] = with_first_at(x[i], mapping.place_in(i, subject.inputs[i].shape.rank()));
  const Tensors got = mapped(subject, mapping).f(x);
  const Tensors alone = subject.f(draw(subject.inputs, dtype, 3));
  ASSERT_EQ(got.size(), alone.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    const Dim examples(mapping.place == Place::mixed ? example_axis() : Axis::none, mapping.extent);
    const Shape wanted = with_examples(alone[k].shape(), mapping.place_in_result(alone[k].rank()), examples);
    ASSERT_EQ(got[k].shape(), wanted) << "result " << k << " is " << got[k].shape().to_string() << ", not "
                                      << wanted.to_string();
    EXPECT_EQ(got[k].dtype(), alone[k].dtype());
  }
  for (std::int64_t example = 0; example < mapping.extent; ++example) {
    Tensors operands;
    for (std::size_t i = 0; i < x.size(); ++i) operands.push_back(example_of(x, subject.inputs, i, mapping, example));
    const Tensors wanted = subject.f(operands);
    for (std::size_t k = 0; k < got.size(); ++k) {
      const Tensor one = select(got[k], mapping.place_in_result(wanted[k].rank()), example);
      EXPECT_EQ(difference(numbers(one), numbers(wanted[k]), rounding(dtype)), "")
          << "result " << k << " of example " << example;
    }
  }
}

void expect_loops(const Subject& subject, DType dtype) {
  for (const unsigned subset : subsets(subject.inputs.size())) {
    for (const Place place : {Place::front, Place::back, Place::mixed}) expect_loop(subject, {subset, 3, place}, dtype);
    expect_loop(subject, {subset, 1}, dtype);
    expect_loop(subject, {subset, 0}, dtype);
  }
}

/// Two vmaps, each over its own operands, give what two loops give.
void expect_two_loops(const Subject& subject, unsigned outer_set, unsigned inner_set, Place inner_place) {
  constexpr std::int64_t outer_extent = 2;
  constexpr std::int64_t inner_extent = 3;
  const Mapping inner{inner_set, inner_extent, inner_place};
  const Mapping outer{outer_set, outer_extent, Place::front};
  SCOPED_TRACE("outer: " + outer.describe() + "; inner: " + inner.describe());
  const Subject one_level = mapped(subject, inner);
  const Subject two_levels = mapped(one_level, outer);
  const Tensors x = draw(two_levels.inputs, DType::f64, 4);
  const Tensors got = two_levels.f(x);
  for (std::int64_t o = 0; o < outer_extent; ++o)
    for (std::int64_t i = 0; i < inner_extent; ++i) {
      Tensors operands;
      for (std::size_t n = 0; n < x.size(); ++n) {
        Tensors of_outer = x;
        of_outer[n] = outer.maps(n) ? select(x[n], 0, o) : x[n];
        operands.push_back(example_of(of_outer, subject.inputs, n, inner, i));
      }
      const Tensors wanted = subject.f(operands);
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t k = 0; k < got.size(); ++k) {
        ASSERT_EQ(got[k].rank(), wanted[k].rank() + 2) << "result " << k;
        const Tensor one = select(select(got[k], 0, o), inner.place_in_result(wanted[k].rank()), i);
        EXPECT_EQ(one.shape().size(), wanted[k].shape().size());
        EXPECT_EQ(difference(numbers(one), numbers(wanted[k]), 1e-12), "")
            << "result " << k << " of example " << o << ", " << i;
      }
    }
}

void expect_nested_loops(const Subject& subject) {
  const std::vector<unsigned> sets = subsets(subject.inputs.size());
  for (const unsigned outer : sets)
    for (const unsigned inner : sets) {
      // With many operands there are many pairs: each set meets itself and its neighbours in the list.
      if (sets.size() > 7 && (outer + inner) % 3 != 0 && outer != inner) continue;
      expect_two_loops(subject, outer, inner, inner % 2 == 0 ? Place::front : Place::back);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The checks

/// As it is called, with results of every dtype.
Subject whole(const Case& c) { return {c.call, c.inputs, {}, {}}; }

void check_map(const Row&, const Case& c) {
  for (const DType dtype : {DType::f64, DType::f32, DType::i32, DType::boolean}) expect_loops(whole(c), dtype);
}
void check_nested_map(const Row&, const Case& c) { expect_nested_loops(whole(c)); }

void check_map_of_derivatives(const Row& row, const Case& c) {
  const Subject subject = subject_of(row, c);
  {
    SCOPED_TRACE("reverse");
    expect_loops(reverse(subject), DType::f64);
    expect_loops(reverse(subject), DType::f32);
  }
  {
    SCOPED_TRACE("forward");
    expect_loops(forward(subject), DType::f64);
  }
}

void check_nested_map_of_derivatives(const Row& row, const Case& c) {
  const Subject subject = subject_of(row, c);
  {
    SCOPED_TRACE("reverse");
    expect_nested_loops(reverse(subject));
  }
  {
    SCOPED_TRACE("forward");
    expect_nested_loops(forward(subject));
  }
}

void check_map_of_second_derivatives(const Row& row, const Case& c) {
  const Subject subject = subject_of(row, c);
  const std::pair<const char*, Subject> seconds[] = {{"forward of reverse", forward(reverse(subject))},
                                                     {"reverse of reverse", reverse(reverse(subject))},
                                                     {"reverse of forward", reverse(forward(subject))},
                                                     {"forward of forward", forward(forward(subject))}};
  for (const auto& [label, second] : seconds) {
    if (second.inputs.size() > 8) continue;
    SCOPED_TRACE(label);
    for (const unsigned subset : subsets(second.inputs.size())) expect_loop(second, {subset, 2}, DType::f64);
  }
}

/// Derivatives of the mapped function, and of its mapped gradient.
void check_derivatives_of_map(const Row& row, const Case& c) {
  const Subject subject = subject_of(row, c);
  for (const unsigned subset : subsets(subject.inputs.size()))
    for (const Place place : {Place::front, Place::mixed}) {
      const Mapping mapping{subset, 2, place};
      SCOPED_TRACE(mapping.describe());
      const Subject examples = mapped(subject, mapping);
      expect_reverse_is_adjoint(examples, DType::f64);
      expect_reverse_is_adjoint(mapped(subject, {subset, 0, place}), DType::f64);
      if (c.smooth) expect_forward_is_difference(examples);
    }
  const Subject gradient = reverse(subject);
  for (const unsigned subset : subsets(gradient.inputs.size())) {
    const Mapping mapping{subset, 2};
    SCOPED_TRACE("of the gradient, " + mapping.describe());
    const Subject gradients = mapped(gradient, mapping);
    expect_reverse_is_adjoint(gradients, DType::f64);
    if (c.smooth) expect_forward_is_difference(gradients);
  }
}

bool has_operands(const Row&, const Case& c) { return !c.inputs.empty() && !c.large; }
bool has_derivative(const Row& row, const Case& c) {
  return has_operands(row, c) && row.differentiable && (!c.dtype || is_float(*c.dtype));
}

}  // namespace

std::vector<Check> map_checks() {
  return {{"Map", check_map, has_operands},
          {"NestedMap", check_nested_map, has_operands},
          {"MapOfDerivatives", check_map_of_derivatives, has_derivative},
          {"NestedMapOfDerivatives", check_nested_map_of_derivatives, has_derivative},
          {"MapOfSecondDerivatives", check_map_of_second_derivatives, has_derivative},
          {"DerivativesOfMap", check_derivatives_of_map, has_derivative}};
}

}  // namespace op_table
