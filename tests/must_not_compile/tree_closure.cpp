// expect: if it holds no tensor, specialize tlaloc::holds_no_tensor
//
// A closure may have captured a tensor by reference.
#include <cstddef>
#include <type_traits>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

Tensor start;
template <class Function>
struct Layer {
  Tensor w;
  Function activation;
};

std::size_t count() {
#ifdef TLALOC_TEST_CONTROL
  const auto activation = [](const Tensor& x) { return x; };
#else
  Tensor b;
  const auto activation = [b](const Tensor&) { return b; };
#endif
  return tree_leaves(Layer<std::remove_const_t<decltype(activation)>>{start, activation}).size();
}
