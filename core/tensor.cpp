// What a user reads off a tensor. Numbers are read through grad and jvp, whose values are concrete; a value that a
// running vmap maps has a different number for every example and is refused.
#include <tlaloc/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <tlaloc/error.hpp>

#include "core/dispatch.hpp"
#include "core/object.hpp"

namespace tlaloc::inline v0 {
namespace core {

void require_value(std::string_view what, const Tensor& x) {
  if (!x.defined())
    throw ValueError(std::string(what) +
                     ": the tensor is empty; assign a value to it first (it may have been moved from)");
}

Tensor concrete(std::string_view what, const Tensor& x) {
  require_value(what, x);
  const ThreadState& state = thread_state();
  for (int i = cursor_of(x) - 1; i >= 0; --i) {
    const LevelWord level = object_of(x)->note(i).level;
    const auto depth = static_cast<std::size_t>(depth_of(level));
    if (state.levels[depth] != level)
      throw LevelError(std::string(what) +
                       ": the tensor belongs to a transform that has ended, or that runs on another "
                       "thread; got " +
                       describe(x) + "; return it from the transformed function instead");
    if (kind_of(level) == LevelKind::vmap)
      throw LevelError(std::string(what) +
                       ": the value differs from example to example, since it is mapped by a running " +
                       state.interpreters[depth]->describe() + "; got " + describe(x) +
                       "; return it from the mapped function and read it there, or choose with where()");
  }
  object_of(x)->count.fetch_add(1, std::memory_order_relaxed);
  return Tensor::adopt(x.bits() & ~cursor_bits);
}

}  // namespace core

namespace {

using core::concrete;
using core::object_of;

template <class T, class From>
constexpr bool holds_all_of() {
  if constexpr (std::is_same_v<T, From> || std::is_same_v<From, bool>)
    return true;
  else if constexpr (std::is_same_v<T, double>)
    return !std::is_same_v<From, std::int64_t>;
  else
    return std::is_same_v<T, std::int64_t> && std::is_same_v<From, std::int32_t>;
}

template <class From, class T>
void convert_into(std::string_view what, const Tensor& x, std::span<T> to) {
  if (to.empty()) return;
  if constexpr (holds_all_of<T, From>()) {
    const auto count = static_cast<std::int64_t>(to.size());
    if constexpr (std::is_same_v<From, T>) {
      if (object_of(x)->is_dense())
        std::memcpy(to.data(), object_of(x)->data, to.size_bytes());
      else
        core::read_elements(x, 0, count, reinterpret_cast<std::byte*>(to.data()));
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        From value;
        core::read_elements(x, i, 1, reinterpret_cast<std::byte*>(&value));
        to[static_cast<std::size_t>(i)] = static_cast<T>(value);
      }
    }
  } else {
    throw DTypeError(std::string(what) + ": " + std::string(name(dtype_of<T>)) + " does not hold every " +
                     std::string(name(dtype_of<From>)) + "; got " + core::describe(x) +
                     "; read it as its own type, or cast it first");
  }
}

template <class T>
void read_into(std::string_view what, const Tensor& x, std::span<T> to) {
  switch (object_of(x)->dtype) {
    case DType::boolean: return convert_into<bool>(what, x, to);
    case DType::i32: return convert_into<std::int32_t>(what, x, to);
    case DType::i64: return convert_into<std::int64_t>(what, x, to);
    case DType::f32: return convert_into<float>(what, x, to);
    case DType::f64: return convert_into<double>(what, x, to);
  }
}

}  // namespace

DType Tensor::dtype() const {
  core::require_value("dtype", *this);
  return object_of(*this)->dtype;
}
Shape Tensor::shape() const {
  core::require_value("shape", *this);
  return Shape(core::visible_dims(*this));
}
int Tensor::rank() const {
  core::require_value("rank", *this);
  return core::visible_rank(*this);
}
std::int64_t Tensor::size() const { return shape().size(); }
std::vector<Axis> Tensor::axes() const {
  std::vector<Axis> names;
  for (const Dim dim : shape()) names.push_back(dim.axis());
  return names;
}

