// Per-example gradients of a small classifier. vmap(grad(loss)) turns the gradient of one example into those of a whole
// batch, one per row of a new leading `batch` axis.
//
// Every number printed is checked: against backpropagation written out by hand in double (reference_network.hpp), which
// is itself checked against finite differences. A disagreement is reported and makes the program return 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "reference_network.hpp"

using namespace tlaloc;

namespace {

/// nan, which no check accepts, when the sizes differ or a difference is nan.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return NAN;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (std::isnan(difference)) return NAN;
    largest = std::max(largest, difference);
  }
  return largest;
}

/// As a part of the largest expected entry.
double relative_difference(const std::vector<double>& values, const std::vector<double>& expected) {
  double largest = 0;
  for (double entry : expected) largest = std::max(largest, std::abs(entry));
  return largest_difference(values, expected) / largest;
}

class Checks {
 public:
  void expect_close(const char* what, double difference, double limit) {
    if (difference <= limit) return;
    std::fflush(stdout);
    std::fprintf(stderr, "DISAGREEMENT: %s: the difference is %.2e, at most %.0e is accepted\n", what, difference,
                 limit);
    failed_ = true;
  }
  int exit_code() const { return failed_ ? 1 : 0; }

 private:
  bool failed_ = false;
};

/// What the library's results are compared with: of each kind, all examples' numbers one after the other.
struct Expected {
  std::vector<double> w1, w2, norms, differences_w1, differences_w2;
};

Expected expected_gradients(const reference::Problem& problem, Checks& checks) {
  Expected all;
  auto append = [](std::vector<double>& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  const reference::Weights weights = problem.weights();
  for (std::size_t i = 0; i < reference::batch; ++i) {
    const reference::Weights g = reference::gradient(weights, problem.example(i));
    const reference::Weights d = reference::finite_differences(weights, problem.example(i));
    append(all.w1, g.w1);
    append(all.w2, g.w2);
    append(all.differences_w1, d.w1);
    append(all.differences_w2, d.w2);
    double squares = 0;
    for (double entry : g.w1) squares += entry * entry;
    for (double entry : g.w2) squares += entry * entry;
    all.norms.push_back(std::sqrt(squares));
  }
  checks.expect_close("dL/dW1, reference and finite differences", relative_difference(all.w1, all.differences_w1),
                      1e-8);
  checks.expect_close("dL/dW2, reference and finite differences", relative_difference(all.w2, all.differences_w2),
                      1e-8);
  return all;
}

}  // namespace

int main() {
  const Axis batch{"batch"}, feature{"feature"}, hidden{"hidden"}, klass{"class"};

  // The loss of one example: x is [feature], y is [class] and one-hot.
  auto loss = [](const Tensor& w1, const Tensor& w2, const Tensor& x, const Tensor& y) {
    return cross_entropy(matmul(tanh(matmul(x, w1)), w2), y);
  };
  // Arguments that carry `batch` are mapped over it, the others are shared by every example.
  auto per_example = vmap(grad(loss, argnums<0, 1>), batch);
  // The other way round: the gradient of a batched loss.
  auto of_the_mean = grad([loss, batch](const Tensor& w1, const Tensor& w2, const Tensor& xs,
                                        const Tensor& ys) { return mean(vmap(loss, batch)(w1, w2, xs, ys)); },
                          argnums<0, 1>);

  Checks checks;
  const reference::Problem problem = reference::draw_problem();
  const Expected expected = expected_gradients(problem, checks);
  const Tensor w1 = from_data(problem.w1, {feature(reference::features), hidden(reference::hidden)});
  const Tensor w2 = from_data(problem.w2, {hidden(reference::hidden), klass(reference::classes)});
  const Tensor xs = from_data(problem.x, {batch(reference::batch), feature(reference::features)});
  const Tensor ys = from_data(problem.y, {batch(reference::batch), klass(reference::classes)});

  std::puts("per-example-gradients: vmap(grad(loss)) on a small classifier\n");
  std::puts("A two-layer network, logits = tanh(x W1) W2, with a cross-entropy loss, over a batch of 16 examples.\n");

  const auto [g1, g2] = per_example(w1, w2, xs, ys);
  std::printf("[1] per-example gradients: W1 %s, W2 %s\n", g1.shape().to_string().c_str(),
              g2.shape().to_string().c_str());

  const Tensor norms = sqrt(sum(square(g1), {feature, hidden}) + sum(square(g2), {hidden, klass}));
  const std::vector<double> norm = norms.to_vector<double>();
  std::puts("    per-example gradient norms:");
  for (std::size_t i = 0; i < norm.size(); ++i)
    std::printf("%s#%-2zu %.5f%s", i % 4 == 0 ? "    " : "   ", i, norm[i], i % 4 == 3 ? "\n" : "");
  checks.expect_close("gradient norms, library and reference", relative_difference(norm, expected.norms), 1e-5);

  const std::vector<double> dw1 = g1.to_vector<double>(), dw2 = g2.to_vector<double>();
  const double difference_w1 = relative_difference(dw1, expected.w1);
  const double difference_w2 = relative_difference(dw2, expected.w2);
  std::printf("    largest difference from the double reference: %.2e of the largest entry\n",
              std::max(difference_w1, difference_w2));
  checks.expect_close("dL/dW1, library and reference", difference_w1, 1e-5);
  checks.expect_close("dL/dW2, library and reference", difference_w2, 1e-5);

  constexpr std::size_t entry = (5 * reference::features + 2) * reference::hidden + 3;
  std::printf("    example 5, dL/dW1[2][3]: library %.7f, reference %.7f, finite difference %.7f\n", dw1.at(entry),
              expected.w1[entry], expected.differences_w1[entry]);

  const auto [m1, m2] = of_the_mean(w1, w2, xs, ys);
  std::printf("[2] gradient of the mean loss over the batch: W1 %s, W2 %s\n", m1.shape().to_string().c_str(),
              m2.shape().to_string().c_str());

  const double mean_w1 = largest_difference(m1.to_vector<double>(), mean(g1, batch).to_vector<double>());
  const double mean_w2 = largest_difference(m2.to_vector<double>(), mean(g2, batch).to_vector<double>());
  std::printf("    largest difference from the mean of the per-example gradients: %.2e\n", std::max(mean_w1, mean_w2));
  checks.expect_close("dL/dW1, gradient of the mean loss and mean of the gradients", mean_w1, 1e-6);
  checks.expect_close("dL/dW2, gradient of the mean loss and mean of the gradients", mean_w2, 1e-6);
  return checks.exit_code();
}
