// expect: that function must exist without const, too
//
// A tree that can only be read.
#include <tuple>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

class Layer {
 public:
#ifdef TLALOC_TEST_CONTROL
  auto tree() { return std::tie(w); }
#endif
  auto tree() const { return std::tie(w); }

 private:
  Tensor w;
};

Layer copy(const Layer& layer) {
  return tree_map([](const Tensor& w) { return w; }, layer);
}
