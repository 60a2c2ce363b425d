// expect: the members of a class with a base class cannot be found. Give it `auto tree() { return std::tie(...)
//
// Structured bindings see the members of one class only.
#include <cstddef>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

struct Layer {
  Tensor w;
};
#ifdef TLALOC_TEST_CONTROL
struct Biased {
  Layer layer;
#else
struct Biased : Layer {
#endif
  Tensor b;
};

std::size_t count(const Biased& tree) { return tree_leaves(tree).size(); }
