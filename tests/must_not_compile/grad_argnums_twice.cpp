// expect: argnums: an argument is asked for twice
//
// 0 and -2 are one argument of two; its second gradient would be zeros.
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

Tensor loss(const Tensor& x, const Tensor& y) { return sum(x * y); }

#ifdef TLALOC_TEST_CONTROL
void derivatives(const Tensor& x) { grad(loss, argnums<0, -1>)(x, x); }
#else
void derivatives(const Tensor& x) { grad(loss, argnums<0, -2>)(x, x); }
#endif
