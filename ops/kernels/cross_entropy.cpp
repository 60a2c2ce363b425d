// Short rows a group at a time, one row to a lane; long rows one after the other along the lanes (rows.hpp).
//
// logsumexp(x) - x is formed as log(sum) - (x - shift), which keeps the digits of rows far from 0.
#include "ops/kernels/cross_entropy.hpp"

#include "ops/kernels/rows.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

template <class T>
Lanes<T> shift_of_row(std::int64_t n, const T* x) {
  return shift_for(Lanes<T>(largest(n, x)));
}

template <class T>
T sum_of_exp(std::int64_t n, const T* x, Lanes<T> shift) {
  return sum_terms<T>(n, [=](std::int64_t i, auto lanes) { return exp_of_shifted(load_some(x + i, lanes) - shift); });
}

template <class T>
[[gnu::always_inline]] inline Lanes<T> weighted(Lanes<T> label, Lanes<T> negative_log) {
  return select(label == 0, 0, label * negative_log);
}

/// ct * (e * scale - label).
template <class T>
[[gnu::always_inline]] inline Lanes<T> gradient(Lanes<T> ct, Lanes<T> e, Lanes<T> scale, Lanes<T> label) {
  return select(ct == 0, 0, ct * fma(e, scale, -label));
}

template <class T, class Count>
[[gnu::always_inline]] inline Lanes<T> load_strided(const T* from, std::int64_t first, std::int64_t stride,
                                                    Count lanes) {
  return stride == 0 ? Lanes<T>(*from) : load_some(from + first, lanes);
}

/// Labels of rows whose classes are few, as integers as wide as T.
template <class T, class Index, class Count>
[[gnu::always_inline]] inline Lanes<bits_of<T>> load_indices(const Index* from, Count count) {
  Lanes<bits_of<T>> indices = 0;
  for_each_below(
      Constant<Lanes<T>::width>{}, [&](int lane) __attribute__((always_inline)) {
        indices.r[lane] = static_cast<bits_of<T>>(from[std::min(lane, count - 1)]);
      });
  return indices;
}

template <class T>
[[gnu::always_inline]] inline Mask<T> stands_at(Lanes<bits_of<T>> indices, int column) {
  return Mask<T>((indices == Lanes<bits_of<T>>(column)).r);
}

}  // namespace

template <class T>
void cross_entropy(const T* logits, const T* labels, std::int64_t label_row_stride, T* loss, std::int64_t rows,
                   std::int64_t classes) {
  if (classes == 0) {
    std::fill_n(loss, rows, T{});
    return;
  }
  struct Started {
    Columns<T> x;
    ShiftedExp<T> exp;
  };
  const auto begin = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Started started;
    Columns<T> e;
    load_columns(logits + first * n, n, n, lanes, started.x);
    started.exp = exponentiate(n, started.x, e);
    return started;
  };
  const auto finish = [=](auto n, std::int64_t first, auto lanes, const Started& started)
      __attribute__((always_inline)) {
    Columns<T> label;
    load_columns(labels + first * label_row_stride, label_row_stride, n, lanes, label);
    const Lanes<T> log_sum = log_of_sum(started.exp.sum);
    Lanes<T> total = T{};
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) {
          total += weighted(label[c], log_sum - (started.x[c] - started.exp.shift));
        });
    store_some(total, loss + first, lanes);
  };
  const auto row = [=](std::int64_t r) {
    const T* const x = logits + r * classes;
    const T* const label = labels + r * label_row_stride;
    const Lanes<T> shift = shift_of_row(classes, x);
    const Lanes<T> log_sum = math::log(sum_of_exp(classes, x, shift));
    loss[r] = sum_terms<T>(classes, [&](std::int64_t i, auto lanes) {
      return weighted(load_some(label + i, lanes), log_sum - (load_some(x + i, lanes) - shift));
    });
  };
  for_each_row<T>(rows, classes, exp_grain, TwoSteps{begin, finish}, row);
}

template <class T>
void cross_entropy_backward(const T* ct, std::int64_t ct_stride, const T* logits, const T* labels,
                            std::int64_t label_row_stride, T* dlogits, std::int64_t rows, std::int64_t classes) {
  if (classes == 0) return;
  struct Started {
    Columns<T> e;
    Lanes<T> sum;
  };
  const auto begin = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Started started;
    load_columns(logits + first * n, n, n, lanes, started.e);
    started.sum = exponentiate(n, started.e, started.e).sum;
    return started;
  };
  const auto finish = [=](auto n, std::int64_t first, auto lanes, const Started& started)
      __attribute__((always_inline)) {
    Columns<T> label;
    load_columns(labels + first * label_row_stride, label_row_stride, n, lanes, label);
    Lanes<T> weight = T{};
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) { weight += label[c]; });
    const Lanes<T> scale = weight / started.sum;
    const Lanes<T> ct_lanes = load_strided(ct, first, ct_stride, lanes);
    for_each_below(
        n, [&](auto c)
               __attribute__((always_inline)) { label[c] = gradient(ct_lanes, started.e[c], scale, label[c]); });
    store_columns(label, dlogits + first * n, n, lanes);
  };
  const auto row = [=](std::int64_t r) {
    const T* const x = logits + r * classes;
    const T* const label = labels + r * label_row_stride;
    T* const dx = dlogits + r * classes;
    const Lanes<T> shift = shift_of_row(classes, x);
    const T sum = sum_terms<T>(classes, [&](std::int64_t i, auto lanes) {
      const Lanes<T> e = exp_of_shifted(load_some(x + i, lanes) - shift);
      store_some(e, dx + i, lanes);
      return e;
    });
    const T weight = sum_terms<T>(classes, [&](std::int64_t i, auto lanes) { return load_some(label + i, lanes); });
    const Lanes<T> scale = weight / sum, ct_lanes = ct[r * ct_stride];
    store_terms<T>(classes, dx, [&](std::int64_t i, auto lanes) {
      return gradient(ct_lanes, load_some(dx + i, lanes), scale, load_some(label + i, lanes));
    });
  };
  for_each_row<T>(rows, classes, exp_grain, TwoSteps{begin, finish}, row);
}

