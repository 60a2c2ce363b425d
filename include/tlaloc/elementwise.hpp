// Operations element by element.
//
// Operands. Two tensors whose axes are all named align by name, wherever the axes stand, when the names of one contain
// those of the other; the result has the order of that one (of the first, for equal sets). Otherwise shapes align from
// the right as in NumPy (an extent of 1 stretches), and two different names in one place are an AxisError. A number
// stands for a tensor of any shape and adapts to the tensor's dtype.
//
// Types. bool < i32 < i64 < floats: the result has the higher of the two. f32 with f64 is a DTypeError (see `cast`).
// Functions of the real numbers (exp, tanh, ...) and `divide` turn bools and integers into f32.
//
// All throw ShapeError, AxisError or DTypeError before anything is computed. Every operation has derivatives of every
// order unless it says otherwise; a zero cotangent gives a zero gradient, whatever the partial derivative there is, so
// that `where(x > 0, sqrt(x), 0.0)` is right at 0 as it is written.
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
/// a / b rounded down, without a derivative. Integers stay integers and wrap around; ValueError when they are divided
/// by 0.
TLALOC_API Tensor floor_divide(const Tensor& a, const Tensor& b);
TLALOC_API Tensor floor_divide(const Tensor& a, Scalar b);
TLALOC_API Tensor floor_divide(Scalar a, const Tensor& b);
/// 1 / x, in floating point.
TLALOC_API Tensor reciprocal(const Tensor& x);
/// The larger, the smaller; nan where either is nan. Where they are equal each gets half of the cotangent.
TLALOC_API Tensor maximum(const Tensor& a, const Tensor& b);
TLALOC_API Tensor maximum(const Tensor& a, Scalar b);
TLALOC_API Tensor minimum(const Tensor& a, const Tensor& b);
TLALOC_API Tensor minimum(const Tensor& a, Scalar b);
/// x, but not below `low` nor above `high` (which wins where they cross); nan where any of them is nan. At a bound x
/// keeps the whole cotangent; beyond, a bound that is a tensor has it.
TLALOC_API Tensor clip(const Tensor& x, Scalar low, Scalar high);
TLALOC_API Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high);

TLALOC_API Tensor negative(const Tensor& x);
TLALOC_API Tensor square(const Tensor& x);
/// The absolute value; its derivative at 0 is 0.
TLALOC_API Tensor abs(const Tensor& x);
/// -1, 0 or 1; nan for nan. No derivative.
TLALOC_API Tensor sign(const Tensor& x);
/// Rounded down, up, to the nearest whole number (halves to the even one). Integers stay as they are. No derivative.
TLALOC_API Tensor floor(const Tensor& x);
TLALOC_API Tensor ceil(const Tensor& x);
TLALOC_API Tensor round(const Tensor& x);

/// x^exponent, with x^0 = 1 for every x; nan for a negative x and an exponent that is not whole. f32 within 0.6 ULP
/// (2 for an exponent of 3). Integers stay integers and wrap around; ValueError when their exponent is negative.
///   by x         exponent x^(exponent - 1), to every order: at x = 0 it is 0 for the exponents 0 and above 1, 1 for 1
///   by exponent  x^exponent log(x): 0 at x = 0 for exponents of 0 and above, nan below 0
TLALOC_API Tensor power(const Tensor& x, const Tensor& exponent);
TLALOC_API Tensor power(const Tensor& x, Scalar exponent);
TLALOC_API Tensor power(Scalar x, const Tensor& exponent);

/// e^x. f32 within 1.1 ULP.
TLALOC_API Tensor exp(const Tensor& x);
/// e^x - 1, accurate near 0. f32 within 1.5 ULP.
TLALOC_API Tensor expm1(const Tensor& x);
/// The natural logarithm: -inf at 0, nan below. f32 within 1 ULP.
TLALOC_API Tensor log(const Tensor& x);
/// log(1 + x), accurate near 0. f32 within 1.6 ULP.
TLALOC_API Tensor log1p(const Tensor& x);
/// log(e^a + e^b) without overflow. Of two equal infinities each gets half of the cotangent.
TLALOC_API Tensor logaddexp(const Tensor& a, const Tensor& b);
TLALOC_API Tensor logaddexp(const Tensor& a, Scalar b);
/// x log(y), and 0 where x is 0, unless y is nan. By x: log(y). By y: x / y, and 0 where x is 0.
TLALOC_API Tensor xlogy(const Tensor& x, const Tensor& y);
/// The square root, correctly rounded; its derivative at 0 is inf.
TLALOC_API Tensor sqrt(const Tensor& x);
/// 1 / sqrt(x), within 1.5 ULP.
TLALOC_API Tensor rsqrt(const Tensor& x);

/// f32 within 1.6 ULP for every argument.
TLALOC_API Tensor sin(const Tensor& x);
TLALOC_API Tensor cos(const Tensor& x);
/// The angle of the point (x, y), in [-pi, pi]. At (0, 0) both derivatives are 0.
TLALOC_API Tensor atan2(const Tensor& y, const Tensor& x);
/// The error function. f32 within 1.2 ULP.
TLALOC_API Tensor erf(const Tensor& x);
/// f32 within 1.5 ULP.
TLALOC_API Tensor tanh(const Tensor& x);
/// 1 / (1 + e^-x), without overflow in between. f32 within 2.5 ULP.
TLALOC_API Tensor sigmoid(const Tensor& x);
/// log(1 + e^x) and log(sigmoid(x)), without overflow. f32 within 2 ULP; their derivatives keep that accuracy in the
/// tails.
TLALOC_API Tensor softplus(const Tensor& x);
TLALOC_API Tensor log_sigmoid(const Tensor& x);
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

/// On truth values: other types are cast to bool first, so that what is not 0 is true. No derivative. Operators && and
/// || do not do this, since they could not hold back their second operand.
TLALOC_API Tensor logical_and(const Tensor& a, const Tensor& b);
TLALOC_API Tensor logical_or(const Tensor& a, const Tensor& b);
TLALOC_API Tensor logical_xor(const Tensor& a, const Tensor& b);
TLALOC_API Tensor logical_not(const Tensor& x);

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

/// The operation is `maximum`; deleted so that `using namespace std` does not turn max(x, y) into a comparison of
/// handles.
const Tensor& max(const Tensor& a, const Tensor& b) = delete;
const Tensor& min(const Tensor& a, const Tensor& b) = delete;

}  // namespace tlaloc::inline v0
