// expect: jvp: the tangents must be a tree of the primals' type
//
// One tensor is no direction for two.
#include <tuple>

#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

Tensor product(const Tensor& x, const Tensor& y) { return x * y; }

Tensor derivative(const Tensor& x) {
#ifdef TLALOC_TEST_CONTROL
  return jvp(product, std::tuple(x, x), std::tuple(x, Tensor())).second;
#else
  return jvp(product, std::tuple(x, x), x).second;
#endif
}
