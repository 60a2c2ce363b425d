#include "ops/selection.hpp"

#include <cmath>
#include <limits>

#include <tlaloc/create.hpp>
#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>

#include "ops/align.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {
namespace {

template <Relation relation>
constexpr auto holds(auto a, auto b) {
  if constexpr (relation == Relation::equal)
    return a == b;
  else if constexpr (relation == Relation::not_equal)
    return a != b;
  else if constexpr (relation == Relation::less)
    return a < b;
  else if constexpr (relation == Relation::less_equal)
    return a <= b;
  else if constexpr (relation == Relation::greater)
    return a > b;
  else
    return a >= b;
}

template <Relation relation, class T>
void compare_run(const void*, std::int64_t n, const std::byte* const* in, std::byte* out) {
  const auto* const a = reinterpret_cast<const T*>(in[0]);
  const auto* const b = reinterpret_cast<const T*>(in[1]);
  auto* const result = reinterpret_cast<bool*>(out);
  for (std::int64_t i = 0; i < n; ++i) result[i] = holds<relation>(a[i], b[i]);
}

template <Relation relation, class T>
void compare_number_run(const void* op, std::int64_t n, const std::byte* const* in, std::byte* out) {
  const auto* const a = reinterpret_cast<const T*>(in[0]);
  const T b = static_cast<const CompareWithNumber<relation>*>(op)->number.template as<T>();
  auto* const result = reinterpret_cast<bool*>(out);
  for (std::int64_t i = 0; i < n; ++i) result[i] = holds<relation>(a[i], b);
}

template <class U>
void where_run(const void*, std::int64_t n, const std::byte* const* in, std::byte* out) {
  const auto* const condition = reinterpret_cast<const bool*>(in[0]);
  const auto* const yes = reinterpret_cast<const U*>(in[1]);
  const auto* const no = reinterpret_cast<const U*>(in[2]);
  auto* const result = reinterpret_cast<U*>(out);
  for (std::int64_t i = 0; i < n; ++i) result[i] = condition[i] ? yes[i] : no[i];
}

/// As static_cast where that is defined; nan becomes 0 and what does not fit the nearest value that does.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // 2^31 or 2^63: the first value that does not fit, and exact in From, as To's own maximum is not.
    constexpr From limit = -static_cast<From>(std::numeric_limits<To>::min());
    if (x >= limit) return std::numeric_limits<To>::max();
    if (x < -limit) return std::numeric_limits<To>::min();
    return std::isnan(x) ? To{0} : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
void cast_run(const void*, std::int64_t n, const std::byte* const* in, std::byte* out) {
  const auto* const from = reinterpret_cast<const From*>(in[0]);
  auto* const to = reinterpret_cast<To*>(out);
  for (std::int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

template <class F>
decltype(auto) with_any_type(DType dtype, F&& f) {
  return dtype == DType::boolean ? f.template operator()<bool>() : with_type<Domain::numbers>(dtype, f);
}

template <Relation relation>
Tensor compare(const Tensor& a, const Tensor& b) {
  constexpr std::string_view name = name_of(relation);
  const Tensor* const in[] = {&a, &b};
  require_defined(name, in);
  const DType dtype = std::max(DType::i32, promote(name, core::object_of(a)->dtype, core::object_of(b)->dtype, in));
  Tensor operands[] = {a, b};
  if (!aligned(a, b)) align(name, operands);
  return core::dispatch(Compare<relation>{}, as_dtype(operands[0], dtype), as_dtype(operands[1], dtype));
}

template <Relation relation>
Tensor compare(const Tensor& x, const Scalar& number) {
  require_defined(name_of(relation), x);
  const DType dtype = promote(core::object_of(x)->dtype, number);
  return core::dispatch(CompareWithNumber<relation>(Number(number, dtype)), as_dtype(x, dtype));
}

}  // namespace

template <Relation relation>
Tensor Compare<relation>::eval(const Tensor& a, const Tensor& b) const {
  const Tensor* const in[] = {&a, &b};
  return with_type<Domain::numbers>(core::object_of(a)->dtype, [&]<class T>() {
    return map_tensors(&compare_run<relation, T>, this, in, DType::boolean, nullptr);
  });
}

template <Relation relation>
Tensor CompareWithNumber<relation>::eval(const Tensor& x) const {
  const Tensor* const in[] = {&x};
  return with_type<Domain::numbers>(core::object_of(x)->dtype, [&]<class T>() {
    return map_tensors(&compare_number_run<relation, T>, this, in, DType::boolean, nullptr);
  });
}

Tensor Where::eval(const Tensor& condition, const Tensor& yes, const Tensor& no) const {
  const Tensor* const in[] = {&condition, &yes, &no};
  const DType dtype = core::object_of(yes)->dtype;
  const kernels::DenseRun run = size_of(dtype) == 1   ? &where_run<std::uint8_t>
                                : size_of(dtype) == 4 ? &where_run<std::uint32_t>
                                                      : &where_run<std::uint64_t>;
  return map_tensors(run, this, in, dtype, nullptr);
}

void Where::vjp(core::VjpCall& call) const {
  const Tensor& ct = call.cotangents[0];
  const Tensor zero = zero_like(ct);
  if (call.wants(1)) call.gradients[1] = core::dispatch(*this, call.saved.in(0), ct, zero);
  if (call.wants(2)) call.gradients[2] = core::dispatch(*this, call.saved.in(0), zero, ct);
}

void Where::jvp(core::JvpCall& call) const {
  const auto or_zero = [&](std::size_t i) {
    return call.tangents[i].defined() ? call.tangents[i] : zero_like(call.in[i]);
  };
  if (call.tangents[1].defined() || call.tangents[2].defined())
    call.out_tangents[0] = core::dispatch(*this, call.in[0], or_zero(1), or_zero(2));
}

Tensor Cast::eval(const Tensor& x) const {
  const Tensor* const in[] = {&x};
  return with_any_type(from, [&]<class From>() {
    return with_any_type(to, [&]<class To>() { return map_tensors(&cast_run<To, From>, this, in, to, nullptr); });
  });
}

void Cast::vjp(core::VjpCall& call) const {
  if (call.wants(0)) call.gradients[0] = core::dispatch(Cast{to, from}, call.cotangents[0]);
}

void Cast::jvp(core::JvpCall& call) const {
  if (is_float(to)) call.out_tangents[0] = core::dispatch(*this, call.tangents[0]);
}

Tensor zero_like(const Tensor& x) { return full_like(x, 0); }

Tensor choose(const Tensor& mask, Scalar yes, Scalar no) {
  return where(mask, full({}, yes, DType::f32), full({}, no, DType::f32));
}
Tensor choose(const Tensor& mask, Scalar yes, const Tensor& no) { return where(mask, yes, no); }
Tensor choose(const Tensor& mask, const Tensor& yes, Scalar no) { return where(mask, yes, no); }
Tensor choose(const Tensor& mask, const Tensor& yes, const Tensor& no) { return where(mask, yes, no); }

Tensor ct_mul(const Tensor& ct, const Tensor& partial) {
  return core::dispatch(CotangentMultiply{}, ct, as_dtype(partial, core::object_of(ct)->dtype));
}
Tensor ct_mul(const Tensor& ct, Scalar partial) {
  return core::dispatch(WithNumber<CotangentMultiply, 1>(Number(partial, core::object_of(ct)->dtype)), ct);
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {

using ops::Relation;

Tensor equal(const Tensor& a, const Tensor& b) { return ops::compare<Relation::equal>(a, b); }
Tensor equal(const Tensor& a, Scalar b) { return ops::compare<Relation::equal>(a, b); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return ops::compare<Relation::not_equal>(a, b); }
Tensor not_equal(const Tensor& a, Scalar b) { return ops::compare<Relation::not_equal>(a, b); }
Tensor less(const Tensor& a, const Tensor& b) { return ops::compare<Relation::less>(a, b); }
Tensor less(const Tensor& a, Scalar b) { return ops::compare<Relation::less>(a, b); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return ops::compare<Relation::less_equal>(a, b); }
Tensor less_equal(const Tensor& a, Scalar b) { return ops::compare<Relation::less_equal>(a, b); }
Tensor greater(const Tensor& a, const Tensor& b) { return ops::compare<Relation::greater>(a, b); }
Tensor greater(const Tensor& a, Scalar b) { return ops::compare<Relation::greater>(a, b); }
Tensor greater_equal(const Tensor& a, const Tensor& b) { return ops::compare<Relation::greater_equal>(a, b); }
Tensor greater_equal(const Tensor& a, Scalar b) { return ops::compare<Relation::greater_equal>(a, b); }

Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no) {
  const Tensor* const in[] = {&condition, &yes, &no};
  ops::require_defined("where", in);
  if (core::object_of(condition)->dtype != DType::boolean)
    throw DTypeError("where: the condition is not a bool tensor" + ops::got(in) + "; compare it: where(x != 0, ...)");
  const DType dtype = ops::promote("where", core::object_of(yes)->dtype, core::object_of(no)->dtype, in);
  Tensor operands[] = {condition, yes, no};
  ops::align("where", operands);
  return core::dispatch(ops::Where{}, operands[0], ops::as_dtype(operands[1], dtype),
                        ops::as_dtype(operands[2], dtype));
}
Tensor where(const Tensor& condition, Scalar yes, const Tensor& no) {
  const Tensor* const in[] = {&condition, &no};
  ops::require_defined("where", in);
  return where(condition, full({}, yes, ops::promote(core::object_of(no)->dtype, yes)), no);
}
Tensor where(const Tensor& condition, const Tensor& yes, Scalar no) {
  const Tensor* const in[] = {&condition, &yes};
  ops::require_defined("where", in);
  return where(condition, yes, full({}, no, ops::promote(core::object_of(yes)->dtype, no)));
}

Tensor cast(const Tensor& x, DType dtype) {
  ops::require_defined("cast", x);
  return ops::as_dtype(x, dtype);
}

Tensor stop_gradient(const Tensor& x) {
  ops::require_defined("stop_gradient", x);
  return core::dispatch(ops::StopGradient{}, x);
}

}  // namespace tlaloc::inline v0
