// Custom functions: what the users' functions return is checked, and the rules that are not given are made.
#include "autodiff/custom.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/grad.hpp>
#include <tlaloc/jvp.hpp>

#include "core/dispatch.hpp"
#include "ops/internal.hpp"

namespace tlaloc::inline v0::core {
namespace {

// ---------------------------------------------------------------------------------------------------------------------
// What users' functions return is checked where they return it, inside every map, against the tensors they were given

/// What a gradient or tangent must be like.
struct Like {
  explicit Like(const Tensor& x)
      : defined(x.defined()),
        dtype(defined ? object_of(x)->dtype : DType::f32),
        shape(defined ? Shape(visible_dims(x)) : Shape()) {}

  bool is_differentiable() const { return defined && is_float(dtype); }
  std::string text() const { return defined ? std::string(name(dtype)) + ' ' + shape.to_string() : "empty"; }

  bool defined;
  DType dtype;
  Shape shape;
};
std::vector<Like> likes_of(const Tensors& tensors) { return {tensors.begin(), tensors.end()}; }

/// "argument 1", or "argument 1, tensor 0" when it holds several.
std::string place_of(const std::vector<std::size_t>& argument_of, std::size_t i) {
  const std::size_t argument = argument_of[i];
  const auto first = std::find(argument_of.begin(), argument_of.end(), argument) - argument_of.begin();
  const bool several = std::count(argument_of.begin(), argument_of.end(), argument) > 1;
  return "argument " + std::to_string(argument) +
         (several ? ", tensor " + std::to_string(i - static_cast<std::size_t>(first)) : std::string());
}

/// x, which a user's function returned, with the names of what it belongs to. A message begins with `returned`, x and
/// what place() gives: "custom_vjp: backward returned f32 [3] as the gradient of argument 1".
template <class Place>
Tensor fitting(Tensor x, const Like& like, const char* returned, const Place& place) {
  if (!x.defined()) return x;
  const auto mine = visible_dims(x);
  bool sizes = static_cast<int>(mine.size()) == like.shape.rank();
  bool names = true;
  for (std::size_t i = 0; sizes && i < mine.size(); ++i) {
    const Dim wanted = like.shape[static_cast<int>(i)];
    sizes = mine[i].extent() == wanted.extent();
    names &= !mine[i].axis().named() || !wanted.axis().named() || mine[i].axis() == wanted.axis();
  }
  const auto refusal = [&](const char* why) {
    return returned + describe(x) + place() + ", which is " + like.text() + "; " + why;
  };
  if (!like.is_differentiable())
    throw DTypeError(refusal("only floats have one: return the empty tensor, which stands for zero"));
  if (object_of(x)->dtype != like.dtype) throw DTypeError(refusal("the two have one dtype: cast it"));
  if (!sizes) throw ShapeError(refusal("the two have one shape: sum over what was repeated"));
  if (!names) throw AxisError(refusal("the two have the same names in the same order: permute or rename it"));
  return with_names(std::move(x), like.shape.dims());
}

/// Users' backward functions get a cotangent for each float result, with the result's names.
Tensors full_cotangents(const Tensors& cotangents, const std::vector<Like>& results) {
  Tensors full(results.size());
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (!results[k].is_differentiable()) continue;
    full[k] = cotangents[k].defined() ? with_names(cotangents[k], results[k].shape.dims())
                                      : zeros(results[k].shape, results[k].dtype);
  }
  return full;
}

CustomForward checked_forward(const std::shared_ptr<CustomCode>& code, const Tensors& in) {
  const NamesOn names_on;
  CustomForward run;
  run.results = code->forward(in, run.residuals);
  run.backward = [code, argument_of = code->argument_of(), inputs = likes_of(in), results = likes_of(run.results)](
                     const Tensors& residuals, const Tensors& cotangents) {
    const NamesOn names_on_again;
    try {
      Tensors gradients = code->backward(residuals, full_cotangents(cotangents, results));
      for (std::size_t i = 0; i < gradients.size(); ++i)
        gradients[i] = fitting(std::move(gradients[i]), inputs[i], "custom_vjp: backward returned ",
                               [&] { return " as the gradient of " + place_of(argument_of, i); });
      return gradients;
    } catch (const LevelError& error) {
      throw LevelError(std::string(error.what()) +
                       "; in the backward function of a custom_vjp, pass it as an argument or among the residuals");
    }
  };
  return run;
}

CustomTangents checked_jvp(CustomCode& code, const Tensors& in, const Tensors& tangents) {
  const NamesOn names_on;
  Tensors full(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    if (Like(in[i]).is_differentiable())
      full[i] = tangents[i].defined() ? with_names_of(tangents[i], in[i]) : zeros_like(in[i]);
  CustomTangents run;
  run.results = code.jvp(in, full, run.tangents);
  if (run.tangents.size() != run.results.size())
    throw ShapeError("custom_jvp: the rule returned " + std::to_string(run.tangents.size()) +
                     " tensors as the tangent of a result that holds " + std::to_string(run.results.size()) +
                     "; the tangent is a tree like the result");
  for (std::size_t k = 0; k < run.tangents.size(); ++k)
    run.tangents[k] = fitting(std::move(run.tangents[k]), Like(run.results[k]), "custom_jvp: the rule returned ",
                              [&] { return " as the tangent of result " + std::to_string(k); });
  return run;
}

Tensors checked_batch(CustomCode& code, std::int64_t extent, const std::vector<bool>& mapped, const Tensors& in) {
  // An argument is mapped as a whole: what it shares gets the batch axis too.
  const std::vector<std::size_t> argument_of = code.argument_of();
  std::vector<bool> arguments(argument_of.empty() ? 0 : argument_of.back() + 1);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (mapped[i]) arguments[argument_of[i]] = true;
  std::vector<bool> whole;
  for (std::size_t i = 0; i < in.size(); ++i) whole.push_back(in[i].defined() && arguments[argument_of[i]]);
  Tensors operands = in;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const NamesOff names_off;
    if (whole[i] && !mapped[i]) operands[i] = ops::with_batch_axis(in[i], extent);
  }
  const NamesOn names_on;
  Tensors results = code.batch(extent, whole, operands);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Tensor& x = results[k];
    if (!x.defined()) continue;
    const auto dims = visible_dims(x);
    if (dims.empty() || dims[0].extent() != extent)
      throw ShapeError("custom_vmap: the rule returned " + describe(x) + " as result " + std::to_string(k) + " of " +
                       std::to_string(extent) + " examples; every tensor of the result has the batch in front");
    Shape shape(dims);
    shape[0] = shape[0].named(Axis::none);
    results[k] = with_names(x, shape.dims());
  }
  return results;
}

