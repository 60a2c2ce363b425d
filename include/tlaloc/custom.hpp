// Functions with derivatives or batching of their own, and functions that are run again instead of remembered.
//
//     auto log1pexp = custom_vjp(
//         [](const Tensor& x) { return log(1.0 + exp(x)); },                       // the function
//         [](const Tensor& x) {                                                    // forward: its result, and what
//           return std::pair(maximum(x, 0.0) + log(1.0 + exp(-abs(x))), x);        // backward needs (any tree)
//         },
//         [](const Tensor& x, const Tensor& ct) { return ct * sigmoid(x); });      // backward
//
//     auto clipped = custom_jvp([](const Tensor& x) { return minimum(x, 1.0); },
//                               [](const Tensor& x, const Tensor& dx) { return std::pair(minimum(x, 1.0), dx); });
//
//     auto solve = custom_vmap([](const Tensor& a, const Tensor& b) { ... },
//                              [](std::int64_t extent, const std::vector<bool>& mapped, const Tensor& a,
//                                 const Tensor& b) { ... });                      // the batch in front
//
//     auto block = checkpoint([](const Tensor& w, const Tensor& x) { return tanh(matmul(x, w)); });
//
// Each is called like the function it is made of, inside and outside of all transforms and of each other. Rules that
// are not given are made from those that are: a custom_jvp in reverse mode transposes its rule, a custom_vjp inside
// vmap maps its pieces. Only forward mode through a custom_vjp is refused (LevelError).
//
// What a rule computes is differentiated further as it stands. A rule, and the function of a custom function, use their
// arguments only: a tensor of the transform that the rule serves, captured instead of passed, is a LevelError. What
// rules return is checked: ShapeError, AxisError and DTypeError say what does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/export.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>
#include <tlaloc/vmap.hpp>

namespace tlaloc::inline v0 {

namespace core {

using Tensors = std::vector<Tensor>;

/// Which rules a custom function has.
enum class CustomKind : std::uint8_t { vjp, jvp, vmap, checkpoint };

/// One call of a custom function: the user's functions, made to take and give lists of tensors. Only those that the
/// kind has are there.
class TLALOC_API CustomCode {
 public:
  explicit CustomCode(CustomKind kind) : kind_(kind) {}
  virtual ~CustomCode();

  CustomKind kind() const { return kind_; }
  /// For each tensor among the arguments, the argument that it stands in.
  virtual std::vector<std::size_t> argument_of() const = 0;
  virtual Tensors value(const Tensors& in) = 0;
  virtual Tensors forward(const Tensors& in, Tensors& residuals);
  virtual Tensors backward(const Tensors& residuals, const Tensors& cotangents);
  virtual Tensors jvp(const Tensors& in, const Tensors& tangents, Tensors& out_tangents);
  virtual Tensors batch(std::int64_t extent, const std::vector<bool>& mapped, const Tensors& in);

 private:
  CustomKind kind_;
};

TLALOC_API Tensors call_custom(const std::shared_ptr<CustomCode>& code, const Tensors& in);
[[noreturn]] TLALOC_API void refuse_gradients(std::size_t argument, std::size_t given, std::size_t wanted);

/// Moves the tensors out of a tree; puts others in their places.
TLALOC_API Tensors take_leaves(const Leaves& leaves);
TLALOC_API void put_leaves(const Leaves& leaves, const Tensors& tensors);
TLALOC_API void number_leaves(std::vector<std::size_t>& numbers, const ConstLeaves& leaves, std::size_t number);

template <class T>
Tensors opened(T& tree) {
  Leaves leaves;
  collect_leaves(tree, leaves);
  return take_leaves(leaves);
}
template <class T>
T closed(T tree, const Tensors& tensors) {
  Leaves leaves;
  collect_leaves(tree, leaves);
  put_leaves(leaves, tensors);
  return tree;
}

/// The trees of one call: its arguments and its result, without their tensors. A call may be kept on a tape, where the
/// tensors themselves must not be.
template <class Result, class... Args>
class CallTrees {
 public:
  explicit CallTrees(std::tuple<Args...> arguments) : arguments_(std::move(arguments)) {}

  Tensors take_inputs() { return opened(arguments_); }
  std::vector<std::size_t> numbers() const {
    std::vector<std::size_t> all;
    std::size_t number = 0;
    const auto add = [&](const auto& argument) {
      ConstLeaves leaves;
      collect_leaves(argument, leaves);
      number_leaves(all, leaves, number++);
    };
    std::apply([&](const auto&... argument) { (add(argument), ...); }, arguments_);
    return all;
  }
  const std::tuple<Args...>& arguments() const { return arguments_; }
  std::tuple<Args...> arguments_with(const Tensors& in) const { return closed(arguments_, in); }

  Tensors take_result(Result result) {
    Tensors tensors = opened(result);
    result_.emplace(std::move(result));
    return tensors;
  }
  Result result_with(const Tensors& tensors) const { return closed(*result_, tensors); }

