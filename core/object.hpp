// The object behind a tensor handle, and the few things that may be done to it.
//
// An object is 64 bytes, 64-byte aligned; the elements of a dense tensor follow it in the same block. A view has no
// elements of its own: it points into its owner's. A handle is the object's address and, in the low six bits, a cursor:
// how many of the object's level annotations the handle sees. Lowering a tensor out of a transform is `cursor - 1`, so
// it costs nothing; lifting it is an annotation on an object just made, or a new view.
//
// An annotation of a vmap says that the first dimension not yet claimed is that vmap's batch axis. So what a caller
// sees of the dimensions is what remains after one is taken off the front for each vmap annotation below the cursor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include <tlaloc/dtype.hpp>
#include <tlaloc/tensor.hpp>

#include "core/allocator.hpp"
#include "core/interned_shape.hpp"
#include "core/thread_state.hpp"

namespace tlaloc::inline v0::core {

/// What a transform attached: grad, the address of a cotangent slot; jvp, a tangent (one reference); vmap, nothing.
struct Annotation {
  LevelWord level;
  std::uintptr_t value;
};

/// What only views that need it have, right after the object.
struct ViewDetail {
  static constexpr int more_notes = 14;
  std::int64_t strides[Shape::max_rank];
  Annotation notes[more_notes];
};

struct alignas(64) Object : Counted {
  static constexpr std::uint8_t dense = 1;     // elements in row-major order without gaps
  static constexpr std::uint8_t detailed = 2;  // a ViewDetail follows
  static constexpr int inline_notes = 2;

  DType dtype;
  std::uint8_t note_count;
  SizeClass size_class;
  std::uint8_t flags;
  std::byte* data;
  Object* owner;  // null: the elements are in this object's own block
  const InternedShape* shape;
  Annotation notes[inline_notes];

