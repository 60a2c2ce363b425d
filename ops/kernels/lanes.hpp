// Lanes<T> and Mask<T>: one 32-byte vector of numbers, or of truth values, as a value type; and the same functions for
// plain scalars, so that a template `value(V x)` computes on Lanes<float>, Lanes<double>, float and double alike.
//
// The compiler's vector extension gives arithmetic, comparisons and conversions on every architecture; what it lacks
// (fused multiply-add, square root, rounding, streaming stores) is written for AVX2 and, as plain loops, for the rest.
// Where several arguments are taken, the first says the type: `max(x, 0)`, `fma(x, 2, 1)`, `select(x > 0, x, 0)`.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#else
// How a 32-byte vector is passed does not matter here: nothing that takes one is called across a library's boundary.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace tlaloc::inline v0::kernels {

inline constexpr int lane_bytes = 32;

template <class T>
concept lane_element =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

template <class T>
concept number = std::is_arithmetic_v<T>;

/// The signed integer as wide as T, in which masks and bit patterns are kept.
template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

namespace detail {
template <class T>
struct Wrapping : std::type_identity<T> {};
template <std::integral T>
struct Wrapping<T> : std::make_unsigned<T> {};
}  // namespace detail

/// As many truth values as Lanes<T> has numbers; each is all ones or all zeros in the register.
template <lane_element T>
struct Mask {
  static constexpr int width = lane_bytes / int{sizeof(T)};
  using Register [[gnu::vector_size(lane_bytes)]] = bits_of<T>;

  Register r;

  Mask() = default;
  explicit Mask(Register all_or_nothing) : r(all_or_nothing) {}
  Mask(bool value) : r(Register{} - bits_of<T>{value}) {}

  /// `width` bytes, each 0 or 1.
  static Mask load(const bool* from) {
#if defined(__AVX2__) && defined(__FMA__)
    if constexpr (width == 8)
      return Mask(-std::bit_cast<Register>(_mm256_cvtepi8_epi32(_mm_loadu_si64(from))));
    else
      return Mask(-std::bit_cast<Register>(_mm256_cvtepi8_epi64(_mm_loadu_si32(from))));
#else
    Register lanes;
    for (int lane = 0; lane < width; ++lane) lanes[lane] = -bits_of<T>{from[lane]};
    return Mask(lanes);
#endif
  }
  void store(bool* to) const {
#if defined(__AVX2__) && defined(__FMA__)
    if constexpr (width == 8) {
      const auto lanes = std::bit_cast<__m256i>(r & 1);
      const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
      _mm_storeu_si64(to, _mm_packs_epi16(words, words));
    } else {
      // The product puts bit i of the mask at bit 8 i, among others.
      const auto mask = static_cast<unsigned>(_mm256_movemask_pd(std::bit_cast<__m256d>(r)));
      const unsigned bytes = mask * 0x00204081u & 0x01010101u;
      std::memcpy(to, &bytes, sizeof bytes);
    }
#else
    for (int lane = 0; lane < width; ++lane) to[lane] = r[lane] != 0;
#endif
  }
  /// The first `count` of them only; the others are false.
  static Mask load(const bool* from, int count) {
    bool bytes[lane_bytes / sizeof(T)] = {};
    for (int lane = 0; lane < count; ++lane) bytes[lane] = from[lane];
    return load(bytes);
  }
  void store(bool* to, int count) const {
    bool bytes[lane_bytes / sizeof(T)];
    store(bytes);
    for (int lane = 0; lane < count; ++lane) to[lane] = bytes[lane];
  }

  /// True in the first `count` lanes.
  static Mask first(int count) {
    if constexpr (width == 8)
      return Mask(Register{0, 1, 2, 3, 4, 5, 6, 7} < Mask::Register{} + count);
    else
      return Mask(Register{0, 1, 2, 3} < Mask::Register{} + count);
  }

  bool operator[](int lane) const { return r[lane] != 0; }

