// Making tensors from data and filled ones. A filled tensor of more than one element is one number seen through zero
// strides: it takes no memory until something is computed from it.
#include <tlaloc/create.hpp>

#include <cstring>

#include <tlaloc/error.hpp>

#include "ops/align.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0 {
namespace core {

Shape shape_of_data(std::span<const std::int64_t> extents, std::span<const Axis> axes) {
  if (!axes.empty() && axes.size() != extents.size())
    throw ShapeError("tensor: " + std::to_string(axes.size()) + " axis names for data with " +
                     std::to_string(extents.size()) + " dimensions; give one name a dimension, or none");
  Shape shape;
  for (std::size_t i = 0; i < extents.size(); ++i)
    shape.push_back(Dim(axes.empty() ? Axis::none : axes[i], extents[i]));
  return shape;
}

namespace {

void check_names(std::string_view op, const Shape& shape) {
  if (!ops::names_are_on()) return;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i].axis().named() && shape.position(shape[i].axis()) != i)
      throw AxisError(std::string(op) + ": the axis " + shape[i].axis().name() + " appears twice in " +
                      shape.to_string() + "; no tensor has one name twice");
}

}  // namespace

Tensor from_data(const void* data, std::size_t count, DType dtype, const Shape& shape) {
  check_names("tensor", shape);
  if (static_cast<std::uint64_t>(shape.size()) != count)
    throw ShapeError("tensor: " + std::to_string(count) + " elements do not fill the shape " + shape.to_string() +
                     "; it has " + std::to_string(shape.size()));
  Tensor result = make_dense(shape, dtype);
  if (count != 0) std::memcpy(object_of(result)->data, data, count * size_of(dtype));
  return result;
}

}  // namespace core

namespace {

template <class T>
Tensor one_number(T value) {
  Tensor result = core::make_dense(Shape{}, dtype_of<T>);
  *core::elements<T>(result) = value;
  return result;
}

Tensor number_as(Scalar value, DType dtype) {
  const ops::Number number(value, dtype);
  switch (dtype) {
    case DType::boolean: return one_number(value.is_float() ? value.real() != 0 : value.whole() != 0);
    case DType::i32: return one_number(number.as<std::int32_t>());
    case DType::i64: return one_number(number.as<std::int64_t>());
    case DType::f32: return one_number(number.as<float>());
    case DType::f64: return one_number(number.as<double>());
  }
  return {};
}

Tensor filled(std::string_view op, const Shape& shape, Scalar value, DType dtype) {
  core::check_names(op, shape);
  if (!is_float(dtype) && dtype != DType::boolean && value.is_float())
    throw DTypeError(std::string(op) + ": a floating-point number for a tensor of " + std::string(name(dtype)) +
                     "; give an integer, or another dtype");
  if (dtype == DType::i32 && value.whole() != static_cast<std::int32_t>(value.whole()))
    throw ValueError(std::string(op) + ": i32 does not hold " + std::to_string(value.whole()) + "; give another dtype");
  const Tensor number = number_as(value, dtype);
  return shape.rank() == 0 ? number : ops::Expand(ops::AxisSet::first(shape.rank()), shape).eval(number);
}

Tensor filled_like(std::string_view op, const Tensor& x, Scalar value) {
  ops::require_defined(op, x);
  return filled(op, ops::shape_of(x), value, core::object_of(x)->dtype);
}

}  // namespace

Tensor zeros(const Shape& shape, DType dtype) { return filled("zeros", shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return filled("ones", shape, 1, dtype); }
Tensor full(const Shape& shape, Scalar value) {
  return filled("full", shape, value, value.is_float() ? DType::f32 : DType::i64);
}
Tensor full(const Shape& shape, Scalar value, DType dtype) { return filled("full", shape, value, dtype); }

Tensor arange(Dim dim, DType dtype) {
  if (dtype == DType::boolean) throw DTypeError("arange: a range of bools; use another dtype");
  Tensor result = core::make_dense(Shape{dim}, dtype);
  ops::with_type<ops::Domain::numbers>(dtype, [&]<class T>() {
    T* const values = core::elements<T>(result);
    for (std::int64_t i = 0; i < dim.extent(); ++i) values[i] = static_cast<T>(i);
  });
  return result;
}

Tensor eye(Dim dim, DType dtype) {
  const std::int64_t n = dim.extent();
  const Tensor zero = zeros({dim, n}, dtype);
  Tensor result = ops::contiguous(zero);
  const Tensor one = number_as(1, dtype);
  const std::size_t size = size_of(dtype);
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(core::object_of(result)->data + static_cast<std::size_t>(i * (n + 1)) * size,
                core::object_of(one)->data, size);
  return result;
}

Tensor zeros_like(const Tensor& x) { return filled_like("zeros_like", x, 0); }
Tensor ones_like(const Tensor& x) { return filled_like("ones_like", x, 1); }
Tensor full_like(const Tensor& x, Scalar value) { return filled_like("full_like", x, value); }

}  // namespace tlaloc::inline v0
