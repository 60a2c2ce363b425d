// The functions of math.hpp in double precision, on Lanes<double>: SLEEF's, and what SLEEF lacks or gets wrong composed
// from them. Bounds are those found on samples against long double: 1 ULP, but 1.1 for tanh, 1.2 for erf, and what is
// said beside the function.
#pragma once

#include <sleef.h>

#include <cmath>
#include <limits>

#include "ops/kernels/lanes.hpp"

namespace tlaloc::inline v0::kernels::math {

using F64 = Lanes<double>;

namespace detail {
#if defined(__AVX2__) && defined(__FMA__)
inline F64 sleef_exp(F64 x) { return F64(Sleef_expd4_u10avx2(x.r)); }
inline F64 sleef_pow(F64 x, F64 y) { return F64(Sleef_powd4_u10avx2(x.r, y.r)); }
inline F64 sleef_log1p(F64 x) { return F64(Sleef_log1pd4_u10avx2(x.r)); }
inline F64 sleef_sin(F64 x) { return F64(Sleef_sind4_u10avx2(x.r)); }
inline F64 sleef_cos(F64 x) { return F64(Sleef_cosd4_u10avx2(x.r)); }
#else
inline F64 sleef_exp(F64 x) { return map_lanes(x, Sleef_exp_u10); }
inline F64 sleef_pow(F64 x, F64 y) {
  for (int lane = 0; lane < F64::width; ++lane) x.r[lane] = Sleef_pow_u10(x.r[lane], y.r[lane]);
  return x;
}
inline F64 sleef_log1p(F64 x) { return map_lanes(x, Sleef_log1p_u10); }
inline F64 sleef_sin(F64 x) { return map_lanes(x, Sleef_sin_u10); }
inline F64 sleef_cos(F64 x) { return map_lanes(x, Sleef_cos_u10); }
#endif

/// SLEEF reduces all arguments of a sine as the largest of them needs, which shows in the last bit of the others. Here
/// each lane meets only lanes of its own magnitude.
template <class F>
inline F64 by_magnitude(F64 x, F f) {
  const auto small = abs(x) < 15;
  if (all(small)) [[likely]]
    return f(x);
  const auto medium = !small & (abs(x) < 1e6);
  F64 y = select(small, f(select(small, x, 0)), f(select(medium, x, 16)));
  for (int lane = 0; lane < F64::width; ++lane)
    if (!small[lane] && !medium[lane]) y.r[lane] = f(F64(x[lane]))[0];
  return y;
}
}  // namespace detail

#if defined(__AVX2__) && defined(__FMA__)
inline F64 expm1(F64 x) { return F64(Sleef_expm1d4_u10avx2(x.r)); }
inline F64 log(F64 x) { return F64(Sleef_logd4_u10avx2(x.r)); }
inline F64 tanh(F64 x) { return F64(Sleef_tanhd4_u10avx2(x.r)); }
inline F64 erf(F64 x) { return F64(Sleef_erfd4_u10avx2(x.r)); }
#else
inline F64 expm1(F64 x) { return map_lanes(x, Sleef_expm1_u10); }
inline F64 log(F64 x) { return map_lanes(x, Sleef_log_u10); }
inline F64 tanh(F64 x) { return map_lanes(x, Sleef_tanh_u10); }
inline F64 erf(F64 x) { return map_lanes(x, Sleef_erf_u10); }
#endif

/// SLEEF's overflows where the result is within a few millionths of the largest number; the C library's does not.
inline F64 exp(F64 x) {
  F64 y = detail::sleef_exp(x);
  const auto close = (x > 709) & (x < 710);
  if (any(close)) [[unlikely]]
    for (int lane = 0; lane < F64::width; ++lane)
      if (close[lane]) y.r[lane] = std::exp(x[lane]);
  return y;
}

/// As exp.
inline F64 pow(F64 x, F64 y) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  F64 z = detail::sleef_pow(x, y);
  const auto overflow = (abs(z) == inf) & (abs(x) < inf) & (abs(y) < inf);
  if (any(overflow)) [[unlikely]]
    for (int lane = 0; lane < F64::width; ++lane)
      if (overflow[lane]) z.r[lane] = std::pow(x[lane], y[lane]);
  return z;
}

inline F64 sin(F64 x) { return detail::by_magnitude(x, detail::sleef_sin); }
inline F64 cos(F64 x) { return detail::by_magnitude(x, detail::sleef_cos); }

/// SLEEF's gives infinity from 1e307 on, and 0 for the smallest subnormal numbers.
inline F64 log1p(F64 x) {
  F64 y = select(abs(x) < 0x1p-60, x, detail::sleef_log1p(x));
  if (any(x > 0x1p1000)) [[unlikely]]
    y = select(x > 0x1p1000, log(x), y);
  return y;
}

/// 1 / (1 + exp(-x)), within 2.5 ULP.
inline F64 sigmoid(F64 x) {
  const F64 e = exp(-abs(x));
  return select(x < 0, e, 1) / (1 + e);
}

/// log(1 + exp(x)), within 2 ULP.
inline F64 softplus(F64 x) { return select(x > 0, x, 0) + log1p(exp(-abs(x))); }

/// log(sigmoid(x)), within 2 ULP.
inline F64 log_sigmoid(F64 x) { return -softplus(-x); }

}  // namespace tlaloc::inline v0::kernels::math