  friend Mask operator&(Mask a, Mask b) { return Mask(a.r & b.r); }
  friend Mask operator|(Mask a, Mask b) { return Mask(a.r | b.r); }
  friend Mask operator^(Mask a, Mask b) { return Mask(a.r ^ b.r); }
  friend Mask operator~(Mask a) { return Mask(~a.r); }
  friend Mask operator!(Mask a) { return Mask(~a.r); }
  friend Mask operator&&(Mask a, Mask b) { return a & b; }
  friend Mask operator||(Mask a, Mask b) { return a | b; }
};

/// 8 floats or 32-bit integers, or 4 doubles or 64-bit integers.
template <lane_element T>
struct Lanes {
  static constexpr int width = lane_bytes / int{sizeof(T)};
  using value_type = T;
  using Register [[gnu::vector_size(lane_bytes)]] = T;
  /// What sums and products are formed in, so that integers wrap around.
  using Wrapping [[gnu::vector_size(lane_bytes)]] = typename detail::Wrapping<T>::type;

  Register r;

  Lanes() = default;
  explicit Lanes(Register lanes) : r(lanes) {}
  /// Every lane holds `value`; implicit, so that `1 - y * y` reads as it should.
  template <number N>
  Lanes(N value) : r(broadcast(static_cast<T>(value))) {}

  static Lanes load(const T* from) {
    Lanes lanes;
    std::memcpy(&lanes.r, from, sizeof lanes.r);
    return lanes;
  }
  void store(T* to) const { std::memcpy(to, &r, sizeof r); }

  /// The first `count` lanes; the others are 0, and what stands there in memory is neither read nor written.
  static Lanes load(const T* from, int count) {
#if defined(__AVX2__) && defined(__FMA__)
    const auto mask = std::bit_cast<__m256i>(Mask<T>::first(count).r);
    if constexpr (width == 8)
      return Lanes(std::bit_cast<Register>(_mm256_maskload_ps(reinterpret_cast<const float*>(from), mask)));
    else
      return Lanes(std::bit_cast<Register>(_mm256_maskload_pd(reinterpret_cast<const double*>(from), mask)));
#else
    T lanes[lane_bytes / sizeof(T)] = {};
    for (int lane = 0; lane < count; ++lane) lanes[lane] = from[lane];
    return load(lanes);
#endif
  }
  void store(T* to, int count) const {
#if defined(__AVX2__) && defined(__FMA__)
    const auto mask = std::bit_cast<__m256i>(Mask<T>::first(count).r);
    if constexpr (width == 8)
      _mm256_maskstore_ps(reinterpret_cast<float*>(to), mask, std::bit_cast<__m256>(r));
    else
      _mm256_maskstore_pd(reinterpret_cast<double*>(to), mask, std::bit_cast<__m256d>(r));
#else
    for (int lane = 0; lane < count; ++lane) to[lane] = r[lane];
#endif
  }

  /// Past the caches, to a 32-byte aligned address; a fence must follow before another thread reads.
  void stream(T* to) const {
#if defined(__AVX2__) && defined(__FMA__)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), std::bit_cast<__m256i>(r));
#else
    store(to);
#endif
  }

  T operator[](int lane) const { return r[lane]; }

  friend Lanes operator+(Lanes a, Lanes b) { return Lanes(Register(Wrapping(a.r) + Wrapping(b.r))); }
  friend Lanes operator-(Lanes a, Lanes b) { return Lanes(Register(Wrapping(a.r) - Wrapping(b.r))); }
  friend Lanes operator*(Lanes a, Lanes b) { return Lanes(Register(Wrapping(a.r) * Wrapping(b.r))); }
  friend Lanes operator/(Lanes a, Lanes b) { return Lanes(a.r / b.r); }
  friend Lanes operator-(Lanes a) { return Lanes(Register(-Wrapping(a.r))); }
  friend Lanes operator+(Lanes a) { return a; }
  Lanes& operator+=(Lanes b) { return *this = *this + b; }
  Lanes& operator-=(Lanes b) { return *this = *this - b; }
  Lanes& operator*=(Lanes b) { return *this = *this * b; }
  Lanes& operator/=(Lanes b) { return *this = *this / b; }

