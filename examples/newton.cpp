// Newton's method from many starting points at once: the gradient and the Hessian of every one, in one call each.
//
// The function is Rosenbrock's, f(x, y) = (1 - x)^2 + 100 (y - x^2)^2, a curved valley with its minimum at (1, 1). Ends
// with a non-zero exit when a start does not get there, or when a Hessian differs from the closed form.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tlaloc/tlaloc.hpp>
#include <vector>

using namespace tlaloc;

namespace {

Tensor rosenbrock(const Tensor& p) {
  const Tensor x = select(p, 0, 0);
  const Tensor y = select(p, 0, 1);
  return square(1 - x) + 100 * square(y - square(x));
}

/// The step -H^-1 g of one example, for a 2 x 2 Hessian.
Tensor newton_step(const Tensor& p) {
  const Tensor g = grad(rosenbrock)(p);
  const Tensor h = hessian(rosenbrock)(p);
  const auto entry = [&](int i, int j) { return select(select(h, 0, i), 0, j); };
  const Tensor determinant = entry(0, 0) * entry(1, 1) - square(entry(0, 1));
  const Tensor g0 = select(g, 0, 0);
  const Tensor g1 = select(g, 0, 1);
  return -stack({entry(1, 1) * g0 - entry(0, 1) * g1, entry(0, 0) * g1 - entry(0, 1) * g0}) / determinant;
}

/// The largest difference of the library's Hessians from [[2 - 400 y + 1200 x^2, -400 x], [-400 x, 200]].
double hessian_error(const Tensor& points) {
  const auto p = points.to_vector<double>();
  const auto h = vmap(hessian(rosenbrock))(points).to_vector<double>();
  double largest = 0;
  for (std::size_t i = 0; i < p.size() / 2; ++i) {
    const double x = p[2 * i];
    const double y = p[2 * i + 1];
    const double expected[] = {2 - 400 * y + 1200 * x * x, -400 * x, -400 * x, 200};
    for (std::size_t k = 0; k < 4; ++k) largest = std::max(largest, std::abs(h[4 * i + k] - expected[k]));
  }
  return largest;
}

}  // namespace

int main() {
  const Axis start{"start"};
  Tensor points = tensor<double>({{-1.2, 1}, {2, 2}, {0, -1}, {-2, -2}, {5, 3}}, {start, Axis::none});
  const double error = hessian_error(points);
  std::printf("largest difference of a Hessian from the closed form: %.1e\n", error);

  const auto steps = vmap(newton_step, start);
  for (int i = 0; i < 20; ++i) points = points + steps(points);

  bool right = error < 1e-9;
  for (const double coordinate : points.to_vector<double>()) right = right && std::abs(coordinate - 1) < 1e-9;
  const auto values = vmap(rosenbrock, start)(points).to_vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("start %zu: f = %.1e\n", i, values[i]);
  std::printf(right ? "every start reached (1, 1)\n" : "a start did not reach (1, 1)\n");
  return right ? 0 : 1;
}
