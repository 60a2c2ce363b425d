// The two ways of computing W1 by hand, made of the same pieces: eight floats of one example, or one float of eight.
#include "bench/handwritten/classifier.hpp"

#include <algorithm>
#include <array>

#include "bench/handwritten/rows.hpp"
#include "bench/handwritten/split.hpp"
#include "ops/kernels/lanes.hpp"
#include "ops/kernels/math.hpp"

namespace handwritten {
namespace {

namespace kernels = tlaloc::kernels;

constexpr std::size_t features = ClassifierInputs::features, hidden = ClassifierInputs::hidden,
                      classes = ClassifierInputs::classes;
constexpr std::size_t w1_size = ClassifierInputs::w1_size, w2_size = ClassifierInputs::w2_size;
constexpr std::size_t group = 8;
// With fewer examples than this for each, a second thread costs more than it saves.
constexpr std::size_t fused_grain = 128, op_grain = 1024;

struct Weights {
  explicit Weights(const ClassifierInputs& in) : w2(in.w2.data()) {
    for (std::size_t i = 0; i < features; ++i) w1[i] = Lanes::load(in.w1.data() + i * hidden);
    for (std::size_t k = 0; k < classes; ++k)
      for (std::size_t j = 0; j < hidden; ++j) w2_transposed[k].r[j] = w2[j * classes + k];
  }

  std::array<Lanes, features> w1;
  std::array<Lanes, classes> w2_transposed;
  const float* w2;
};

inline Lanes times_w1(const Weights& weights, const float* x) {
  Lanes z = Lanes(x[0]) * weights.w1[0];
  for (std::size_t i = 1; i < features; ++i) z = kernels::fma(Lanes(x[i]), weights.w1[i], z);
  return z;
}

/// The logits of eight examples as columns, from the rows of their hidden units.
inline std::array<Lanes, classes> times_w2(const Weights& weights, std::array<Lanes, group> h) {
  transpose(h);
  std::array<Lanes, classes> logits;
  for (std::size_t k = 0; k < classes; ++k) {
    // Two sums, since one would wait for each of its eight additions.
    Lanes even = h[0] * Lanes(weights.w2[k]), odd = h[1] * Lanes(weights.w2[classes + k]);
    for (std::size_t j = 2; j < hidden; j += 2) {
      even = kernels::fma(h[j], Lanes(weights.w2[j * classes + k]), even);
      odd = kernels::fma(h[j + 1], Lanes(weights.w2[(j + 1) * classes + k]), odd);
    }
    logits[k] = even + odd;
  }
  return logits;
}

inline Lanes times_w2_transposed(const Weights& weights, const float* dlogits) {
  Lanes dh = Lanes(dlogits[0]) * weights.w2_transposed[0];
  for (std::size_t k = 1; k < classes; ++k) dh = kernels::fma(Lanes(dlogits[k]), weights.w2_transposed[k], dh);
  return dh;
}

inline void outer_w1(const float* x, Lanes dz, float* dw1) {
  for (std::size_t i = 0; i < features; ++i) (Lanes(x[i]) * dz).store(dw1 + i * hidden);
}

inline void outer_w2(Lanes h, const float* dlogits, float* dw2) {
  const auto a = spread_of_eight(h), b = spread_of_three({Lanes(dlogits[0]), Lanes(dlogits[1]), Lanes(dlogits[2])});
  for (std::size_t i = 0; i < 3; ++i) (a[i] * b[i]).store(dw2 + i * Lanes::width);
}

/// The columns of a group of `count` rows of three, whose end may be the end of the memory, and the way back.
inline std::array<Lanes, classes> load_group(const float* rows, std::size_t count) {
  if (count == group) return load_columns(rows);
  std::array<float, group * classes> padded{};
  std::copy_n(rows, count * classes, padded.data());
  return load_columns(padded.data());
}
inline void store_group(const std::array<Lanes, classes>& columns, float* rows, std::size_t count) {
  if (count == group) return store_columns(columns, rows);
  std::array<float, group * classes> padded;
  store_columns(columns, padded.data());
  std::copy_n(padded.data(), count * classes, rows);
}

/// f(first, count) for each group; only the last may have fewer than eight rows.
template <class F>
inline void for_groups(std::size_t batch, const F& f) {
  for (std::size_t first = 0; first < batch; first += group) f(first, std::min(group, batch - first));
}

// A block is small enough to stay in the first-level cache, and large enough that the processor always finds work that
// does not wait for the result before.
constexpr std::size_t block = 32;

void fused_block(const Weights& weights, const float* xs, const float* ys, float* dw1, float* dw2, std::size_t count) {
  std::array<Lanes, block> h;
  std::array<float, block * classes> dlogits;
  for (std::size_t e = 0; e < count; ++e) h[e] = kernels::math::tanh(times_w1(weights, xs + e * features));
  for_groups(count, [&](std::size_t first, std::size_t rows) {
    std::array<Lanes, group> of_group;
    for (std::size_t e = 0; e < group; ++e) of_group[e] = h[first + std::min(e, rows - 1)];
    store_columns(softmax_minus(times_w2(weights, of_group), load_group(ys + first * classes, rows)),
                  dlogits.data() + first * classes);
  });
  for (std::size_t e = 0; e < count; ++e) {
    const float* row = dlogits.data() + e * classes;
    outer_w1(xs + e * features, times_w2_transposed(weights, row) * (1 - h[e] * h[e]), dw1 + e * w1_size);
    outer_w2(h[e], row, dw2 + e * w2_size);
  }
}

// The operations of the second way. None is inlined: each is to be a loop of its own, as in a library.

[[gnu::noinline]] void op_times_w1(const Weights& weights, const float* xs, float* z, std::size_t batch) {
  for (std::size_t e = 0; e < batch; ++e) times_w1(weights, xs + e * features).store(z + e * hidden);
}

[[gnu::noinline]] void op_tanh(const float* z, float* h, std::size_t batch) {
  for (std::size_t i = 0; i < batch * hidden; i += Lanes::width) kernels::math::tanh(Lanes::load(z + i)).store(h + i);
}

[[gnu::noinline]] void op_times_w2(const Weights& weights, const float* h, float* logits, std::size_t batch) {
  for_groups(batch, [&](std::size_t first, std::size_t rows) {
    std::array<Lanes, group> of_group;
    for (std::size_t e = 0; e < group; ++e) of_group[e] = Lanes::load(h + (first + std::min(e, rows - 1)) * hidden);
    store_group(times_w2(weights, of_group), logits + first * classes, rows);
  });
}

[[gnu::noinline]] void op_cross_entropy_gradient(const float* logits, const float* ys, float* dlogits,
                                                 std::size_t batch) {
  for_groups(batch, [&](std::size_t first, std::size_t rows) {
    const auto labels = load_group(ys + first * classes, rows);
    store_group(softmax_minus(load_group(logits + first * classes, rows), labels), dlogits + first * classes, rows);
  });
}

[[gnu::noinline]] void op_times_w2_transposed(const Weights& weights, const float* dlogits, float* dh,
                                              std::size_t batch) {
  for (std::size_t e = 0; e < batch; ++e) times_w2_transposed(weights, dlogits + e * classes).store(dh + e * hidden);
}

[[gnu::noinline]] void op_tanh_gradient(const float* h, const float* dh, float* dz, std::size_t batch) {
  for (std::size_t i = 0; i < batch * hidden; i += Lanes::width) {
    const Lanes y = Lanes::load(h + i);
    (Lanes::load(dh + i) * (1 - y * y)).store(dz + i);
  }
}

[[gnu::noinline]] void op_outer_w1(const float* xs, const float* dz, float* dw1, std::size_t batch) {
  for (std::size_t e = 0; e < batch; ++e) outer_w1(xs + e * features, Lanes::load(dz + e * hidden), dw1 + e * w1_size);
}

[[gnu::noinline]] void op_outer_w2(const float* h, const float* dlogits, float* dw2, std::size_t batch) {
  for (std::size_t e = 0; e < batch; ++e)
    outer_w2(Lanes::load(h + e * hidden), dlogits + e * classes, dw2 + e * w2_size);
}

}  // namespace

void classifier_fused(const ClassifierInputs& in, ClassifierGradients& out, int threads) {
  const Weights weights(in);
  split(threads, in.batch, fused_grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; e += block)
      fused_block(weights, in.xs.data() + e * features, in.ys.data() + e * classes, out.w1.data() + e * w1_size,
                  out.w2.data() + e * w2_size, std::min(block, end - e));
  });
}

