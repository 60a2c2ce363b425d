// The network of per_example_gradients.cpp without the library: its inputs, and its loss and backpropagation written
// out by hand in double.
//
//     logits = tanh(x W1) W2,   loss = -sum(y * log_softmax(logits))      for one example x and its one-hot label y
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kotlin_random.hpp"

namespace reference {

inline constexpr std::size_t batch = 16, features = 4, hidden = 8, classes = 3;

/// The weights of the network, or the gradient of a loss with respect to them; matrices in row-major order.
struct Weights {
  std::array<double, features * hidden> w1{};
  std::array<double, hidden * classes> w2{};
};

struct Example {
  std::array<double, features> x{};
  std::array<double, classes> y{};
};

/// The inputs in single precision, as the library gets them: two matrices and a batch of examples, row by row.
struct Problem {
  std::vector<float> w1, w2, x, y;

  Weights weights() const {
    Weights weights;
    std::copy(w1.begin(), w1.end(), weights.w1.begin());
    std::copy(w2.begin(), w2.end(), weights.w2.begin());
    return weights;
  }
  Example example(std::size_t index) const {
    Example example;
    std::copy_n(x.data() + index * features, features, example.x.begin());
    std::copy_n(y.data() + index * classes, classes, example.y.begin());
    return example;
  }
};

/// Weights in [-1/2, 1/2), features in [-1, 1) and random labels.
inline Problem draw_problem() {
  KotlinRandom random(3);
  Problem problem;
  for (std::size_t i = 0; i < features * hidden; ++i) problem.w1.push_back(random.next_float() - 0.5f);
  for (std::size_t i = 0; i < hidden * classes; ++i) problem.w2.push_back(random.next_float() - 0.5f);
  for (std::size_t i = 0; i < batch * features; ++i) problem.x.push_back(random.next_float() * 2 - 1);
  problem.y.resize(batch * classes);
  for (std::size_t i = 0; i < batch; ++i)
    problem.y[i * classes + static_cast<std::size_t>(random.next_int(classes))] = 1;
  return problem;
}

struct Forward {
  std::array<double, hidden> h{};
  std::array<double, classes> p{};  // softmax(logits)
  double loss = 0;
};

inline Forward forward(const Weights& weights, const Example& example) {
  Forward f;
  for (std::size_t j = 0; j < hidden; ++j) {
    double z = 0;
    for (std::size_t i = 0; i < features; ++i) z += example.x[i] * weights.w1[i * hidden + j];
    f.h[j] = std::tanh(z);
  }
  std::array<double, classes> logits{};
  for (std::size_t k = 0; k < classes; ++k)
    for (std::size_t j = 0; j < hidden; ++j) logits[k] += f.h[j] * weights.w2[j * classes + k];
  const double largest = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (double logit : logits) total += std::exp(logit - largest);
  const double log_total = largest + std::log(total);
  for (std::size_t k = 0; k < classes; ++k) {
    f.p[k] = std::exp(logits[k] - log_total);
    f.loss += example.y[k] * (log_total - logits[k]);
  }
  return f;
}

inline double loss(const Weights& weights, const Example& example) { return forward(weights, example).loss; }

inline Weights gradient(const Weights& weights, const Example& example) {
  const Forward f = forward(weights, example);
  Weights g;
  for (std::size_t j = 0; j < hidden; ++j) {
    double dh = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      const double dlogit = f.p[k] - example.y[k];
      g.w2[j * classes + k] = f.h[j] * dlogit;
      dh += dlogit * weights.w2[j * classes + k];
    }
    const double dz = dh * (1 - f.h[j] * f.h[j]);
    for (std::size_t i = 0; i < features; ++i) g.w1[i * hidden + j] = example.x[i] * dz;
  }
  return g;
}

/// The gradient by central differences in one weight after the other.
inline Weights finite_differences(Weights weights, const Example& example) {
  constexpr double step = 1e-5;
  auto difference = [&](double& weight) {
    const double here = weight;
    weight = here + step;
    const double above = loss(weights, example);
    weight = here - step;
    const double below = loss(weights, example);
    weight = here;
    return (above - below) / (2 * step);
  };
  Weights g;
  std::transform(weights.w1.begin(), weights.w1.end(), g.w1.begin(), difference);
  std::transform(weights.w2.begin(), weights.w2.end(), g.w2.begin(), difference);
  return g;
}

}  // namespace reference