constexpr std::string_view kind_names[] = {"custom_vjp", "custom_jvp", "custom_vmap", "checkpoint"};

CustomRef checked(const std::shared_ptr<CustomCode>& code) {
  CustomFunction safe;
  safe.name = kind_names[static_cast<std::size_t>(code->kind())];
  safe.value = [code](const Tensors& in) {
    const NamesOn names_on;
    return code->value(in);
  };
  if (code->kind() == CustomKind::vjp) safe.forward = [code](const Tensors& in) { return checked_forward(code, in); };
  if (code->kind() == CustomKind::jvp)
    safe.jvp = [code](const Tensors& in, const Tensors& tangents) { return checked_jvp(*code, in, tangents); };
  if (code->kind() == CustomKind::vmap)
    safe.batch = [code](std::int64_t extent, const std::vector<bool>& mapped, const Tensors& in) {
      return checked_batch(*code, extent, mapped, in);
    };
  return std::make_shared<const CustomFunction>(std::move(safe));
}

}  // namespace

CustomCode::~CustomCode() = default;
Tensors CustomCode::forward(const Tensors&, Tensors&) { return {}; }
Tensors CustomCode::backward(const Tensors&, const Tensors&) { return {}; }
Tensors CustomCode::jvp(const Tensors&, const Tensors&, Tensors&) { return {}; }
Tensors CustomCode::batch(std::int64_t, const std::vector<bool>&, const Tensors&) { return {}; }

Tensors call_custom(const std::shared_ptr<CustomCode>& code, const Tensors& in) {
  const bool plain = std::all_of(in.begin(), in.end(), [](const Tensor& x) { return cursor_of(x) == 0; });
  return plain ? code->value(in) : dispatch_custom(checked(code), in);
}

void number_leaves(std::vector<std::size_t>& numbers, const ConstLeaves& leaves, std::size_t number) {
  numbers.insert(numbers.end(), leaves.size(), number);
}

void refuse_gradients(std::size_t argument, std::size_t given, std::size_t wanted) {
  throw ShapeError("custom_vjp: backward returned " + std::to_string(given) + " tensors as the gradient of argument " +
                   std::to_string(argument) + ", which holds " + std::to_string(wanted) +
                   "; a gradient is a tree like its argument, or `none`");
}

Tensors take_leaves(const Leaves& leaves) {
  Tensors tensors;
  tensors.reserve(leaves.size());
  for (Tensor* leaf : leaves) tensors.push_back(std::exchange(*leaf, Tensor()));
  return tensors;
}

