#include "ops/loss.hpp"

#include <algorithm>

#include <tlaloc/create.hpp>
#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/loss.hpp>
#include <tlaloc/reduce.hpp>
#include <tlaloc/structure.hpp>

#include "ops/align.hpp"
#include "ops/kernels/cross_entropy.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {
namespace {

struct Sizes {
  std::int64_t rows, classes;
  explicit Sizes(const Tensor& logits) {
    const core::InternedShape* const shape = core::physical_shape(logits);
    classes = shape->shape[shape->shape.rank() - 1].extent();
    rows = 1;
    for (int i = 0; i + 1 < shape->shape.rank(); ++i) rows *= shape->shape[i].extent();
  }
};

Tensor make_losses(const Tensor& logits) {
  const Shape& shape = core::physical_shape(logits)->shape;
  return core::make_dense(without_axes(shape, AxisSet::single(shape.rank() - 1)), core::object_of(logits)->dtype);
}

Tensor make_like(const Tensor& x) {
  return core::make_dense(core::ShapeRef::share(core::physical_shape(x)), core::object_of(x)->dtype);
}

/// One cotangent a row; a single one that all rows share is not copied.
struct Cotangents {
  Tensor tensor;
  std::int64_t stride = 1;

  explicit Cotangents(const Tensor& ct) : tensor(ct) {
    const core::Strides strides = core::strides_of(ct);
    const Shape& shape = core::physical_shape(ct)->shape;
    bool shared = true;
    for (int i = 0; i < shape.rank(); ++i) shared &= strides[i] == 0 || shape[i].extent() == 1;
    if (shared)
      stride = 0;
    else
      tensor = ops::contiguous(ct);
  }
};

template <class F>
void with_index_type(const Tensor& classes, F&& f) {
  if (core::object_of(classes)->dtype == DType::i32)
    f.template operator()<std::int32_t>();
  else
    f.template operator()<std::int64_t>();
}

/// Every example's class index, checked.
template <class Index>
const Index* checked_classes(const Tensor& classes, const Sizes& sizes) {
  const auto* const index = core::elements<const Index>(classes);
  for (std::int64_t i = 0; i < sizes.rows; ++i)
    if (index[i] < 0 || index[i] >= sizes.classes)
      throw ValueError("cross_entropy: the class index " + std::to_string(index[i]) + " of row " + std::to_string(i) +
                       " is not in [0, " + std::to_string(sizes.classes) + ")");
  return index;
}

}  // namespace

Tensor CrossEntropy::eval(const Tensor& logits, const Tensor& labels) const {
  const Sizes sizes(logits);
  const Tensor x = ops::contiguous(logits);
  const Tensor y = ops::contiguous(labels);
  Tensor out = make_losses(logits);
  with_type<Domain::floats>(core::object_of(x)->dtype, [&]<class T>() {
    kernels::cross_entropy(core::elements<const T>(x), core::elements<const T>(y), sizes.classes,
                           core::elements<T>(out), sizes.rows, sizes.classes);
  });
  return out;
}

void CrossEntropy::vjp(core::VjpCall& call) const {
  const Tensor& ct = call.cotangents[0];
  if (call.wants(0)) call.gradients[0] = core::dispatch(CrossEntropyProduct{}, ct, call.saved.in(0), call.saved.in(1));
  if (call.wants(1)) {
    const Tensor& logits = call.saved.in(0);
    const Tensor repeated = broadcast_to(expand_dims(ct, -1), shape_of(logits));
    call.gradients[1] = ct_mul(repeated, negative(log_softmax(logits, -1)));
  }
}

void CrossEntropy::jvp(core::JvpCall& call) const {
  if (call.tangents[0].defined()) {
    const Tensor slope = core::dispatch(CrossEntropyProduct{}, ones_like(call.out[0]), call.in[0], call.in[1]);
    accumulate(call.out_tangents[0], sum(ct_mul(call.tangents[0], slope), -1));
  }
  if (call.tangents[1].defined())
    accumulate(call.out_tangents[0], sum(ct_mul(call.tangents[1], negative(log_softmax(call.in[0], -1))), -1));
}