  friend Mask<T> operator<(Lanes a, Lanes b) { return Mask<T>(a.r < b.r); }
  friend Mask<T> operator<=(Lanes a, Lanes b) { return Mask<T>(a.r <= b.r); }
  friend Mask<T> operator>(Lanes a, Lanes b) { return Mask<T>(a.r > b.r); }
  friend Mask<T> operator>=(Lanes a, Lanes b) { return Mask<T>(a.r >= b.r); }
  friend Mask<T> operator==(Lanes a, Lanes b) { return Mask<T>(a.r == b.r); }
  friend Mask<T> operator!=(Lanes a, Lanes b) { return Mask<T>(a.r != b.r); }

  friend Lanes operator&(Lanes a, Lanes b)
    requires std::integral<T>
  {
    return Lanes(a.r & b.r);
  }
  friend Lanes operator|(Lanes a, Lanes b)
    requires std::integral<T>
  {
    return Lanes(a.r | b.r);
  }
  friend Lanes operator^(Lanes a, Lanes b)
    requires std::integral<T>
  {
    return Lanes(a.r ^ b.r);
  }
  friend Lanes operator~(Lanes a)
    requires std::integral<T>
  {
    return Lanes(~a.r);
  }
  friend Lanes operator<<(Lanes a, int count)
    requires std::integral<T>
  {
    return Lanes(a.r << count);
  }
  friend Lanes operator>>(Lanes a, int count)
    requires std::integral<T>
  {
    return Lanes(a.r >> count);
  }

 private:
  static Register broadcast(T value) {
    if constexpr (width == 8)
      return Register{value, value, value, value, value, value, value, value};
    else
      return Register{value, value, value, value};
  }
};

template <class V>
inline constexpr bool is_lanes = false;
template <class T>
inline constexpr bool is_lanes<Lanes<T>> = true;

/// What a comparison of two V gives.
template <class V>
using mask_of = decltype(V{} < V{});

/// The argument that does not take part in deducing the type, so that a number may stand there.
template <class T>
using Also = std::type_identity_t<Lanes<T>>;

/// `f` of each lane.
template <class T, class F>
inline Lanes<T> map_lanes(Lanes<T> a, F f) {
  for (int lane = 0; lane < Lanes<T>::width; ++lane) a.r[lane] = f(a.r[lane]);
  return a;
}

/// The same bits as another type of the same width.
template <class To, class From>
inline Lanes<To> bit_cast_lanes(Lanes<From> a) {
  return Lanes<To>(std::bit_cast<typename Lanes<To>::Register>(a.r));
}

template <class T>
inline Lanes<bits_of<T>> bits(Lanes<T> a) {
  return bit_cast_lanes<bits_of<T>>(a);
}

/// Each lane converted as static_cast does, between types of one width.
template <class To, class From>
inline Lanes<To> convert(Lanes<From> a) {
  return Lanes<To>(__builtin_convertvector(a.r, typename Lanes<To>::Register));
}

/// Zeros come in from the left.
template <std::integral T>
inline Lanes<T> shift_right_logical(Lanes<T> a, int count) {
  using Register = typename Lanes<T>::Register;
  return Lanes<T>(Register(typename Lanes<T>::Wrapping(a.r) >> static_cast<unsigned>(count)));
}

/// Half of the lanes in double precision, and back: `join(narrow(widen_low(x)), narrow(widen_high(x)))` is x.
using HalfFloats [[gnu::vector_size(16)]] = float;

inline Lanes<double> widen_low(Lanes<float> a) {
  return Lanes<double>(__builtin_convertvector(__builtin_shufflevector(a.r, a.r, 0, 1, 2, 3), Lanes<double>::Register));
}
inline Lanes<double> widen_high(Lanes<float> a) {
  return Lanes<double>(__builtin_convertvector(__builtin_shufflevector(a.r, a.r, 4, 5, 6, 7), Lanes<double>::Register));
}
inline HalfFloats narrow(Lanes<double> a) { return __builtin_convertvector(a.r, HalfFloats); }
inline Lanes<float> join(HalfFloats low, HalfFloats high) {
  return Lanes<float>(__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7));
}

