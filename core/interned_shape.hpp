// Interned shapes: one immutable record per shape that is in use, so that equal shapes are (almost always) equal
// pointers.
//
// The first `table_limit` different shapes stay for good. Beyond it a record is counted and dies with its last user,
// and two equal shapes may then have two records: equality is `same_shape`, of which the pointer comparison is the fast
// case.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include <tlaloc/shape.hpp>

#include "core/allocator.hpp"

namespace tlaloc::inline v0::core {

/// Bytes before the elements in a dense tensor's block (core/object.hpp).
constexpr std::size_t object_header_bytes = 64;

struct InternedShape {
  Shape shape;
  std::int64_t size = 0;
  std::uint64_t hash = 0;
  /// The size class of a dense object of this shape, by bytes per element (1, 4, 8: index bytes / 4).
  std::array<SizeClass, 3> size_classes{};
  bool named = false;     // true exactly when an axis has a name
  bool permanent = true;  // false: `count` owners keep it alive
  std::atomic<std::uint32_t> count = 0;
};

inline void retain(const InternedShape* shape) {
  if (!shape->permanent) [[unlikely]]
    const_cast<InternedShape*>(shape)->count.fetch_add(1, std::memory_order_relaxed);
}
void release_counted(const InternedShape* shape) noexcept;
inline void release(const InternedShape* shape) noexcept {
  if (!shape->permanent) [[unlikely]]
    release_counted(shape);
}

inline bool same_shape(const InternedShape* a, const InternedShape* b) { return a == b || a->shape == b->shape; }

/// One reference to an interned shape.
class ShapeRef {
 public:
  /// Takes over a reference.
  static ShapeRef adopt(const InternedShape* shape) { return ShapeRef(shape); }
  static ShapeRef share(const InternedShape* shape) {
    retain(shape);
    return ShapeRef(shape);
  }
  ShapeRef(ShapeRef&& other) noexcept : shape_(std::exchange(other.shape_, nullptr)) {}
  ShapeRef& operator=(ShapeRef&& other) noexcept {
    std::swap(shape_, other.shape_);
    return *this;
  }
  ShapeRef(const ShapeRef&) = delete;
  ShapeRef& operator=(const ShapeRef&) = delete;
  ~ShapeRef() {
    if (shape_ != nullptr) release(shape_);
  }

  const InternedShape* get() const { return shape_; }
  const InternedShape* operator->() const { return shape_; }
  const InternedShape* surrender() { return std::exchange(shape_, nullptr); }

 private:
  explicit ShapeRef(const InternedShape* shape) : shape_(shape) {}
  const InternedShape* shape_;
};

/// The record of a shape. Throws SizeError when its number of elements exceeds 2^63 - 1.
ShapeRef intern(const Shape& shape);

}  // namespace tlaloc::inline v0::core
