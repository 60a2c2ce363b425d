// Convolutions are products of unfolded patches, made for one image and a band of its places at a time, so that the
// patches stay in the near caches and are never kept.
//
// An image is first copied with its padding, and taken apart into the phases of its stride: rows r and columns c with
// equal r % stride and c % stride. In that layout the elements that one entry of the window meets, place after place,
// are runs of neighbours, so that unfolding is copying runs and folding is adding them.
#include "ops/kernels/windows.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "core/threads.hpp"
#include "ops/kernels/contract.hpp"

namespace tlaloc::inline v0::kernels {
namespace {

/// Multiply-adds, or elements looked at, worth waking a thread for.
constexpr std::int64_t grain = 1 << 16;
/// Elements of unfolded patches at a time: 256 KiB of floats.
constexpr std::int64_t most_patches = 1 << 16;

std::int64_t items_for(std::int64_t work_of_item) {
  return std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, work_of_item));
}

/// Throws std::bad_alloc also when the product of the extents is beyond any memory.
template <class T>
std::unique_ptr<T[]> scratch(std::int64_t count, std::int64_t size = 1) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(count, size, &all)) throw std::bad_alloc();
  return std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(all));
}

/// parallel_for() for pieces that need memory, which must not throw on a pool thread: the caller throws for them.
template <class F>
void in_pieces(std::int64_t n, std::int64_t piece, F&& f) {
  std::atomic<bool> out_of_memory = false;
  core::parallel_for(n, piece, [&](std::int64_t from, std::int64_t to) {
    try {
      f(from, to);
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
    }
  });
  if (out_of_memory) throw std::bad_alloc();
}

/// One axis of the padded plane, taken apart by its stride.
struct Phases {
  std::int64_t stride, length;  // of one phase
  std::int64_t size;            // of all that are not empty

  explicit Phases(const Slide& slide) : stride(slide.stride) {
    const std::int64_t padded = slide.extent + 2 * slide.padding;
    length = (padded + stride - 1) / stride;
    size = std::min(stride, padded) * length;
  }
};

/// The planes of one image's group of channels, padded and by phases: [channel, row phase, row, column phase, column].
template <class T>
class Padded {
 public:
  Padded(const Windows& windows, std::int64_t channels)
      : windows_(windows),
        rows_(windows.rows),
        columns_(windows.columns),
        row_size_(columns_.size),
        channel_size_(rows_.size * row_size_),
        channels_(channels),
        data_(scratch<T>(channels, channel_size_)) {}

  void clear() { std::fill_n(data_.get(), channels_ * channel_size_, T{0}); }

  void load(const T* image) {
    for_each_row(image, [this](T* row, const T* from) {
      for_each_phase([=](std::int64_t to, std::int64_t at, std::int64_t count, std::int64_t step) {
        for (std::int64_t i = 0; i < count; ++i) row[to + i] = from[at + i * step];
      });
    });
  }
  void store(T* image) {
    for_each_row(image, [this](const T* row, T* to) {
      for_each_phase([=](std::int64_t from, std::int64_t at, std::int64_t count, std::int64_t step) {
        for (std::int64_t i = 0; i < count; ++i) to[at + i * step] = row[from + i];
      });
    });
  }

  /// patches[channel, entry, place] for the rows [begin, end) of places.
  void unfold(std::int64_t begin, std::int64_t end, T* patches) {
    const std::int64_t width = windows_.columns.count;
    for_each_entry(begin, [&](T* run) {
      for (std::int64_t i = begin; i < end; ++i, run += row_size_, patches += width)
        std::memcpy(patches, run, static_cast<std::size_t>(width) * sizeof(T));
    });
  }
  /// Adds them.
  void fold(std::int64_t begin, std::int64_t end, const T* patches) {
    const std::int64_t width = windows_.columns.count;
    for_each_entry(begin, [&](T* run) {
      for (std::int64_t i = begin; i < end; ++i, run += row_size_, patches += width)
        for (std::int64_t j = 0; j < width; ++j) run[j] += patches[j];
    });
  }

