// Eight rows at a time: what turns rows of eight or three floats into columns and back, in registers.
#pragma once

#include <array>
#include <cstddef>

#include "ops/kernels/lanes.hpp"
#include "ops/kernels/math.hpp"

namespace handwritten {

using Lanes = tlaloc::kernels::Lanes<float>;

/// Lane i of row k becomes lane k of row i.
inline void transpose(std::array<Lanes, 8>& rows) {
  using Register = Lanes::Register;
  std::array<Register, 8> pairs, quads;
  for (std::size_t i = 0; i < 8; i += 2) {
    const Register a = rows[i].r, b = rows[i + 1].r;
    pairs[i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[i + 1] = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (std::size_t i = 0; i < 8; i += 4)
    for (std::size_t k = 0; k < 2; ++k) {
      const Register a = pairs[i + k], b = pairs[i + k + 2];
      quads[i + 2 * k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      quads[i + 2 * k + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (std::size_t i = 0; i < 4; ++i) {
    rows[i] = Lanes(__builtin_shufflevector(quads[i], quads[i + 4], 0, 1, 2, 3, 8, 9, 10, 11));
    rows[i + 4] = Lanes(__builtin_shufflevector(quads[i], quads[i + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}

/// Lanes 0, 3 and 6 of `a`, 1, 4 and 7 of `b`, 2 and 5 of `c`.
inline Lanes interleave(Lanes a, Lanes b, Lanes c) {
  const auto ab = __builtin_shufflevector(a.r, b.r, 0, 9, 2, 3, 12, 5, 6, 15);
  return Lanes(__builtin_shufflevector(ab, c.r, 0, 1, 10, 3, 4, 13, 6, 7));
}

/// The columns of eight rows of three floats. The elements of one column stand at eight different places of the three
/// registers the rows fill, so blending those and permuting the result once is enough.
inline std::array<Lanes, 3> load_columns(const float* rows) {
  const Lanes a = Lanes::load(rows), b = Lanes::load(rows + 8), c = Lanes::load(rows + 16);
  const auto c0 = interleave(a, b, c).r, c1 = interleave(c, a, b).r, c2 = interleave(b, c, a).r;
  return {Lanes(__builtin_shufflevector(c0, c0, 0, 3, 6, 1, 4, 7, 2, 5)),
          Lanes(__builtin_shufflevector(c1, c1, 1, 4, 7, 2, 5, 0, 3, 6)),
          Lanes(__builtin_shufflevector(c2, c2, 2, 5, 0, 3, 6, 1, 4, 7))};
}

/// The way back.
inline void store_columns(const std::array<Lanes, 3>& columns, float* rows) {
  const auto r0 = columns[0].r, r1 = columns[1].r, r2 = columns[2].r;
  const Lanes c0(__builtin_shufflevector(r0, r0, 0, 3, 6, 1, 4, 7, 2, 5));
  const Lanes c1(__builtin_shufflevector(r1, r1, 5, 0, 3, 6, 1, 4, 7, 2));
  const Lanes c2(__builtin_shufflevector(r2, r2, 2, 5, 0, 3, 6, 1, 4, 7));
  interleave(c0, c1, c2).store(rows);
  interleave(c2, c0, c1).store(rows + 8);
  interleave(c1, c2, c0).store(rows + 16);
}

/// The softmax of eight rows, given and returned as columns, minus the labels: the gradient of the cross-entropy.
template <std::size_t N>
inline std::array<Lanes, N> softmax_minus(const std::array<Lanes, N>& logits, const std::array<Lanes, N>& labels) {
  namespace kernels = tlaloc::kernels;
  Lanes largest = logits[0];
  for (std::size_t k = 1; k < N; ++k) largest = kernels::max(largest, logits[k]);
  std::array<Lanes, N> result;
  Lanes total = 0;
  for (std::size_t k = 0; k < N; ++k) total += result[k] = kernels::math::exp(logits[k] - largest);
  const Lanes scale = 1 / total;
  for (std::size_t k = 0; k < N; ++k) result[k] = kernels::fma(result[k], scale, -labels[k]);
  return result;
}

/// The outer product of a row of eight and a row of three fills three registers: these are its two factors there.
inline std::array<Lanes, 3> spread_of_eight(Lanes row) {
  const auto r = row.r;
  return {Lanes(__builtin_shufflevector(r, r, 0, 0, 0, 1, 1, 1, 2, 2)),
          Lanes(__builtin_shufflevector(r, r, 2, 3, 3, 3, 4, 4, 4, 5)),
          Lanes(__builtin_shufflevector(r, r, 5, 5, 6, 6, 6, 7, 7, 7))};
}
inline std::array<Lanes, 3> spread_of_three(const std::array<Lanes, 3>& broadcast) {
  const auto& [a, b, c] = broadcast;
  return {interleave(a, b, c), interleave(c, a, b), interleave(b, c, a)};
}

}  // namespace handwritten
