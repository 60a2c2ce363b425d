// expect: a pointer is no tree: a copy of the tree would share what it points to. Hold the value
//
// Deep inside: a vector of structs with a pointer.
#include <cstddef>
#include <vector>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

struct Layer {
#ifdef TLALOC_TEST_CONTROL
  const char* name;
#else
  Tensor* w;
#endif
};

std::size_t count(const std::vector<Layer>& tree) { return tree_leaves(tree).size(); }