void put_leaves(const Leaves& leaves, const Tensors& tensors) {
  for (std::size_t i = 0; i < leaves.size(); ++i) *leaves[i] = tensors[i];
}

}  // namespace tlaloc::inline v0::core

namespace tlaloc::inline v0::autodiff {

using core::CustomFunction;
using core::CustomRef;
using core::CustomTangents;
using core::GradScope;
using core::JvpScope;
using core::LeafKind;
using core::Tensors;
using Flags = std::vector<bool>;

namespace {

Flags defined(const Tensors& tensors) {
  Flags flags;
  for (const Tensor& x : tensors) flags.push_back(x.defined());
  return flags;
}
/// `tensors`, with those of `more` that are there behind them, and back: the next tensors, put where they were.
Tensors with_present(Tensors tensors, const Tensors& more) {
  for (const Tensor& x : more)
    if (x.defined()) tensors.push_back(x);
  return tensors;
}
template <class Iterator>
Tensors spread(Iterator from, const Flags& present) {
  Tensors all(present.size());
  for (std::size_t i = 0; i < present.size(); ++i)
    if (present[i]) all[i] = *from++;
  return all;
}

Tensors with_batch_axes(const Tensors& in, const Flags& mapped, const Flags& wanted, std::int64_t extent) {
  const core::NamesOff names_off;
  Tensors all = in;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (wanted[i] && !mapped[i] && in[i].defined()) all[i] = ops::with_batch_axis(in[i], extent);
  return all;
}

using Run = std::function<Tensors(const Tensors&)>;

/// The pull-back of `run` at `in`, for the wanted inputs alone.
Tensors pulled_back(std::string_view name, const Run& run, Tensors in, const Tensors& cotangents, const Flags& wanted) {
  GradScope scope(name);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (wanted[i]) scope.watch(in[i], static_cast<int>(i), LeafKind::member);
  Tensors results = run(in);
  if (results.size() != cotangents.size())
    throw ValueError(std::string(name) + ": the function gave " + std::to_string(results.size()) +
                     " tensors when it was run again, and " + std::to_string(cotangents.size()) +
                     " before; it must do the same every time");
  for (Tensor& x : results) scope.output(x);
  scope.end();
  Tensors gradients(scope.input_count());
  scope.pull_back(cotangents, gradients, true);
  return gradients;
}

/// The derivative of `run` at `in`: the results, and then their tangents.
Tensors pushed_forward(const Run& run, Tensors in, const Tensors& tangents) {
  JvpScope scope;
  for (std::size_t i = 0; i < in.size(); ++i) scope.watch(in[i], tangents[i]);
  Tensors results = run(in);
  const std::size_t count = results.size();
  for (std::size_t k = 0; k < count; ++k) {
    Tensor tangent = scope.lower(results[k]);
    results.push_back(std::move(tangent));
  }
  return results;
}

/// Runs as a tape's interpreter does, and records nothing.
class UnrecordedInterpreter final : public core::Interpreter {
 public:
  explicit UnrecordedInterpreter(std::string_view name) : name_(name) {}

  core::LevelWord level = 0;

  bool is_mine(const Tensor& x) const {
    return x.defined() && core::cursor_of(x) > 0 && core::top_note(x).level == level;
  }
  void apply(const core::OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out) override {
    core::Borrowed<3> operands(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) operands.set(i, in[i].bits() - (is_mine(in[i]) ? 1 : 0));
    table.run(op, operands.span(in.size()), out);
    if (table.derivative == core::Derivative::none) return;
    for (int k = 0; k < table.info.results; ++k)
      if (is_float(core::object_of(out[k])->dtype)) core::lift_result(out[k], {level, 0}, in);
  }
  Tensors apply(const CustomRef& function, const Tensors& in) override {
    Tensors operands;
    Flags mine;
    for (const Tensor& x : in) {
      mine.push_back(is_mine(x));
      operands.push_back(mine.back() ? core::lowered(x) : x);
    }
    Tensors results = reverse(function, operands, mine).results;
    for (Tensor& x : results)
      if (x.defined() && is_float(core::object_of(x)->dtype)) x = core::lift(x, {level, 0});
    return results;
  }
  std::string describe() const override { return std::string(name_); }

