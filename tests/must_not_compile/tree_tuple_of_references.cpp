// expect: a reference is no tree: a copy of the tree would still refer to the tensors of the original
//
// A tuple of references, such as std::tie and std::forward_as_tuple give.
#include <cstddef>
#include <tuple>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

#ifdef TLALOC_TEST_CONTROL
using Pair = std::tuple<Tensor, Tensor>;
#else
using Pair = std::tuple<Tensor, Tensor&>;
#endif

std::size_t count(const Pair& tree) { return tree_leaves(tree).size(); }
