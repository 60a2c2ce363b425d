// Softmax cross-entropy fused, forward and backward, for labels that are rows of weights or class indices.
//
// Logits and their gradients are dense, [rows, classes]; losses are dense, [rows]; outputs overlap no input. Extents
// may be 0. A row's result depends on that row alone, bit for bit. T is float or double, Index int32_t or int64_t.
#pragma once

#include <cstdint>

namespace tlaloc::inline v0::kernels {

/// loss = sum over the classes of labels * (logsumexp(logits) - logits). A label of 0 contributes 0 whatever its logit.
/// Row r of the labels begins at labels + r * label_row_stride; stride 0 is one row for all.
template <class T>
void cross_entropy(const T* logits, const T* labels, std::int64_t label_row_stride, T* loss, std::int64_t rows,
                   std::int64_t classes);

/// dlogits = ct * (softmax(logits) * sum(labels) - labels), each row by itself, and 0 where ct is 0 whatever the rest.
/// Row r's cotangent is ct[r * ct_stride].
template <class T>
void cross_entropy_backward(const T* ct, std::int64_t ct_stride, const T* logits, const T* labels,
                            std::int64_t label_row_stride, T* dlogits, std::int64_t rows, std::int64_t classes);

/// loss = logsumexp(logits) - logits[label], with `labels` dense, [rows], each in [0, classes).
template <class T, class Index>
void cross_entropy_of_classes(const T* logits, const Index* labels, T* loss, std::int64_t rows, std::int64_t classes);

/// dlogits = ct * (softmax(logits) - one_hot(label)), and 0 where ct is 0 whatever the rest.
template <class T, class Index>
void cross_entropy_of_classes_backward(const T* ct, std::int64_t ct_stride, const T* logits, const Index* labels,
                                       T* dlogits, std::int64_t rows, std::int64_t classes);

}  // namespace tlaloc::inline v0::kernels
