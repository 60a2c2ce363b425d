// Short rows a group at a time, one row to a lane; long rows one after the other along the lanes (rows.hpp).
#include "ops/kernels/softmax.hpp"

#include <limits>

#include "ops/kernels/rows.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// ct * exp(x - lse), with what logsumexp_backward says of infinite lse and of ct == 0. `ties`: how many x are +inf.
template <class T>
[[gnu::always_inline]] inline Lanes<T> share_of(Lanes<T> x, Lanes<T> lse, Lanes<T> ct, Lanes<T> ties) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  Lanes<T> share = exp_of_shifted(x - lse);
  share = select(lse == -inf, 0, share);
  share = select(lse == inf, select(x == inf, 1 / ties, 0), share);
  return select(ct == 0, 0, ct * share);
}

template <class T>
[[gnu::always_inline]] inline Lanes<T> is_infinite(Lanes<T> x) {
  return select(x == std::numeric_limits<T>::infinity(), 1, 0);
}

}  // namespace

template <class T>
void softmax(const T* x, T* y, std::int64_t rows, std::int64_t count) {
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> e;
    load_columns(x + first * n, n, n, lanes, e);
    const Lanes<T> scale = 1 / exponentiate(n, e, e).sum;
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) { e[c] *= scale; });
    store_columns(e, y + first * n, n, lanes);
  };
  const auto row = [=](std::int64_t r) {
    const T* const x_row = x + r * count;
    T* const y_row = y + r * count;
    const Lanes<T> shift = shift_for(Lanes<T>(largest(count, x_row)));
    const T sum = sum_terms<T>(count, [&](std::int64_t i, auto lanes) {
      const Lanes<T> e = exp_of_shifted(load_some(x_row + i, lanes) - shift);
      store_some(e, y_row + i, lanes);
      return e;
    });
    const Lanes<T> scale = 1 / sum;
    store_terms<T>(count, y_row, [&](std::int64_t i, auto lanes) { return load_some(y_row + i, lanes) * scale; });
  };
  if (count != 0) for_each_row<T>(rows, count, exp_grain, group, row);
}

template <class T>
void log_softmax(const T* x, T* y, std::int64_t rows, std::int64_t count) {
  // Subtracting the shift first, and not with the logarithm, keeps the digits of rows far from 0.
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> columns, e;
    load_columns(x + first * n, n, n, lanes, columns);
    const auto [shift, sum] = exponentiate(n, columns, e);
    const Lanes<T> log_sum = log_of_sum(sum);
    for_each_below(
        n, [&, shift = shift ](auto c) __attribute__((always_inline)) { columns[c] = (columns[c] - shift) - log_sum; });
    store_columns(columns, y + first * n, n, lanes);
  };
  const auto row = [=](std::int64_t r) {
    const T* const x_row = x + r * count;
    const Lanes<T> shift = shift_for(Lanes<T>(largest(count, x_row)));
    const T sum = sum_terms<T>(
        count, [&](std::int64_t i, auto lanes) { return exp_of_shifted(load_some(x_row + i, lanes) - shift); });
    const Lanes<T> log_sum = math::log(sum);
    store_terms<T>(count, y + r * count,
                   [&](std::int64_t i, auto lanes) { return (load_some(x_row + i, lanes) - shift) - log_sum; });
  };
  if (count != 0) for_each_row<T>(rows, count, exp_grain, group, row);
}

template <class T>
void softmax_backward(const T* y, const T* ct, T* dx, std::int64_t rows, std::int64_t count) {
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> y_columns, ct_columns;
    load_columns(y + first * n, n, n, lanes, y_columns);
    load_columns(ct + first * n, n, n, lanes, ct_columns);
    Lanes<T> dot = T{};
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) { dot = fma(ct_columns[c], y_columns[c], dot); });
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) { ct_columns[c] = y_columns[c] * (ct_columns[c] - dot); });
    store_columns(ct_columns, dx + first * n, n, lanes);
  };
  const auto row = [=](std::int64_t r) {
    const T* const y_row = y + r * count;
    const T* const ct_row = ct + r * count;
    const Lanes<T> dot = sum_terms<T>(
        count, [&](std::int64_t i, auto lanes) { return load_some(ct_row + i, lanes) * load_some(y_row + i, lanes); });
    store_terms<T>(count, dx + r * count, [&](std::int64_t i, auto lanes) {
      return load_some(y_row + i, lanes) * (load_some(ct_row + i, lanes) - dot);
    });
  };
  if (count != 0) for_each_row<T>(rows, count, exp_grain, group, row);
}

