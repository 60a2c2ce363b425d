// One run of the axis is sequential, so a vector's lanes hold as many different runs.
#include "ops/kernels/scan.hpp"

#include <algorithm>
#include <utility>

#include "core/threads.hpp"
#include "ops/kernels/math.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Elements computed by one thread before sharing the work is worth waking another.
constexpr std::int64_t grain = 8192;

/// Up to a vectorful of runs: lane l's elements stand at start[l], start[l] + step, ...
template <class T>
struct Bundle {
  static constexpr int width = Lanes<T>::width;

  std::int64_t start[std::size_t{width}];  // of lanes without a run: that of the first
  int lanes;
  bool neighbours;  // in memory: the lanes' elements are one piece

  Lanes<T> load(const T* from, std::int64_t offset) const {
    if (neighbours)
      return lanes == width ? Lanes<T>::load(from + start[0] + offset)
                            : Lanes<T>::load(from + start[0] + offset, lanes);
    // Not by way of an array: a vector read right after its parts were written waits for them.
    if (lanes == 1) return Lanes<T>(from[start[0] + offset]);
    return [&]<int... L>(std::integer_sequence<int, L...>) {
      using Register = typename Lanes<T>::Register;
      return Lanes<T>(Register{from[start[L] + offset]...});
    }(std::make_integer_sequence<int, width>{});
  }
  void store(Lanes<T> values, T* to, std::int64_t offset) const {
    if (neighbours && lanes == width) return values.store(to + start[0] + offset);
    if (neighbours) return values.store(to + start[0] + offset, lanes);
    T all[std::size_t{width}];
    values.store(all);
    for (int l = 0; l < lanes; ++l) to[start[l] + offset] = all[l];
  }
};

/// out[0] = result(first(in[0]...)), and then result(next(state, in[k]...)), along every run.
template <class Step, class T, class... In>
void scan(T* out, const ScanSizes& sizes, const In*... in) {
  if (sizes.count == 0) return;
  constexpr std::int64_t width = Bundle<T>::width;
  const std::int64_t inner = sizes.inner;
  const std::int64_t step = sizes.reverse ? -inner : inner;
  const std::int64_t first = sizes.reverse ? (sizes.count - 1) * inner : 0;
  const auto run = [&](const Bundle<T>& bundle) {
    std::int64_t at = first;
    auto state = Step::first(bundle.load(in, at)...);
    bundle.store(Step::result(state), out, at);
    for (std::int64_t k = 1; k < sizes.count; ++k) {
      at += step;
      state = Step::next(state, bundle.load(in, at)...);
      bundle.store(Step::result(state), out, at);
    }
  };
  // Bundles do not reach from one block of `inner` into the next, unless they would be nearly empty.
  const bool in_blocks = inner >= width;
  const std::int64_t group = in_blocks ? inner : sizes.outer * inner;
  const std::int64_t per_group = (group + width - 1) / width;
  const std::int64_t bundles = in_blocks ? sizes.outer * per_group : per_group;
  core::parallel_for(bundles, std::max<std::int64_t>(1, grain / (sizes.count * width)),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t b = begin; b < end; ++b) {
                         const std::int64_t run_in_group = b % per_group * width;
                         Bundle<T> bundle;
                         bundle.lanes = static_cast<int>(std::min(width, group - run_in_group));
                         bundle.neighbours = in_blocks;
                         for (int l = 0; l < width; ++l) {
                           const std::int64_t r = b / per_group * group + run_in_group + (l < bundle.lanes ? l : 0);
                           bundle.start[l] = r / inner * sizes.count * inner + r % inner;
                         }
                         run(bundle);
                       }
                     });
}

struct Sum {
  template <class V>
  static V first(V x) {
    return x;
  }
  template <class V>
  static V next(V sum, V x) {
    return sum + x;
  }
  template <class V>
  static V result(V sum) {
    return sum;
  }
};

struct Product : Sum {
  template <class V>
  static V next(V product, V x) {
    return product * x;
  }
};

/// The sum so far is e^largest * rest.
template <class T>
struct LogSum {
  Lanes<T> largest, rest;
};

struct LogSumExp {
  template <class T>
  static LogSum<T> first(Lanes<T> x) {
    return {x, Lanes<T>(1)};
  }
  template <class T>
  static LogSum<T> next(const LogSum<T>& sum, Lanes<T> x) {
    const Mask<T> grows = (x > sum.largest) | (x != x);
    // Equal infinities are no distance apart.
    const Lanes<T> distance = select(x == sum.largest, 0, abs(x - sum.largest));
    const Lanes<T> smaller = math::exp(-distance);
    return {select(grows, x, sum.largest), select(grows, fma(sum.rest, smaller, Lanes<T>(1)), sum.rest + smaller)};
  }
  template <class T>
  static Lanes<T> result(const LogSum<T>& sum) {
    return sum.largest + math::log(sum.rest);
  }
};

template <class T>
Lanes<T> recur(Lanes<T> a, Lanes<T> h, Lanes<T> b) {
  return select(h == Lanes<T>(0), b, fma(a, h, b));
}

struct Recurrence {
  template <class V>
  static V first(V, V b) {
    return b;
  }
  template <class V>
  static V next(V h, V a, V b) {
    return recur(a, h, b);
  }
  template <class V>
  static V result(V h) {
    return h;
  }
};

template <class T>
struct Delayed {
  Lanes<T> factor, h;
};

struct DelayedRecurrence {
  template <class T>
  static Delayed<T> first(Lanes<T> a, Lanes<T> b) {
    return {a, b};
  }
  template <class T>
  static Delayed<T> next(const Delayed<T>& before, Lanes<T> a, Lanes<T> b) {
    return {a, recur(before.factor, before.h, b)};
  }
  template <class T>
  static Lanes<T> result(const Delayed<T>& state) {
    return state.h;
  }
};

}  // namespace

template <class T>
void cumsum(const T* x, T* y, const ScanSizes& sizes) {
  scan<Sum>(y, sizes, x);
}
template <class T>
void cumprod(const T* x, T* y, const ScanSizes& sizes) {
  scan<Product>(y, sizes, x);
}
template <class T>
void logcumsumexp(const T* x, T* y, const ScanSizes& sizes) {
  scan<LogSumExp>(y, sizes, x);
}
template <class T>
void recurrence(const T* a, const T* b, T* h, bool delayed, const ScanSizes& sizes) {
  if (delayed)
    scan<DelayedRecurrence>(h, sizes, a, b);
  else
    scan<Recurrence>(h, sizes, a, b);
}

template void cumsum(const float*, float*, const ScanSizes&);
template void cumsum(const double*, double*, const ScanSizes&);
template void cumsum(const std::int64_t*, std::int64_t*, const ScanSizes&);
template void cumprod(const float*, float*, const ScanSizes&);
template void cumprod(const double*, double*, const ScanSizes&);
template void cumprod(const std::int64_t*, std::int64_t*, const ScanSizes&);
template void logcumsumexp(const float*, float*, const ScanSizes&);
template void logcumsumexp(const double*, double*, const ScanSizes&);
template void recurrence(const float*, const float*, float*, bool, const ScanSizes&);
template void recurrence(const double*, const double*, double*, bool, const ScanSizes&);

}  // namespace tlaloc::inline v0::kernels
