// expect: the keys of a map that is a tree are strings, integers or enumerators
//
// Keys say in messages where a tensor stands, so they must print exactly.
#include <cstddef>
#include <map>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

#ifdef TLALOC_TEST_CONTROL
using Key = int;
#else
using Key = double;
#endif
std::size_t count(const std::map<Key, Tensor>& tree) { return tree_leaves(tree).size(); }
