// atan2 on Lanes<float> and Lanes<double>: SLEEF's, within 1 ULP; infinities and signed zeros as in C's Annex F.
#pragma once

#include <sleef.h>

#include "ops/kernels/lanes.hpp"

namespace tlaloc::inline v0::kernels::math {

#if defined(__AVX2__) && defined(__FMA__)
inline Lanes<float> atan2(Lanes<float> y, Lanes<float> x) { return Lanes<float>(Sleef_atan2f8_u10avx2(y.r, x.r)); }
inline Lanes<double> atan2(Lanes<double> y, Lanes<double> x) { return Lanes<double>(Sleef_atan2d4_u10avx2(y.r, x.r)); }
#else
inline Lanes<float> atan2(Lanes<float> y, Lanes<float> x) {
  for (int lane = 0; lane < Lanes<float>::width; ++lane) y.r[lane] = Sleef_atan2f_u10(y.r[lane], x.r[lane]);
  return y;
}
inline Lanes<double> atan2(Lanes<double> y, Lanes<double> x) {
  for (int lane = 0; lane < Lanes<double>::width; ++lane) y.r[lane] = Sleef_atan2_u10(y.r[lane], x.r[lane]);
  return y;
}
#endif

}  // namespace tlaloc::inline v0::kernels::math
