// W2 by hand: per-example gradients of all parameters of a tanh network with one hidden layer and cross-entropy,
// 784 -> 256 -> 10 with biases. For 64 examples that is 52 MB of results: writing them is the work.
#pragma once

#include <cstddef>

#include "bench/handwritten/buffer.hpp"

namespace handwritten {

struct MlpInputs {
  static constexpr std::size_t features = 784, hidden = 256, classes = 10;

  std::size_t batch;
  Buffer w1, b1, w2, b2, xs, ys;  // [features, hidden], [hidden], [hidden, classes], [classes], [batch, ...]
};

struct MlpGradients {
  explicit MlpGradients(std::size_t batch)
      : w1(batch * MlpInputs::features * MlpInputs::hidden),
        b1(batch * MlpInputs::hidden),
        w2(batch * MlpInputs::hidden * MlpInputs::classes),
        b2(batch * MlpInputs::classes) {}

  Buffer w1, b1, w2, b2;
};

class Mlp {
 public:
  explicit Mlp(std::size_t batch);
  void run(const MlpInputs& in, MlpGradients& out, int threads);

 private:
  void run_range(const MlpInputs& in, MlpGradients& out, std::size_t begin, std::size_t end);

  Buffer h_, logits_;
};

}  // namespace handwritten