 private:
  template <class Image, class F>
  void for_each_row(Image* image, F&& f) {
    for (std::int64_t c = 0; c < channels_; ++c)
      for (std::int64_t r = 0; r < windows_.rows.extent; ++r, image += windows_.columns.extent) {
        const std::int64_t padded = r + windows_.rows.padding;
        f(data_.get() + c * channel_size_ + (padded % rows_.stride * rows_.length + padded / rows_.stride) * row_size_,
          image);
      }
  }
  /// f(place in the padded row, place in the image's row, how many, the image's step), for each phase of columns.
  template <class F>
  void for_each_phase(F&& f) {
    const Slide& slide = windows_.columns;
    for (std::int64_t phase = 0; phase * columns_.length < columns_.size; ++phase) {
      // The first padded column of this phase that lies in the image.
      const std::int64_t skipped = std::max<std::int64_t>(0, (slide.padding - phase + slide.stride - 1) / slide.stride);
      const std::int64_t at = phase + skipped * slide.stride - slide.padding;
      if (at < slide.extent)
        f(phase * columns_.length + skipped, at, (slide.extent - at + slide.stride - 1) / slide.stride, slide.stride);
    }
  }
  /// f(the run of elements that an entry of the window meets at the row `begin` of places).
  template <class F>
  void for_each_entry(std::int64_t begin, F&& f) {
    for (std::int64_t c = 0; c < channels_; ++c)
      for (std::int64_t a = 0; a < windows_.rows.window; ++a)
        for (std::int64_t b = 0; b < windows_.columns.window; ++b) {
          const std::int64_t row = a * windows_.rows.dilation, column = b * windows_.columns.dilation;
          f(data_.get() + c * channel_size_ +
            (row % rows_.stride * rows_.length + row / rows_.stride + begin) * row_size_ +
            column % columns_.stride * columns_.length + column / columns_.stride);
        }
  }

  Windows windows_;
  Phases rows_, columns_;
  std::int64_t row_size_, channel_size_, channels_;
  std::unique_ptr<T[]> data_;
};

/// What the three products share: where things are, and how places are cut into bands.
struct Layout {
  ConvSizes sizes;
  std::int64_t places, depth;       // a patch has `depth` elements
  std::int64_t image, map, kernel;  // elements of one group of an image, of a map, of kernels
  std::int64_t band;                // rows of places at a time

  explicit Layout(const ConvSizes& s)
      : sizes(s),
        places(s.windows.places()),
        depth(s.inputs * s.windows.entries()),
        image(s.inputs * s.windows.plane()),
        map(s.outputs * places),
        kernel(s.outputs * depth) {
    const std::int64_t row = std::max<std::int64_t>(1, depth * s.windows.columns.count);
    band = std::clamp<std::int64_t>(most_patches / row, 1, std::max<std::int64_t>(1, s.windows.rows.count));
  }
  std::int64_t work() const { return map * depth; }
  std::int64_t band_places() const { return band * sizes.windows.columns.count; }
};

/// f(begin, end, the first place, how many places) for the bands of an image.
template <class F>
void for_each_band(const Layout& in, F&& f) {
  const std::int64_t rows = in.sizes.windows.rows.count, width = in.sizes.windows.columns.count;
  for (std::int64_t begin = 0; begin < rows; begin += in.band) {
    const std::int64_t end = std::min(begin + in.band, rows);
    f(begin, end, begin * width, (end - begin) * width);
  }
}

/// One group of channels of one image.
struct Item {
  std::int64_t set, image, group;

  Item(const ConvSizes& sizes, std::int64_t number)
      : set(number / sizes.groups / sizes.batch),
        image(number / sizes.groups % sizes.batch),
        group(number % sizes.groups) {}
};

/// f(begin, end) for the numbers of all items, shared among threads.
template <class F>
void for_items(const Layout& in, F&& f) {
  in_pieces(in.sizes.sets * in.sizes.batch * in.sizes.groups, items_for(in.work()), std::forward<F>(f));
}

/// What lies at a set, an image of it and a group of that, where there may be fewer sets.
template <class T>
T* part(const Layout& in, T* data, std::int64_t sets, std::int64_t set, std::int64_t image, std::int64_t group,
        std::int64_t size) {
  return data + ((set % sets * in.sizes.batch + image) * in.sizes.groups + group) * size;
}
template <class T>
T* kernels_of(const Layout& in, T* k, std::int64_t sets, std::int64_t set, std::int64_t group) {
  return k + (set % sets * in.sizes.groups + group) * in.kernel;
}

}  // namespace

template <class T>
void conv(const ConvSizes& sizes, const T* x, std::int64_t x_sets, const T* k, std::int64_t k_sets, T* y) {
  const Layout in(sizes);
  for_items(in, [&](std::int64_t from, std::int64_t to) {
    Padded<T> padded(sizes.windows, sizes.inputs);
    padded.clear();
    const auto patches = scratch<T>(in.depth, in.band_places());
    const bool whole = in.band >= sizes.windows.rows.count;
    const auto product = scratch<T>(whole ? 0 : sizes.outputs, in.band_places());
    for (std::int64_t number = from; number < to; ++number) {
      const auto [set, image, group] = Item(sizes, number);
      padded.load(part(in, x, x_sets, set, image, group, in.image));
      T* const maps = part(in, y, sizes.sets, set, image, group, in.map);
      for_each_band(in, [&](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count) {
        padded.unfold(begin, end, patches.get());
        contract({.m = sizes.outputs, .n = count, .k = in.depth, .a_row = in.depth, .b_row = count, .b_col = 1},
                 kernels_of(in, k, k_sets, set, group), patches.get(), whole ? maps : product.get());
        if (whole) return;
        for (std::int64_t o = 0; o < sizes.outputs; ++o)
          std::copy_n(product.get() + o * count, count, maps + o * in.places + first);
      });
    }
  });
}