 private:
  std::tuple<Args...> arguments_;
  std::optional<Result> result_;
};

template <class F, class... Args>
using CustomResult = std::decay_t<decltype(std::apply(std::declval<F&>(), std::declval<std::tuple<Args...>>()))>;

/// What all kinds have. Functions has the user's function as a member f.
template <CustomKind which, class Functions, class Result, class... Args>
class CustomCall : public CustomCode {
 public:
  CustomCall(std::shared_ptr<Functions> functions, std::tuple<Args...> arguments)
      : CustomCode(which), functions_(std::move(functions)), trees_(std::move(arguments)) {}

  std::vector<std::size_t> argument_of() const final { return trees_.numbers(); }
  Tensors value(const Tensors& in) final {
    return trees_.take_result(std::apply(functions_->f, trees_.arguments_with(in)));
  }
  CallTrees<Result, Args...>& trees() { return trees_; }

 protected:
  Functions& functions() const { return *functions_; }

 private:
  std::shared_ptr<Functions> functions_;
  CallTrees<Result, Args...> trees_;
};

template <template <class, class, class...> class Call, class Functions, class... Args>
auto run_custom(const std::shared_ptr<Functions>& functions, std::tuple<Args...> args) {
  using Result = CustomResult<decltype(functions->f), Args...>;
  static_assert((tree<Args> && ...), "a custom function's arguments must be trees: see <tlaloc/tree.hpp>");
  static_assert(tree<Result>, "a custom function must return a tree: see <tlaloc/tree.hpp>");
  auto call = std::make_unique<Call<Functions, Result, Args...>>(functions, std::move(args));
  auto& trees = call->trees();
  const std::shared_ptr<CustomCode> code = std::unique_ptr<CustomCode>(std::move(call));
  const Tensors in = trees.take_inputs();
  return trees.result_with(call_custom(code, in));
}

template <class T>
concept tuple_like = requires { std::tuple_size<T>::value; };

/// Appends the gradient by one argument.
template <class Argument, class Gradient>
void append_gradient(std::size_t number, const Argument& argument, Gradient& gradient, Tensors& gradients) {
  ConstLeaves wanted;
  collect_leaves(argument, wanted);
  if constexpr (std::is_same_v<Gradient, None>) {
    gradients.resize(gradients.size() + wanted.size());
  } else {
    static_assert(std::is_same_v<Gradient, Argument>,
                  "custom_vjp: the gradient by an argument must be a tree of the argument's type, or `none`");
    Tensors given = opened(gradient);
    if (given.size() != wanted.size()) refuse_gradients(number, given.size(), wanted.size());
    for (Tensor& tensor : given) gradients.push_back(std::move(tensor));
  }
}

template <class Gradients, class... Args>
Tensors gradient_leaves(const std::tuple<Args...>& arguments, Gradients gradients) {
  Tensors leaves;
  if constexpr (sizeof...(Args) == 1 && (std::is_same_v<Gradients, None> || (std::is_same_v<Gradients, Args> && ...))) {
    append_gradient(0, std::get<0>(arguments), gradients, leaves);
  } else {
    static_assert(tuple_like<Gradients>,
                  "custom_vjp: backward must return a gradient for each argument, several of them in a std::tuple");
    if constexpr (tuple_like<Gradients>) {
      static_assert(std::tuple_size_v<Gradients> == sizeof...(Args),
                    "custom_vjp: backward must return as many gradients as there are arguments");
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (append_gradient(I, std::get<I>(arguments), std::get<I>(gradients), leaves), ...);
      }(std::index_sequence_for<Args...>{});
    }
  }
  return leaves;
}

template <class Functions, class Result, class... Args>
class CustomVjpCall final : public CustomCall<CustomKind::vjp, Functions, Result, Args...> {
  using Both =
      std::decay_t<decltype(std::apply(std::declval<Functions&>().forward, std::declval<std::tuple<Args...>>()))>;
  static_assert(tuple_like<Both>, "custom_vjp: forward must return std::pair(result, residuals)");
  using Residuals = std::tuple_element_t<1, Both>;
  static_assert(std::is_same_v<std::tuple_element_t<0, Both>, Result>,
                "custom_vjp: forward must return std::pair(result, residuals), the result of the function's type");
  static_assert(tree<Residuals>, "custom_vjp: the residuals must be a tree: see <tlaloc/tree.hpp>");

 public:
  using CustomCall<CustomKind::vjp, Functions, Result, Args...>::CustomCall;

  Tensors forward(const Tensors& in, Tensors& residuals) override {
    Both both = std::apply(this->functions().forward, this->trees().arguments_with(in));
    residuals = opened(std::get<1>(both));
    residuals_.emplace(std::move(std::get<1>(both)));
    return this->trees().take_result(std::move(std::get<0>(both)));
  }
  Tensors backward(const Tensors& residuals, const Tensors& cotangents) override {
    const Residuals kept = closed(*residuals_, residuals);
    const Result cotangent = this->trees().result_with(cotangents);
    return gradient_leaves(this->trees().arguments(), this->functions().backward(kept, cotangent));
  }

