#include "core/object.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <tlaloc/error.hpp>

namespace tlaloc::inline v0::core {
namespace {

/// A new object without elements of its own that looks at x's, annotations not copied yet.
Object* make_header(const Tensor& x, ShapeRef shape, bool detailed) {
  Object* const source = object_of(x);
  const Block block = allocate(sizeof(Object) + (detailed ? sizeof(ViewDetail) : 0));
  auto* const object = reinterpret_cast<Object*>(block.data);
  std::construct_at(&object->count, 1u);
  object->dtype = source->dtype;
  object->note_count = 0;
  object->size_class = block.size_class;
  object->flags = detailed ? Object::detailed : std::uint8_t{0};
  object->data = source->data;
  object->owner = source->owner != nullptr ? source->owner : source;
  object->owner->count.fetch_add(1, std::memory_order_relaxed);
  object->shape = shape.surrender();
  return object;
}

void add_tangent_reference(const Annotation& note) {
  if (kind_of(note.level) == LevelKind::jvp && note.value != 0)
    reinterpret_cast<Object*>(note.value & ~cursor_bits)->count.fetch_add(1, std::memory_order_relaxed);
}

/// A view of the same elements with room for `notes` annotations, of which those that x's handle sees are copied.
Object* make_alias(const Tensor& x, ShapeRef shape, int notes) {
  const Object* const source = object_of(x);
  Object* const object = make_header(x, std::move(shape), !source->is_dense() || notes > Object::inline_notes);
  object->flags |= source->flags & Object::dense;
  if (!source->is_dense()) std::ranges::copy(source->detail()->strides, object->detail()->strides);
  const int seen = cursor_of(x);
  for (int i = 0; i < seen; ++i) {
    object->note(i) = source->note(i);
    add_tangent_reference(source->note(i));
  }
  object->note_count = static_cast<std::uint8_t>(seen);
  return object;
}

Tensor handle(Object* object, int cursor) {
  return Tensor::adopt(reinterpret_cast<std::uintptr_t>(object) + static_cast<std::uintptr_t>(cursor));
}

}  // namespace

void destroy(Counted* counted) noexcept {
  auto* const object = static_cast<Object*>(counted);
  for (int i = 0; i < object->note_count; ++i)
    if (kind_of(object->note(i).level) == LevelKind::jvp) Tensor::adopt(object->note(i).value);
  if (Object* const owner = object->owner; owner != nullptr)
    if (owner->count.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(owner);
  release(object->shape);
  deallocate(reinterpret_cast<std::byte*>(object), object->size_class);
}

Strides dense_strides(const Shape& shape) {
  Strides strides;
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i].extent();
  }
  return strides;
}

Strides strides_of(const Tensor& x) {
  const Object* const object = object_of(x);
  if (object->is_dense()) return dense_strides(object->shape->shape);
  Strides strides;
  std::ranges::copy(object->detail()->strides, strides.of);
  return strides;
}

void read_elements(const Tensor& x, std::int64_t begin, std::int64_t count, std::byte* to) {
  const Shape& shape = physical_shape(x)->shape;
  const Strides strides = strides_of(x);
  const std::size_t size = size_of(object_of(x)->dtype);
  for (std::int64_t n = begin; n < begin + count; ++n, to += size) {
    std::int64_t offset = 0;
    std::int64_t rest = n;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      offset += rest % shape[d].extent() * strides[d];
      rest /= shape[d].extent();
    }
    std::memcpy(to, object_of(x)->data + offset * static_cast<std::int64_t>(size), size);
  }
}

Tensor make_view(const Tensor& x, ShapeRef shape, std::int64_t offset, const Strides& strides) {
  const Strides dense = dense_strides(shape->shape);
  bool is_dense = true;
  for (int i = 0; i < shape->shape.rank(); ++i)
    is_dense &= strides[i] == dense[i] || shape->shape[i].extent() == 1 || shape->size == 0;
  Object* const object = make_header(x, std::move(shape), !is_dense);
  object->data += offset * static_cast<std::int64_t>(size_of(object->dtype));
  if (is_dense)
    object->flags |= Object::dense;
  else
    std::ranges::copy(strides.of, object->detail()->strides);
  return handle(object, 0);
}

Tensor with_shape(const Tensor& x, ShapeRef shape) {
  return handle(make_alias(x, std::move(shape), cursor_of(x)), cursor_of(x));
}

Tensor with_names(Tensor x, std::span<const Dim> dims) {
  const int hidden = hidden_rank(x);
  const Shape& now = physical_shape(x)->shape;
  bool differ = false;
  for (int i = hidden; i < now.rank(); ++i)
    differ |= now[i].axis() != dims[static_cast<std::size_t>(i - hidden)].axis();
  if (!differ) return x;
  Shape wanted = now;
  for (int i = hidden; i < now.rank(); ++i) wanted[i] = now[i].named(dims[static_cast<std::size_t>(i - hidden)].axis());
  ShapeRef shape = intern(wanted);
  if (object_of(x)->count.load(std::memory_order_acquire) != 1) return with_shape(x, std::move(shape));
  release(std::exchange(object_of(x)->shape, shape.surrender()));
  return x;
}

Tensor lift(Tensor x, Annotation note) {
  const int cursor = cursor_of(x);
  if (cursor == Object::inline_notes + ViewDetail::more_notes)
    throw LevelError("transforms: a tensor of shape " + physical_shape(x)->shape.to_string() +
                     " belongs to more than " + std::to_string(cursor) + " of them at once");
  Object* const object = make_alias(x, ShapeRef::share(physical_shape(x)), cursor + 1);
  object->note(cursor) = note;
  object->note_count = static_cast<std::uint8_t>(cursor + 1);
  return handle(object, cursor + 1);
}

}  // namespace tlaloc::inline v0::core
