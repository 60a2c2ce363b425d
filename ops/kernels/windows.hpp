// Sliding windows over planes: products of unfolded patches, and the pools.
//
// Everything is dense and row-major, a plane [height, width]. A window puts entry (a, b) of its i, j-th place at row
// stride.height * i + dilation.height * a - padding.height, and likewise for columns; what is outside a plane is
// padding.
#pragma once

#include <cstdint>

namespace tlaloc::inline v0::kernels {

/// How windows lie along one axis.
struct Slide {
  std::int64_t extent = 0;  // of the plane
  std::int64_t window = 1;
  std::int64_t count = 0;  // places a window is put at
  std::int64_t stride = 1, padding = 0, dilation = 1;
};

struct Windows {
  Slide rows, columns;

  std::int64_t plane() const { return rows.extent * columns.extent; }
  std::int64_t places() const { return rows.count * columns.count; }
  std::int64_t entries() const { return rows.window * columns.window; }
};

/// A convolution relates images x [sets, batch, groups * inputs, plane], kernels k [sets, groups * outputs, inputs,
/// entries] and maps y [sets, batch, groups * outputs, places]. Of the operands there may be fewer sets than `sets`:
/// then set s is number s % how many there are. The three products throw std::bad_alloc, on the caller's thread.
struct ConvSizes {
  std::int64_t sets = 1, batch = 1, groups = 1, inputs = 1, outputs = 1;
  Windows windows;
};

/// y, each map the sum of what its kernels see.
template <class T>
void conv(const ConvSizes& sizes, const T* x, std::int64_t x_sets, const T* k, std::int64_t k_sets, T* y);
/// x, the transpose of conv() in its images.
template <class T>
void conv_images(const ConvSizes& sizes, const T* y, std::int64_t y_sets, const T* k, std::int64_t k_sets, T* x);
/// k, the transpose of conv() in its kernels: summed over the batch.
template <class T>
void conv_kernels(const ConvSizes& sizes, const T* x, std::int64_t x_sets, const T* y, std::int64_t y_sets, T* k);

/// The largest element of every window and its number in the plane. nan wins over all, the first over its equals.
/// Every window must hold an element of the plane.
template <class T>
void max_pool(const Windows& windows, std::int64_t planes, const T* x, T* values, std::int64_t* numbers);
/// The sum of every window, and its transpose.
template <class T>
void window_sums(const Windows& windows, std::int64_t planes, const T* x, T* sums);
template <class T>
void window_spread(const Windows& windows, std::int64_t planes, const T* sums, T* x);

}  // namespace tlaloc::inline v0::kernels
