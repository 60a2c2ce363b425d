// Custom functions inside vmap. A function with a batching rule gets the whole batch. Of another one all pieces are
// mapped, which makes the function of the whole batch, a custom function again: transforms further out find its rules.
#include <utility>

#include "core/custom.hpp"
#include "core/dispatch.hpp"
#include "ops/internal.hpp"
#include "ops/reductions.hpp"
#include "vmap/batch_interpreter.hpp"

namespace tlaloc::inline v0::core {
namespace {

using Flags = std::vector<bool>;

/// A vmap over the first axis of tensors that already have it there.
class BatchScope {
 public:
  BatchScope(std::int64_t extent, Axis axis) : level_(LevelKind::vmap, interpreter_, axis) {
    interpreter_.level = level_.word();
    interpreter_.extent = extent;
    interpreter_.axis = axis;
  }

  bool is_mapped(const Tensor& x) const { return interpreter_.is_mapped(x); }

  Tensors entered(const Tensors& tensors, const Flags& mapped) const {
    Tensors inside = tensors;
    for (std::size_t i = 0; i < inside.size(); ++i)
      if (mapped[i] && inside[i].defined()) inside[i] = lift(inside[i], {interpreter_.level, 0});
    return inside;
  }
  Tensors entered(const Tensors& tensors) const { return entered(tensors, Flags(tensors.size(), true)); }

  /// The batch in front; what does not depend on it is repeated.
  Tensor left(const Tensor& x) const {
    if (!x.defined()) return x;
    check_alive("vmap", x);
    const NamesOff names_off;
    return is_mapped(x) ? lowered(x) : ops::with_batch_axis(x, interpreter_.extent);
  }
  Tensors left(Tensors tensors) const {
    for (Tensor& x : tensors) x = left(x);
    return tensors;
  }
  Tensor summed(const Tensor& x) const {
    const Tensor rows = left(x);
    if (!rows.defined()) return rows;
    const NamesOff names_off;
    return dispatch(ops::Sum(ops::AxisSet::single(0), Shape{interpreter_.extent}), rows);
  }

 private:
  BatchInterpreter interpreter_;
  LevelScope level_;
};

CustomForward mapped_forward(const CustomRef& function, std::int64_t extent, Axis axis, const Flags& mapped,
                             const Tensors& in) {
  const BatchScope scope(extent, axis);
  CustomForward run = function->forward(scope.entered(in, mapped));
  run.results = scope.left(std::move(run.results));
  Flags kept;
  for (Tensor& residual : run.residuals) {
    check_alive(function->name, residual);
    kept.push_back(scope.is_mapped(residual));
    if (kept.back()) residual = lowered(residual);
  }
  run.backward = [extent, axis, mapped, kept, backward = std::move(run.backward)](const Tensors& residuals,
                                                                                  const Tensors& cotangents) {
    const BatchScope back(extent, axis);
    Tensors gradients = backward(back.entered(residuals, kept), back.entered(cotangents));
    // A shared argument has been used by every example.
    for (std::size_t i = 0; i < gradients.size(); ++i)
      gradients[i] = mapped[i] ? back.left(gradients[i]) : back.summed(gradients[i]);
    return gradients;
  };
  return run;
}

CustomRef mapped_pieces(const CustomRef& function, std::int64_t extent, Axis axis, const Flags& mapped) {
  CustomFunction pieces;
  pieces.name = function->name;
  pieces.value = [=](const Tensors& in) {
    const BatchScope scope(extent, axis);
    return scope.left(function->value(scope.entered(in, mapped)));
  };
  if (function->forward)
    pieces.forward = [=](const Tensors& in) { return mapped_forward(function, extent, axis, mapped, in); };
  if (function->jvp)
    pieces.jvp = [=](const Tensors& in, const Tensors& tangents) {
      const BatchScope scope(extent, axis);
      CustomTangents run = function->jvp(scope.entered(in, mapped), scope.entered(tangents, mapped));
      return CustomTangents{scope.left(std::move(run.results)), scope.left(std::move(run.tangents))};
    };
  return std::make_shared<CustomFunction>(std::move(pieces));
}

}  // namespace

Tensors BatchInterpreter::apply(const CustomRef& function, const Tensors& in) {
  Tensors operands;
  Flags mapped;
  for (const Tensor& x : in) {
    mapped.push_back(is_mapped(x));
    operands.push_back(mapped.back() ? lowered(x) : x);
  }
  Tensors results = [&] {
    const RuleScope rule(function->name, level);
    return function->batch ? function->batch(extent, mapped, operands)
                           : dispatch_custom(mapped_pieces(function, extent, axis, mapped), operands);
  }();
  require_outside(function->name, results, level);
  for (Tensor& x : results)
    if (x.defined()) x = lift(x, {level, 0});
  return results;
}

}  // namespace tlaloc::inline v0::core
