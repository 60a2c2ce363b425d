// expect: deleted
//
// The span would outlive the tensor whose elements it shows.
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

float total(const Tensor& x) {
  float sum = 0;
#ifdef TLALOC_TEST_CONTROL
  const Tensor y = exp(x);
  for (const float v : y.span<float>()) sum += v;
#else
  for (const float v : exp(x).span<float>()) sum += v;
#endif
  return sum;
}
