// expect: argnums: the function is called with fewer arguments
//
// There is no argument 2 among two.
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

Tensor loss(const Tensor& x, const Tensor& y) { return sum(x * y); }

#ifdef TLALOC_TEST_CONTROL
Tensor derivative(const Tensor& x) { return grad(loss, argnums<1>)(x, x); }
#else
Tensor derivative(const Tensor& x) { return grad(loss, argnums<2>)(x, x); }
#endif
