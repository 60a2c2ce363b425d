// W4 by hand. The kernels work on arrays of any multiple of eight floats, as a library's do; nothing here knows that
// there are only eight.
#include "bench/handwritten/chain.hpp"

#include <algorithm>
#include <utility>

#include "ops/kernels/lanes.hpp"
#include "ops/kernels/math.hpp"

namespace handwritten {
namespace {

using Lanes = tlaloc::kernels::Lanes<float>;

// A library's kernels are compiled before the program that calls them, so these are not inlined.

[[gnu::noinline]] void tanh_kernel(const float* x, float* y, std::size_t size) {
  for (std::size_t i = 0; i < size; i += Lanes::width) tlaloc::kernels::math::tanh(Lanes::load(x + i)).store(y + i);
}

[[gnu::noinline]] void times_kernel(const float* x, float factor, float* y, std::size_t size) {
  for (std::size_t i = 0; i < size; i += Lanes::width) (Lanes::load(x + i) * factor).store(y + i);
}

[[gnu::noinline]] void tanh_gradient_kernel(const float* y, float* cotangent, std::size_t size) {
  for (std::size_t i = 0; i < size; i += Lanes::width) {
    const Lanes value = Lanes::load(y + i);
    (Lanes::load(cotangent + i) * (1 - value * value)).store(cotangent + i);
  }
}

}  // namespace

void chain_kernels(const Buffer& x, Buffer& result, Buffer& scratch, int operations) {
  const float* from = x.data();
  // The last operation has to write the result.
  float *to = operations % 2 == 1 ? result.data() : scratch.data(),
        *next = operations % 2 == 1 ? scratch.data() : result.data();
  for (int i = 0; i < operations; ++i) {
    if (i % 2 == 0)
      tanh_kernel(from, to, x.size());
    else
      times_kernel(from, chain_factor, to, x.size());
    from = to;
    std::swap(to, next);
  }
}

ChainTape::ChainTape(std::size_t size, int operations) : arena_(size * static_cast<std::size_t>(operations)) {
  nodes_.reserve(static_cast<std::size_t>(operations));
}

const float* ChainTape::record_tanh(const float* x, std::size_t size) {
  float* y = arena_.data() + used_;
  used_ += size;
  tanh_kernel(x, y, size);
  nodes_.push_back(
      {[](const Node& node, float* cotangent, std::size_t n) { tanh_gradient_kernel(node.saved, cotangent, n); }, y,
       0});
  return y;
}

const float* ChainTape::record_times(const float* x, float factor, std::size_t size) {
  float* y = arena_.data() + used_;
  used_ += size;
  times_kernel(x, factor, y, size);
  nodes_.push_back(
      {[](const Node& node, float* cotangent, std::size_t n) { times_kernel(cotangent, node.factor, cotangent, n); },
       nullptr, factor});
  return y;
}

void ChainTape::run(const Buffer& x, Buffer& gradient, int operations) {
  used_ = 0;
  nodes_.clear();
  const float* value = x.data();
  for (int i = 0; i < operations; ++i)
    value = i % 2 == 0 ? record_tanh(value, x.size()) : record_times(value, chain_factor, x.size());
  std::fill_n(gradient.data(), x.size(), 1.0f);
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) node->rule(*node, gradient.data(), x.size());
}

}  // namespace handwritten
