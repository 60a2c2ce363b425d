#include "ops/kernels/elementwise.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/threads.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

constexpr int max_rank = 16;

// Elements a thread takes at a time, and elements of a strided operand packed at a time: 1,024 doubles of each operand
// stay in the first-level cache.
constexpr std::int64_t grain = 8192;
constexpr std::int64_t piece = 1024;

/// The dimensions of one strided operand, neighbours that are one run in memory merged.
struct Layout {
  int rank = 0;
  std::array<std::int64_t, max_rank> extents;
  std::array<std::int64_t, max_rank> strides;

  Layout(std::span<const std::int64_t> full, const std::int64_t* full_strides) {
    for (std::size_t i = 0; i < full.size(); ++i) {
      if (full[i] == 1) continue;
      const auto last = static_cast<std::size_t>(rank - 1);
      if (rank > 0 && strides[last] == full_strides[i] * full[i]) {
        extents[last] *= full[i];
        strides[last] = full_strides[i];
      } else {
        extents[static_cast<std::size_t>(rank)] = full[i];
        strides[static_cast<std::size_t>(rank)] = full_strides[i];
        ++rank;
      }
    }
    if (rank == 0) {
      rank = 1;
      extents[0] = 1;
      strides[0] = 1;
    }
  }
  bool is_dense() const { return rank == 1 && strides[0] == 1; }
};

template <class U>
void copy_run(U* to, const U* from, std::int64_t stride, std::int64_t count) {
  if (stride == 1)
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(U));
  else if (stride == 0)
    std::fill_n(to, count, *from);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

/// Elements [begin, begin + count) of the operand, in row-major order, to dense memory.
template <class U>
void pack(U* to, const U* from, const Layout& layout, std::int64_t begin, std::int64_t count) {
  std::array<std::int64_t, max_rank> index;
  const int inner = layout.rank - 1;
  std::int64_t rest = begin;
  std::int64_t offset = 0;
  for (int d = inner; d >= 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    index[i] = rest % layout.extents[i];
    rest /= layout.extents[i];
    offset += index[i] * layout.strides[i];
  }
  const auto last = static_cast<std::size_t>(inner);
  while (true) {
    const std::int64_t run = std::min(count, layout.extents[last] - index[last]);
    copy_run(to, from + offset, layout.strides[last], run);
    to += run;
    count -= run;
    if (count == 0) return;
    offset -= index[last] * layout.strides[last];
    index[last] = 0;
    for (int d = inner - 1; d >= 0; --d) {
      const auto i = static_cast<std::size_t>(d);
      offset += layout.strides[i];
      if (++index[i] < layout.extents[i]) break;
      offset -= index[i] * layout.strides[i];
      index[i] = 0;
    }
  }
}

void pack_elements(std::byte* to, const Operand& operand, const Layout& layout, std::int64_t begin,
                   std::int64_t count) {
  switch (operand.element_size) {
    case 1:
      return pack(reinterpret_cast<std::uint8_t*>(to), reinterpret_cast<const std::uint8_t*>(operand.data), layout,
                  begin, count);
    case 4:
      return pack(reinterpret_cast<std::uint32_t*>(to), reinterpret_cast<const std::uint32_t*>(operand.data), layout,
                  begin, count);
    default:
      return pack(reinterpret_cast<std::uint64_t*>(to), reinterpret_cast<const std::uint64_t*>(operand.data), layout,
                  begin, count);
  }
}

std::int64_t count_of(std::span<const std::int64_t> extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

}  // namespace

void map(DenseRun run, const void* op, std::span<const std::int64_t> extents, std::span<const Operand> in,
         std::byte* out, std::int64_t out_element_size) {
  const std::int64_t n = count_of(extents);
  if (n == 0) return;
  std::array<const Layout*, max_operands> layouts{};
  alignas(Layout) std::byte storage[max_operands * sizeof(Layout)];
  bool all_dense = true;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i].strides == nullptr) continue;
    const auto* const layout = ::new (storage + i * sizeof(Layout)) Layout(extents, in[i].strides);
    if (!layout->is_dense()) layouts[i] = layout;
    all_dense &= layout->is_dense();
  }
  core::parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    std::array<const std::byte*, max_operands> from;
    if (all_dense) {
      for (std::size_t i = 0; i < in.size(); ++i) from[i] = in[i].data + begin * in[i].element_size;
      run(op, end - begin, from.data(), out + begin * out_element_size);
      return;
    }
    alignas(64) std::byte packed[max_operands][piece * sizeof(double)];
    for (std::int64_t at = begin; at < end; at += piece) {
      const std::int64_t count = std::min(piece, end - at);
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (layouts[i] == nullptr) {
          from[i] = in[i].data + at * in[i].element_size;
        } else {
          pack_elements(packed[i], in[i], *layouts[i], at, count);
          from[i] = packed[i];
        }
      }
      run(op, count, from.data(), out + at * out_element_size);
    }
  });
}

void copy(std::span<const std::int64_t> extents, const Operand& source, std::byte* out) {
  const std::int64_t n = count_of(extents);
  if (n == 0) return;
  const Layout layout(extents, source.strides);
  core::parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    pack_elements(out + begin * source.element_size, source, layout, begin, end - begin);
  });
}

}  // namespace tlaloc::inline v0::kernels