Tensor CrossEntropyProduct::eval(const Tensor& ct, const Tensor& logits, const Tensor& labels) const {
  const Sizes sizes(logits);
  const Cotangents cotangents(ct);
  const Tensor x = ops::contiguous(logits);
  const Tensor y = ops::contiguous(labels);
  Tensor out = make_like(x);
  with_type<Domain::floats>(core::object_of(x)->dtype, [&]<class T>() {
    kernels::cross_entropy_backward(core::elements<const T>(cotangents.tensor), cotangents.stride,
                                    core::elements<const T>(x), core::elements<const T>(y), sizes.classes,
                                    core::elements<T>(out), sizes.rows, sizes.classes);
  });
  return out;
}

Tensor CrossEntropyProduct::expand(const Tensor& ct, const Tensor& logits, const Tensor& labels) const {
  const Tensor slope = subtract(multiply(softmax(logits, -1), sum(labels, -1, Keep::yes)), labels);
  return multiply(expand_dims(ct, -1), slope);
}

Tensor CrossEntropyOfClasses::eval(const Tensor& logits, const Tensor& classes) const {
  const Sizes sizes(logits);
  const Tensor x = ops::contiguous(logits);
  const Tensor indices = ops::contiguous(classes);
  Tensor out = make_losses(logits);
  with_type<Domain::floats>(core::object_of(x)->dtype, [&]<class T>() {
    with_index_type(indices, [&]<class Index>() {
      kernels::cross_entropy_of_classes(core::elements<const T>(x), checked_classes<Index>(indices, sizes),
                                        core::elements<T>(out), sizes.rows, sizes.classes);
    });
  });
  return out;
}

void CrossEntropyOfClasses::vjp(core::VjpCall& call) const {
  if (call.wants(0))
    call.gradients[0] =
        core::dispatch(CrossEntropyOfClassesProduct{}, call.cotangents[0], call.saved.in(0), call.saved.in(1));
}

void CrossEntropyOfClasses::jvp(core::JvpCall& call) const {
  const Tensor slope = core::dispatch(CrossEntropyOfClassesProduct{}, ones_like(call.out[0]), call.in[0], call.in[1]);
  call.out_tangents[0] = sum(ct_mul(call.tangents[0], slope), -1);
}

Tensor CrossEntropyOfClassesProduct::eval(const Tensor& ct, const Tensor& logits, const Tensor& classes) const {
  const Sizes sizes(logits);
  const Cotangents cotangents(ct);
  const Tensor x = ops::contiguous(logits);
  const Tensor indices = ops::contiguous(classes);
  Tensor out = make_like(x);
  with_type<Domain::floats>(core::object_of(x)->dtype, [&]<class T>() {
    with_index_type(indices, [&]<class Index>() {
      kernels::cross_entropy_of_classes_backward(core::elements<const T>(cotangents.tensor), cotangents.stride,
                                                 core::elements<const T>(x), core::elements<const Index>(indices),
                                                 core::elements<T>(out), sizes.rows, sizes.classes);
    });
  });
  return out;
}

