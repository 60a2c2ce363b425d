// Printing: the dtype, names and sizes first, then the values; of a large tensor the first and last of every axis.
// Printing goes through every transform: inside a vmap it shows the whole batch, and says so.
#include <locale>
#include <ostream>
#include <sstream>
#include <string>

#include <tlaloc/tensor.hpp>

#include "core/dispatch.hpp"
#include "core/object.hpp"

namespace tlaloc::inline v0 {
namespace {

constexpr std::int64_t whole_limit = 1000;  // elements up to which everything is printed
constexpr std::int64_t edge = 3;            // elements at either end of an abridged axis

template <class T>
std::string element_text(T value) {
  std::ostringstream text;
  if constexpr (std::is_same_v<T, bool>) {
    text << (value ? "true" : "false");
  } else if (value != value) {
    text << "nan";  // its sign is an accident of the processor
  } else {
    text.imbue(std::locale::classic());
    text.precision(std::is_same_v<T, double> ? 10 : 6);
    text << value;
  }
  return text.str();
}

template <class T>
std::string element_at(const Tensor& x, std::int64_t n) {
  T value;
  core::read_elements(x, n, 1, reinterpret_cast<std::byte*>(&value));
  return element_text(value);
}

std::string element_at(const Tensor& x, std::int64_t n) {
  switch (core::object_of(x)->dtype) {
    case DType::boolean: return element_at<bool>(x, n);
    case DType::i32: return element_at<std::int32_t>(x, n);
    case DType::i64: return element_at<std::int64_t>(x, n);
    case DType::f32: return element_at<float>(x, n);
    case DType::f64: return element_at<double>(x, n);
  }
  return {};
}

void print_axis(std::ostream& stream, const Tensor& x, int axis, std::int64_t first, bool abridged) {
  const Shape& shape = core::physical_shape(x)->shape;
  if (axis == shape.rank()) {
    stream << element_at(x, first);
    return;
  }
  std::int64_t step = 1;
  for (int d = axis + 1; d < shape.rank(); ++d) step *= shape[d].extent();
  const std::int64_t extent = shape[axis].extent();
  const bool rows = axis + 1 < shape.rank();
  stream << '[';
  for (std::int64_t i = 0; i < extent; ++i) {
    if (i > 0) stream << (rows ? ",\n" + std::string(static_cast<std::size_t>(axis) + 1, ' ') : ", ");
    if (abridged && i == edge && extent > 2 * edge) {
      stream << "...";
      i = extent - edge - 1;
      continue;
    }
    print_axis(stream, x, axis + 1, first + i * step, abridged);
  }
  stream << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  if (!tensor.defined()) return stream << "empty tensor";
  const core::Object* const object = core::object_of(tensor);
  stream << core::describe(tensor);
  if (const int hidden = core::hidden_rank(tensor); hidden > 0) {
    stream << " of each example in";
    for (int i = 0; i < hidden; ++i)
      stream << (i == 0 ? " " : " x ") << std::to_string(object->shape->shape[i].extent());
  }
  const bool abridged = object->shape->size > whole_limit;
  stream << (object->shape->shape.rank() > 1 ? "\n" : " ");
  if (object->shape->size == 0)
    stream << "[]";
  else
    print_axis(stream, tensor, 0, 0, abridged);
  return stream;
}

std::string to_string(const Tensor& tensor) {
  std::ostringstream text;
  text << tensor;
  return text.str();
}

}  // namespace tlaloc::inline v0
