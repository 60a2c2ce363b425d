// expect: cannot be counted (is one a reference?), or are more than 40. Give it `auto tree() { return std::tie(...)
//
// A copy of the struct would refer to the original's tensor, which would be replaced behind its owner's back.
#include <cstddef>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

struct Layer {
#ifdef TLALOC_TEST_CONTROL
  Tensor w;
#else
  Tensor& w;
#endif
};

std::size_t count(const Layer& tree) { return tree_leaves(tree).size(); }
