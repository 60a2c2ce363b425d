#include "ops/arrange.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/structure.hpp>

#include "ops/align.hpp"
#include "ops/join.hpp"

namespace tlaloc::inline v0::ops {
namespace {

std::int64_t matrices_in(const core::InternedShape* shape, std::int64_t rows, std::int64_t columns) {
  return shape->size == 0 ? 0 : shape->size / (rows * columns);
}

}  // namespace

Tensor Flip::eval(const Tensor& x) const {
  const core::InternedShape* const shape = core::physical_shape(x);
  core::Strides strides = core::strides_of(x);
  std::int64_t offset = 0;
  for (int i = 0; i < shape->shape.rank(); ++i) {
    if (!axes.contains(i)) continue;
    if (shape->size != 0) offset += (shape->shape[i].extent() - 1) * strides[i];
    strides[i] = -strides[i];
  }
  return core::make_view(x, core::ShapeRef::share(shape), offset, strides);
}

Tensor Roll::eval(const Tensor& x) const {
  const std::int64_t rest = extent - cut;
  const Tensor parts[] = {Slice(Part{axis, cut, rest, 1, extent}).eval(x),
                          Slice(Part{axis, 0, cut, 1, extent}).eval(x)};
  return Concat(axis, {rest, cut}).eval(parts);
}

Tensor Pad::eval(const Tensor& x) const {
  const auto around = [&](std::int64_t count) {
    Shape shape = core::physical_shape(x)->shape;
    shape[part.axis] = Dim(shape[part.axis].axis(), count);
    return full(shape, fill, core::object_of(x)->dtype);
  };
  const std::int64_t after = part.whole - part.start - part.count;
  const Tensor parts[] = {around(part.start), x, around(after)};
  return Concat(part.axis, {part.start, part.count, after}).eval(parts);
}

template <Side side>
Tensor Triangle<side>::eval(const Tensor& x) const {
  const Tensor source = ops::contiguous(x);
  const core::InternedShape* const shape = core::physical_shape(x);
  const DType dtype = core::object_of(x)->dtype;
  Tensor out = core::make_dense(core::ShapeRef::share(shape), dtype);
  const int rank = shape->shape.rank();
  const std::int64_t rows = shape->shape[rank - 2].extent();
  const std::int64_t columns = shape->shape[rank - 1].extent();
  const auto bytes = [size = size_of(dtype)](std::int64_t count) { return static_cast<std::size_t>(count) * size; };
  const std::byte* from = core::object_of(source)->data;
  std::byte* to = core::object_of(out)->data;
  for (std::int64_t m = matrices_in(shape, rows, columns); m > 0; --m) {
    for (std::int64_t row = 0; row < rows; ++row, from += bytes(columns), to += bytes(columns)) {
      // Columns [0, border) on one side, the others on the other.
      const std::int64_t border = std::clamp<std::int64_t>(row + diagonal + (side == Side::below ? 1 : 0), 0, columns);
      const std::size_t first = bytes(border);
      const std::size_t rest = bytes(columns - border);
      if constexpr (side == Side::below) {
        std::memcpy(to, from, first);
        std::memset(to + first, 0, rest);
      } else {
        std::memset(to, 0, first);
        std::memcpy(to + first, from + first, rest);
      }
    }
  }
  return out;
}

Tensor Diagonal::eval(const Tensor& x) const {
  const Shape& from = core::physical_shape(x)->shape;
  const int kept = from.rank() - 2;
  core::Strides strides = core::strides_of(x);
  const std::int64_t offset = line.count() == 0 ? 0 : line.row * strides[kept] + line.column * strides[kept + 1];
  strides[kept] += strides[kept + 1];
  Shape shape(from.dims().first(static_cast<std::size_t>(kept)));
  shape.push_back(line.count());
  return core::make_view(x, core::intern(shape), offset, strides);
}

Tensor Diagonal::transpose(const Tensor& ct) const { return core::dispatch(OnDiagonal(line), ct); }

Tensor OnDiagonal::eval(const Tensor& x) const {
  const Shape& from = core::physical_shape(x)->shape;
  const DType dtype = core::object_of(x)->dtype;
  const std::size_t element = size_of(dtype);
  Shape shape(from.dims().first(static_cast<std::size_t>(from.rank() - 1)));
  shape.push_back(line.rows);
  shape.push_back(line.columns);
  Tensor out = core::make_dense(shape, dtype);
  std::byte* to = core::object_of(out)->data;
  std::memset(to, 0, static_cast<std::size_t>(core::physical_shape(out)->size) * element);
  const Tensor source = ops::contiguous(x);
  const std::byte* read = core::object_of(source)->data;
  const std::int64_t count = line.count();
  for (std::int64_t m = count == 0 ? 0 : core::physical_shape(x)->size / count; m > 0; --m) {
    for (std::int64_t i = 0; i < count; ++i, read += element)
      std::memcpy(to + static_cast<std::size_t>((line.row + i) * line.columns + line.column + i) * element, read,
                  element);
    to += static_cast<std::size_t>(line.rows * line.columns) * element;
  }
  return out;
}

Tensor OneHot::eval(const Tensor& x) const {
  Shape shape = core::physical_shape(x)->shape;
  shape.push_back(classes);
  const Tensor zero = full(shape, 0, dtype);
  Tensor out = ops::contiguous(zero);
  const Tensor labels = ops::contiguous(x);
  const Tensor one = full({}, 1, dtype);
  const std::size_t element = size_of(dtype);
  const auto mark = [&]<class Index>() {
    const Index* const index = core::elements<const Index>(labels);
    std::byte* to = core::object_of(out)->data;
    for (std::int64_t i = 0; i < core::physical_shape(x)->size; ++i) {
      if (index[i] < 0 || index[i] >= classes.extent())
        throw ValueError("one_hot: the class index " + std::to_string(index[i]) + " is not in [0, " +
                         std::to_string(classes.extent()) + ")");
      std::memcpy(to + static_cast<std::size_t>(index[i]) * element, core::object_of(one)->data, element);
      to += static_cast<std::size_t>(classes.extent()) * element;
    }
  };
  if (core::object_of(x)->dtype == DType::i32)
    mark.operator()<std::int32_t>();
  else
    mark.operator()<std::int64_t>();
  return out;
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {
namespace {

std::int64_t extent_of(const Tensor& x, int axis) {
  return core::visible_dims(x)[static_cast<std::size_t>(axis)].extent();
}

void require_matrix(std::string_view op, const Tensor& x) {
  ops::require_defined(op, x);
  if (core::visible_rank(x) < 2)
    throw ShapeError(std::string(op) + ": a matrix has two axes" + ops::got(x) +
                     "; give a tensor whose last two axes are the rows and the columns");
}

template <ops::Side side>
Tensor triangle(const Tensor& x, std::int64_t diagonal) {
  require_matrix(ops::Triangle<side>::info.name, x);
  const int rank = core::visible_rank(x);
  const std::int64_t border = std::clamp(diagonal, -extent_of(x, rank - 2), extent_of(x, rank - 1));
  return core::dispatch(ops::Triangle<side>(border), x);
}

std::vector<Tensor> parts(const Tensor& x, int axis, std::span<const std::int64_t> extents) {
  const std::int64_t whole = extent_of(x, axis);
  std::vector<Tensor> result;
  std::int64_t start = 0;
  for (const std::int64_t extent : extents) {
    result.push_back(core::dispatch(ops::Slice(ops::Part{axis, start, extent, 1, whole}), x));
    start += extent;
  }
  return result;
}

}  // namespace

std::vector<Tensor> split(const Tensor& x, AxisRef axis, std::int64_t count) {
  ops::require_defined("split", x);
  const int number = ops::resolve_axis("split", x, axis);
  if (count < 1)
    throw ValueError("split: " + std::to_string(count) + " parts" + ops::got(x) + "; ask for at least one");
  const std::int64_t whole = extent_of(x, number);
  if (whole % count != 0)
    throw ShapeError("split: axis " + std::to_string(number) + " with its " + std::to_string(whole) +
                     " elements has no " + std::to_string(count) + " equal parts" + ops::got(x) +
                     "; give the extent of every part: split(x, axis, {...})");
  return parts(x, number, std::vector<std::int64_t>(static_cast<std::size_t>(count), whole / count));
}

std::vector<Tensor> split(const Tensor& x, AxisRef axis, std::span<const std::int64_t> extents) {
  ops::require_defined("split", x);
  const int number = ops::resolve_axis("split", x, axis);
  std::int64_t left = extent_of(x, number);
  bool fits = true;
  for (const std::int64_t extent : extents) {
    fits &= extent >= 0 && extent <= left;
    left -= fits ? extent : 0;
  }
  if (!fits || left != 0) {
    std::string text;
    for (const std::int64_t extent : extents) text += (text.empty() ? "" : ", ") + std::to_string(extent);
    throw ShapeError("split: parts of " + (text.empty() ? std::string("no") : text) + " elements do not make up axis " +
                     std::to_string(number) + ops::got(x) + "; the parts' extents add up to the whole");
  }
  return parts(x, number, extents);
}

Tensor flip(const Tensor& x, const AxisList& axes) {
  ops::require_defined("flip", x);
  return core::dispatch(ops::Flip(ops::resolve_axes("flip", x, axes)), x);
}

Tensor roll(const Tensor& x, AxisRef axis, std::int64_t shift) {
  ops::require_defined("roll", x);
  const int number = ops::resolve_axis("roll", x, axis);
  const std::int64_t extent = extent_of(x, number);
  if (extent == 0) return x;
  const std::int64_t forward = (shift % extent + extent) % extent;
  return core::dispatch(ops::Roll(number, forward == 0 ? 0 : extent - forward, extent), x);
}

Tensor pad(const Tensor& x, AxisRef axis, std::int64_t before, std::int64_t after, Scalar value) {
  ops::require_defined("pad", x);
  const int number = ops::resolve_axis("pad", x, axis);
  if (before < 0 || after < 0)
    throw ValueError("pad: " + std::to_string(before) + " elements before and " + std::to_string(after) + " after" +
                     ops::got(x) + "; slice() takes elements away");
  if (value.is_float() && !is_float(core::object_of(x)->dtype))
    throw DTypeError("pad: a floating-point number around other types" + ops::got(x) +
                     "; give an integer, or cast the tensor");
  const std::int64_t extent = extent_of(x, number);
  const ops::Part part{number, before, extent, 1, Dim(Dim(before).extent() + extent + Dim(after).extent()).extent()};
  if (value.real() == 0 && !std::signbit(value.real())) return core::dispatch(ops::Embed(part), x);
  return core::dispatch(ops::Pad(part, value), x);
}

Tensor tile(const Tensor& x, AxisRef axis, std::int64_t count) {
  ops::require_defined("tile", x);
  const int number = ops::resolve_axis("tile", x, axis);
  if (count < 0) throw ValueError("tile: " + std::to_string(count) + " copies" + ops::got(x) + "; ask for 0 or more");
  const std::int64_t extent = extent_of(x, number);
  if (count != 0 && extent > Dim::max_extent / count)
    throw SizeError("tile: " + std::to_string(count) + " copies" + ops::got(x) + "; no axis is that long");
  const Tensor copies = core::dispatch(ops::Expand(ops::AxisSet::single(number), Shape{count}), x);
  Shape to = ops::shape_of(x);
  to[number] = Dim(to[number].axis(), extent * count);
  return core::dispatch(ops::Reshape(ops::shape_of(copies), to), copies);
}

Tensor swap_axes(const Tensor& x, AxisRef a, AxisRef b) {
  ops::require_defined("swap_axes", x);
  ops::Order order = ops::Order::identity(core::visible_rank(x));
  std::swap(order.of[ops::resolve_axis("swap_axes", x, a)], order.of[ops::resolve_axis("swap_axes", x, b)]);
  return core::dispatch(ops::Permute(order), x);
}

Tensor move_axis(const Tensor& x, AxisRef axis, int to) {
  ops::require_defined("move_axis", x);
  const int from = ops::resolve_axis("move_axis", x, axis);
  const int place = ops::resolve_axis("move_axis", x, to);
  return core::dispatch(ops::Permute(ops::Order::moving(core::visible_rank(x), from, place)), x);
}

Tensor flatten(const Tensor& x, Axis name) {
  ops::require_defined("flatten", x);
  const Shape from = ops::shape_of(x);
  return core::dispatch(ops::Reshape(from, Shape{Dim(name, from.size())}), x);
}

Tensor tril(const Tensor& x, std::int64_t diagonal) { return triangle<ops::Side::below>(x, diagonal); }
Tensor triu(const Tensor& x, std::int64_t diagonal) { return triangle<ops::Side::above>(x, diagonal); }

Tensor diagonal(const Tensor& x, std::int64_t offset, Axis name) {
  require_matrix("diagonal", x);
  const Shape from = ops::shape_of(x);
  const std::int64_t rows = from[from.rank() - 2].extent();
  const std::int64_t columns = from[from.rank() - 1].extent();
  const ops::Line line(rows, columns, std::clamp(offset, -rows, columns));
  Shape to(from.dims().first(static_cast<std::size_t>(from.rank() - 2)));
  to.push_back(Dim(name, line.count()));
  ops::check_names("diagonal", x, to);
  return core::with_names(core::dispatch(ops::Diagonal(line), x), to.dims());
}

Tensor one_hot(const Tensor& labels, Dim classes, DType dtype) {
  ops::require_defined("one_hot", labels);
  if (is_float(core::object_of(labels)->dtype))
    throw DTypeError("one_hot: class indices are integers" + ops::got(labels) + "; cast them: cast(x, DType::i64)");
  const Tensor indices = ops::as_number("one_hot", labels);
  ops::check_names(
      "one_hot", labels,
      ops::with_axes(ops::shape_of(labels), ops::AxisSet::single(core::visible_rank(labels)), Shape{classes}));
  const Tensor* const in[] = {&labels};
  return ops::with_operands_described(in, "number the classes from 0",
                                      [&] { return core::dispatch(ops::OneHot(classes, dtype), indices); });
}

}  // namespace tlaloc::inline v0
