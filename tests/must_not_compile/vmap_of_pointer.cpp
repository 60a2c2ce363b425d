// expect: vmap: the function must return a tree
//
// A result behind a pointer would keep its batch axis hidden for good.
#include <memory>

#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

#ifdef TLALOC_TEST_CONTROL
Tensor twice(const Tensor& x) { return 2 * x; }
#else
std::shared_ptr<Tensor> twice(const Tensor& x) { return std::make_shared<Tensor>(2 * x); }
#endif

void map(const Tensor& x) { vmap(twice)(x); }
