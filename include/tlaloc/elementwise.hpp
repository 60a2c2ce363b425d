// Operations element by element.
//
// Operands. Two tensors whose axes are all named align by name, wherever the axes stand, when the names of one contain
// those of the other; the result has the order of that one (of the first, for equal sets). Otherwise shapes align from
// the right as in NumPy (an extent of 1 stretches), and two different names in one place are an AxisError. A number
// stands for a tensor of any shape and adapts to the tensor's dtype.
//
// Types. bool < i32 < i64 < floats: the result has the higher of the two. f32 with f64 is a DTypeError (see `cast`). Functions of
// the real numbers (exp, tanh, ...) and `divide` turn bools and integers into f32.
//
// All throw ShapeError, AxisError or DTypeError before anything is computed. Every operation has derivatives of every order
// unless it says otherwise; a zero cotangent gives a zero gradient, whatever the partial derivative there is, so that
// `where(x > 0, sqrt(x), 0.0)` is right at 0 as it is written.
#pragma once

#include <tlaloc/dtype.hpp>
#include <tlaloc/export.hpp>
#include <tlaloc/scalar.hpp>
#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0 {

/// a + b, a - b, a * b; integers wrap around.
TLALOC_API Tensor add(const Tensor& a, const Tensor& b);
TLALOC_API Tensor add(const Tensor& a, Scalar b);
TLALOC_API Tensor subtract(const Tensor& a, const Tensor& b);
TLALOC_API Tensor subtract(const Tensor& a, Scalar b);
TLALOC_API Tensor subtract(Scalar a, const Tensor& b);
TLALOC_API Tensor multiply(const Tensor& a, const Tensor& b);
TLALOC_API Tensor multiply(const Tensor& a, Scalar b);
/// a / b, in floating point: integers give f32.
TLALOC_API Tensor divide(const Tensor& a, const Tensor& b);
TLALOC_API Tensor divide(const Tensor& a, Scalar b);
TLALOC_API Tensor divide(Scalar a, const Tensor& b);
/// The larger; nan where either is nan. Where they are equal each gets half of the cotangent.
TLALOC_API Tensor maximum(const Tensor& a, const Tensor& b);
TLALOC_API Tensor maximum(const Tensor& a, Scalar b);

TLALOC_API Tensor negative(const Tensor& x);
TLALOC_API Tensor square(const Tensor& x);

/// e^x. f32 within 1.1 ULP.
TLALOC_API Tensor exp(const Tensor& x);
/// The natural logarithm: -inf at 0, nan below. f32 within 1 ULP.
TLALOC_API Tensor log(const Tensor& x);
/// The square root, correctly rounded; its derivative at 0 is inf.
TLALOC_API Tensor sqrt(const Tensor& x);
/// f32 within 1.5 ULP.
TLALOC_API Tensor tanh(const Tensor& x);
/// 1 / (1 + e^-x), without overflow in between. f32 within 2.5 ULP.
TLALOC_API Tensor sigmoid(const Tensor& x);
/// max(x, 0); nan stays nan. Its derivative at 0 is 0.
TLALOC_API Tensor relu(const Tensor& x);

/// `yes` where `condition` (a bool tensor) is true, `no` elsewhere. Each is differentiated only where it was taken.
TLALOC_API Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no);
TLALOC_API Tensor where(const Tensor& condition, Scalar yes, const Tensor& no);
TLALOC_API Tensor where(const Tensor& condition, const Tensor& yes, Scalar no);

/// Comparisons give bool tensors and have no derivative. nan compares as in IEEE 754.
TLALOC_API Tensor equal(const Tensor& a, const Tensor& b);
TLALOC_API Tensor equal(const Tensor& a, Scalar b);
TLALOC_API Tensor not_equal(const Tensor& a, const Tensor& b);
TLALOC_API Tensor not_equal(const Tensor& a, Scalar b);
TLALOC_API Tensor less(const Tensor& a, const Tensor& b);
TLALOC_API Tensor less(const Tensor& a, Scalar b);
TLALOC_API Tensor less_equal(const Tensor& a, const Tensor& b);
TLALOC_API Tensor less_equal(const Tensor& a, Scalar b);
TLALOC_API Tensor greater(const Tensor& a, const Tensor& b);
TLALOC_API Tensor greater(const Tensor& a, Scalar b);
TLALOC_API Tensor greater_equal(const Tensor& a, const Tensor& b);
TLALOC_API Tensor greater_equal(const Tensor& a, Scalar b);

/// The same values as another type. Towards integers: truncated; nan and what does not fit are a fixed but unspecified
/// value. Differentiable between floats.
TLALOC_API Tensor cast(const Tensor& x, DType dtype);

/// x, as a constant: no derivative passes, at any level.
TLALOC_API Tensor stop_gradient(const Tensor& x);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, Scalar b) { return add(a, b); }
inline Tensor operator+(Scalar a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator-(const Tensor& a, Scalar b) { return subtract(a, b); }
inline Tensor operator-(Scalar a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator*(const Tensor& a, Scalar b) { return multiply(a, b); }
inline Tensor operator*(Scalar a, const Tensor& b) { return multiply(b, a); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator/(const Tensor& a, Scalar b) { return divide(a, b); }
inline Tensor operator/(Scalar a, const Tensor& b) { return divide(a, b); }
inline Tensor operator-(const Tensor& x) { return negative(x); }

inline Tensor operator==(const Tensor& a, const Tensor& b) { return equal(a, b); }
inline Tensor operator==(const Tensor& a, Scalar b) { return equal(a, b); }
inline Tensor operator==(Scalar a, const Tensor& b) { return equal(b, a); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return not_equal(a, b); }
inline Tensor operator!=(const Tensor& a, Scalar b) { return not_equal(a, b); }
inline Tensor operator!=(Scalar a, const Tensor& b) { return not_equal(b, a); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return less(a, b); }
inline Tensor operator<(const Tensor& a, Scalar b) { return less(a, b); }
inline Tensor operator<(Scalar a, const Tensor& b) { return greater(b, a); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return less_equal(a, b); }
inline Tensor operator<=(const Tensor& a, Scalar b) { return less_equal(a, b); }
inline Tensor operator<=(Scalar a, const Tensor& b) { return greater_equal(b, a); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return greater(a, b); }
inline Tensor operator>(const Tensor& a, Scalar b) { return greater(a, b); }
inline Tensor operator>(Scalar a, const Tensor& b) { return less(b, a); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return greater_equal(a, b); }
inline Tensor operator>=(const Tensor& a, Scalar b) { return greater_equal(a, b); }
inline Tensor operator>=(Scalar a, const Tensor& b) { return less_equal(b, a); }

/// The operation is `maximum`; deleted so that `using namespace std` does not turn max(x, y) into a comparison of handles.
const Tensor& max(const Tensor& a, const Tensor& b) = delete;
const Tensor& min(const Tensor& a, const Tensor& b) = delete;

}  // namespace tlaloc::inline v0
