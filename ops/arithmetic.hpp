// Arithmetic: the operations behind + - * / and their kin, and the adaptor that fixes one operand to a number.
#pragma once

#include "ops/elementwise_family.hpp"
#include "ops/generic.hpp"

namespace tlaloc::inline v0::ops {

struct Add : Elementwise<Add, 2> {
  static constexpr OpInfo info{.name = "add", .inputs = 2};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{nothing, nothing};
  static constexpr std::array constant_partials{1, 1};
  template <class V>
  static V value(V a, V b) {
    return a + b;
  }
};

struct Subtract : Elementwise<Subtract, 2> {
  static constexpr OpInfo info{.name = "subtract", .inputs = 2};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{nothing, nothing};
  static constexpr std::array constant_partials{1, -1};
  template <class V>
  static V value(V a, V b) {
    return a - b;
  }
};

struct Multiply : Elementwise<Multiply, 2> {
  static constexpr OpInfo info{.name = "multiply", .inputs = 2};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{input(1), input(0)};
  template <class V>
  static V value(V a, V b) {
    return a * b;
  }
  template <int I>
  static auto partial(const auto& a, const auto& b, const auto&) {
    if constexpr (I == 0)
      return b;
    else
      return a;
  }
};

struct Divide : Elementwise<Divide, 2> {
  static constexpr OpInfo info{.name = "divide", .inputs = 2};
  static constexpr std::array needs{input(1), input(1) | output()};
  template <class V>
  static V value(V a, V b) {
    return a / b;
  }
  template <int I>
  static auto partial(const auto&, const auto& b, const auto& y) {
    if constexpr (I == 0)
      return 1.0 / b;
    else
      return -(y / b);
  }
};

/// a * b, and 0 where either is 0, whatever the other is. Differentiated as the product, in the same way.
struct MultiplyUnlessZero : Elementwise<MultiplyUnlessZero, 2> {
  static constexpr OpInfo info{.name = "multiply", .inputs = 2};
  static constexpr std::array needs{input(1), input(0)};
  template <class V>
  static V value(V a, V b) {
    return kernels::select((a == V(0)) | (b == V(0)), 0, a * b);
  }
  void vjp(core::VjpCall& call) const {
    if (call.wants(0)) call.gradients[0] = core::dispatch(*this, call.cotangents[0], call.saved.in(1));
    if (call.wants(1)) call.gradients[1] = core::dispatch(*this, call.cotangents[0], call.saved.in(0));
  }
  void jvp(core::JvpCall& call) const {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (call.tangents[i].defined())
        accumulate(call.out_tangents[0], core::dispatch(*this, call.tangents[i], call.in[1 - i]));
  }
};

/// cotangent * partial where the cotangent is not 0, and 0 where it is. Differentiated as the product it stands for,
/// but a partial's tangent counts only where the cotangent is not 0.
struct CotangentMultiply : Elementwise<CotangentMultiply, 2> {
  static constexpr OpInfo info{.name = "multiply", .inputs = 2};
  static constexpr std::array needs{input(1), input(0)};
  template <class V>
  static V value(V ct, V partial) {
    return ct_mul(ct, partial);
  }
  template <int I>
  static auto partial(const auto& ct, const auto& partial, const auto&) {
    return Multiply::partial<I>(ct, partial, Absent{});
  }
  void jvp(core::JvpCall& call) const {
    if (call.tangents[0].defined()) accumulate(call.out_tangents[0], ct_mul(call.tangents[0], call.in[1]));
    if (call.tangents[1].defined())
      accumulate(call.out_tangents[0], core::dispatch(MultiplyUnlessZero{}, call.tangents[1], call.in[0]));
  }
};

/// Whichever of two has the upper hand in an order; nan where either is nan. The cotangent is halved between equals.
template <class Order>
struct Extremum : Elementwise<Extremum<Order>, 2> {
  static constexpr OpInfo info{.name = Order::name, .inputs = 2};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{input(0) | input(1), input(0) | input(1)};
  template <class V>
  static V value(V a, V b) {
    return kernels::select(Order::beats(a, b) | (a != a), a, b);
  }
  template <int I>
  static auto partial(const auto& a, const auto& b, const auto&) {
    if constexpr (I == 0)
      return choose(Order::beats(a, b), 1.0, choose(a == b, 0.5, 0.0));
    else
      return choose(Order::beats(b, a), 1.0, choose(a == b, 0.5, 0.0));
  }
};

struct Larger {
  static constexpr std::string_view name = "maximum";
  static auto beats(const auto& a, const auto& b) { return a > b; }
};
struct Smaller {
  static constexpr std::string_view name = "minimum";
  static auto beats(const auto& a, const auto& b) { return a < b; }
};
using Maximum = Extremum<Larger>;
using Minimum = Extremum<Smaller>;

struct Negative : Elementwise<Negative, 1> {
  static constexpr OpInfo info{.name = "negative"};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{nothing};
  static constexpr std::array constant_partials{-1};
  template <class V>
  static V value(V x) {
    return -x;
  }
};

struct Square : Elementwise<Square, 1> {
  static constexpr OpInfo info{.name = "square"};
  static constexpr Domain domain = Domain::numbers;
  static constexpr std::array needs{input(0)};
  template <class V>
  static V value(V x) {
    return x * x;
  }
  template <int>
  static auto partial(const auto& x, const auto&) {
    return 2.0 * x;
  }
};

/// A number as a parameter of an operation.
struct Number {
  double real;
  std::int64_t whole;

  Number(Scalar scalar, DType dtype)
      : real(scalar.real()), whole(is_float(dtype) || !scalar.is_float() ? scalar.whole() : 0) {}
  template <class T>
  T as() const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(real);
    else
      return static_cast<T>(whole);
  }
};

/// The constant partial of a binary operation's free operand, where it has one.
template <class Op, std::size_t Free>
struct FreePartial {};
template <class Op, std::size_t Free>
  requires requires { Op::constant_partials; }
struct FreePartial<Op, Free> {
  static constexpr std::array constant_partials{Op::constant_partials[Free]};
};

/// The binary operation Op with the operand at `Place` fixed to a number.
template <class Op, std::size_t Place>
struct WithNumber : Elementwise<WithNumber<Op, Place>, 1>, FreePartial<Op, 1 - Place> {
  static constexpr std::size_t free = 1 - Place;
  static constexpr OpInfo info{.name = Op::info.name};
  static constexpr Domain domain = Op::domain;
  static constexpr std::array needs{((Op::needs[free] & input(int{free})) != 0 ? input(0) : nothing) |
                                    (Op::needs[free] & output())};

  Number number;

  explicit WithNumber(Number fixed) : number(fixed) {}

  template <class T>
  kernels::Lanes<T> value(kernels::Lanes<T> x) const {
    const kernels::Lanes<T> fixed(number.as<T>());
    if constexpr (Place == 0)
      return Op::value(fixed, x);
    else
      return Op::value(x, fixed);
  }
  template <int>
  auto partial(const auto& x, const auto& y) const {
    if constexpr (Place == 0)
      return Op::template partial<int{free}>(number.real, x, y);
    else
      return Op::template partial<int{free}>(x, number.real, y);
  }
};

}  // namespace tlaloc::inline v0::ops
