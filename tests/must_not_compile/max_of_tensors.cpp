// expect: deleted function
//
// std::max would compare handles; the operation is maximum.
#include <algorithm>

#include <tlaloc/tlaloc.hpp>

using namespace std;
using namespace tlaloc;

Tensor larger(const Tensor& a, const Tensor& b) {
#ifdef TLALOC_TEST_CONTROL
  return maximum(a, b);
#else
  return max(a, b);
#endif
}
