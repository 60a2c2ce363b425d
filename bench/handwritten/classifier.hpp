// W1 by hand: per-example gradients of the classifier tanh(x W1) W2 with cross-entropy, 4 features, 8 hidden units and
// 3 classes. The weights are small enough to stay in registers, and eight examples fill a register's lanes.
#pragma once

#include <cstddef>

#include "bench/handwritten/buffer.hpp"

namespace handwritten {

struct ClassifierInputs {
  static constexpr std::size_t features = 4, hidden = 8, classes = 3;
  static constexpr std::size_t w1_size = features * hidden, w2_size = hidden * classes;

  std::size_t batch;
  Buffer w1, w2, xs, ys;  // [features, hidden], [hidden, classes], [batch, features], [batch, classes]
};

struct ClassifierGradients {
  explicit ClassifierGradients(std::size_t batch)
      : w1(batch * ClassifierInputs::w1_size), w2(batch * ClassifierInputs::w2_size) {}

  Buffer w1, w2;
};

/// Everything in one pass: a group of eight examples goes from its features to its gradients without leaving the core.
void classifier_fused(const ClassifierInputs& in, ClassifierGradients& out, int threads);

/// One loop over the whole batch per operation, as a library of operations has to compute it, the kernels at their
/// best.
class ClassifierOpByOp {
 public:
  explicit ClassifierOpByOp(std::size_t batch);
  void run(const ClassifierInputs& in, ClassifierGradients& out, int threads);

 private:
  Buffer z_, h_, logits_, dlogits_, dh_, dz_;
};

}  // namespace handwritten
