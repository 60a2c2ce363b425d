// expect: tree() returns copies, and replacing those would change nothing. Write `auto tree() { return std::tie(...)
//
// std::tuple(w, b) in the place of std::tie(w, b).
#include <cstddef>
#include <tuple>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

class Layer {
 public:
#ifdef TLALOC_TEST_CONTROL
  auto tree() { return std::tie(w, b); }
  auto tree() const { return std::tie(w, b); }
#else
  auto tree() { return std::tuple(w, b); }
  auto tree() const { return std::tuple(w, b); }
#endif

 private:
  Tensor w, b;
};

std::size_t count(const Layer& tree) { return tree_leaves(tree).size(); }
