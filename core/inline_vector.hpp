// A vector whose first N elements need no allocation: operands, slots and results are nearly always few.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace tlaloc::inline v0::core {

/// Grows at its end only; neither copied nor moved.
template <class T, std::size_t N>
class InlineVector {
 public:
  InlineVector() = default;
  /// `count` default-constructed elements.
  explicit InlineVector(std::size_t count) {
    reserve(count);
    for (; size_ < count; ++size_) ::new (static_cast<void*>(data_ + size_)) T();
  }
  InlineVector(const InlineVector&) = delete;
  InlineVector& operator=(const InlineVector&) = delete;
  ~InlineVector() {
    std::destroy_n(data_, size_);
    if (data_ != inline_data()) std::allocator<T>().deallocate(data_, capacity_);
  }

  void push_back(T value) {
    if (size_ == capacity_) reserve(2 * capacity_);
    ::new (static_cast<void*>(data_ + size_)) T(std::move(value));
    ++size_;
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    T* const larger = std::allocator<T>().allocate(count);
    std::uninitialized_move_n(data_, size_, larger);
    std::destroy_n(data_, size_);
    if (data_ != inline_data()) std::allocator<T>().deallocate(data_, capacity_);
    data_ = larger;
    capacity_ = count;
  }

  std::size_t size() const { return size_; }
  T* data() { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  T* inline_data() { return reinterpret_cast<T*>(storage_); }

  alignas(T) std::byte storage_[N * sizeof(T)];
  T* data_ = inline_data();
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
};

}  // namespace tlaloc::inline v0::core
