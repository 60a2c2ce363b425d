// expect: a const member (or one behind a const reference) holds tensors that transforms could not replace
//
// Numbers may be const, tensors may not.
#include <cstddef>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

struct Layer {
  const int width;
#ifdef TLALOC_TEST_CONTROL
  Tensor w;
#else
  const Tensor w;
#endif
};

std::size_t count(const Layer& tree) { return tree_leaves(tree).size(); }
