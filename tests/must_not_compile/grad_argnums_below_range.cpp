// expect: argnums: the function is called with fewer arguments
//
// From the last there are -1 and -2.
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

Tensor loss(const Tensor& x, const Tensor& y) { return sum(x * y); }

#ifdef TLALOC_TEST_CONTROL
Tensor derivative(const Tensor& x) { return grad(loss, argnums<-2>)(x, x); }
#else
Tensor derivative(const Tensor& x) { return grad(loss, argnums<-3>)(x, x); }
#endif
