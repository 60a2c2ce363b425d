// The interpreter behind jvp: a tensor at its level carries a tangent, which belongs to transforms further out.
#include <tlaloc/jvp.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>

#include "autodiff/custom.hpp"
#include "core/dispatch.hpp"
#include "core/inline_vector.hpp"

namespace tlaloc::inline v0::core {
namespace {

class JvpInterpreter final : public Interpreter {
 public:
  LevelWord level = 0;

  void apply(const OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out) override {
    const NamesOff names_off;
    if (table.derivative == Derivative::expansion) return table.expand(op, in, out);
    Borrowed<4> primals(in.size());
    Borrowed<4> tangents(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool mine = cursor_of(in[i]) > 0 && top_note(in[i]).level == level;
      primals.set(i, in[i].bits() - (mine ? 1 : 0));
      tangents.set(i, mine ? top_note(in[i]).value : 0);
    }
    const std::span<const Tensor> operands = primals.span(in.size());
    table.run(op, operands, out);
    if (table.derivative == Derivative::none) return;
    const auto results = static_cast<std::size_t>(table.info.results);
    InlineVector<Tensor, 2> out_tangents(results);
    JvpCall call{.in = operands, .tangents = tangents.span(in.size()), .out = out, .out_tangents = out_tangents.data()};
    table.jvp(op, call);
    for (std::size_t k = 0; k < results; ++k) {
      if (!out_tangents[k].defined()) continue;
      lift_result(out[k], {level, out_tangents[k].surrender()}, in);
    }
  }

  Tensors apply(const CustomRef& function, const Tensors& in) override {
    Tensors primals;
    Tensors tangents(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool mine = in[i].defined() && cursor_of(in[i]) > 0 && top_note(in[i]).level == level;
      primals.push_back(mine ? lowered(in[i]) : in[i]);
      if (mine) tangents[i] = tangent_of(in[i]);
    }
    CustomTangents run = [&] {
      const RuleScope rule(function->name, level);
      return autodiff::push_forward(function, primals, tangents);
    }();
    require_outside(function->name, run.results, level);
    require_outside(function->name, run.tangents, level);
    for (std::size_t k = 0; k < run.results.size(); ++k) {
      if (!run.tangents[k].defined()) continue;
      run.results[k] = lift(run.results[k], {level, run.tangents[k].bits()});
      run.tangents[k].surrender();
    }
    return std::move(run.results);
  }

  std::string describe() const override { return "jvp"; }

  /// The tangent of a tensor at this level.
  static Tensor tangent_of(const Tensor& x) {
    Tensor borrowed = Tensor::adopt(top_note(x).value);
    Tensor tangent = borrowed;
    borrowed.surrender();
    return tangent;
  }
};

}  // namespace

struct JvpScope::State {
  State() : level(LevelKind::jvp, interpreter) { interpreter.level = level.word(); }

  JvpInterpreter interpreter;
  LevelScope level;
};

void JvpScope::Destroy::operator()(State* state) const noexcept {
  std::destroy_at(state);
  deallocate(reinterpret_cast<std::byte*>(state), class_of(sizeof(State)));
}

JvpScope::JvpScope() {
  const Block block = allocate_class(class_of(sizeof(State)));
  try {
    state_.reset(::new (block.data) State);
  } catch (...) {
    deallocate(block.data, block.size_class);
    throw;
  }
}
JvpScope::~JvpScope() = default;

void JvpScope::check_structure(std::size_t primals, std::size_t tangents) const {
  if (primals != tangents)
    throw ValueError("jvp: the primals hold " + std::to_string(primals) + " tensors and the tangents " +
                     std::to_string(tangents) + "; the tangents are a tree like the primals");
}

void JvpScope::watch(Tensor& primal, const Tensor& tangent) {
  check_alive("jvp", primal);
  check_alive("jvp", tangent);
  if (!primal.defined() || !tangent.defined()) return;
  const auto refuse = [&](const std::string& what) {
    return "jvp: a tangent " + what + "; got primal " + describe(primal) + ", tangent " + describe(tangent) +
           "; a tangent has the dtype, names and sizes of its primal, and the empty tensor stands for zero";
  };
  if (!is_float(object_of(primal)->dtype)) throw DTypeError(refuse("is given for a primal that is not a float"));
  if (object_of(primal)->dtype != object_of(tangent)->dtype)
    throw DTypeError(refuse("has another dtype than its primal"));
  const auto mine = visible_dims(tangent);
  const auto wanted = visible_dims(primal);
  bool fits = mine.size() == wanted.size();
  for (std::size_t i = 0; fits && i < mine.size(); ++i) {
    const bool named = mine[i].axis().named() && wanted[i].axis().named();
    fits = mine[i].extent() == wanted[i].extent() && (!named || mine[i].axis() == wanted[i].axis());
  }
  if (!fits) throw ShapeError(refuse("does not have the shape of its primal"));
  Tensor shared = tangent;
  primal = lift(primal, {state_->level.word(), shared.bits()});
  shared.surrender();
}

Tensor JvpScope::lower(Tensor& x) {
  if (!x.defined()) return {};
  check_alive("jvp", x);
  if (cursor_of(x) > 0 && top_note(x).level == state_->level.word()) {
    Tensor tangent = JvpInterpreter::tangent_of(x);
    x = lowered(x);
    return with_names_of(std::move(tangent), x);
  }
  return is_float(object_of(x)->dtype) ? zeros_like(x) : Tensor();
}

}  // namespace tlaloc::inline v0::core