 private:
  std::optional<Residuals> residuals_;  // without their tensors
};

template <class Functions, class Result, class... Args>
class CustomJvpCall final : public CustomCall<CustomKind::jvp, Functions, Result, Args...> {
 public:
  using CustomCall<CustomKind::jvp, Functions, Result, Args...>::CustomCall;

  Tensors jvp(const Tensors& in, const Tensors& directions, Tensors& out_tangents) override {
    const std::tuple<Args...> primals = this->trees().arguments_with(in);
    const std::tuple<Args...> tangents = this->trees().arguments_with(directions);
    auto& rule = this->functions().rule;
    auto both = [&] {
      if constexpr (std::is_invocable_v<decltype(rule), const std::tuple<Args...>&, const std::tuple<Args...>&>)
        return rule(primals, tangents);
      else
        return rule(std::get<0>(primals), std::get<0>(tangents));
    }();
    using Both = decltype(both);
    static_assert(tuple_like<Both> && std::is_same_v<std::tuple_element_t<0, Both>, Result> &&
                      std::is_same_v<std::tuple_element_t<1, Both>, Result>,
                  "custom_jvp: the rule must return std::pair(result, tangent), both of the function's result type");
    out_tangents = opened(std::get<1>(both));
    return this->trees().take_result(std::move(std::get<0>(both)));
  }
};

template <class Functions, class Result, class... Args>
class CustomVmapCall final : public CustomCall<CustomKind::vmap, Functions, Result, Args...> {
 public:
  using CustomCall<CustomKind::vmap, Functions, Result, Args...>::CustomCall;

  Tensors batch(std::int64_t extent, const std::vector<bool>& mapped_tensors, const Tensors& in) override {
    const std::vector<std::size_t> argument_of = this->argument_of();
    std::vector<bool> mapped(sizeof...(Args));
    for (std::size_t i = 0; i < in.size(); ++i)
      if (mapped_tensors[i]) mapped[argument_of[i]] = true;
    auto result =
        std::apply([&](const Args&... args) { return this->functions().rule(extent, std::as_const(mapped), args...); },
                   this->trees().arguments_with(in));
    static_assert(
        std::is_same_v<decltype(result), Result>,
        "custom_vmap: the rule must return what the function returns, with the batch in front of each tensor");
    return this->trees().take_result(std::move(result));
  }
};

template <class Functions, class Result, class... Args>
class CheckpointCall final : public CustomCall<CustomKind::checkpoint, Functions, Result, Args...> {
 public:
  using CustomCall<CustomKind::checkpoint, Functions, Result, Args...>::CustomCall;
};

template <class F, class Forward, class Backward>
struct VjpFunctions {
  F f;
  Forward forward;
  Backward backward;
};
template <class F, class Rule>
struct RuleFunctions {
  F f;
  Rule rule;
};
template <class F>
struct OneFunction {
  F f;
};

/// What custom_vjp and the others return: copies share the functions.
template <template <class, class, class...> class Call, class Functions>
class Custom {
 public:
  explicit Custom(Functions functions) : functions_(std::make_shared<Functions>(std::move(functions))) {}

  template <class... Args>
  auto operator()(Args&&... args) const {
    return run_custom<Call>(functions_, std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
  }

 private:
  std::shared_ptr<Functions> functions_;
};

}  // namespace core

/// f, with a reverse mode of its own. forward(args...) gives std::pair(result, residuals), the residuals being any
/// tree. backward(residuals, cotangent), the cotangent a tree like the result, gives the gradient by each argument: a
/// tree like the argument, or `none`; several in a std::tuple. Empty tensors in a gradient stand for zero.
template <class F, class Forward, class Backward>
auto custom_vjp(F f, Forward forward, Backward backward) {
  using Functions = core::VjpFunctions<F, Forward, Backward>;
  return core::Custom<core::CustomVjpCall, Functions>({std::move(f), std::move(forward), std::move(backward)});
}

/// f, with a forward mode of its own. rule(primals, tangents) gives std::pair(result, tangent), where the tangent, a
/// tree like the result, is linear in the tangents. Both arguments are std::tuples with an entry for each argument of
/// f; the rule of a function of one argument may take the argument and its tangent themselves. Empty tensors in the
/// tangent stand for zero; the tangents that the rule gets are empty only for what is not a float.
template <class F, class Rule>
auto custom_jvp(F f, Rule rule) {
  return core::Custom<core::CustomJvpCall, core::RuleFunctions<F, Rule>>({std::move(f), std::move(rule)});
}

/// f, with a batching rule of its own. rule(extent, mapped, args...) gets a std::vector<bool> that says which arguments
/// are mapped; all tensors of those have the batch as an unnamed axis in front, and so must all tensors of the result.
template <class F, class Rule>
auto custom_vmap(F f, Rule rule) {
  return core::Custom<core::CustomVmapCall, core::RuleFunctions<F, Rule>>({std::move(f), std::move(rule)});
}

/// f, of which reverse mode keeps nothing but the arguments: what the way back needs is computed again when it is
/// needed. f must give the same results when it is run again.
template <class F>
auto checkpoint(F f) {
  return core::Custom<core::CheckpointCall, core::OneFunction<F>>({std::move(f)});
}

}  // namespace tlaloc::inline v0
