#include "ops/rounding.hpp"

#include <algorithm>

#include <tlaloc/create.hpp>
#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>

#include "ops/align.hpp"

namespace tlaloc::inline v0::ops {

Tensor FloorDivide::eval(const Tensor& a, const Tensor& b) const {
  const DType dtype = core::object_of(b)->dtype;
  if (!is_float(dtype)) {
    const Tensor dense = ops::contiguous(b);
    with_type<Domain::numbers>(dtype, [&]<class T>() {
      const T* const values = core::elements<const T>(dense);
      const T* const end = values + core::physical_shape(dense)->size;
      if (std::find(values, end, T{0}) != end) throw ValueError("floor_divide: integers divided by 0");
    });
  }
  return Family::eval(a, b);
}

namespace {

/// Integers are whole already.
template <class Op>
Tensor rounded(const Tensor& x) {
  require_defined(Op::info.name, x);
  return is_float(core::object_of(x)->dtype) ? core::dispatch(Op{}, x) : as_number(Op::info.name, x);
}

Tensor number_beside(const Tensor& x, Scalar number) {
  require_defined("floor_divide", x);
  return full({}, number, promote(core::object_of(x)->dtype, number));
}

}  // namespace
}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {

Tensor abs(const Tensor& x) { return ops::unary<ops::Abs>(x); }
Tensor sign(const Tensor& x) { return ops::unary<ops::Sign>(x); }
Tensor floor(const Tensor& x) { return ops::rounded<ops::Floor>(x); }
Tensor ceil(const Tensor& x) { return ops::rounded<ops::Ceil>(x); }
Tensor round(const Tensor& x) { return ops::rounded<ops::Round>(x); }

Tensor floor_divide(const Tensor& a, const Tensor& b) {
  const Tensor* const in[] = {&a, &b};
  ops::require_defined("floor_divide", in);
  return ops::with_operands_described(in, "put another divisor in its place with where(), or divide floats",
                                      [&] { return ops::binary<ops::FloorDivide>(a, b); });
}
Tensor floor_divide(const Tensor& a, Scalar b) { return floor_divide(a, ops::number_beside(a, b)); }
Tensor floor_divide(Scalar a, const Tensor& b) { return floor_divide(ops::number_beside(b, a), b); }

Tensor clip(const Tensor& x, Scalar low, Scalar high) {
  ops::require_defined("clip", x);
  const DType dtype = ops::promote(ops::promote(core::object_of(x)->dtype, low), high);
  return core::dispatch(ops::ClipToNumbers(ops::Number(low, dtype), ops::Number(high, dtype)), ops::as_dtype(x, dtype));
}

Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high) {
  const Tensor* const in[] = {&x, &low, &high};
  ops::require_defined("clip", in);
  DType dtype = DType::i32;
  for (const Tensor* one : in) dtype = ops::promote("clip", dtype, core::object_of(*one)->dtype, in);
  Tensor operands[] = {x, low, high};
  ops::align("clip", operands);
  for (Tensor& one : operands) one = ops::as_dtype(one, dtype);
  return core::dispatch(ops::Clip{}, operands[0], operands[1], operands[2]);
}

}  // namespace tlaloc::inline v0
