// expect: a pointer is no tree: a copy of the tree would share what it points to. Hold the value
//
// Owned, but behind a pointer; std::optional and std::vector say the same.
#include <cstddef>
#include <memory>
#include <optional>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

#ifdef TLALOC_TEST_CONTROL
using Held = std::optional<Tensor>;
#else
using Held = std::unique_ptr<Tensor>;
#endif

std::size_t count(const Held& tree) { return tree_leaves(tree).size(); }
