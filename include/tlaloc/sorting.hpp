// Sorting along an axis.
//
// nan counts as larger than every number (so it comes last, as in NumPy, and first in descending order), and 0 equals
// -0. Equal elements keep their order, in both directions. The derivative goes by position: an element's cotangent is
// that of the place it was sorted to. Indices are i64 and have none.
//
// All throw AxisError for an axis that is not there.
#pragma once

#include <cstdint>

#include <tlaloc/export.hpp>
#include <tlaloc/reduce.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

enum class Descending : bool { no, yes };

/// The elements in order.
TLALOC_API Tensor sort(const Tensor& x, AxisRef axis = -1, Descending descending = Descending::no);
/// Where along the axis each element of sort(x) stands in x.
TLALOC_API Tensor argsort(const Tensor& x, AxisRef axis = -1, Descending descending = Descending::no);
TLALOC_API ValuesAndIndices sort_with_indices(const Tensor& x, AxisRef axis = -1,
                                              Descending descending = Descending::no);

/// The first k of sort_with_indices(x): the k largest in descending order, or (Descending::no) the k smallest in
/// ascending order. ValueError unless 0 <= k <= the axis's extent.
///     topk(x [batch 16, klass 10], 3, klass).values    // [batch 16, klass 3]
TLALOC_API ValuesAndIndices topk(const Tensor& x, std::int64_t k, AxisRef axis = -1,
                                 Descending descending = Descending::yes);

}  // namespace tlaloc::inline v0