 private:
  std::string_view name_;
};

/// What `run` gives where reverse mode goes through it: custom functions in it are run by their forward rules, which
/// transforms further out may then differentiate in any mode.
Tensors run_as_recorded(std::string_view name, const Run& run, Tensors in, const Flags& wanted) {
  UnrecordedInterpreter interpreter(name);
  const core::LevelScope level(core::LevelKind::grad, interpreter);
  interpreter.level = level.word();
  for (std::size_t i = 0; i < in.size(); ++i)
    if (wanted[i]) in[i] = core::lift(in[i], {level.word(), 0});
  Tensors results = run(in);
  for (Tensor& x : results) {
    core::check_alive(name, x);
    if (interpreter.is_mine(x)) x = core::lowered(x);
  }
  return results;
}

/// A function without a derivative rule, run like this.
CustomRef as_recorded(const CustomRef& function, const Flags& wanted) {
  CustomFunction forward;
  forward.name = function->name;
  forward.value = [=](const Tensors& in) { return run_as_recorded(function->name, function->value, in, wanted); };
  if (function->batch)
    forward.batch = [=](std::int64_t extent, const Flags& mapped, const Tensors& in) {
      const Run run = [&](const Tensors& inner) { return function->batch(extent, mapped, inner); };
      return run_as_recorded(function->name, run, in, wanted);
    };
  return std::make_shared<const CustomFunction>(std::move(forward));
}

bool goes_forward(const Tensor& x) {
  bool forward = false;
  for (int i = 0; x.defined() && i < core::cursor_of(x); ++i)
    forward |= core::kind_of(core::object_of(x)->note(i).level) == core::LevelKind::jvp;
  return forward;
}

/// Whether the tangents belong to a running transform that none of the inputs belongs to.
bool have_a_level_of_their_own(const Tensors& tangents, const Tensors& in) {
  const auto belongs = [](const Tensor& x, core::LevelWord level) {
    for (int i = 0; x.defined() && i < core::cursor_of(x); ++i)
      if (core::object_of(x)->note(i).level == level) return true;
    return false;
  };
  for (const Tensor& tangent : tangents)
    for (int i = 0; tangent.defined() && i < core::cursor_of(tangent); ++i) {
      const core::LevelWord level = core::object_of(tangent)->note(i).level;
      if (std::none_of(in.begin(), in.end(), [&](const Tensor& x) { return belongs(x, level); })) return true;
    }
  return false;
}

/// The pull-back of a function without a derivative rule, as a custom function of its inputs and the cotangents that
/// are there: it keeps nothing but its inputs either, and the batching rule applies in it.
CustomRef pull_back_of(const CustomRef& function, const Flags& wanted, const Flags& given) {
  CustomFunction back;
  back.name = function->name;
  const std::size_t inputs = wanted.size();
  const auto split = [inputs](const auto& all) { return all.begin() + static_cast<std::ptrdiff_t>(inputs); };
  back.value = [=](const Tensors& all) {
    return pulled_back(function->name, function->value, Tensors(all.begin(), split(all)), spread(split(all), given),
                       wanted);
  };
  if (function->batch)
    back.batch = [=](std::int64_t extent, const Flags& mapped, const Tensors& all) {
      // An example's gradient by a shared input is its own too, so no input is shared here.
      const Flags everything(all.size(), true);
      const Tensors rows = with_batch_axes(all, mapped, everything, extent);
      const Tensors in(rows.begin(), split(rows));
      const Run run = [&](const Tensors& inner) { return function->batch(extent, defined(inner), inner); };
      return pulled_back(function->name, run, in, spread(split(rows), given), wanted);
    };
  return std::make_shared<const CustomFunction>(std::move(back));
}

/// Likewise forwards, a function of the inputs and the tangents that are there.
CustomRef push_forward_of(const CustomRef& function, const Flags& given) {
  CustomFunction push;
  push.name = function->name;
  const auto split = [inputs = given.size()](const auto& all) {
    return all.begin() + static_cast<std::ptrdiff_t>(inputs);
  };
  push.value = [=](const Tensors& all) {
    return pushed_forward(function->value, Tensors(all.begin(), split(all)), spread(split(all), given));
  };
  if (function->batch)
    push.batch = [=](std::int64_t extent, const Flags& mapped, const Tensors& all) {
      // An input and its tangent are both mapped or both shared.
      Flags wanted = mapped;
      for (std::size_t i = 0, tangent = given.size(); i < given.size(); ++i) {
        if (!given[i]) continue;
        wanted[i] = wanted[tangent] = mapped[i] || mapped[tangent];
        ++tangent;
      }
      const Flags both(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(given.size()));
      const Tensors rows = with_batch_axes(all, mapped, wanted, extent);
      const Run run = [&](const Tensors& inner) { return function->batch(extent, both, inner); };
      return pushed_forward(run, Tensors(rows.begin(), split(rows)), spread(split(rows), given));
    };
  return std::make_shared<const CustomFunction>(std::move(push));
}

/// Reverse mode of a forward rule: its tangent, as a function of the tangents, is linear, so its pull-back at zero is
/// its transpose.
CustomReverse transposed(const CustomRef& function, const Tensors& in, const Flags& wanted) {
  const auto scope = std::make_shared<GradScope>(function->name);
  Tensors tangents(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!wanted[i]) continue;
    tangents[i] = zeros_like(in[i]);
    scope->watch(tangents[i], static_cast<int>(i), LeafKind::member);
  }
  CustomTangents run = function->jvp(in, tangents);
  for (std::size_t k = 0; k < run.results.size(); ++k)
    if (scope->lower(run.results[k]) != nullptr)
      throw ValueError("custom_jvp: result " + std::to_string(k) +
                       " depends on the tangents; the rule returns std::pair(result, tangent), in that order");
  for (Tensor& tangent : run.tangents) scope->output(tangent);
  scope->end();
  return {std::move(run.results), [scope, wanted](const Tensors& cotangents) {
            Tensors found(scope->input_count());
            scope->pull_back(cotangents, found, false);
            return spread(found.begin(), wanted);
          }};
}

}  // namespace

