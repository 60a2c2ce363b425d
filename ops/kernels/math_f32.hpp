// Exponentials, logarithms and their relatives in single precision, on Lanes<float>. Bounds, in units in the last
// place, are what sweeps over the bit patterns found, rounded up (tests/internal/math_accuracy_test.cpp repeats a
// coarser one); infinities, nan, signed zeros and subnormal numbers are as in C's Annex F.
//
// Multiplications that feed an addition are written as fma, so that a compiler which fuses by itself finds nothing
// left to fuse, and the result is the same wherever the function is inlined.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "ops/kernels/lanes.hpp"

namespace tlaloc::inline v0::kernels::math {

using F32 = Lanes<float>;
using I32 = Lanes<std::int32_t>;

namespace detail {

inline constexpr float inf = std::numeric_limits<float>::infinity();
inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();

inline constexpr int mantissa_bits = 23;
inline constexpr std::int32_t one_bits = 0x3f800000;
inline constexpr std::int32_t sign_bit = std::numeric_limits<std::int32_t>::min();

/// ln 2 in two parts; the first has trailing zeros, so that a multiple of it by an exponent is exact.
inline constexpr float ln2_high = 0x1.62e4p-1f;
inline constexpr float ln2_low = 0x1.7f7d1cp-20f;

/// min and max that hand on a nan in `x`.
[[gnu::always_inline]] inline F32 at_most(F32 x, float bound) { return smaller_or_second(F32(bound), x); }
[[gnu::always_inline]] inline F32 at_least(F32 x, float bound) { return larger_or_second(F32(bound), x); }

[[gnu::always_inline]] inline F32 from_bits(I32 x) { return bit_cast_lanes<float>(x); }

/// c0 + c1 x + c2 x^2 + ...
template <class T>
[[gnu::always_inline]] inline Lanes<T> horner(Lanes<T>, std::type_identity_t<T> c0) {
  return c0;
}
template <class T, class... Rest>
[[gnu::always_inline]] inline Lanes<T> horner(Lanes<T> x, std::type_identity_t<T> c0, Rest... c) {
  return fma(horner(x, c...), x, c0);
}

/// 2^n for n in [-126, 127].
[[gnu::always_inline]] inline F32 power_of_two(I32 n) { return from_bits((n << mantissa_bits) + one_bits); }

/// x = n ln 2 + r with |r| <= ln 2 / 2, for |x| <= 2^22 ln 2.
struct Reduced {
  F32 r;
  I32 n;
};

[[gnu::always_inline]] inline Reduced reduce(F32 x) {
  // Adding 1.5 * 2^23 rounds to an integer, and leaves it in the low bits of the sum.
  constexpr float shift = 0x1.8p23f;
  const F32 shifted = fma(x, 0x1.715476p+0f, shift);
  const F32 n = shifted - shift;
  return {fma(n, -ln2_low, fma(n, -ln2_high, x)), bits(shifted) - std::bit_cast<std::int32_t>(shift)};
}

/// exp(r) for |r| <= ln 2 / 2, 2^-28 from it before rounding.
[[gnu::always_inline]] inline F32 exp_reduced(F32 r) {
  const F32 r2 = r * r;
  const F32 low = fma(r, 0.166665167f, 0.49999994f);
  const F32 high = fma(r, fma(r, 0.00138380018f, 0.00836916547f), 0.0416681021f);
  return 1 + fma(r2, fma(r2, high, low), r);
}

/// exp(x) for x in [-104, 89], or nan; subnormal results included.
[[gnu::always_inline]] inline F32 exp_in_range(F32 x) {
  const auto [r, n] = reduce(x);
  // 2^n itself need not be representable, its two halves are; only the last product rounds.
  const I32 half = n >> 1;
  return exp_reduced(r) * power_of_two(half) * power_of_two(n - half);
}

/// exp(x) for x in [-87, 88]; of anything else, nan too, it makes anything at all.
[[gnu::always_inline]] inline F32 exp_normal(F32 x) {
  const auto [r, n] = reduce(x);
  // The product with 2^n: the exponent's field has room for the sum.
  return from_bits(bits(exp_reduced(r)) + (n << mantissa_bits));
}

/// The positive normal number `x` as 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
struct Split {
  F32 f;
  I32 k;
};

[[gnu::always_inline]] inline Split split(F32 x) {
  constexpr std::int32_t sqrt_half = 0x3f3504f3;
  const I32 k = (bits(x) - sqrt_half) >> mantissa_bits;
  return {from_bits(bits(x) - (k << mantissa_bits)) - 1, k};
}

/// k ln 2 + log(1 + f).
[[gnu::always_inline]] inline F32 log_of_split(F32 f, F32 k) {
  const F32 f2 = f * f;
  const F32 p01 = fma(f, -0.250008225f, 0.333333313f);
  const F32 p23 = fma(f, -0.166233122f, 0.20001255f);
  const F32 p45 = fma(f, -0.131591097f, 0.142012656f);
  const F32 p67 = fma(f, -0.0762450621f, 0.127563521f);
  const F32 p = fma(f2, fma(f2, fma(f2, p67, p45), p23), p01);
  const F32 tail = fma(f * f2, p, k * ln2_low);
  return fma(k, ln2_high, f + fma(f2, -0.5f, tail));
}

/// log(x) for x that is 0, inf, nan or a positive normal number.
[[gnu::always_inline]] inline F32 log_normal(F32 x) {
  const auto [f, k] = split(x);
  const F32 y = select(x < inf, log_of_split(f, convert<float>(k)), x);
  return select(x == 0, -inf, y);
}

}  // namespace detail

/// Within 1.1 ULP.
[[gnu::always_inline]] inline F32 exp(F32 x) {
  return detail::exp_in_range(detail::at_least(detail::at_most(x, 89), -104));
}

/// exp(x) - 1, within 1.5 ULP.
[[gnu::always_inline]] inline F32 expm1(F32 x) {
  const auto [r, n] = detail::reduce(detail::at_least(detail::at_most(x, 89), -20));
  const F32 tail = detail::horner(r, 0.5f, 0.166666657f, 0.0416664667f, 0.0083336439f, 0.00139352097f, 0.000196580979f);
  const F32 small = fma(r * r, tail, r);
  // 2^n (small + 1) - 1, through 2^(n - 1), which does not overflow.
  const F32 half_scale = detail::power_of_two(n - 1);
  const F32 half = fma(half_scale, small, half_scale - 0.5f);
  // Where n is 0, `small` is the result, and the sum above would round a subnormal one.
  return copysign(select(Mask<float>((n == 0).r), small, half + half), x);
}

/// Within 1 ULP.
[[gnu::always_inline]] inline F32 log(F32 x) {
  const Mask<float> subnormal = x < std::numeric_limits<float>::min();
  const auto [f, k] = detail::split(select(subnormal, x * 0x1p23f, x));
  const F32 exponent = convert<float>(k) - select(subnormal, 23, 0);
  F32 y = detail::log_of_split(f, exponent);
  y = select(x < detail::inf, y, x);
  y = select(x == 0, -detail::inf, y);
  return select(x < 0, detail::nan, y);
}

/// log(1 + x), within 1.6 ULP.
[[gnu::always_inline]] inline F32 log1p(F32 x) {
  const auto [rounded_f, k] = detail::split(1 + x);
  // 2^-k (1 + x) - 1 from x itself keeps what 1 + x loses. Beyond 2^60 that is nothing, and 2^-k may not be normal.
  const F32 scale = detail::power_of_two(-k);
  const F32 f = select(x > 0x1p60f, rounded_f, fma(x, scale, scale - 1));
  F32 y = detail::log_of_split(f, convert<float>(k));
  y = select((x < detail::inf) & (x != 0), y, x);
  y = select(x == -1, -detail::inf, y);
  return select(x < -1, detail::nan, y);
}

/// log(1 + exp(x)), within 2 ULP.
[[gnu::always_inline]] inline F32 softplus(F32 x) {
  const F32 e = detail::exp_in_range(detail::at_least(-abs(x), -104));
  const auto [rounded_f, k] = detail::split(1 + e);
  const F32 scale = detail::power_of_two(-k);
  return select(x > 0, x, 0) + detail::log_of_split(fma(e, scale, scale - 1), convert<float>(k));
}

/// log(sigmoid(x)), within 2 ULP.
[[gnu::always_inline]] inline F32 log_sigmoid(F32 x) { return -softplus(-x); }

/// Within 1.3 ULP.
[[gnu::always_inline]] inline F32 tanh(F32 x) {
  const F32 a = detail::at_most(abs(x), 10);
  const F32 a2 = a * a;
  const F32 p = detail::horner(a2, -0.333332121f, 0.133296251f, -0.0535953492f, 0.0201927293f, -0.00523358723f);
  const F32 small = fma(a * a2, p, a);
  const F32 large = 1 - 2 / (1 + detail::exp_normal(a + a));
  // Where a is nan, so is `small`. Neither is negative, so that the sign only has to be added.
  const F32 y = select(a >= 0.6875f, large, small);
  return detail::from_bits(bits(y) | (bits(x) & detail::sign_bit));
}

/// 1 / (1 + exp(-x)), within 2.5 ULP.
[[gnu::always_inline]] inline F32 sigmoid(F32 x) {
  // exp(-|x|) neither overflows nor loses the subnormal results of large negative x.
  const F32 e = detail::exp_in_range(detail::at_least(-abs(x), -104));
  return select(x < 0, e, 1) / (1 + e);
}

}  // namespace tlaloc::inline v0::kernels::math