template <class T>
void log_softmax_backward(const T* y, const T* ct, T* dx, std::int64_t rows, std::int64_t count) {
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> y_columns, ct_columns;
    load_columns(y + first * n, n, n, lanes, y_columns);
    load_columns(ct + first * n, n, n, lanes, ct_columns);
    Lanes<T> sum = T{};
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) { sum += ct_columns[c]; });
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) {
          ct_columns[c] = fma(-exp_of_shifted(y_columns[c]), sum, ct_columns[c]);
        });
    store_columns(ct_columns, dx + first * n, n, lanes);
  };
  const auto row = [=](std::int64_t r) {
    const T* const y_row = y + r * count;
    const T* const ct_row = ct + r * count;
    const Lanes<T> total =
        sum_terms<T>(count, [&](std::int64_t i, auto lanes) { return load_some(ct_row + i, lanes); });
    store_terms<T>(count, dx + r * count, [&](std::int64_t i, auto lanes) {
      return fma(-exp_of_shifted(load_some(y_row + i, lanes)), total, load_some(ct_row + i, lanes));
    });
  };
  if (count != 0) for_each_row<T>(rows, count, exp_grain, group, row);
}

template <class T>
void logsumexp_backward(const T* x, const T* lse, const T* ct, T* dx, std::int64_t rows, std::int64_t count) {
  const auto group = [=](auto n, std::int64_t first, auto lanes) __attribute__((always_inline)) {
    Columns<T> columns;
    load_columns(x + first * n, n, n, lanes, columns);
    const Lanes<T> lse_lanes = load_some(lse + first, lanes), ct_lanes = load_some(ct + first, lanes);
    Lanes<T> ties = T{};
    for_each_below(
        n, [&](auto c) __attribute__((always_inline)) { ties += is_infinite(columns[c]); });
    for_each_below(
        n, [&](auto c)
               __attribute__((always_inline)) { columns[c] = share_of(columns[c], lse_lanes, ct_lanes, ties); });
    store_columns(columns, dx + first * n, n, lanes);
  };
  const auto row = [=](std::int64_t r) {
    const T* const x_row = x + r * count;
    const Lanes<T> lse_lanes = lse[r], ct_lanes = ct[r];
    Lanes<T> ties = T{1};
    if (lse[r] == std::numeric_limits<T>::infinity())
      ties = sum_terms<T>(count, [&](std::int64_t i, auto lanes) { return is_infinite(load_some(x_row + i, lanes)); });
    store_terms<T>(count, dx + r * count, [&](std::int64_t i, auto lanes) {
      return share_of(load_some(x_row + i, lanes), lse_lanes, ct_lanes, ties);
    });
  };
  if (count != 0) for_each_row<T>(rows, count, exp_grain, group, row);
}

template void softmax(const float*, float*, std::int64_t, std::int64_t);
template void softmax(const double*, double*, std::int64_t, std::int64_t);
template void log_softmax(const float*, float*, std::int64_t, std::int64_t);
template void log_softmax(const double*, double*, std::int64_t, std::int64_t);
template void softmax_backward(const float*, const float*, float*, std::int64_t, std::int64_t);
template void softmax_backward(const double*, const double*, double*, std::int64_t, std::int64_t);
template void log_softmax_backward(const float*, const float*, float*, std::int64_t, std::int64_t);
template void log_softmax_backward(const double*, const double*, double*, std::int64_t, std::int64_t);
template void logsumexp_backward(const float*, const float*, const float*, float*, std::int64_t, std::int64_t);
template void logsumexp_backward(const double*, const double*, const double*, double*, std::int64_t, std::int64_t);

}  // namespace tlaloc::inline v0::kernels
