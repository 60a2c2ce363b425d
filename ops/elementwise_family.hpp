// The family of elementwise operations: one function of the elements and its partial derivatives, written once as
// templates over the value type.
//
//     struct Tanh : Elementwise<Tanh, 1> {
//       static constexpr OpInfo info{.name = "tanh"};
//       static constexpr std::array needs{output()};
//       template <class V> static V value(V x) { return kernels::math::tanh(x); }
//       template <int> static auto partial(const auto& x, const auto& y) { return 1 - y * y; }
//     };
//
// `value` runs on SIMD lanes. `partial<I>` gets the inputs and the output, of which only those that needs[I] names are
// there. It runs on lanes, where `cotangent * partial` becomes one fused kernel (PartialProduct), and on tensors, where
// the same expression is the derivative of that kernel. An operation whose partials are all 1 or -1 says so with
// `constant_partials` instead; one without partials says `not_differentiable`.
#pragma once

#include <array>
#include <tuple>

#include "core/dispatch.hpp"
#include "ops/internal.hpp"
#include "ops/kernels/elementwise.hpp"
#include "ops/kernels/lanes.hpp"

namespace tlaloc::inline v0::ops {

/// Which dtypes a kernel is made for.
enum class Domain : std::uint8_t { floats, numbers };

/// Stands for an input or output that a partial does not need.
struct Absent {};

template <class T>
inline constexpr bool in_domain(Domain domain) {
  return domain == Domain::numbers || std::is_floating_point_v<T>;
}

/// Calls f.template operator()<T>() for the C++ type of a dtype that is not bool.
template <Domain domain, class F>
decltype(auto) with_type(DType dtype, F&& f) {
  if constexpr (domain == Domain::numbers) {
    if (dtype == DType::i32) return f.template operator()<std::int32_t>();
    if (dtype == DType::i64) return f.template operator()<std::int64_t>();
  }
  if (dtype == DType::f64) return f.template operator()<double>();
  return f.template operator()<float>();
}

/// A zero cotangent asks for nothing, whatever the partial is.
template <class T>
kernels::Lanes<T> ct_mul(kernels::Lanes<T> ct, kernels::Also<T> partial) {
  return kernels::select(ct == kernels::Lanes<T>(0), ct, ct * partial);
}
/// `partial` may be of another float type: a choice among numbers, which are exact in any.
Tensor ct_mul(const Tensor& ct, const Tensor& partial);
Tensor ct_mul(const Tensor& ct, Scalar partial);

template <class Op, int I>
struct PartialProduct;

template <class Op, std::size_t N>
struct Elementwise : BroadcastBatching<Op> {
  static constexpr Domain domain = Domain::floats;

  Tensor eval(const std::same_as<Tensor> auto&... in) const { return compute(nullptr, in...); }

  /// eval; where `reuse` is not null it is the first input, held by nobody else, and the result takes over its
  /// elements.
  Tensor compute(Tensor* reuse, const std::same_as<Tensor> auto&... in) const {
    const std::array<const core::Object*, N> objects{core::object_of(in)...};
    const core::InternedShape* const shape = objects[0]->shape;
    bool simple = shape->size <= small;
    for (const core::Object* object : objects) simple &= object->is_dense() && object->shape == shape;
    if (!simple) return compute_general(reuse, {&in...});
    const DType dtype = objects[0]->dtype;
    Tensor out = reuse != nullptr ? std::move(*reuse) : core::make_dense(core::ShapeRef::share(shape), dtype);
    with_type<Op::domain>(dtype, [&]<class T>() {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        dense<T>(shape->size, core::elements<T>(out), reinterpret_cast<const T*>(objects[I]->data)...);
      }(std::make_index_sequence<N>{});
    });
    return out;
  }

  void vjp(core::VjpCall& call) const
    requires(!core::is_constant<Op>)
  {
    gradients(call, std::make_index_sequence<N>{});
  }

