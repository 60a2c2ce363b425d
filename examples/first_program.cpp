// The first program of the README: the gradient of every example's loss, at once.
#include <iostream>
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

int main() {
  const Axis batch{"batch"}, feature{"feature"};
  const Tensor weights = tensor<float>({0.5f, -1.0f, 2.0f}, {feature});
  const Tensor xs = tensor<float>({{1, 2, 3}, {4, 5, 6}}, {batch, feature});
  const Tensor ys = tensor<float>({1, 0}, {batch});

  const auto loss = [](const Tensor& w, const Tensor& x, const Tensor& y) {
    return square(matmul(x, w) - y);  // written for one example
  };
  std::cout << grad(loss)(weights, select(xs, batch, 0), select(ys, batch, 0)) << '\n';
  std::cout << vmap(grad(loss), batch)(weights, xs, ys) << '\n';
}
