// A module that brings the library into a program which knows nothing of it; see host.cpp.
#include <functional>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

// Lives until the module is closed, and is freed then.
Tensor kept;

}  // namespace

/// 0 when transforms, the pool and BLAS give what they should.
extern "C" __attribute__((visibility("default"))) int run_plugin();
extern "C" int run_plugin() {
  const std::function<Tensor(const Tensor&)> cube = [](const Tensor& x) { return x * x * x; };
  const Axis batch("batch");
  set_num_threads(3);
  bool right = grad(grad(cube))(tensor<double>(5.0)).item<double>() == 30;
  const Tensor mapped = vmap(grad(cube), batch)(tensor<double>({1, 2, 3}, {batch}));
  right &= array_equal(mapped, tensor<double>({3, 12, 27}, {batch}));
  const Tensor wide = full({400'000}, 0.5, DType::f32);
  const Tensor slope = grad([](const Tensor& x) { return sum(square(x)); })(wide);
  right &= array_equal(slope, ones({400'000}));
  right &= array_equal(matmul(ones({160, 160}), ones({160, 160})), full({160, 160}, 160.0));
  try {
    matmul(ones({2, 3}), ones({2, 3}));
    right = false;
  } catch (const ShapeError&) {
  }
  kept = slope * 2.0;
  return right ? 0 : 1;
}