/// `a` where the mask is true, `b` elsewhere; neither can disturb the other, whatever it holds.
template <class T>
inline Lanes<T> select(Mask<T> mask, Also<T> a, Also<T> b) {
  return Lanes<T>(mask.r ? a.r : b.r);
}

/// `a > b ? a : b` and `a < b ? a : b`: the second if either is nan. Compilers make more than the one instruction of
/// the choice written out.
template <std::floating_point T>
inline Lanes<T> larger_or_second(Lanes<T> a, Also<T> b) {
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::same_as<T, float>)
    return Lanes<T>(_mm256_max_ps(a.r, b.r));
  else
    return Lanes<T>(_mm256_max_pd(a.r, b.r));
#else
  return select(a > b, a, b);
#endif
}
template <std::floating_point T>
inline Lanes<T> smaller_or_second(Lanes<T> a, Also<T> b) {
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::same_as<T, float>)
    return Lanes<T>(_mm256_min_ps(a.r, b.r));
  else
    return Lanes<T>(_mm256_min_pd(a.r, b.r));
#else
  return select(a < b, a, b);
#endif
}

template <class T>
inline bool any(Mask<T> mask) {
#if defined(__AVX2__) && defined(__FMA__)
  return _mm256_movemask_epi8(std::bit_cast<__m256i>(mask.r)) != 0;
#else
  bits_of<T> bits = 0;
  for (int lane = 0; lane < Mask<T>::width; ++lane) bits |= mask.r[lane];
  return bits != 0;
#endif
}

template <class T>
inline bool all(Mask<T> mask) {
  return !any(~mask);
}

template <std::floating_point T>
inline Lanes<T> fma(Lanes<T> a, Also<T> b, Also<T> c) {
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::same_as<T, float>)
    return Lanes<T>(_mm256_fmadd_ps(a.r, b.r, c.r));
  else
    return Lanes<T>(_mm256_fmadd_pd(a.r, b.r, c.r));
#else
  for (int lane = 0; lane < Lanes<T>::width; ++lane) a.r[lane] = std::fma(a.r[lane], b.r[lane], c.r[lane]);
  return a;
#endif
}

template <std::floating_point T>
inline Lanes<T> sqrt(Lanes<T> a) {
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::same_as<T, float>)
    return Lanes<T>(_mm256_sqrt_ps(a.r));
  else
    return Lanes<T>(_mm256_sqrt_pd(a.r));
#else
  return map_lanes(a, [](T x) { return std::sqrt(x); });
#endif
}

template <std::floating_point T>
inline Lanes<T> floor(Lanes<T> a) {
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::same_as<T, float>)
    return Lanes<T>(_mm256_floor_ps(a.r));
  else
    return Lanes<T>(_mm256_floor_pd(a.r));
#else
  return map_lanes(a, [](T x) { return std::floor(x); });
#endif
}

template <std::floating_point T>
inline Lanes<T> ceil(Lanes<T> a) {
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (std::same_as<T, float>)
    return Lanes<T>(_mm256_ceil_ps(a.r));
  else
    return Lanes<T>(_mm256_ceil_pd(a.r));
#else
  return map_lanes(a, [](T x) { return std::ceil(x); });
#endif
}

/// To the nearest integer, halves to the even one.
template <std::floating_point T>
inline Lanes<T> round_even(Lanes<T> a) {
#if defined(__AVX2__) && defined(__FMA__)
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  if constexpr (std::same_as<T, float>)
    return Lanes<T>(_mm256_round_ps(a.r, nearest));
  else
    return Lanes<T>(_mm256_round_pd(a.r, nearest));
#else
  return map_lanes(a, [](T x) { return std::nearbyint(x); });
#endif
}

template <class T>
inline Lanes<T> abs(Lanes<T> a) {
  if constexpr (std::integral<T>)
    return select(a < 0, -a, a);
  else
    return bit_cast_lanes<T>(bits(a) & std::numeric_limits<bits_of<T>>::max());
}

