// The public elementwise functions that need nothing but their operation.
#include <tlaloc/elementwise.hpp>

#include "ops/align.hpp"
#include "ops/arithmetic.hpp"
#include "ops/unary.hpp"

namespace tlaloc::inline v0 {

Tensor add(const Tensor& a, const Tensor& b) { return ops::binary<ops::Add>(a, b); }
Tensor add(const Tensor& a, Scalar b) { return ops::with_number<ops::Add, 1>(a, b); }
Tensor subtract(const Tensor& a, const Tensor& b) { return ops::binary<ops::Subtract>(a, b); }
Tensor subtract(const Tensor& a, Scalar b) { return ops::with_number<ops::Subtract, 1>(a, b); }
Tensor subtract(Scalar a, const Tensor& b) { return ops::with_number<ops::Subtract, 0>(b, a); }
Tensor multiply(const Tensor& a, const Tensor& b) { return ops::binary<ops::Multiply>(a, b); }
Tensor multiply(const Tensor& a, Scalar b) { return ops::with_number<ops::Multiply, 1>(a, b); }
Tensor divide(const Tensor& a, const Tensor& b) { return ops::binary<ops::Divide>(a, b); }
Tensor divide(const Tensor& a, Scalar b) { return ops::with_number<ops::Divide, 1>(a, b); }
Tensor divide(Scalar a, const Tensor& b) { return ops::with_number<ops::Divide, 0>(b, a); }
Tensor maximum(const Tensor& a, const Tensor& b) { return ops::binary<ops::Maximum>(a, b); }
Tensor maximum(const Tensor& a, Scalar b) { return ops::with_number<ops::Maximum, 1>(a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return ops::binary<ops::Minimum>(a, b); }
Tensor minimum(const Tensor& a, Scalar b) { return ops::with_number<ops::Minimum, 1>(a, b); }

Tensor negative(const Tensor& x) { return ops::unary<ops::Negative>(x); }
Tensor square(const Tensor& x) { return ops::unary<ops::Square>(x); }
Tensor exp(const Tensor& x) { return ops::unary<ops::Exp>(x); }
Tensor log(const Tensor& x) { return ops::unary<ops::Log>(x); }
Tensor sqrt(const Tensor& x) { return ops::unary<ops::Sqrt>(x); }
Tensor tanh(const Tensor& x) { return ops::unary<ops::Tanh>(x); }
Tensor sigmoid(const Tensor& x) { return ops::unary<ops::Sigmoid>(x); }
Tensor relu(const Tensor& x) { return ops::unary<ops::Relu>(x); }

}  // namespace tlaloc::inline v0
