// expect: no known conversion
//
// A character is no number.
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

#ifdef TLALOC_TEST_CONTROL
Tensor next(const Tensor& x) { return x + 97; }
#else
Tensor next(const Tensor& x) { return x + 'a'; }
#endif