template <element T>
T Tensor::item() const {
  const Tensor x = concrete("item", *this);
  if (core::physical_shape(x)->size != 1)
    throw ShapeError("item: the tensor does not have exactly one element; got " + core::describe(x) +
                     "; reduce it first, or read to_vector()");
  T value;
  read_into("item", x, std::span<T>(&value, 1));
  return value;
}

template <element T>
std::vector<T> Tensor::to_vector() const {
  const Tensor x = concrete("to_vector", *this);
  const auto count = static_cast<std::size_t>(core::physical_shape(x)->size);
  if constexpr (std::is_same_v<T, bool>) {
    const std::unique_ptr<bool[]> values(new bool[count]);
    read_into("to_vector", x, std::span<bool>(values.get(), count));
    return std::vector<bool>(values.get(), values.get() + count);
  } else {
    std::vector<T> values(count);
    read_into("to_vector", x, std::span<T>(values));
    return values;
  }
}

template <element T>
std::span<const T> Tensor::span() const& {
  const Tensor x = concrete("span", *this);
  if (object_of(x)->dtype != dtype_of<T>)
    throw DTypeError("span: asked for " + std::string(name(dtype_of<T>)) + "; got " + core::describe(x) +
                     "; ask for its own type, or read to_vector()");
  if (!object_of(x)->is_dense())
    throw ShapeError(
        "span: the elements are not contiguous (the tensor is a transposed, sliced or repeated view); got " +
        core::describe(x) + "; call contiguous() first");
  return {core::elements<const T>(x), static_cast<std::size_t>(core::physical_shape(x)->size)};
}

Tensor::operator bool() const {
  const Tensor x = concrete("bool", *this);
  if (core::physical_shape(x)->shape.rank() != 0)
    throw ShapeError("bool: only a tensor of rank 0 is true or false; got " + core::describe(x) +
                     "; compare whole tensors with array_equal(), or reduce first");
  double value = 0;
  if (object_of(x)->dtype == DType::i64) return *core::elements<const std::int64_t>(x) != 0;
  read_into("bool", x, std::span<double>(&value, 1));
  return value != 0;
}

template TLALOC_API bool Tensor::item<bool>() const;
template TLALOC_API std::int32_t Tensor::item<std::int32_t>() const;
template TLALOC_API std::int64_t Tensor::item<std::int64_t>() const;
template TLALOC_API float Tensor::item<float>() const;
template TLALOC_API double Tensor::item<double>() const;
template TLALOC_API std::vector<bool> Tensor::to_vector<bool>() const;
template TLALOC_API std::vector<std::int32_t> Tensor::to_vector<std::int32_t>() const;
template TLALOC_API std::vector<std::int64_t> Tensor::to_vector<std::int64_t>() const;
template TLALOC_API std::vector<float> Tensor::to_vector<float>() const;
template TLALOC_API std::vector<double> Tensor::to_vector<double>() const;
template TLALOC_API std::span<const bool> Tensor::span<bool>() const&;
template TLALOC_API std::span<const std::int32_t> Tensor::span<std::int32_t>() const&;
template TLALOC_API std::span<const std::int64_t> Tensor::span<std::int64_t>() const&;
template TLALOC_API std::span<const float> Tensor::span<float>() const&;
template TLALOC_API std::span<const double> Tensor::span<double>() const&;

bool array_equal(const Tensor& a, const Tensor& b) {
  const Tensor x = concrete("array_equal", a);
  const Tensor y = concrete("array_equal", b);
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const auto same = [&]<class T>() {
    const std::vector<T> u = a.to_vector<T>();
    const std::vector<T> v = b.to_vector<T>();
    return std::equal(u.begin(), u.end(), v.begin(), [](T p, T q) { return p == q || (p != p && q != q); });
  };
  switch (a.dtype()) {
    case DType::boolean: return same.template operator()<bool>();
    case DType::i32: return same.template operator()<std::int32_t>();
    case DType::i64: return same.template operator()<std::int64_t>();
    case DType::f32: return same.template operator()<float>();
    case DType::f64: return same.template operator()<double>();
  }
  return false;
}

}  // namespace tlaloc::inline v0
