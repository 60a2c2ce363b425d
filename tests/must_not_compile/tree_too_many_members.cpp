// expect: cannot be counted (is one a reference?), or are more than 40. Give it `auto tree() { return std::tie(...)
//
// Forty-one members.
#include <cstddef>

#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

using namespace tlaloc;

struct Layer {
  Tensor a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9;
  Tensor c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9;
#ifndef TLALOC_TEST_CONTROL
  Tensor e0;
#endif
};

std::size_t count(const Layer& tree) { return tree_leaves(tree).size(); }
