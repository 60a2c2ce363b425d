// The loops under elementwise operations: dense runs on SIMD lanes, and the general loop that feeds them any layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "ops/kernels/lanes.hpp"

namespace tlaloc::inline v0::kernels {

/// out[i] = f(in[0][i], in[1][i], ...) for n elements. `out` may be one of the inputs, and is written up to the next
/// multiple of the vector width: it must be the start of a block of its own.
template <class T, class F, class... In>
inline void map_dense(const F& f, std::int64_t n, T* out, const In*... in) {
  constexpr std::int64_t width = Lanes<T>::width;
  std::int64_t i = 0;
  for (; i + width <= n; i += width) f(Lanes<T>::load(in + i)...).store(out + i);
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    f(Lanes<T>::load(in + i, rest)...).store(out + i);
  }
}

/// One run of a kernel over dense inputs and a dense output.
using DenseRun = void (*)(const void* op, std::int64_t n, const std::byte* const* in, std::byte* out);

struct Operand {
  const std::byte* data;
  std::int64_t element_size;
  const std::int64_t* strides;  // in elements, one a dimension; null: dense
};

/// Runs `run` over operands of any layout, in pieces that fit the nearest cache, shared among the threads. The output
/// is dense, of extents `extents`. At most `max_operands` operands.
constexpr int max_operands = 6;
void map(DenseRun run, const void* op, std::span<const std::int64_t> extents, std::span<const Operand> in,
         std::byte* out, std::int64_t out_element_size);

/// Copies `source` with its strides into dense memory.
void copy(std::span<const std::int64_t> extents, const Operand& source, std::byte* out);

}  // namespace tlaloc::inline v0::kernels
