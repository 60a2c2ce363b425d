// Tensor: an immutable array of numbers with named axes, and the way in and out of it.
//
//     Tensor x = tensor<float>({{1, 2}, {3, 4}}, {batch, feature});
//     x.shape()              // [batch 2, feature 2]
//     x.to_vector<float>()   // {1, 2, 3, 4}
//     sum(x).item<float>()   // 10
//     std::cout << x;
//
// A Tensor is a handle of eight bytes: copying it shares the value, which never changes. Inside a transform a tensor
// may belong to that transform; using it after the transform has ended, or on another thread, is a LevelError.
#pragma once

#include <atomic>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tlaloc/dtype.hpp>
#include <tlaloc/export.hpp>
#include <tlaloc/scalar.hpp>
#include <tlaloc/shape.hpp>

namespace tlaloc::inline v0 {

namespace core {
struct Object;
/// The part of a tensor's object that handles touch: how many of them there are.
struct alignas(64) Counted {
  std::atomic<std::uint32_t> count;
};
TLALOC_API void destroy(Counted* object) noexcept;
}  // namespace core

class Tensor {
 public:
  /// The empty tensor: no value, no shape. Only assignment, defined() and destruction apply to it.
  constexpr Tensor() noexcept = default;
  Tensor(const Tensor& other) noexcept : bits_(other.bits_) {
    if (bits_ != 0) counted()->count.fetch_add(1, std::memory_order_relaxed);
  }
  Tensor(Tensor&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
  Tensor& operator=(const Tensor& other) noexcept {
    Tensor copy(other);
    std::swap(bits_, copy.bits_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor taken(std::move(other));
    std::swap(bits_, taken.bits_);
    return *this;
  }
  ~Tensor() {
    if (bits_ != 0) release();
  }

  /// Whether there is a value.
  constexpr bool defined() const noexcept { return bits_ != 0; }

  TLALOC_API DType dtype() const;
  /// The axes a caller sees: those an enclosing vmap has mapped are hidden.
  TLALOC_API Shape shape() const;
  TLALOC_API int rank() const;
  TLALOC_API std::int64_t size() const;
  std::int64_t extent(AxisRef axis) const { return shape().extent(axis); }
  TLALOC_API std::vector<Axis> axes() const;

  /// The value of a tensor with one element. T is the tensor's own type, or one that holds all its values (double for
  /// f32 and i32, int64 for i32 and bool...). Reads through grad and jvp; a value mapped by a running vmap has no
  /// single number and is refused.
  template <element T>
  T item() const;

  /// A copy of the elements in row-major order. T as in item().
  template <element T>
  std::vector<T> to_vector() const;

  /// The elements of a contiguous tensor, in place and read-only, valid as long as this handle. T is the tensor's own
  /// type. LevelError inside transforms where item() is refused, ShapeError for a strided view (see `contiguous`).
  template <element T>
  std::span<const T> span() const&;
  template <element T>
  std::span<const T> span() const&& = delete;

  /// The truth of a tensor of rank 0; others throw ShapeError. Explicit. Compare whole tensors with array_equal(a, b).
  TLALOC_API explicit operator bool() const;

  /// The handle as the library's inside sees it.
  constexpr std::uintptr_t bits() const noexcept { return bits_; }
  /// Takes over one reference that `bits` stands for.
  static Tensor adopt(std::uintptr_t bits) noexcept {
    Tensor tensor;
    tensor.bits_ = bits;
    return tensor;
  }
  /// Gives the reference away.
  std::uintptr_t surrender() noexcept { return std::exchange(bits_, 0); }

 private:
  static constexpr std::uintptr_t cursor_mask = 63;

  core::Counted* counted() const noexcept { return reinterpret_cast<core::Counted*>(bits_ & ~cursor_mask); }
  void release() noexcept {
    auto& count = counted()->count;
    // The last owner needs no read-modify-write: nobody else can add a reference any more.
    if (count.load(std::memory_order_acquire) == 1 || count.fetch_sub(1, std::memory_order_acq_rel) == 1)
      core::destroy(counted());
  }

  // The address of a 64-byte aligned object and, in the low six bits, how many of its level annotations this handle
  // sees.
  std::uintptr_t bits_ = 0;
};

/// The tensor with its dtype, names and sizes first, then the values; large ones are abridged.
TLALOC_API std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);
TLALOC_API std::string to_string(const Tensor& tensor);

/// Whether two tensors have the same dtype, shape (names included) and values, nan equal to nan.
TLALOC_API bool array_equal(const Tensor& a, const Tensor& b);

}  // namespace tlaloc::inline v0
