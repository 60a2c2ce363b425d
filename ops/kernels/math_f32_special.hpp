// Sine, cosine, error function and power in single precision, on Lanes<float>; the conventions are math_f32.hpp's.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/kernels/lanes.hpp"
#include "ops/kernels/math_f32.hpp"

namespace tlaloc::inline v0::kernels::math {

namespace detail {

/// Up to here a multiple of pi / 2 in three parts reduces the argument without loss.
inline constexpr float trig_limit = 0x1p17f;

/// sin(x + quarter_turns pi / 2) for |x| <= trig_limit.
[[gnu::always_inline]] inline F32 sin_turned(F32 x, int quarter_turns) {
  constexpr float shift = 0x1.8p23f;
  const F32 shifted = fma(x, 0x1.45f306p-1f, shift);
  const F32 n = shifted - shift;
  F32 r = fma(n, -0x1.921fb6p+0f, x);
  r = fma(n, 0x1.777a5cp-25f, r);
  r = fma(n, 0x1.ee59dap-50f, r);
  const F32 r2 = r * r;
  const F32 sin_tail = horner(r2, -0.166666552f, 0.00833218917f, -0.000195182845f);
  const F32 cos_tail = horner(r2, 0.0416666456f, -0.00138873095f, 2.44323273e-05f);
  const F32 sin_r = fma(r * r2, sin_tail, r);
  const F32 cos_r = fma(r2 * r2, cos_tail, fma(r2, -0.5f, 1));
  const I32 quadrant = bits(shifted) + quarter_turns;
  const F32 y = select(Mask<float>(((quadrant & 1) == 0).r), sin_r, cos_r);
  return from_bits(bits(y) ^ ((quadrant & 2) << 30));
}

/// `y` with the lanes in which x is large, infinite or nan computed by the C library instead.
template <class F>
[[gnu::noinline]] F32 redo_large(F32 x, F32 y, F scalar) {
  for (int lane = 0; lane < F32::width; ++lane)
    if (!(std::abs(x[lane]) <= trig_limit)) y.r[lane] = scalar(x[lane]);
  return y;
}

using F64 = Lanes<double>;
using I64 = Lanes<std::int64_t>;

/// exp2(y log2(x)) for x a positive normal number, 0 or infinite, in double precision to about 2^-32.
[[gnu::always_inline]] inline F64 power(F64 x, F64 y) {
  constexpr int mantissa_bits64 = 52;
  constexpr std::int64_t one = 0x3ff0000000000000;
  constexpr std::int64_t sqrt_half = 0x3fe6a09e667f3bcd;
  constexpr std::int64_t two_52_bits = 0x4330000000000000;
  const auto number = [](I64 bits) { return bit_cast_lanes<double>(bits); };

  // x = 2^k m, m in [sqrt(1/2), sqrt(2)). The biased exponent is positive, and turns into a double by way of the low
  // bits of 2^52: there is neither a 64-bit arithmetic shift nor a conversion before AVX-512.
  const I64 biased = shift_right_logical(bits(x) + (one - sqrt_half), mantissa_bits64);
  const F64 k = number(biased | two_52_bits) - (0x1p52 + 1023);
  const F64 m = number(bits(x) - (biased << mantissa_bits64) + one);
  const F64 s = (m - 1) / (m + 1);
  const F64 z = s * s;
  const F64 p = horner(z, 0x1.71547652b8247p+1, 0x1.ec709dc543a66p-1, 0x1.2776c28d6aeddp-1, 0x1.a61a32977070bp-2,
                       0x1.4794cbdc28644p-2, 0x1.21b808803f1d0p-2);
  constexpr double inf64 = std::numeric_limits<double>::infinity();
  F64 log2 = fma(s, p, k);
  log2 = select(x == 0, -inf64, select(x < inf64, log2, x));

  // Whatever is beyond 2^+-200 overflows or vanishes in single precision.
  F64 t = y * log2;
  t = select(t > 200, 200, t);
  t = select(t < -200, -200, t);
  const F64 shifted = t + 0x1.8p52;
  const F64 r = t - (shifted - 0x1.8p52);
  const F64 r2 = r * r;
  const F64 q01 = fma(r, 0x1.62e42ffc8ff6ap-1, 0x1.ffffffffab9b5p-1);
  const F64 q23 = fma(r, 0x1.c6b0865cd3da2p-5, 0x1.ebfbe0a67e1e7p-3);
  const F64 q45 = fma(r, 0x1.5d850d1c16b95p-10, 0x1.3b29c1fb94731p-7);
  const F64 q67 = fma(r, 0x1.05a01b007be34p-16, 0x1.4487c23214de5p-13);
  const F64 q = fma(r2, fma(r2, fma(r2, q67, q45), q23), q01);
  return q * number((bits(shifted) << mantissa_bits64) + one);
}

}  // namespace detail

/// Within 1.6 ULP for every argument.
[[gnu::always_inline]] inline F32 sin(F32 x) {
  F32 y = select(x == 0, x, detail::sin_turned(x, 0));
  if (any(!(abs(x) <= detail::trig_limit))) [[unlikely]]
    y = detail::redo_large(x, y, [](float v) { return std::sin(v); });
  return y;
}

/// Within 1.6 ULP for every argument.
[[gnu::always_inline]] inline F32 cos(F32 x) {
  F32 y = detail::sin_turned(x, 1);
  if (any(!(abs(x) <= detail::trig_limit))) [[unlikely]]
    y = detail::redo_large(x, y, [](float v) { return std::cos(v); });
  return y;
}

/// Within 1.2 ULP.
[[gnu::always_inline]] inline F32 erf(F32 x) {
  const F32 a = detail::at_most(abs(x), 4);
  const F32 a2 = a * a;
  const F32 p = detail::horner(a2, 0.128379166f, -0.37612626f, 0.112835787f, -0.0268533472f, 0.0051871622f,
                               -0.00079978531f, 7.80690389e-05f);
  const F32 small = fma(a, p, a);
  // 1 - exp(q), where q approximates log(erfc(a)).
  const F32 q = detail::horner(a, -0.000341538049f, -1.12708914f, -0.63814491f, -0.10310667f, 0.0218380075f,
                               -0.00294763735f, 0.000186375823f);
  // Where a is nan, so is `small`.
  return copysign(select(a >= 1, 1 - detail::exp_normal(q), small), x);
}

/// x to the power y, within 0.6 ULP.
[[gnu::always_inline]] inline F32 pow(F32 x, F32 y) {
  const F32 a = abs(x);
  F32 z = join(narrow(detail::power(widen_low(a), widen_low(y))), narrow(detail::power(widen_high(a), widen_high(y))));
  z = select((a == 1) & (y == y), 1, z);
  // A negative number has real powers at integers only; the sign stays at odd ones.
  const F32 half_y = y * 0.5f;
  const Mask<float> integer = floor(y) == y;
  const Mask<float> odd = integer & (floor(half_y) != half_y);
  z = detail::from_bits(bits(z) ^ (select(Mask<std::int32_t>(odd.r), bits(x), 0) & detail::sign_bit));
  z = select((x < 0) & (x > -detail::inf) & !integer, detail::nan, z);
  return select((y == 0) | (x == 1), 1, z);
}

}  // namespace tlaloc::inline v0::kernels::math
