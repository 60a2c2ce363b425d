#include "ops/powers.hpp"

#include <algorithm>

#include <tlaloc/create.hpp>
#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>

#include "ops/align.hpp"

namespace tlaloc::inline v0::ops {
namespace {

[[noreturn]] void refuse_exponent(std::int64_t exponent) {
  throw ValueError("power: the exponent " + std::to_string(exponent) + " of integers is negative");
}
constexpr std::string_view fix = "cast one of the two to f32 for a power that is no integer";

}  // namespace

Tensor Power::eval(const Tensor& x, const Tensor& exponent) const {
  const DType dtype = core::object_of(exponent)->dtype;
  if (!is_float(dtype) && core::physical_shape(exponent)->size != 0) {
    const Tensor dense = ops::contiguous(exponent);
    with_type<Domain::numbers>(dtype, [&]<class T>() {
      const T* const values = core::elements<const T>(dense);
      const T least = *std::min_element(values, values + core::physical_shape(dense)->size);
      if (least < 0) refuse_exponent(static_cast<std::int64_t>(least));
    });
  }
  return Family::eval(x, exponent);
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {

Tensor power(const Tensor& x, const Tensor& exponent) {
  const Tensor* const in[] = {&x, &exponent};
  ops::require_defined("power", in);
  return ops::with_operands_described(in, ops::fix, [&] { return ops::binary<ops::Power>(x, exponent); });
}

Tensor power(const Tensor& x, Scalar exponent) {
  ops::require_defined("power", x);
  const DType dtype = ops::promote(core::object_of(x)->dtype, exponent);
  const Tensor* const in[] = {&x};
  return ops::with_operands_described(in, ops::fix, [&] {
    if (!is_float(dtype) && exponent.whole() < 0) ops::refuse_exponent(exponent.whole());
    return core::dispatch(ops::PowerOfNumber(ops::Number(exponent, dtype)), ops::as_dtype(x, dtype));
  });
}

Tensor power(Scalar x, const Tensor& exponent) {
  ops::require_defined("power", exponent);
  return power(full({}, x, ops::promote(core::object_of(exponent)->dtype, x)), exponent);
}

Tensor rsqrt(const Tensor& x) { return ops::unary<ops::Rsqrt>(x); }

Tensor reciprocal(const Tensor& x) {
  ops::require_defined("reciprocal", x);
  return divide(1.0, x);
}

}  // namespace tlaloc::inline v0
