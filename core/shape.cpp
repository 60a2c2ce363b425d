#include <tlaloc/shape.hpp>

#include <tlaloc/dtype.hpp>
#include <tlaloc/error.hpp>

namespace tlaloc::inline v0 {

std::string_view name(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "bool";
    case DType::i32: return "i32";
    case DType::i64: return "i64";
    case DType::f32: return "f32";
    case DType::f64: return "f64";
  }
  return "unknown";
}

void Dim::refuse_extent(Axis axis, std::int64_t extent) {
  throw SizeError("Dim: the extent " + std::to_string(extent) + (axis.named() ? " of axis " + axis.name() : "") +
                  " is not in [0, " + std::to_string(max_extent) + "]");
}

void Shape::refuse_rank() {
  throw SizeError("Shape: more than " + std::to_string(max_rank) +
                  " dimensions, the batch axes of running vmaps included; merge some of them with reshape");
}

int Shape::find(AxisRef axis) const {
  if (axis.by_name()) {
    if (const int found = position(axis.axis()); found >= 0) return found;
    throw AxisError("Shape: there is no axis " + axis.axis().name() + " in " + to_string());
  }
  const std::int64_t number = axis.number() < 0 ? axis.number() + rank_ : axis.number();
  if (number < 0 || number >= rank_)
    throw AxisError("Shape: axis " + std::to_string(axis.number()) + " is not one of the " + std::to_string(rank_) +
                    " axes of " + to_string());
  return static_cast<int>(number);
}

std::int64_t Shape::size() const {
  std::int64_t product = 1;
  bool too_large = false;
  for (const Dim dim : *this) {
    if (dim.extent() == 0) return 0;
    too_large |= __builtin_mul_overflow(product, dim.extent(), &product);
  }
  if (too_large) throw SizeError("Shape: " + to_string() + " has more than 2^63 - 1 elements");
  return product;
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ", ";
    if ((*this)[i].axis().named()) text += (*this)[i].axis().name() + ' ';
    text += std::to_string((*this)[i].extent());
  }
  return text + ']';
}

}  // namespace tlaloc::inline v0
