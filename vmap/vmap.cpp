// The interpreter behind vmap, and what its header calls.
#include <tlaloc/vmap.hpp>

#include <algorithm>
#include <map>
#include <string>

#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/structure.hpp>

#include "core/custom.hpp"
#include "core/dispatch.hpp"
#include "core/finite.hpp"
#include "core/inline_vector.hpp"
#include "ops/reductions.hpp"
#include "ops/views.hpp"
#include "vmap/batch_interpreter.hpp"

namespace tlaloc::inline v0::core {
namespace {

using ops::AxisSet;
using ops::Order;

/// x with an axis moved to another place, as any operation moves it: outer transforms see it happen.
Tensor moved(const Tensor& x, int from, int to) {
  if (from == to) return x;
  return dispatch(ops::Permute(Order::moving(visible_rank(x), from, to)), x);
}

/// x with its first visible axis called `name`.
Tensor with_first_name(const Tensor& x, Axis name) {
  Shape shape(visible_dims(x));
  shape[0] = shape[0].named(name);
  return with_names(x, shape.dims());
}

}  // namespace

void BatchInterpreter::apply(const OpTable& table, const void* op, std::span<const Tensor> in, Tensor* out) {
  const NamesOff names_off;
  Borrowed<3> operands(in.size());
  InlineVector<bool, 8> mapped(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    mapped[i] = is_mapped(in[i]);
    operands.set(i, in[i].bits() - (mapped[i] ? 1 : 0));
  }
  BatchCall call{.in = operands.span(in.size()), .mapped = mapped.data(), .extent = extent, .out = out};
  try {
    table.batch(op, call);
  } catch (const NotFinite& error) {
    throw error.out_of_map(axis.name(), core::describe(in));
  }
  for (int k = 0; k < table.info.results; ++k) lift_result(out[k], {level, 0}, in);
}

struct MapScope::State {
  struct Argument {
    Tensor* leaf;
    std::size_t number;
    int axis;  // -1: shared
  };

  State(const MapOptions& given, std::size_t count) : options(given), argument_count(count) {}

  const MapOptions& options;
  std::size_t argument_count;
  InlineVector<Argument, 8> arguments;
  BatchInterpreter interpreter;
  std::optional<LevelScope> level;

