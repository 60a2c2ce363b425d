// expect: deleted function
//
// std::min would compare handles.
#include <algorithm>

#include <tlaloc/tlaloc.hpp>

using namespace std;
using namespace tlaloc;

Tensor smaller(const Tensor& a, const Tensor& b) {
#ifdef TLALOC_TEST_CONTROL
  return -maximum(-a, -b);
#else
  return min(a, b);
#endif
}
