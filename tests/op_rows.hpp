// Makers of rows for whole kinds of operations: a row of such an operation is its name, its types and a reference.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/op_table.hpp"

namespace op_table {

// Element by element (op_table_elementwise.cpp).

using Scalars = std::function<double(const double*)>;

Reference by_position(const Scalars& f);
/// The operands' errors that all operations of two tensors have.
std::vector<BadCall> errors_of_two(const Function& call);
/// `left` and `right` say which numbers the operation takes.
Row row_of_two(const std::string& name, Types types, const Input& left, const Input& right,
               Tensor (*op)(const Tensor&, const Tensor&), const Scalars& f);
Row row_of_one(const std::string& name, Types types, const Input& domain, Tensor (*op)(const Tensor&),
               const std::function<double(double)>& f);
/// Ways to call an operation with tensors and numbers in it: by a function, by an operator.
void add_ways(Row& row, const Input& input,
              std::initializer_list<std::pair<const char*, Tensor (*)(const Tensor&)>> ways,
              const std::vector<Scalars>& references);

// Reductions (op_table_reduce.cpp).

using Reduction = Tensor (*)(const Tensor&, const AxisList&, Keep);
using Line = std::function<double(const std::vector<double>&)>;
enum class OfNothing { defined, refused };

/// A reduction along any number of axes.
Row row_of_reduction(const std::string& name, Types types, Reduction op, const Line& f, OfNothing of_nothing);
/// One along one axis that gives an element and where it stands; `place` finds the position.
Row row_with_indices(const std::string& name, ValuesAndIndices (*op)(const Tensor&, AxisRef, Keep), const Line& place);

}  // namespace op_table
