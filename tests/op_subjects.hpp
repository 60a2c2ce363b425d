// What the checks of op_checks.hpp are made of: numbers drawn for operands, layouts for them, and functions of tensors
// with the transforms applied to them. A derivative of a function is a function of more operands, so the checks that
// hold for an operation are made for its derivatives too, of any order and under vmap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/op_table.hpp"

namespace op_table {

/// A function to be checked: what it takes, and by which operands it is differentiated. All its results are floats.
struct Subject {
  Function f;
  std::vector<Input> inputs;
  std::vector<std::size_t> by;
  std::vector<std::optional<DType>> results{};  // the dtypes of results that do not go with the operands
};

/// The case's function without those results that are not floats.
Subject subject_of(const Row& row, const Case& c);

/// (inputs..., cotangents...) -> the gradients, differentiated by all of it.
Subject reverse(const Subject& subject);
/// (inputs..., tangents...) -> the results' tangents, differentiated by all of it.
Subject forward(const Subject& subject);

Tensors pull_back(const Subject& subject, const Tensors& x, const Tensors& cotangents);
/// Tangents stand beside `by`; empty ones are zero.
Tensors push_forward(const Subject& subject, const Tensors& x, const Tensors& tangents);

// ---------------------------------------------------------------------------------------------------------------------
// Operands

/// Distinct numbers without a pattern. Other seeds give others.
Tensors draw(const std::vector<Input>& inputs, DType dtype, unsigned seed = 0);
/// What goes with results, and with the operands that a subject is differentiated by: cotangents and tangents.
std::vector<Input> inputs_like(const Tensors& results);
std::vector<Input> inputs_by(const Subject& subject);

enum class Layout { dense, transposed, spaced, backwards, repeated_first, repeated_last, repeated };
constexpr Layout all_layouts[] = {Layout::dense,          Layout::transposed,    Layout::spaced,  Layout::backwards,
                                  Layout::repeated_first, Layout::repeated_last, Layout::repeated};
std::string name_of(Layout layout);
/// The same elements laid out otherwise. A repeated layout has the elements at position 0 of an axis, or of all, for
/// all.
Tensor laid_out(const Tensor& x, Layout layout);

std::vector<double> numbers(const Tensor& x);
ref::Array array(const Tensor& x);

/// Whether two tensors agree, and if not, where they differ: |a - b| <= tolerance * (1 + |b|), nan and infinities equal
/// to themselves only.
std::string difference(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance);

// ---------------------------------------------------------------------------------------------------------------------
// Mapped functions

/// Sets of operands, as bits: all of them for up to four operands; beyond, each alone, all, and all but one.
std::vector<unsigned> subsets(std::size_t count);

/// How a function is mapped: over which operands, how many examples, and where their axis stands.
struct Mapping {
  unsigned subset;
  std::int64_t extent;
  enum class Place { front, back, mixed } place = Place::front;

  bool maps(std::size_t i) const { return (subset >> i & 1) != 0; }
  /// The place of the examples' axis in operand i, which has `rank` axes without it; not negative.
  int place_in(std::size_t i, int rank) const;
  int place_in_result(int rank) const { return place == Place::back ? rank : 0; }
  std::string describe() const;
};

/// The function under vmap. Its operands have the examples' axis where the mapping says; results of mixed places have
/// it named.
Subject mapped(const Subject& subject, const Mapping& mapping);
Axis example_axis();

/// `x` with an axis in front moved to another place.
Tensor with_first_at(const Tensor& x, int place);

}  // namespace op_table