  void jvp(core::JvpCall& call) const
    requires(!core::is_constant<Op>)
  {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add_tangent<int(I)>(call), ...);
    }(std::make_index_sequence<N>{});
  }

  /// An elementwise operation is the same one with a batch axis in front.
  Op batched(std::int64_t) const { return self(); }

 private:
  // Below this, splitting among threads does not pay and the general loop's set-up would show.
  static constexpr std::int64_t small = 4096;

  const Op& self() const { return static_cast<const Op&>(*this); }

  template <class T, class... In>
  void dense(std::int64_t n, T* out, const In*... in) const {
    kernels::map_dense([op = self()](auto... lanes) { return kernels::Lanes<T>(op.value(lanes...)); }, n, out, in...);
  }

  template <class T>
  static void dense_run(const void* op, std::int64_t n, const std::byte* const* in, std::byte* out) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      static_cast<const Op*>(op)->template dense<T>(n, reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in[I])...);
    }(std::make_index_sequence<N>{});
  }
  Tensor compute_general(Tensor* reuse, const std::array<const Tensor*, N>& in) const {
    const DType dtype = core::object_of(*in[0])->dtype;
    return with_type<Op::domain>(dtype,
                                 [&]<class T>() { return map_tensors(&dense_run<T>, &self(), in, dtype, reuse); });
  }

  template <std::size_t... I>
  void gradients(core::VjpCall& call, std::index_sequence<I...>) const {
    int last = 0;
    ((last = call.wants(int(I)) ? int(I) : last), ...);
    ((call.wants(int(I)) ? void(call.gradients[I] = times_partial<int(I)>(
                                    int(I) == last ? std::move(call.cotangents[0]) : call.cotangents[0], call.saved))
                         : void()),
     ...);
  }

  template <int I>
  void add_tangent(core::JvpCall& call) const {
    if (!call.tangents[I].defined()) return;
    struct {
      const core::JvpCall& call;
      const Tensor& in(int i) const { return call.in[static_cast<std::size_t>(i)]; }
      const Tensor& out(int k = 0) const { return call.out[k]; }
    } values{call};
    accumulate(call.out_tangents[0], times_partial<I>(call.tangents[I], values));
  }

  /// ct times the I-th partial; the values come from what a node saved, or from a forward application.
  template <int I>
  Tensor times_partial(Tensor ct, const auto& values) const {
    if constexpr (requires { Op::constant_partials; }) {
      if constexpr (Op::constant_partials[std::size_t(I)] == 1)
        return ct;
      else
        return negated(ct);
    } else {
      using Product = PartialProduct<Op, I>;
      return Product::with_operands(values, [&](const auto&... operands) {
        return Product{{}, self()}.apply(std::move(ct), operands...);
      });
    }
  }
};

/// cotangent * partial<I>, fused: inputs are the cotangent and the values that needs[I] names, in their order.
template <class Op, int I>
struct PartialProduct : Elementwise<PartialProduct<Op, I>, 1 + std::popcount(Op::needs[std::size_t(I)])> {
  static constexpr core::Needs mask = Op::needs[std::size_t(I)];
  static constexpr core::OpInfo info{.name = Op::info.name, .inputs = 1 + std::popcount(mask)};
  static constexpr bool has_expand = true;

  Op op;

  template <class V, class... Values>
  V value(V ct, Values... values) const {
    return ct_mul(ct, partial(values...));
  }
  Tensor expand(const Tensor& ct, const std::same_as<Tensor> auto&... values) const {
    return ct_mul(ct, partial(values...));
  }

  /// dispatch, writing over the cotangent when this is its last use.
  Tensor apply(Tensor ct, const std::same_as<Tensor> auto&... values) const {
    if (core::runs_directly(ct, values...) && core::is_sole_owner(ct)) return this->compute(&ct, ct, values...);
    return core::dispatch(*this, ct, values...);
  }

  static auto with_operands(const auto& values, auto&& f) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return f(operand<int(K)>(values)...);
    }(std::make_index_sequence<std::size_t(std::popcount(mask))>{});
  }

 private:
  /// The position (as in Needs) of the k-th operand.
  static constexpr int position(int k) {
    core::Needs rest = mask;
    for (; k > 0; --k) rest &= rest - 1;
    return std::countr_zero(rest);
  }
  template <int K>
  static const Tensor& operand(const auto& values) {
    constexpr int at = position(K);
    if constexpr (at < 16)
      return values.in(at);
    else
      return values.out(at - 16);
  }

  /// Calls op.partial<I>(inputs..., output) with the values at their places.
  auto partial(const auto&... values) const {
    const auto given = std::tie(values...);
    return [&]<std::size_t... J>(std::index_sequence<J...>) {
      return op.template partial<I>(pick < int(J) < Op::info.inputs ? int(J) : 16 > (given)...);
    }(std::make_index_sequence<std::size_t(Op::info.inputs) + 1>{});
  }
  template <int Bit>
  static decltype(auto) pick(const auto& given) {
    if constexpr ((mask >> Bit & 1) == 0)
      return Absent{};
    else
      return std::get<std::size_t(std::popcount(mask & ((core::Needs{1} << Bit) - 1)))>(given);
  }
};

}  // namespace tlaloc::inline v0::ops