template <class T, class Index>
void cross_entropy_of_classes(const T* logits, const Index* labels, T* loss, std::int64_t rows, std::int64_t classes) {
  if (classes == 0) return;
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> x, e;
    load_columns(logits + first * n, n, n, lanes, x);
    const auto [shift, sum] = exponentiate(n, x, e);
    const auto index = load_indices<T>(labels + first, lanes);
    Lanes<T> picked = x[0];
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) { picked = select(stands_at<T>(index, c), x[c], picked); });
    store_some(log_of_sum(sum) - (picked - shift), loss + first, lanes);
  };
  const auto row = [=](std::int64_t r) {
    const T* const x = logits + r * classes;
    const Lanes<T> shift = shift_of_row(classes, x);
    loss[r] = math::log(sum_of_exp(classes, x, shift)) - (x[labels[r]] - shift[0]);
  };
  for_each_row<T>(rows, classes, exp_grain, group, row);
}

template <class T, class Index>
void cross_entropy_of_classes_backward(const T* ct, std::int64_t ct_stride, const T* logits, const Index* labels,
                                       T* dlogits, std::int64_t rows, std::int64_t classes) {
  if (classes == 0) return;
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> e;
    load_columns(logits + first * n, n, n, lanes, e);
    const Lanes<T> scale = 1 / exponentiate(n, e, e).sum;
    const auto index = load_indices<T>(labels + first, lanes);
    const Lanes<T> ct_lanes = load_strided(ct, first, ct_stride, lanes);
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) {
          e[c] = gradient(ct_lanes, e[c], scale, select(stands_at<T>(index, c), 1, 0));
        });
    store_columns(e, dlogits + first * n, n, lanes);
  };
  const auto row = [=](std::int64_t r) {
    const T* const x = logits + r * classes;
    T* const dx = dlogits + r * classes;
    const Lanes<T> shift = shift_of_row(classes, x);
    const T sum = sum_terms<T>(classes, [&](std::int64_t i, auto lanes) {
      const Lanes<T> e = exp_of_shifted(load_some(x + i, lanes) - shift);
      store_some(e, dx + i, lanes);
      return e;
    });
    const Lanes<T> scale = 1 / sum, ct_lanes = ct[r * ct_stride];
    const T at_label = dx[labels[r]];
    store_terms<T>(classes, dx, [&](std::int64_t i, auto lanes) {
      return gradient(ct_lanes, load_some(dx + i, lanes), scale, Lanes<T>(T{}));
    });
    dx[labels[r]] = gradient(ct_lanes, Lanes<T>(at_label), scale, Lanes<T>(T{1}))[0];
  };
  for_each_row<T>(rows, classes, exp_grain, group, row);
}

template void cross_entropy(const float*, const float*, std::int64_t, float*, std::int64_t, std::int64_t);
template void cross_entropy(const double*, const double*, std::int64_t, double*, std::int64_t, std::int64_t);
template void cross_entropy_backward(const float*, std::int64_t, const float*, const float*, std::int64_t, float*,
                                     std::int64_t, std::int64_t);
template void cross_entropy_backward(const double*, std::int64_t, const double*, const double*, std::int64_t, double*,
                                     std::int64_t, std::int64_t);
template void cross_entropy_of_classes(const float*, const std::int32_t*, float*, std::int64_t, std::int64_t);
template void cross_entropy_of_classes(const float*, const std::int64_t*, float*, std::int64_t, std::int64_t);
template void cross_entropy_of_classes(const double*, const std::int32_t*, double*, std::int64_t, std::int64_t);
template void cross_entropy_of_classes(const double*, const std::int64_t*, double*, std::int64_t, std::int64_t);
template void cross_entropy_of_classes_backward(const float*, std::int64_t, const float*, const std::int32_t*, float*,
                                                std::int64_t, std::int64_t);
template void cross_entropy_of_classes_backward(const float*, std::int64_t, const float*, const std::int64_t*, float*,
                                                std::int64_t, std::int64_t);
template void cross_entropy_of_classes_backward(const double*, std::int64_t, const double*, const std::int32_t*,
                                                double*, std::int64_t, std::int64_t);
template void cross_entropy_of_classes_backward(const double*, std::int64_t, const double*, const std::int64_t*,
                                                double*, std::int64_t, std::int64_t);

}  // namespace tlaloc::inline v0::kernels
