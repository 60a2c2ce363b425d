// Loss functions.
#pragma once

#include <tlaloc/export.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

/// The cross-entropy between softmax(logits) and labels along the class axis (the last, unless another is given), which
/// goes away: -sum(labels * log_softmax(logits)).
///   logits  floats, [..., classes]
///   labels  floats of the same shape (one-hot rows, or any weights), or integers of one rank less: class indices
/// A weight of exactly 0 contributes 0 even where the logit is -inf. ValueError for an index outside [0, classes).
///     cross_entropy(logits [batch 16, class 3], labels [batch 16, class 3])   // [batch 16]
TLALOC_API Tensor cross_entropy(const Tensor& logits, const Tensor& labels, AxisRef axis = -1);

}  // namespace tlaloc::inline v0