/// `magnitude` with the sign bit of `sign`.
template <class T>
inline Lanes<T> copysign(Lanes<T> magnitude, Also<T> sign) {
  constexpr auto sign_bit = std::numeric_limits<bits_of<T>>::min();
  return bit_cast_lanes<T>(bits(abs(magnitude)) | (bits(sign) & sign_bit));
}

/// The larger; nan if either is nan. Of zeros that differ in sign, either.
template <class T>
inline Lanes<T> max(Lanes<T> a, Also<T> b) {
  if constexpr (std::integral<T>)
    return select(a > b, a, b);
  else
    return select(a != a, a, larger_or_second(a, b));
}

/// The smaller; nan if either is nan. Of zeros that differ in sign, either.
template <class T>
inline Lanes<T> min(Lanes<T> a, Also<T> b) {
  if constexpr (std::integral<T>)
    return select(a < b, a, b);
  else
    return select(a != a, a, smaller_or_second(a, b));
}

template <class T>
inline Mask<T> is_nan(Lanes<T> a) {
  return a != a;
}

/// The lanes combined by `f`, the upper half onto the lower one, again and again: ((0 4)(2 6))((1 5)(3 7)) for eight,
/// (0 2)(1 3) for four.
template <class T, class F>
inline T fold(Lanes<T> a, F f) {
  using L = Lanes<T>;
  if constexpr (L::width == 8) {
    a = f(a, L(__builtin_shufflevector(a.r, a.r, 4, 5, 6, 7, 4, 5, 6, 7)));
    a = f(a, L(__builtin_shufflevector(a.r, a.r, 2, 3, 2, 3, 2, 3, 2, 3)));
    a = f(a, L(__builtin_shufflevector(a.r, a.r, 1, 1, 1, 1, 1, 1, 1, 1)));
  } else {
    a = f(a, L(__builtin_shufflevector(a.r, a.r, 2, 3, 2, 3)));
    a = f(a, L(__builtin_shufflevector(a.r, a.r, 1, 1, 1, 1)));
  }
  return a[0];
}

/// In the order of `fold`.
template <class T>
inline T sum(Lanes<T> a) {
  return fold(a, [](Lanes<T> x, Lanes<T> y) { return x + y; });
}
template <class T>
inline T product(Lanes<T> a) {
  return fold(a, [](Lanes<T> x, Lanes<T> y) { return x * y; });
}
/// nan if any lane is nan.
template <class T>
inline T max(Lanes<T> a) {
  return fold(a, [](Lanes<T> x, Lanes<T> y) { return max(x, y); });
}
template <class T>
inline T min(Lanes<T> a) {
  return fold(a, [](Lanes<T> x, Lanes<T> y) { return min(x, y); });
}

// The same for scalars.

template <class A, class B>
constexpr std::common_type_t<A, B> select(bool mask, A a, B b) {
  using T = std::common_type_t<A, B>;
  return mask ? static_cast<T>(a) : static_cast<T>(b);
}

constexpr bool any(bool mask) { return mask; }
constexpr bool all(bool mask) { return mask; }

template <std::floating_point T>
inline T fma(T a, std::type_identity_t<T> b, std::type_identity_t<T> c) {
  return std::fma(a, b, c);
}
template <std::floating_point T>
inline T sqrt(T a) {
  return std::sqrt(a);
}
template <std::floating_point T>
inline T floor(T a) {
  return std::floor(a);
}
template <std::floating_point T>
inline T ceil(T a) {
  return std::ceil(a);
}
template <std::floating_point T>
inline T round_even(T a) {
  return std::nearbyint(a);
}
template <number T>
inline T abs(T a) {
  return std::abs(a);
}
template <std::floating_point T>
inline T copysign(T magnitude, std::type_identity_t<T> sign) {
  return std::copysign(magnitude, sign);
}
template <number T>
constexpr T max(T a, std::type_identity_t<T> b) {
  return a != a ? a : a > b ? a : b;
}
template <number T>
constexpr T min(T a, std::type_identity_t<T> b) {
  return a != a ? a : a < b ? a : b;
}
template <std::floating_point T>
constexpr bool is_nan(T a) {
  return a != a;
}

}  // namespace tlaloc::inline v0::kernels
