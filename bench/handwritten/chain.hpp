// W4 by hand: a chain of operations on a few floats, tanh and times a constant in turn. On so little data the work
// around an operation is all that counts, so there are two measures: the kernels alone, and the leanest tape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/handwritten/buffer.hpp"

namespace handwritten {

/// x -> tanh(x) * chain_factor, again and again. With a factor this close to 1 neither the values nor the gradients die
/// out on the way.
inline constexpr float chain_factor = 1.001f;

/// Only the loops: each operation is a call that reads one array and writes another. `size` is a multiple of 8.
void chain_kernels(const Buffer& x, Buffer& result, Buffer& scratch, int operations);

/// Forward and backward, with what a tape that learns the operations at run time cannot do without: a fresh array per
/// result, a node per operation, and a sweep that calls each node's rule.
class ChainTape {
 public:
  ChainTape(std::size_t size, int operations);
  /// The gradient of the sum of the chain's results.
  void run(const Buffer& x, Buffer& gradient, int operations);

 private:
  struct Node {
    void (*rule)(const Node& node, float* cotangent, std::size_t size);
    const float* saved;
    float factor;
  };

  const float* record_tanh(const float* x, std::size_t size);
  const float* record_times(const float* x, float factor, std::size_t size);

  Buffer arena_;
  std::size_t used_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace handwritten
