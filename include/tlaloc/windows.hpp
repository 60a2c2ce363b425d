// Windows that slide over the last two axes: two-dimensional convolution and pooling.
//
// Images are [..., channel, height, width] (pooling needs the last two axes only); any number of axes may stand in
// front. A window is put at every `stride`-th place of an image that has `padding` more places on each side, and the
// result has (extent + 2 padding - reach) / stride + 1 of them, rounded down, where a window of n entries that are
// `dilation` apart reaches over (n - 1) dilation + 1 places. Result axes keep the names of the image's.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <tlaloc/export.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

/// One number for both of the last two axes, or one for each.
///     HeightWidth{2}   HeightWidth{2, 3}
struct HeightWidth {
  std::int64_t height, width;
  template <std::integral N>
  HeightWidth(N both) : height(static_cast<std::int64_t>(both)), width(static_cast<std::int64_t>(both)) {}
  template <std::integral N, std::integral M>
  HeightWidth(N h, M w) : height(static_cast<std::int64_t>(h)), width(static_cast<std::int64_t>(w)) {}
};

struct ConvOptions {
  HeightWidth stride = 1;
  HeightWidth padding = 0;   // zeros on each side
  HeightWidth dilation = 1;  // the distance between a kernel's entries
  std::int64_t groups = 1;   // channels are cut into so many parts, each with kernels of its own
};

/// Two-dimensional convolution as neural networks have it (the kernel is not turned around):
///     y[..., o, i, j] = sum over c, a, b of x[..., c, stride i + dilation a - padding, ...] kernel[o, c, a, b]
/// x is [..., C, H, W] and the kernel [O, C / groups, kH, kW]; the result is [..., O, oH, oW], its axis O named as the
/// kernel's first. With groups, output channel o reads the input channels of its own group. Both operands are floats of
/// one type; bools and integers become f32. There is no bias: add one.
///
/// A kernel that is mapped by vmap gives every example its own; a kernel that is shared, its gradient asked for example
/// by example, costs one product of unfolded patches for each example and no more memory than the gradients.
///
/// ShapeError for operands that do not fit and for a kernel that reaches further than the padded image; AxisError when
/// x's channel axis and the kernel's second have different names, or the result would have a name twice; ValueError for
/// a stride, dilation or number of groups below 1, or a negative padding.
///     conv2d(x [batch 64, channel 1, row 28, column 28], k [feature 16, channel 1, 8, 8], {.stride = 2, .padding = 3})
///                                                               // [batch 64, feature 16, row 14, column 14]
TLALOC_API Tensor conv2d(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});

struct PoolOptions {
  std::optional<HeightWidth> stride{};  // the window's size when not given
  HeightWidth padding = 0;              // less than the window on each axis
};

/// The largest element of each window. Padding never wins, and nan does. Among equal elements the first in row-major
/// order gets the whole gradient. The type stays; bools become i32.
///
/// ShapeError for x of fewer than two axes and for a window larger than the padded image; ValueError for a window or
/// stride below 1 and a padding that is negative or not smaller than the window.
///     max_pool2d(x [batch 64, feature 16, row 14, column 14], 2, {.stride = 1})   // [..., row 13, column 13]
TLALOC_API Tensor max_pool2d(const Tensor& x, HeightWidth window, const PoolOptions& options = {});

/// What a mean over a window at the border divides by.
enum class PaddingCounts : bool { no, yes };

/// The mean of each window: its sum over the number of its entries, or with PaddingCounts::no over the number of those
/// that lie in the image. Bools and integers become f32. Throws as max_pool2d().
TLALOC_API Tensor avg_pool2d(const Tensor& x, HeightWidth window, const PoolOptions& options = {},
                             PaddingCounts padding_counts = PaddingCounts::yes);

}  // namespace tlaloc::inline v0
