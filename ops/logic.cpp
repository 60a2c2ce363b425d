#include "ops/logic.hpp"

#include <tlaloc/elementwise.hpp>

#include "ops/align.hpp"

namespace tlaloc::inline v0::ops {
namespace {

template <Connective connective>
void connect_run(const void*, std::int64_t n, const std::byte* const* in, std::byte* out) {
  const auto* const a = reinterpret_cast<const bool*>(in[0]);
  const auto* const b = reinterpret_cast<const bool*>(in[1]);
  auto* const result = reinterpret_cast<bool*>(out);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (connective == Connective::conjunction)
      result[i] = a[i] & b[i];
    else if constexpr (connective == Connective::disjunction)
      result[i] = a[i] | b[i];
    else
      result[i] = a[i] != b[i];
  }
}

void not_run(const void*, std::int64_t n, const std::byte* const* in, std::byte* out) {
  const auto* const x = reinterpret_cast<const bool*>(in[0]);
  auto* const result = reinterpret_cast<bool*>(out);
  for (std::int64_t i = 0; i < n; ++i) result[i] = !x[i];
}

template <Connective connective>
Tensor connect(const Tensor& a, const Tensor& b) {
  constexpr std::string_view name = name_of(connective);
  const Tensor* const in[] = {&a, &b};
  require_defined(name, in);
  Tensor operands[] = {a, b};
  if (!aligned(a, b)) align(name, operands);
  return core::dispatch(Connect<connective>{}, as_dtype(operands[0], DType::boolean),
                        as_dtype(operands[1], DType::boolean));
}

}  // namespace

template <Connective connective>
Tensor Connect<connective>::eval(const Tensor& a, const Tensor& b) const {
  const Tensor* const in[] = {&a, &b};
  return map_tensors(&connect_run<connective>, this, in, DType::boolean, nullptr);
}

Tensor Not::eval(const Tensor& x) const {
  const Tensor* const in[] = {&x};
  return map_tensors(&not_run, this, in, DType::boolean, nullptr);
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {

using ops::Connective;

Tensor logical_and(const Tensor& a, const Tensor& b) { return ops::connect<Connective::conjunction>(a, b); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return ops::connect<Connective::disjunction>(a, b); }
Tensor logical_xor(const Tensor& a, const Tensor& b) { return ops::connect<Connective::exclusive>(a, b); }
Tensor logical_not(const Tensor& x) {
  ops::require_defined("logical_not", x);
  return core::dispatch(ops::Not{}, ops::as_dtype(x, DType::boolean));
}

}  // namespace tlaloc::inline v0
