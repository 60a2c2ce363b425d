// The two facts that make a derivative right, for any function.
#pragma once

#include "tests/op_subjects.hpp"

namespace op_table {

/// Forward mode gives what differences of the function show (in f64, to about eight digits).
void expect_forward_is_difference(const Subject& subject);
/// Reverse mode is the transpose of forward mode: <cotangent, J tangent> = <J' cotangent, tangent>, to rounding.
/// Gradients and tangents have the shapes, names and dtypes of what they belong to.
void expect_reverse_is_adjoint(const Subject& subject, DType dtype);

}  // namespace op_table
