// expect: this class has `auto tree()`, but not `auto tree() const { return std::tie(...)
//
// Trees are read as well as changed.
#include <cstddef>
#include <tuple>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

class Layer {
 public:
  auto tree() { return std::tie(w); }
#ifdef TLALOC_TEST_CONTROL
  auto tree() const { return std::tie(w); }
#endif

 private:
  Tensor w;
};

std::size_t count(const Layer& tree) { return tree_leaves(tree).size(); }
