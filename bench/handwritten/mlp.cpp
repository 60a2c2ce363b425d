// W2 by hand. The products with shared weights are one matrix product for all examples; the gradients are outer
// products, of which the large ones go past the caches straight to memory.
#include "bench/handwritten/mlp.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "bench/handwritten/rows.hpp"
#include "bench/handwritten/split.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace handwritten {
namespace {

namespace kernels = tlaloc::kernels;

constexpr std::size_t features = MlpInputs::features, hidden = MlpInputs::hidden, classes = MlpInputs::classes;

/// c = beta c + a b, all row-major.
void multiply(CBLAS_TRANSPOSE transpose_b, std::size_t m, std::size_t n, std::size_t k, const float* a, const float* b,
              float beta, float* c) {
  const auto rows = static_cast<blasint>(m), columns = static_cast<blasint>(n), inner = static_cast<blasint>(k);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose_b, rows, columns, inner, 1, a, inner, b,
              transpose_b == CblasTrans ? inner : columns, beta, c, columns);
}

void stream_outer(const float* x, const float* dz, float* dw1) {
  for (std::size_t i = 0; i < features; ++i)
    for (std::size_t j = 0; j < hidden; j += Lanes::width)
      (Lanes(x[i]) * Lanes::load(dz + j)).stream(dw1 + i * hidden + j);
}

void softmax_minus_label(const float* logits, const float* y, float* dlogits) {
  const float largest = *std::max_element(logits, logits + classes);
  float total = 0;
  for (std::size_t k = 0; k < classes; ++k) total += dlogits[k] = std::exp(logits[k] - largest);
  for (std::size_t k = 0; k < classes; ++k) dlogits[k] = dlogits[k] / total - y[k];
}

}  // namespace

Mlp::Mlp(std::size_t batch) : h_(batch * hidden), logits_(batch * classes) {
  // The threads here split the examples; those of OpenBLAS would only stand in their way.
  openblas_set_num_threads(1);
}

void Mlp::run(const MlpInputs& in, MlpGradients& out, int threads) {
  split(threads, in.batch, 1, [&](std::size_t begin, std::size_t end) { run_range(in, out, begin, end); });
}

void Mlp::run_range(const MlpInputs& in, MlpGradients& out, std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  float *h = h_.data() + begin * hidden, *logits = logits_.data() + begin * classes;
  float *db1 = out.b1.data() + begin * hidden, *db2 = out.b2.data() + begin * classes;

  for (std::size_t e = 0; e < count; ++e) std::copy_n(in.b1.data(), hidden, h + e * hidden);
  multiply(CblasNoTrans, count, hidden, features, in.xs.data() + begin * features, in.w1.data(), 1, h);
  for (std::size_t i = 0; i < count * hidden; i += Lanes::width) kernels::math::tanh(Lanes::load(h + i)).store(h + i);
  for (std::size_t e = 0; e < count; ++e) std::copy_n(in.b2.data(), classes, logits + e * classes);
  multiply(CblasNoTrans, count, classes, hidden, h, in.w2.data(), 1, logits);

  for (std::size_t e = 0; e < count; ++e)
    softmax_minus_label(logits + e * classes, in.ys.data() + (begin + e) * classes, db2 + e * classes);
  multiply(CblasTrans, count, hidden, classes, db2, in.w2.data(), 0, db1);
  for (std::size_t i = 0; i < count * hidden; i += Lanes::width) {
    const Lanes y = Lanes::load(h + i);
    (Lanes::load(db1 + i) * (1 - y * y)).store(db1 + i);
  }

  for (std::size_t e = 0; e < count; ++e) {
    float* dw2 = out.w2.data() + (begin + e) * hidden * classes;
    for (std::size_t j = 0; j < hidden; ++j)
      for (std::size_t k = 0; k < classes; ++k) dw2[j * classes + k] = h[e * hidden + j] * db2[e * classes + k];
    stream_outer(in.xs.data() + (begin + e) * features, db1 + e * hidden,
                 out.w1.data() + (begin + e) * features * hidden);
  }
#if defined(__AVX2__)
  _mm_sfence();
#endif
}

}  // namespace handwritten
