// Products: along a row in as many partial products as hide the multiplication's latency, or a row of results at a
// time.
#include <algorithm>
#include <type_traits>

#include "core/threads.hpp"
#include "ops/kernels/reduce.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Elements read by one thread before sharing the work is worth waking another.
constexpr std::int64_t grain = 32768;

/// Integers wrap around.
template <class T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b));
  else
    return a * b;
}

template <class To, class From>
To product_of_row(const From* in, std::int64_t count) {
  constexpr std::int64_t chains = 32;
  To partial[chains];
  std::fill_n(partial, chains, To{1});
  std::int64_t i = 0;
  for (; i + chains <= count; i += chains)
    for (std::int64_t k = 0; k < chains; ++k) partial[k] = times(partial[k], static_cast<To>(in[i + k]));
  for (std::int64_t k = 0; i < count; ++i, ++k) partial[k] = times(partial[k], static_cast<To>(in[i]));
  for (std::int64_t half = chains / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k) partial[k] = times(partial[k], partial[k + half]);
  return partial[0];
}

template <class To, class From>
void products(const From* in, To* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  if (inner == 1) {
    core::parallel_for(outer, grain / std::max(count, std::int64_t{1}), [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) out[o] = product_of_row<To>(in + o * count, count);
    });
    return;
  }
  // Results [begin, end) of all, cut at the end of each row of them.
  core::parallel_for(outer * inner, grain / std::max(count, std::int64_t{1}),
                     [=](std::int64_t begin, std::int64_t end) {
                       while (begin < end) {
                         const std::int64_t o = begin / inner;
                         const std::int64_t n = std::min(end, (o + 1) * inner) - begin;
                         const From* from = in + o * count * inner + begin % inner;
                         To* const to = out + begin;
                         std::fill_n(to, n, To{1});
                         for (std::int64_t r = 0; r < count; ++r, from += inner)
                           for (std::int64_t i = 0; i < n; ++i) to[i] = times(to[i], static_cast<To>(from[i]));
                         begin += n;
                       }
                     });
}

}  // namespace

void prod(const float* in, float* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  products(in, out, outer, count, inner);
}
void prod(const double* in, double* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  products(in, out, outer, count, inner);
}
void prod(const std::int64_t* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  products(in, out, outer, count, inner);
}
void prod(const std::int32_t* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  products(in, out, outer, count, inner);
}
void prod(const bool* in, std::int64_t* out, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  products(in, out, outer, count, inner);
}

}  // namespace tlaloc::inline v0::kernels
