// expect: no known conversion
//
// A bool is no number: `x * true` is more often a slip than a wish.
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

#ifdef TLALOC_TEST_CONTROL
Tensor product(const Tensor& x) { return x * 1; }
#else
Tensor product(const Tensor& x) { return x * true; }
#endif