  std::string got() const {
    if (arguments.size() == 0) return "; got no tensors";
    std::string text = "; got ";
    for (std::size_t i = 0; i < arguments.size(); ++i)
      text += (i == 0 ? "argument " : ", argument ") + std::to_string(arguments[i].number) + ": " +
              describe(*arguments[i].leaf);
    return text;
  }
  int axis_by_number(const Tensor& x, std::size_t number, int axis) const;
  std::int64_t common_extent() const;
};

int MapScope::State::axis_by_number(const Tensor& x, std::size_t number, int axis) const {
  const int rank = visible_rank(x);
  const int place = axis < 0 ? axis + rank : axis;
  if (!options.in && rank == 0)
    throw AxisError("vmap: axis 0 of every tensor is mapped, and argument " + std::to_string(number) + " has no axes" +
                    got() + "; say with in_axes() what is mapped and what is shared, or map by name");
  if (place < 0 || place >= rank)
    throw AxisError("vmap: in_axes asks for axis " + std::to_string(axis) + " of argument " + std::to_string(number) +
                    ", which has " + std::to_string(rank) + " axes" + got() +
                    "; in_axes says `none` for what is shared");
  const Axis name = visible_dims(x)[static_cast<std::size_t>(place)].axis();
  if (options.axis.named() && name.named() && name != options.axis)
    throw AxisError("vmap: in_axes maps axis " + std::to_string(axis) + " of argument " + std::to_string(number) +
                    " as " + options.axis.name() + ", but it is called " + name.name() + got() +
                    "; map the axis that has the name, or rename it");
  return place;
}

std::int64_t MapScope::State::common_extent() const {
  // The extent that most arguments have is taken for the right one, so that a message names the odd one out.
  std::map<std::int64_t, int> votes;
  const auto extent_of = [](const Argument& a) {
    return visible_dims(*a.leaf)[static_cast<std::size_t>(a.axis)].extent();
  };
  for (const Argument& a : arguments)
    if (a.axis >= 0) ++votes[extent_of(a)];
  if (options.size >= 0) votes = {{options.size, 1}};
  if (votes.empty())
    throw ValueError("vmap: no argument is mapped" +
                     (options.axis.named() ? ": none has the axis " + options.axis.name() : std::string()) + got() +
                     "; map one, or say how many examples there are with axis_size()");
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto text_of = [&](const Argument& a) {
    return "argument " + std::to_string(a.number) + " has " + std::to_string(extent_of(a)) +
           " examples along its axis " + std::to_string(a.axis);
  };
  const Argument* usual = nullptr;
  const Argument* odd = nullptr;
  for (const Argument& a : arguments) {
    if (a.axis < 0) continue;
    const Argument*& first = extent_of(a) == most->first ? usual : odd;
    if (first == nullptr) first = &a;
  }
  if (odd == nullptr) return most->first;
  const bool undecided = options.size < 0 && votes.at(extent_of(*odd)) == most->second;
  throw ShapeError("vmap: " +
                   (options.size >= 0 ? text_of(*odd) + ", but axis_size is " + std::to_string(options.size)
                    : undecided       ? text_of(*std::min(usual, odd)) + ", " + text_of(*std::max(usual, odd))
                                      : text_of(*odd) + ", but the batch has " + std::to_string(most->first)) +
                   got() + "; all mapped axes need one extent (an extent of 1 does not stretch)");
}

MapScope::MapScope(const MapOptions& options, std::size_t argument_count)
    : state_(std::make_unique<State>(options, argument_count)) {
  if (options.in && options.in->entries.size() != argument_count && options.in->entries.size() != 1)
    throw ValueError("vmap: in_axes has " + std::to_string(options.in->entries.size()) +
                     " entries and the function is called with " + std::to_string(argument_count) +
                     " arguments; give one entry for each argument, or one for all");
}
MapScope::~MapScope() = default;

void MapScope::argument(Tensor& leaf, std::size_t number) {
  State& state = *state_;
  if (!leaf.defined()) return;
  check_alive("vmap", leaf);
  state.arguments.push_back({&leaf, number, -1});
  int& axis = state.arguments.back().axis;
  if (!state.options.in) {
    if (state.options.axis.named()) {
      axis = Shape(visible_dims(leaf)).position(state.options.axis);
    } else if (state.options.size < 0 || visible_rank(leaf) > 0) {
      axis = state.axis_by_number(leaf, number, 0);
    }
    return;
  }
  const auto& entries = state.options.in->entries;
  const MapAxis entry = entries[entries.size() == 1 ? 0 : number];
  if (entry.kind() == MapAxis::Kind::total)
    throw ValueError("vmap: in_axes has `summed`, which is for results; say an axis number or `none`");
  if (entry.kind() == MapAxis::Kind::axis) axis = state.axis_by_number(leaf, number, entry.number());
}

std::int64_t MapScope::start(std::int64_t begin) {
  State& state = *state_;
  const Axis name = state.options.axis;
  const ThreadState& thread = thread_state();
  for (int depth = 1; name.named() && depth <= thread.depth; ++depth)
    if (thread.axes[static_cast<std::size_t>(depth)] == name)
      throw AxisError("vmap: the axis " + name.name() + " is already mapped by a running vmap" + state.got() +
                      "; rename the axis of the inner one");
  const std::int64_t total = state.common_extent();
  const std::int64_t chunk = state.options.chunk.count;
  state.interpreter.extent = chunk > 0 ? std::min(chunk, total - begin) : total;
  state.interpreter.axis = name;
  state.level.emplace(LevelKind::vmap, state.interpreter, name);
  state.interpreter.level = state.level->word();
  // Names are off: the mapped axis still shows on the arguments.
  const NamesOff names_off;
  for (const State::Argument& a : state.arguments) {
    if (a.axis < 0) continue;
    Tensor front = with_first_name(moved(*a.leaf, a.axis, 0), Axis::none);
    if (state.interpreter.extent < total)
      front = dispatch(ops::Slice(ops::Part{0, begin, state.interpreter.extent, 1, total}), front);
    *a.leaf = lift(front, {state.level->word(), 0});
  }
  return total;
}

void MapScope::finish(const Leaves& results) {
  State& state = *state_;
  const auto& entries = state.options.out.entries;
  if (entries.size() != 1 && entries.size() != results.size())
    throw ValueError("vmap: out_axes has " + std::to_string(entries.size()) + " entries and the result holds " +
                     std::to_string(results.size()) + " tensors; give one entry for each, or one for all");
  std::vector<bool> mapped;
  for (Tensor* x : results) {
    check_alive("vmap", *x);
    mapped.push_back(x->defined() && state.interpreter.is_mapped(*x));
    if (mapped.back()) *x = lowered(*x);
  }
  state.level->end();
  const NamesOff names_off;
  for (std::size_t i = 0; i < results.size(); ++i) {
    Tensor& x = *results[i];
    if (!x.defined()) continue;
    const MapAxis entry = entries[entries.size() == 1 ? 0 : i];
    if (entry.kind() == MapAxis::Kind::no_axis) {
      if (mapped[i])
        throw AxisError("vmap: out_axes says `none` for result " + std::to_string(i) +
                        ", which differs from example to example; got " +
                        describe(with_first_name(x, state.options.axis)) +
                        " with the batch in front; say where its batch axis goes, or `summed`");
      continue;
    }
    if (const Shape shown(visible_dims(x));
        entry.kind() == MapAxis::Kind::axis && state.options.axis.named() && shown.position(state.options.axis) >= 0)
      throw AxisError("vmap: result " + std::to_string(i) + " shows the axis " + state.options.axis.name() +
                      ", which this vmap maps; got " + describe(x) +
                      "; pass the tensor as an argument instead of capturing it, or rename its axis");
    if (!mapped[i]) x = dispatch(ops::Expand::in_front(state.interpreter.extent), x);
    if (entry.kind() == MapAxis::Kind::total) {
      const Shape shape(visible_dims(x));
      x = dispatch(ops::Sum(AxisSet::single(0), Shape{shape[0]}), x);
      continue;
    }
    const int rank = visible_rank(x);
    const int place = entry.number() < 0 ? entry.number() + rank : entry.number();
    if (place < 0 || place >= rank)
      throw AxisError("vmap: out_axes puts the batch at axis " + std::to_string(entry.number()) + " of result " +
                      std::to_string(i) + ", which has " + std::to_string(rank) + " axes with it; got " + describe(x) +
                      "; axes are numbered from " + std::to_string(-rank) + " to " + std::to_string(rank - 1));
    x = moved(with_first_name(x, state.options.axis), 0, place);
  }
}

void ChunkJoiner::add(const Leaves& results) {
  parts_.resize(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) parts_[i].push_back(*results[i]);
}

void ChunkJoiner::finish(const Leaves& results) {
  const NamesOff names_off;
  const auto& entries = options_.out.entries;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::vector<Tensor>& parts = parts_[i];
    const MapAxis entry = entries[entries.size() == 1 ? 0 : i];
    if (parts.size() == 1 || !parts[0].defined() || entry.kind() == MapAxis::Kind::no_axis) continue;
    Tensor& x = *results[i];
    if (entry.kind() == MapAxis::Kind::axis) {
      x = concat(parts, entry.number());
    } else {
      x = parts[0];
      for (std::size_t k = 1; k < parts.size(); ++k) x = tlaloc::add(x, parts[k]);
    }
  }
}

}  // namespace tlaloc::inline v0::core

namespace tlaloc::inline v0 {

AxisSize axis_size(std::int64_t extent) {
  if (extent < 0) throw ValueError("axis_size: " + std::to_string(extent) + " examples; there are none or some");
  return {extent};
}

ChunkSize chunk_size(std::int64_t count) {
  if (count < 1)
    throw ValueError("chunk_size: " + std::to_string(count) + " at a time; at least one is computed at once");
  return {count};
}

}  // namespace tlaloc::inline v0