CustomReverse reverse(const CustomRef& function, const Tensors& in, const Flags& wanted) {
  if (function->forward) {
    core::CustomForward run = function->forward(in);
    return {std::move(run.results), [residuals = std::move(run.residuals), backward = std::move(run.backward)](
                                        const Tensors& cotangents) { return backward(residuals, cotangents); }};
  }
  if (function->jvp) return transposed(function, in, wanted);
  // Only forward mode further out can tell the two apart.
  const bool forward = std::any_of(in.begin(), in.end(), goes_forward);
  return {core::dispatch_custom(forward ? as_recorded(function, wanted) : function, in),
          [function, in, wanted](const Tensors& cotangents) {
            const Flags given = defined(cotangents);
            const Tensors found =
                core::dispatch_custom(pull_back_of(function, wanted, given), with_present(in, cotangents));
            return spread(found.begin(), wanted);
          }};
}

CustomTangents push_forward(const CustomRef& function, const Tensors& in, const Tensors& tangents) {
  if (function->jvp) return function->jvp(in, tangents);
  if (function->forward)
    throw LevelError("custom_vjp: the function has a reverse mode of its own and is used in forward mode (jvp); " +
                     core::describe(in) + "; give it a custom_jvp instead, which serves both modes");
  const Flags given = defined(tangents);
  Tensors both = core::dispatch_custom(push_forward_of(function, given), with_present(in, tangents));
  const auto half = both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2);
  // Where a transform holds tangents alone, the results must not seem to depend on them.
  const bool apart = have_a_level_of_their_own(tangents, in);
  return {apart ? core::dispatch_custom(function, in) : Tensors(both.begin(), half), Tensors(half, both.end())};
}

namespace {

constexpr core::Needs keeps_nothing[] = {core::nothing};

constexpr core::OpTable make_node_table(std::string_view name) {
  core::OpTable table{};
  table.info = {.name = name, .inputs = core::any_number, .results = core::any_number};
  table.derivative = core::Derivative::rules;
  table.size = sizeof(CustomNode);
  table.needs = keeps_nothing;
  table.copy = [](void* to, const void* node) { ::new (to) CustomNode(*static_cast<const CustomNode*>(node)); };
  table.destroy = [](void* node) noexcept { static_cast<CustomNode*>(node)->~CustomNode(); };
  table.vjp = [](const void* node, core::VjpCall& call) {
    Tensors cotangents(call.result_count);
    for (std::size_t k = 0; k < cotangents.size(); ++k) cotangents[k] = std::move(call.cotangents[k]);
    Tensors gradients = (*static_cast<const CustomNode*>(node)->pull)(cotangents);
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (call.wants(static_cast<int>(i))) call.gradients[i] = std::move(gradients[i]);
  };
  return table;
}

constexpr core::OpTable node_tables[] = {make_node_table("custom_vjp"), make_node_table("custom_jvp"),
                                         make_node_table("custom_vmap"), make_node_table("checkpoint")};

}  // namespace

const core::OpTable& custom_node_table(std::string_view name) {
  return *std::find_if(std::begin(node_tables), std::end(node_tables) - 1,
                       [&](const core::OpTable& table) { return table.info.name == name; });
}

}  // namespace tlaloc::inline v0::autodiff