Tensor CrossEntropyOfClassesProduct::expand(const Tensor& ct, const Tensor& logits, const Tensor& classes) const {
  const Shape shape = shape_of(logits);
  const DType index = core::object_of(classes)->dtype;
  const Tensor numbers = arange(shape[shape.rank() - 1].extent(), index);
  const Tensor labels = cast(equal(expand_dims(classes, -1), numbers), core::object_of(logits)->dtype);
  return multiply(expand_dims(ct, -1), subtract(softmax(logits, -1), labels));
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {
namespace {

/// x with one axis moved to the end.
Tensor with_last(const Tensor& x, int axis) {
  const int rank = core::visible_rank(x);
  return axis == rank - 1 ? x : core::dispatch(ops::Permute(ops::Order::moving(rank, axis, rank - 1)), x);
}

/// One index for every row of logits: the rows' axes by name, or by position where extents of 1 stretch.
void check_class_indices(const Shape& rows, const Shape& indices, std::span<const Tensor* const> in) {
  const auto all_named = [](const Shape& shape) {
    return std::all_of(shape.begin(), shape.end(), [](Dim dim) { return dim.axis().named(); });
  };
  const bool by_name = ops::names_are_on() && all_named(rows) && all_named(indices);
  for (int i = 0; i < rows.rank(); ++i) {
    const int row = by_name ? rows.position(indices[i].axis()) : i;
    if (row < 0)
      throw AxisError("cross_entropy: the class indices have the axis " + indices[i].axis().name() +
                      ", which the rows of logits lack" + ops::got(in) + "; give one index for every row of logits");
    const std::int64_t extent = indices[i].extent();
    if (extent != rows[row].extent() && (by_name || extent != 1))
      throw ShapeError("cross_entropy: there are " + std::to_string(extent) + " class indices for " +
                       std::to_string(rows[row].extent()) + " rows of logits" + ops::got(in) +
                       "; give one index for every row of logits");
  }
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, AxisRef axis) {
  constexpr std::string_view op = "cross_entropy";
  const Tensor* const in[] = {&logits, &labels};
  ops::require_defined(op, in);
  if (is_float(core::object_of(logits)->dtype) && ops::aligned(logits, labels) &&
      ops::resolve_axis(op, logits, axis) == core::visible_rank(logits) - 1) [[likely]]
    return core::dispatch(ops::CrossEntropy{}, logits, labels);
  const Tensor x = ops::as_float(op, logits);
  const int classes = ops::resolve_axis(op, x, axis);
  const DType label_type = core::object_of(labels)->dtype;
  if (!is_float(label_type) && core::visible_rank(labels) + 1 == core::visible_rank(x)) {
    if (label_type == DType::boolean)
      throw DTypeError("cross_entropy: class indices are integers, not bools" + ops::got(in) + "; cast them to i64");
    const Tensor moved = with_last(x, classes);
    check_class_indices(ops::without_axes(ops::shape_of(x), ops::AxisSet::single(classes)), ops::shape_of(labels), in);
    // Indices align with the logits without their class axis, as any two operands do.
    Tensor operands[] = {select(moved, -1, 0), labels};
    ops::align(op, operands);
    try {
      return core::dispatch(ops::CrossEntropyOfClasses{}, moved, operands[1]);
    } catch (const ValueError& error) {
      // The kernel that looks at the indices may see the hidden axes of enclosing vmaps; the operands are described
      // here.
      throw ValueError(error.what() + ops::got(in) + "; number the classes from 0");
    }
  }
  if (core::visible_rank(labels) != core::visible_rank(x))
    throw ShapeError("cross_entropy: labels are rows like the logits, or class indices of one rank less" +
                     ops::got(in) + "; the class axis is axis " + std::to_string(classes) + " of the logits");
  const DType dtype = ops::promote(op, core::object_of(x)->dtype, label_type, in);
  Tensor operands[] = {x, ops::as_dtype(labels, dtype)};
  if (!ops::aligned(operands[0], operands[1])) {
    // One row of labels may serve many rows of logits, but no label serves several classes.
    const Shape before = ops::shape_of(x);
    const Shape given = ops::shape_of(labels);
    const int named = before[classes].axis().named() ? given.position(before[classes].axis()) : -1;
    bool fits = given[named >= 0 ? named : classes].extent() == before[classes].extent();
    ops::align(op, operands);
    for (int i = 0; i < before.rank(); ++i) fits &= ops::shape_of(operands[0])[i].extent() == before[i].extent();
    if (!fits)
      throw ShapeError("cross_entropy: the labels have other extents than the logits" + ops::got(in) +
                       "; give one row of labels for every row of logits");
  }
  return core::dispatch(ops::CrossEntropy{}, with_last(operands[0], classes), with_last(operands[1], classes));
}

}  // namespace tlaloc::inline v0
