// expect: if it holds no tensor, specialize tlaloc::holds_no_tensor
//
// The order of its tensors would differ from one map to the next.
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

#ifdef TLALOC_TEST_CONTROL
using Named = std::map<std::string, Tensor>;
#else
using Named = std::unordered_map<std::string, Tensor>;
#endif
std::size_t count(const Named& tree) { return tree_leaves(tree).size(); }
