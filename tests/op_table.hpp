// The op table: one row for every public operation, from which op_checks.hpp generates what an operation owes its user.
//
// A row has cases and errors. A case is one way to call the operation (shapes, axes, numbers that go with it), with
// what it should give: a naive reference over doubles, and the results' shapes with their names. An error is a bad call
// and the exception it deserves. A new operation needs a row, and nothing else, to be checked for values, derivatives
// of all kinds and batching; a test fails for operations without one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/reference.hpp"

namespace op_table {

using namespace tlaloc;

using Tensors = std::vector<Tensor>;
/// Everything that is checked has this one type, so that no transform is compiled more than once.
using Function = std::function<Tensors(const Tensors&)>;
using Reference = std::function<ref::Arrays(const ref::Arrays&)>;

/// An operand: what it looks like and which numbers the operation is made for. All numbers drawn for a case are
/// distinct, none is 0, and bounds keep them away from where derivatives do not exist.
struct Input {
  enum class Kind {
    real,   // takes every dtype in turn
    truth,  // bool
    index,  // i64, in [low, high)
  };
  Shape shape;
  double low = -2;
  double high = 2;
  Kind kind = Kind::real;
  std::optional<DType> dtype{};  // where the operand does not take every dtype
};

/// The dtype of results, from that of the real operands.
enum class Types {
  floats,   // bool and integers become f32
  numbers,  // bool becomes i32
  sums,     // bool and i32 become i64
  any,      // the same
  truth,    // bool
  made,     // there are no operands: every case says its own
};

struct Case {
  std::string label;  // letters, digits and '_'
  std::vector<Input> inputs;
  Function call;
  Reference reference;
  std::vector<Shape> results;
  std::optional<DType> dtype{};  // of all results, where the row's rule does not hold
  bool smooth = true;            // false: differences do not show the derivative: values are rounded inside, or nan
  bool large = false;            // for kernels that work differently from some size on: too large for every check
  std::optional<Types> types{};  // in the place of the row's
};

/// Which exception a bad call deserves.
enum class Fault { shape, axis, dtype, value, size };

struct BadCall {
  std::string label;
  Tensors inputs;
  Function call;
  Fault fault;
};

struct Row {
  std::string name;
  Types types = Types::floats;
  std::vector<Case> cases{};
  std::vector<BadCall> errors{};
  bool differentiable = true;
  bool promotes = false;  // all real operands go to one dtype
  /// Of elementwise operations: the function, right for inf and nan too. The first case calls it with tensors of one
  /// shape.
  std::function<double(const double*)> scalar{};
  bool signed_zeros = true;  // false: NumPy does not say which of 0 and -0 it is
};

/// All rows.
const std::vector<Row>& rows();

// ---------------------------------------------------------------------------------------------------------------------
// What the table's files share

/// The axes that cases use.
struct Axes {
  Axis b{"b"}, f{"f"}, h{"h"};
};
const Axes& axes();

inline Input real(const Shape& shape) { return {shape}; }
inline Input positive(const Shape& shape) { return {shape, 0.5, 3}; }
inline Input truth(const Shape& shape) { return {shape, 0, 1, Input::Kind::truth}; }
inline Input index(const Shape& shape, double end) { return {shape, 0, end, Input::Kind::index}; }

/// Operands for errors.
inline Tensor some(const Shape& shape, DType dtype = DType::f32) { return ones(shape, dtype); }

std::vector<Row> creation_rows();
std::vector<Row> elementwise_rows();
std::vector<Row> comparison_rows();
std::vector<Row> reduction_rows();
std::vector<Row> structure_rows();
std::vector<Row> product_rows();
std::vector<Row> everyday_rows();
std::vector<Row> statistics_rows();
std::vector<Row> arrange_rows();
std::vector<Row> indexing_rows();
std::vector<Row> window_rows();

}  // namespace op_table