template <class T>
void conv_images(const ConvSizes& sizes, const T* y, std::int64_t y_sets, const T* k, std::int64_t k_sets, T* x) {
  const Layout in(sizes);
  for_items(in, [&](std::int64_t from, std::int64_t to) {
    Padded<T> padded(sizes.windows, sizes.inputs);
    const auto patches = scratch<T>(in.depth, in.band_places());
    for (std::int64_t number = from; number < to; ++number) {
      const auto [set, image, group] = Item(sizes, number);
      const T* const maps = part(in, y, y_sets, set, image, group, in.map);
      padded.clear();
      for_each_band(in, [&](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count) {
        contract({.m = in.depth,
                  .n = count,
                  .k = sizes.outputs,
                  .a_row = 1,
                  .a_col = in.depth,
                  .b_row = in.places,
                  .b_col = 1},
                 kernels_of(in, k, k_sets, set, group), maps + first, patches.get());
        padded.fold(begin, end, patches.get());
      });
      padded.store(part(in, x, sizes.sets, set, image, group, in.image));
    }
  });
}

template <class T>
void conv_kernels(const ConvSizes& sizes, const T* x, std::int64_t x_sets, const T* y, std::int64_t y_sets, T* k) {
  const Layout in(sizes);
  // A batch is cut into slices whose sums are added in order; their number depends on the sizes alone.
  constexpr std::int64_t most_slices = 8;
  const std::int64_t slices = sizes.sets * sizes.groups >= most_slices || in.work() * sizes.batch < 2 * grain
                                  ? 1
                                  : std::clamp<std::int64_t>(sizes.batch, 1, most_slices);
  const std::int64_t slice = (sizes.batch + slices - 1) / slices;
  const std::int64_t all = sizes.sets * sizes.groups * in.kernel;
  const auto others = scratch<T>(slices - 1, all);
  in_pieces(sizes.sets * sizes.groups * slices, items_for(in.work() * slice), [&](std::int64_t from, std::int64_t to) {
    Padded<T> padded(sizes.windows, sizes.inputs);
    padded.clear();
    const auto patches = scratch<T>(in.depth, in.band_places());
    const auto product = scratch<T>(in.kernel);
    for (std::int64_t item = from; item < to; ++item) {
      const std::int64_t number = item / slices, at = item % slices;
      const std::int64_t set = number / sizes.groups, group = number % sizes.groups;
      T* const sum = (at == 0 ? k : others.get() + (at - 1) * all) + number * in.kernel;
      bool is_first = true;
      const std::int64_t stop = std::min((at + 1) * slice, sizes.batch);
      for (std::int64_t image = at * slice; image < stop; ++image) {
        padded.load(part(in, x, x_sets, set, image, group, in.image));
        const T* const maps = part(in, y, y_sets, set, image, group, in.map);
        for_each_band(in, [&](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count) {
          padded.unfold(begin, end, patches.get());
          contract({.m = sizes.outputs,
                    .n = in.depth,
                    .k = count,
                    .a_row = in.places,
                    .a_col = 1,
                    .b_row = 1,
                    .b_col = count},
                   maps + first, patches.get(), is_first ? sum : product.get());
          if (!is_first)
            for (std::int64_t i = 0; i < in.kernel; ++i) sum[i] += product[static_cast<std::size_t>(i)];
          is_first = false;
        });
      }
      if (is_first) std::fill_n(sum, in.kernel, T{0});
    }
  });
  for (std::int64_t i = 0; i < (slices - 1) * all; ++i) k[i % all] += others[static_cast<std::size_t>(i)];
}

namespace {

/// Places along an axis, [begin, end), at which entry `a` of the window lies in the plane.
struct Inside {
  std::int64_t begin, end;