ClassifierOpByOp::ClassifierOpByOp(std::size_t batch)
    : z_(batch * hidden),
      h_(batch * hidden),
      logits_(batch * classes),
      dlogits_(batch * classes),
      dh_(batch * hidden),
      dz_(batch * hidden) {}

void ClassifierOpByOp::run(const ClassifierInputs& in, ClassifierGradients& out, int threads) {
  const Weights weights(in);
  // op(first, count): each operation ends on all threads before the next one begins.
  auto over_batch = [&](const auto& op) {
    split(threads, in.batch, op_grain, [&](std::size_t begin, std::size_t end) { op(begin, end - begin); });
  };
  float *z = z_.data(), *h = h_.data(), *logits = logits_.data(), *dlogits = dlogits_.data(), *dh = dh_.data(),
        *dz = dz_.data();
  const float *xs = in.xs.data(), *ys = in.ys.data();
  over_batch([&](std::size_t i, std::size_t n) { op_times_w1(weights, xs + i * features, z + i * hidden, n); });
  over_batch([&](std::size_t i, std::size_t n) { op_tanh(z + i * hidden, h + i * hidden, n); });
  over_batch([&](std::size_t i, std::size_t n) { op_times_w2(weights, h + i * hidden, logits + i * classes, n); });
  over_batch([&](std::size_t i, std::size_t n) {
    op_cross_entropy_gradient(logits + i * classes, ys + i * classes, dlogits + i * classes, n);
  });
  over_batch([&](std::size_t i, std::size_t n) {
    op_outer_w2(h + i * hidden, dlogits + i * classes, out.w2.data() + i * w2_size, n);
  });
  over_batch([&](std::size_t i, std::size_t n) {
    op_times_w2_transposed(weights, dlogits + i * classes, dh + i * hidden, n);
  });
  over_batch(
      [&](std::size_t i, std::size_t n) { op_tanh_gradient(h + i * hidden, dh + i * hidden, dz + i * hidden, n); });
  over_batch([&](std::size_t i, std::size_t n) {
    op_outer_w1(xs + i * features, dz + i * hidden, out.w1.data() + i * w1_size, n);
  });
}

}  // namespace handwritten
