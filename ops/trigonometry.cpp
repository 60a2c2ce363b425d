#include "ops/trigonometry.hpp"

#include <tlaloc/elementwise.hpp>

#include "ops/align.hpp"

namespace tlaloc::inline v0 {

Tensor sin(const Tensor& x) { return ops::unary<ops::Sin>(x); }
Tensor cos(const Tensor& x) { return ops::unary<ops::Cos>(x); }
Tensor erf(const Tensor& x) { return ops::unary<ops::Erf>(x); }
Tensor atan2(const Tensor& y, const Tensor& x) { return ops::binary<ops::Atan2>(y, x); }

}  // namespace tlaloc::inline v0
