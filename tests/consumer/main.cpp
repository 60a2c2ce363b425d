// A program of its own that uses the installed library: what it prints is checked by its exit code alone.
#include <tlaloc/tlaloc.hpp>

#include <cstdio>

int main() {
  using namespace tlaloc;
  const Axis batch{"batch"};
  const Tensor w = tensor<float>(3.0f);
  const Tensor xs = tensor<float>({1, 2, 4}, {batch});
  const auto loss = [](const Tensor& weight, const Tensor& x) { return square(weight * x); };
  const Tensor gradients = vmap(grad(loss), batch)(w, xs);
  try {
    matmul(xs, tensor<float>({1, 2}));
    return 1;
  } catch (const ShapeError& error) {
    std::puts(error.what());
  }
  return array_equal(gradients, tensor<float>({6, 24, 96}, {batch})) ? 0 : 1;
}
