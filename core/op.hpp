// What an operation is to the rest of the library: a small struct whose members are its parameters and whose member
// functions are its rules, and the table of functions made from it, through which interpreters call it unseen.
//
// An operation has
//     static constexpr OpInfo info{.name = ..., .inputs = ..., .results = ...};
//     Tensor eval(const Tensor&...) const;     // the kernel, on plain tensors (std::array<Tensor, R> for R results)
//     void batch(BatchCall&) const;            // its batching rule; a family or `BroadcastBatching` gives it
// and exactly one of
//     void vjp(VjpCall&) const;  void jvp(JvpCall&) const;  static constexpr std::array needs{...};
//     Tensor expand(const Tensor&...) const;   // fused: its derivative is that of the composition this makes
//     static constexpr std::string_view not_differentiable = "why";
// The families in ops/ provide most of these. An operation is plain data: it holds no tensors and no functions.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/tensor.hpp>

namespace tlaloc::inline v0::core {

struct CustomFunction;

constexpr int any_number = -1;

struct OpInfo {
  std::string_view name;
  int inputs = 1;
  int results = 1;
};

/// Which inputs and outputs a rule needs: bit i for input i, bit 16 + k for result k.
using Needs = std::uint32_t;
constexpr Needs nothing = 0;
constexpr Needs input(int i) { return Needs{1} << i; }
constexpr Needs output(int k = 0) { return Needs{1} << (16 + k); }

/// What a node kept, by position.
class Saved {
 public:
  Saved(const Tensor* values, Needs mask) : values_(values), mask_(mask) {}
  const Tensor& in(int i) const { return at(i); }
  const Tensor& out(int k = 0) const { return at(16 + k); }

 private:
  const Tensor& at(int bit) const { return values_[std::popcount(mask_ & ((Needs{1} << bit) - 1))]; }

  const Tensor* values_;
  Needs mask_;
};

/// One application on the way back. Rules read cotangents (which may be absent: the empty tensor), and give gradients.
struct VjpCall {
  Saved saved;
  Tensor* cotangents;          // one a result; a rule may move from them
  Tensor* const* input_slots;  // null: nobody asks for that input's gradient
  Tensor* gradients;           // one an input; empty stands for zero
  int input_count;
  std::size_t result_count;

  bool wants(int i) const { return input_slots[i] != nullptr; }
};

/// One application in forward mode, after the primal results are known.
struct JvpCall {
  std::span<const Tensor> in;
  std::span<const Tensor> tangents;  // one an input; empty stands for zero
  const Tensor* out;
  Tensor* out_tangents;  // one a result, to be given; empty stands for zero
};

/// One application inside a vmap. Mapped inputs have the batch as dimension 0; so must every result.
struct BatchCall {
  std::span<const Tensor> in;
  const bool* mapped;
  std::int64_t extent;
  Tensor* out;
};

/// How differentiation treats an operation.
enum class Derivative : std::uint8_t { rules, expansion, none };

struct OpTable {
  OpInfo info;
  Derivative derivative;
  std::size_t size;
  const Needs* needs;  // one an input (the first one serves all when their number is free)
  void (*copy)(void* to, const void* op);
  void (*destroy)(void* op) noexcept;                                     // null when there is nothing to do
  void (*eval)(const void* op, std::span<const Tensor> in, Tensor* out);  // on plain tensors
  void (*expand)(const void* op, std::span<const Tensor> in, Tensor* out);
  void (*vjp)(const void* op, VjpCall& call);
  void (*jvp)(const void* op, JvpCall& call);
  void (*batch)(const void* op, BatchCall& call);

  /// What dispatch() does, for an operation that nobody knows the type of.
  void run(const void* op, std::span<const Tensor> in, Tensor* out) const;

  Needs needs_of(std::size_t i) const { return needs[info.inputs == any_number ? 0 : i]; }
};

/// Behind grad, jvp and vmap: what a running transform does with an application at its level.
class Interpreter {
 public:
  virtual void apply(const OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out) = 0;
  /// The same for a user's function with rules of its own, of which nobody knows beforehand how many results it has.
  virtual std::vector<Tensor> apply(const std::shared_ptr<const CustomFunction>& function,
                                    const std::vector<Tensor>& in) = 0;
  /// As it is called in messages: "grad", "vmap over batch".
  virtual std::string describe() const = 0;

 protected:
  ~Interpreter() = default;
};

template <class Op>
concept has_rules = requires(const Op& op, VjpCall& vjp, JvpCall& jvp) {
  op.vjp(vjp);
  op.jvp(jvp);
  Op::needs[0];
};
template <class Op>
concept is_constant = requires { std::string_view(Op::not_differentiable); };
template <class Op>
concept has_expansion = requires { &Op::expand; } || requires { Op::has_expand; };

template <class Op>
using ResultOf = std::conditional_t<Op::info.results == 1, Tensor, std::array<Tensor, std::size_t(Op::info.results)>>;

/// Calls f with the elements of `in` as separate arguments, or with `in` itself when their number is free.
template <class Op, class F>
decltype(auto) unpack(std::span<const Tensor> in, F&& f) {
  if constexpr (Op::info.inputs == any_number) {
    return f(in);
  } else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return f(in[I]...);
    }(std::make_index_sequence<std::size_t(Op::info.inputs)>{});
  }
}

template <class Op>
void store_results(ResultOf<Op>&& results, Tensor* out) {
  if constexpr (Op::info.results == 1) {
    *out = std::move(results);
  } else {
    for (std::size_t k = 0; k < results.size(); ++k) out[k] = std::move(results[k]);
  }
}

}  // namespace tlaloc::inline v0::core
