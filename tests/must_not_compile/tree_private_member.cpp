// expect: so its tensors would be missed. Give it `auto tree() { return std::tie(...)
//
// A tensor that nobody can reach would have no gradient.
#include <cstddef>
#include <tuple>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

class Layer {
 public:
  Tensor w;
#ifdef TLALOC_TEST_CONTROL
  auto tree() { return std::tie(w, b); }
  auto tree() const { return std::tie(w, b); }
#endif

 private:
  Tensor b;
};

std::size_t count(const Layer& tree) { return tree_leaves(tree).size(); }
