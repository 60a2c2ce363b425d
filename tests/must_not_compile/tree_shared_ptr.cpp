// expect: a pointer is no tree: a copy of the tree would share what it points to. Hold the value
//
// Shared tensors inside a struct.
#include <cstddef>
#include <memory>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

struct Layer {
  Tensor w;
#ifdef TLALOC_TEST_CONTROL
  std::shared_ptr<int> count;
#else
  std::shared_ptr<Tensor> b;
#endif
};

std::size_t count(const Layer& tree) { return tree_leaves(tree).size(); }
