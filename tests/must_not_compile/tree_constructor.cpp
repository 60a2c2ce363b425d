// expect: so its tensors would be missed. Give it `auto tree() { return std::tie(...)
//
// A class with a constructor is no aggregate, so its members cannot be found.
#include <cstddef>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

struct Layer {
#ifndef TLALOC_TEST_CONTROL
  explicit Layer(Tensor start) : w(start) {}
#endif
  Tensor w;
};
struct Model {
  Layer layer;
};

std::size_t count(const Model& tree) { return tree_leaves(tree).size(); }
