// What public functions do before an operation is dispatched: dtypes are promoted, axes resolved, operands aligned by
// name or by position. Here, and nowhere else, names and shapes are checked, and users' mistakes turned into messages.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <tlaloc/error.hpp>
#include <tlaloc/reduce.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

#include "ops/arithmetic.hpp"
#include "ops/axes.hpp"
#include "ops/elementwise_family.hpp"

namespace tlaloc::inline v0::ops {

/// Throws ValueError when one of the operands is the empty tensor.
void require_defined(std::string_view op, std::span<const Tensor* const> in);
inline void require_defined(std::string_view op, const Tensor& x) {
  if (x.defined()) [[likely]]
    return;
  const Tensor* const in[] = {&x};
  require_defined(op, in);
}

/// ": got f32 [batch 16], f64 [3]": the operands as messages end with them.
std::string got(std::span<const Tensor* const> in);
inline std::string got(const Tensor& x) {
  const Tensor* const in[] = {&x};
  return got(in);
}

/// x as `dtype` (x itself if it is), and x as a float (bools and integers become f32).
Tensor as_dtype(const Tensor& x, DType dtype);
Tensor as_float(std::string_view op, const Tensor& x);
/// bool becomes i32: arithmetic is done in numbers.
Tensor as_number(std::string_view op, const Tensor& x);

/// The dtype of two operands together. DTypeError for f32 with f64.
DType promote(std::string_view op, DType a, DType b, std::span<const Tensor* const> in);
/// The dtype of a tensor with a number.
DType promote(DType dtype, const Scalar& number);

/// Whether names are looked at: not inside rules.
bool names_are_on();

/// The number of an axis of x. AxisError that lists the axes when it is not there.
int resolve_axis(std::string_view op, const Tensor& x, AxisRef axis);
AxisSet resolve_axes(std::string_view op, const Tensor& x, const AxisList& axes);

/// Throws AxisError when a result that is made of x would have one name twice.
void check_names(std::string_view op, const Tensor& x, const Shape& result);

/// Runs a dispatch whose kernel may refuse values. The kernel may see the hidden axes of enclosing vmaps, so the
/// operands, as the caller sees them, and the fix are added to its message here.
template <class F>
Tensor with_operands_described(std::span<const Tensor* const> in, std::string_view fix, F&& run) {
  try {
    return run();
  } catch (const ValueError& error) {
    throw ValueError(error.what() + got(in) + "; " + std::string(fix));
  }
}

/// A visible shape as a value.
inline Shape shape_of(const Tensor& x) { return Shape(core::visible_dims(x)); }

/// x repeated to a shape whose last dimensions fit it, by position.
Tensor broadcast_by_position(const Tensor& x, const Shape& to);

/// Brings operands of an elementwise operation to one shape.
void align(std::string_view op, std::span<Tensor> operands);

/// Whether two operands can go to an elementwise kernel as they are.
inline bool aligned(const Tensor& a, const Tensor& b) {
  if (core::is_plain(a) && core::is_plain(b)) [[likely]]
    return core::physical_shape(a) == core::physical_shape(b) && core::object_of(a)->dtype == core::object_of(b)->dtype;
  if (!a.defined() || !b.defined() || core::object_of(a)->dtype != core::object_of(b)->dtype) return false;
  const auto x = core::visible_dims(a);
  const auto y = core::visible_dims(b);
  return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin());
}

/// A binary elementwise operation on any operands.
template <class Op>
Tensor binary(const Tensor& a, const Tensor& b) {
  constexpr bool numbers = Op::domain == Domain::numbers;
  if (aligned(a, b) && (numbers ? core::object_of(a)->dtype != DType::boolean : is_float(core::object_of(a)->dtype)))
      [[likely]]
    return core::dispatch(Op{}, a, b);
  const Tensor* const in[] = {&a, &b};
  require_defined(Op::info.name, in);
  DType dtype = promote(Op::info.name, core::object_of(a)->dtype, core::object_of(b)->dtype, in);
  if (dtype == DType::boolean) dtype = DType::i32;
  if (!numbers && !is_float(dtype)) dtype = DType::f32;
  Tensor operands[] = {a, b};
  align(Op::info.name, operands);
  return core::dispatch(Op{}, as_dtype(operands[0], dtype), as_dtype(operands[1], dtype));
}

/// A binary elementwise operation with a number at place `Place`.
template <class Op, std::size_t Place>
Tensor with_number(const Tensor& x, const Scalar& number) {
  require_defined(Op::info.name, x);
  const DType own = core::object_of(x)->dtype;
  if (is_float(own)) [[likely]]
    return core::dispatch(WithNumber<Op, Place>(Number(number, own)), x);
  DType dtype = promote(own, number);
  if (Op::domain == Domain::floats && !is_float(dtype)) dtype = DType::f32;
  return core::dispatch(WithNumber<Op, Place>(Number(number, dtype)), as_dtype(x, dtype));
}

/// A function of one real variable.
template <class Op>
Tensor unary(const Tensor& x) {
  if (x.defined() && is_float(core::object_of(x)->dtype)) [[likely]]
    return core::dispatch(Op{}, x);
  return core::dispatch(Op{}, Op::domain == Domain::floats ? as_float(Op::info.name, x) : as_number(Op::info.name, x));
}

}  // namespace tlaloc::inline v0::ops
