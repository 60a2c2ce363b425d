// KotlinRandom: the generator behind Kotlin's `Random(seed)`, so that a program here can draw the same numbers as a
// Kotlin program. It is Marsaglia's xorwow (Xorshift RNGs, 2003, section 3.1) with Kotlin's way of seeding it.
#pragma once

#include <cstdint>

class KotlinRandom {
 public:
  explicit KotlinRandom(std::int32_t seed)
      : x_(static_cast<std::uint32_t>(seed)),
        y_(static_cast<std::uint32_t>(seed >> 31)),
        v_(~x_),
        counter_((x_ << 10) ^ (y_ >> 4)) {
    for (int i = 0; i < 64; ++i) next();  // the first numbers still show the seed
  }

  /// In [0, 1), in steps of 2^-24.
  float next_float() { return static_cast<float>(next() >> 8) * 0x1p-24f; }

  /// In [0, until); `until` is positive and no power of two, for which Kotlin takes other bits.
  std::int32_t next_int(std::int32_t until) {
    const auto n = static_cast<std::uint32_t>(until);
    for (;;) {
      const std::uint32_t bits = next() >> 1;
      const std::uint32_t value = bits % n;
      // Values past the last whole multiple of `until` are drawn again: they would favour the small results.
      if (bits - value + (n - 1) < 0x80000000u) return static_cast<std::int32_t>(value);
    }
  }

 private:
  std::uint32_t next() {
    std::uint32_t t = x_ ^ (x_ >> 2);
    x_ = y_;
    y_ = z_;
    z_ = w_;
    w_ = v_;
    v_ = (v_ ^ (v_ << 4)) ^ (t ^ (t << 1));
    counter_ += 362437;
    return v_ + counter_;
  }

  std::uint32_t x_, y_, z_ = 0, w_ = 0, v_, counter_;
};
