// Running sums and products along an axis: each element of the result is made of those up to its place, itself included
// (or, with Reverse::yes, of those from its place on).
//
// Results have the operand's shape and names. All throw AxisError for an axis that is not there, and have derivatives
// of every order.
#pragma once

#include <tlaloc/export.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

enum class Reverse : bool { no, yes };

/// Sums, added one after the other. Integers and bools are summed as i64.
TLALOC_API Tensor cumsum(const Tensor& x, AxisRef axis, Reverse reverse = Reverse::no);
/// Products. Integers and bools are multiplied as i64. Derivatives are exact where elements are 0: nothing is divided.
TLALOC_API Tensor cumprod(const Tensor& x, AxisRef axis, Reverse reverse = Reverse::no);
/// log(cumsum(exp(x))) without overflow. -inf as long as there is nothing but -inf (with gradient 0), +inf from the
/// first +inf on (which gets the gradient).
TLALOC_API Tensor logcumsumexp(const Tensor& x, AxisRef axis, Reverse reverse = Reverse::no);

}  // namespace tlaloc::inline v0
