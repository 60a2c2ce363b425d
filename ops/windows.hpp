// Convolution and pooling: operations of windows that slide over the last two axes.
#pragma once

#include "ops/indexing.hpp"
#include "ops/kernels/windows.hpp"
#include "ops/linear_family.hpp"

namespace tlaloc::inline v0::ops {

/// A convolution is a form with three linear arguments, images [paired..., batch..., C, H, W], kernels [paired..., O,
/// C / groups, kH, kW] and maps [paired..., batch..., O, oH, oW]. An operation takes two of them, in that order (the
/// maps first where they are with the kernels), and gives what the third is multiplied by; so the derivatives of each
/// are the other two.
struct Conv {
  enum class Gives : std::uint8_t { maps, images, kernels };

  static constexpr OpInfo info{.name = "conv2d", .inputs = 2};
  static constexpr std::array needs{input(1), input(0)};

  kernels::Windows windows;
  std::int64_t groups;
  Gives gives = Gives::maps;
  int paired = 0;  // how many leading axes give each its own kernels

  Conv(const kernels::Windows& how, std::int64_t channel_groups) : windows(how), groups(channel_groups) {}

  Tensor eval(const Tensor& a, const Tensor& b) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  void batch(core::BatchCall& call) const;

 private:
  Conv giving(Gives what) const;
};

/// Results: the largest elements [..., oH, oW], and their i64 numbers in the plane [..., oH * oW].
struct MaxPool : BroadcastBatching<MaxPool> {
  static constexpr OpInfo info{.name = "max_pool2d", .results = 2};
  static constexpr std::array needs{output(1)};
  kernels::Windows windows;

  explicit MaxPool(const kernels::Windows& how) : windows(how) {}

  std::array<Tensor, 2> eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  MaxPool batched(std::int64_t) const { return *this; }

 private:
  Places places(const Tensor& numbers) const;
};

/// The sum of each window, or the transpose of that.
struct WindowSum : Linear<WindowSum> {
  static constexpr OpInfo info{.name = "avg_pool2d"};
  kernels::Windows windows;
  bool transposed = false;

  explicit WindowSum(const kernels::Windows& how) : windows(how) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const;
  WindowSum batched(std::int64_t) const { return *this; }
};

}  // namespace tlaloc::inline v0::ops
