#include "ops/exponential.hpp"

#include <tlaloc/elementwise.hpp>

#include "ops/align.hpp"

namespace tlaloc::inline v0::ops {

Tensor logistic(const Tensor& a, const Tensor& b) { return core::dispatch(Logistic{}, a, b); }
Tensor logistic(const Tensor& a, Scalar b) { return with_number<Logistic, 1>(a, b); }
Tensor logistic(Scalar a, const Tensor& b) { return with_number<Logistic, 0>(b, a); }

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {

Tensor expm1(const Tensor& x) { return ops::unary<ops::Expm1>(x); }
Tensor log1p(const Tensor& x) { return ops::unary<ops::Log1p>(x); }
Tensor softplus(const Tensor& x) { return ops::unary<ops::Softplus>(x); }
Tensor log_sigmoid(const Tensor& x) { return ops::unary<ops::LogSigmoid>(x); }
Tensor logaddexp(const Tensor& a, const Tensor& b) { return ops::binary<ops::LogAddExp>(a, b); }
Tensor logaddexp(const Tensor& a, Scalar b) { return ops::with_number<ops::LogAddExp, 1>(a, b); }
Tensor xlogy(const Tensor& x, const Tensor& y) { return ops::binary<ops::XLogY>(x, y); }

}  // namespace tlaloc::inline v0