  bool is_dense() const { return (flags & dense) != 0; }
  ViewDetail* detail() { return reinterpret_cast<ViewDetail*>(this + 1); }
  const ViewDetail* detail() const { return reinterpret_cast<const ViewDetail*>(this + 1); }
  const Annotation& note(int i) const { return i < inline_notes ? notes[i] : detail()->notes[i - inline_notes]; }
  Annotation& note(int i) { return i < inline_notes ? notes[i] : detail()->notes[i - inline_notes]; }
  int note_capacity() const { return (flags & detailed) != 0 ? inline_notes + ViewDetail::more_notes : inline_notes; }
};
static_assert(sizeof(Object) == 64 && sizeof(Object) == object_header_bytes);

constexpr std::uintptr_t cursor_bits = 63;

inline Object* object_of(const Tensor& x) { return reinterpret_cast<Object*>(x.bits() & ~cursor_bits); }
inline int cursor_of(const Tensor& x) { return static_cast<int>(x.bits() & cursor_bits); }
/// Whether x has a value and belongs to no transform.
inline bool is_plain(const Tensor& x) { return (x.bits() & cursor_bits) == 0 && x.bits() != 0; }
inline const InternedShape* physical_shape(const Tensor& x) { return object_of(x)->shape; }
/// The annotation of the innermost transform that x belongs to; x must not be plain.
inline const Annotation& top_note(const Tensor& x) { return object_of(x)->note(cursor_of(x) - 1); }

/// How many leading dimensions are hidden: one for each vmap annotation the handle sees.
inline int hidden_rank(const Tensor& x) {
  int hidden = 0;
  for (int i = 0; i < cursor_of(x); ++i) hidden += kind_of(object_of(x)->note(i).level) == LevelKind::vmap;
  return hidden;
}
inline std::span<const Dim> visible_dims(const Tensor& x) {
  return physical_shape(x)->shape.dims().subspan(static_cast<std::size_t>(hidden_rank(x)));
}
inline int visible_rank(const Tensor& x) { return physical_shape(x)->shape.rank() - hidden_rank(x); }

template <class T>
T* elements(const Tensor& x) {
  return reinterpret_cast<T*>(object_of(x)->data);
}

/// Whether nobody else can see x's elements, so that they may be written over; x must be a temporary of the caller.
inline bool is_sole_owner(const Tensor& x) {
  const Object* const object = object_of(x);
  return object->count.load(std::memory_order_acquire) == 1 && object->owner == nullptr;
}

/// A new dense tensor with room for its elements, not initialised. The block is a whole size class, which is a multiple
/// of 64 bytes, so kernels may write (and read back) up to the next multiple of the vector width.
inline Tensor make_dense(ShapeRef shape, DType dtype) {
  const Block block = allocate_class(shape->size_classes[size_of(dtype) / 4]);
  auto* const object = reinterpret_cast<Object*>(block.data);
  std::construct_at(&object->count, 1u);
  object->dtype = dtype;
  object->note_count = 0;
  object->size_class = block.size_class;
  object->flags = Object::dense;
  object->data = block.data + sizeof(Object);
  object->owner = nullptr;
  object->shape = shape.surrender();
  return Tensor::adopt(reinterpret_cast<std::uintptr_t>(object));
}
inline Tensor make_dense(const Shape& shape, DType dtype) { return make_dense(intern(shape), dtype); }

/// Where the elements are: one stride (in elements) per physical dimension.
struct Strides {
  std::int64_t of[Shape::max_rank];
  std::int64_t operator[](int i) const { return of[i]; }
  std::int64_t& operator[](int i) { return of[i]; }
};
Strides dense_strides(const Shape& shape);
Strides strides_of(const Tensor& x);

/// Copies `count` elements from the begin-th on, in row-major order of the physical shape; for printing and reading.
void read_elements(const Tensor& x, std::int64_t begin, std::int64_t count, std::byte* to);

/// x without any transform: what can be read. Throws LevelError for a value that a running vmap maps, or that outlived
/// its transform, and ValueError for the empty tensor; `what` is who asks.
Tensor concrete(std::string_view what, const Tensor& x);

/// A view of plain x's elements from `offset` (in elements) on, with another shape and strides.
Tensor make_view(const Tensor& x, ShapeRef shape, std::int64_t offset, const Strides& strides);
/// The same tensor, its annotations included, with other names; `shape` must have the physical extents of x.
Tensor with_shape(const Tensor& x, ShapeRef shape);
/// x with its visible dimensions named as `dims` are, and as those of a tensor with the same visible extents.
Tensor with_names(Tensor x, std::span<const Dim> dims);
inline Tensor with_names_of(Tensor x, const Tensor& like) {
  return physical_shape(x) == physical_shape(like) ? std::move(x) : with_names(std::move(x), visible_dims(like));
}

/// x without the innermost transform. The borrowed form holds no reference of its own: see Borrowed.
inline Tensor lowered(const Tensor& x) {
  object_of(x)->count.fetch_add(1, std::memory_order_relaxed);
  return Tensor::adopt(x.bits() - 1);
}

/// Lifts x: its handle sees one annotation more, on a view of the same elements. Takes over the annotation's reference.
Tensor lift(Tensor x, Annotation note);

/// The same for a result that an interpreter has just got from below its level. When its object was made there, rather
/// than handed through from an input, nobody else can have seen it at this level, and the annotation goes onto the
/// object itself.
inline void lift_result(Tensor& x, Annotation note, std::span<const Tensor> in) {
  Object* const object = object_of(x);
  const int cursor = cursor_of(x);
  bool in_place = object->note_count == cursor && cursor < Object::inline_notes;
  for (const Tensor& input : in) in_place &= object_of(input) != object;
  if (!in_place) [[unlikely]] {
    x = lift(std::move(x), note);
    return;
  }
  object->notes[cursor] = note;
  object->note_count = static_cast<std::uint8_t>(cursor + 1);
  x = Tensor::adopt(x.surrender() + 1);
}

/// An array of tensors that hold no references: what a dispatch passes down is kept alive by its caller.
template <std::size_t N>
class Borrowed {
 public:
  explicit Borrowed(std::size_t count) {
    if (count > N) many_ = std::make_unique<Storage[]>(count);
  }
  void set(std::size_t i, std::uintptr_t bits) { ::new (at(i)) Tensor(Tensor::adopt(bits)); }
  std::span<const Tensor> span(std::size_t count) const {
    return {std::launder(reinterpret_cast<const Tensor*>(many_ ? many_.get() : few_)), count};
  }

 private:
  struct Storage {
    alignas(Tensor) std::byte bytes[sizeof(Tensor)];
  };
  void* at(std::size_t i) { return (many_ ? many_.get() : few_) + i; }

  Storage few_[N];
  std::unique_ptr<Storage[]> many_;
};

}  // namespace tlaloc::inline v0::core