  Inside(const Slide& slide, std::int64_t a) {
    const std::int64_t offset = a * slide.dilation - slide.padding;
    begin = offset >= 0 ? 0 : (-offset + slide.stride - 1) / slide.stride;
    end = offset >= slide.extent ? 0 : std::min(slide.count, (slide.extent - offset - 1) / slide.stride + 1);
    begin = std::min(begin, end);
  }
};

/// f(number of the first element in the plane, number of the first place, how many): for every entry of the window, the
/// runs of places at which it lies in the plane. Entries come in row-major order.
template <class F>
void for_each_run(const Windows& windows, F&& f) {
  const Slide &rows = windows.rows, &columns = windows.columns;
  for (std::int64_t a = 0; a < rows.window; ++a) {
    const Inside vertical(rows, a);
    for (std::int64_t b = 0; b < columns.window; ++b) {
      const Inside horizontal(columns, b);
      if (horizontal.begin == horizontal.end) continue;
      for (std::int64_t i = vertical.begin; i < vertical.end; ++i) {
        const std::int64_t row = i * rows.stride + a * rows.dilation - rows.padding;
        const std::int64_t column = horizontal.begin * columns.stride + b * columns.dilation - columns.padding;
        f(row * columns.extent + column, i * columns.count + horizontal.begin, horizontal.end - horizontal.begin);
      }
    }
  }
}

/// f(plane) for every plane, shared among threads.
template <class F>
void for_each_plane(const Windows& windows, std::int64_t planes, F&& f) {
  core::parallel_for(planes, items_for(windows.places() * windows.entries()), [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t plane = from; plane < to; ++plane) f(plane);
  });
}

}  // namespace

template <class T>
void max_pool(const Windows& windows, std::int64_t planes, const T* x, T* values, std::int64_t* numbers) {
  const std::int64_t step = windows.columns.stride;
  for_each_plane(windows, planes, [&](std::int64_t plane) {
    const T* const from = x + plane * windows.plane();
    T* const best = values + plane * windows.places();
    std::int64_t* const at = numbers + plane * windows.places();
    std::fill_n(at, windows.places(), std::int64_t{-1});
    std::fill_n(best, windows.places(), T{0});
    for_each_run(windows, [=](std::int64_t element, std::int64_t place, std::int64_t count) {
      for (std::int64_t j = 0; j < count; ++j) {
        const T value = from[element + j * step];
        const T old = best[place + j];
        const bool takes = (value > old) | (at[place + j] < 0) | ((value != value) & (old == old));
        best[place + j] = takes ? value : old;
        at[place + j] = takes ? element + j * step : at[place + j];
      }
    });
  });
}

template <class T>
void window_sums(const Windows& windows, std::int64_t planes, const T* x, T* sums) {
  const std::int64_t step = windows.columns.stride;
  for_each_plane(windows, planes, [&](std::int64_t plane) {
    const T* const from = x + plane * windows.plane();
    T* const to = sums + plane * windows.places();
    std::fill_n(to, windows.places(), T{0});
    for_each_run(windows, [=](std::int64_t element, std::int64_t place, std::int64_t count) {
      for (std::int64_t j = 0; j < count; ++j) to[place + j] += from[element + j * step];
    });
  });
}

template <class T>
void window_spread(const Windows& windows, std::int64_t planes, const T* sums, T* x) {
  const std::int64_t step = windows.columns.stride;
  for_each_plane(windows, planes, [&](std::int64_t plane) {
    const T* const from = sums + plane * windows.places();
    T* const to = x + plane * windows.plane();
    std::fill_n(to, windows.plane(), T{0});
    for_each_run(windows, [=](std::int64_t element, std::int64_t place, std::int64_t count) {
      for (std::int64_t j = 0; j < count; ++j) to[element + j * step] += from[place + j];
    });
  });
}

template void conv(const ConvSizes&, const float*, std::int64_t, const float*, std::int64_t, float*);
template void conv(const ConvSizes&, const double*, std::int64_t, const double*, std::int64_t, double*);
template void conv_images(const ConvSizes&, const float*, std::int64_t, const float*, std::int64_t, float*);
template void conv_images(const ConvSizes&, const double*, std::int64_t, const double*, std::int64_t, double*);
template void conv_kernels(const ConvSizes&, const float*, std::int64_t, const float*, std::int64_t, float*);
template void conv_kernels(const ConvSizes&, const double*, std::int64_t, const double*, std::int64_t, double*);
template void max_pool(const Windows&, std::int64_t, const float*, float*, std::int64_t*);
template void max_pool(const Windows&, std::int64_t, const double*, double*, std::int64_t*);
template void max_pool(const Windows&, std::int64_t, const std::int32_t*, std::int32_t*, std::int64_t*);
template void max_pool(const Windows&, std::int64_t, const std::int64_t*, std::int64_t*, std::int64_t*);
template void window_sums(const Windows&, std::int64_t, const float*, float*);
template void window_sums(const Windows&, std::int64_t, const double*, double*);
template void window_spread(const Windows&, std::int64_t, const float*, float*);
template void window_spread(const Windows&, std::int64_t, const double*, double*);

}  // namespace tlaloc::inline v0::kernels
