// Buffer: floats for the programs written by hand, as good as memory gets: aligned to, and if the system agrees backed
// by, huge pages, and touched before anything is timed.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace handwritten {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : size_(size) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    const std::size_t bytes = size * sizeof(float), alignment = bytes < huge_page ? 64 : huge_page;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<float*>(std::aligned_alloc(alignment, rounded)));
    if (data_ == nullptr) throw std::bad_alloc();
    if (alignment == huge_page) madvise(data_.get(), rounded, MADV_HUGEPAGE);
    std::fill_n(data_.get(), size, 0.0f);
  }
  explicit Buffer(std::span<const float> values) : Buffer(values.size()) {
    std::copy(values.begin(), values.end(), data_.get());
  }

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<const float> span() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(float* data) const { std::free(data); }
  };
  std::unique_ptr<float[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace handwritten
