// vmap: a function of one example, mapped over a whole batch, running once.
//
//     auto per_example = vmap(grad(loss, argnums<0, 1>), batch);
//     auto [g1, g2] = per_example(w1, w2, xs, ys);       // every tensor that has the axis `batch` is mapped over it
//
//     vmap(f, in_axes(0, none, 1))(x, w, z)              // x over axis 0, z over axis 1, w shared
//     vmap(f, in_axes(-1), out_axes(1))(x)               // the batch is axis 1 of the result
//     vmap(f, batch, in_axes(0))(x)                      // by number, and called `batch`
//     vmap(f, in_axes(none), axis_size(5))(w)            // nothing mapped: five times the same
//     vmap(f, batch, chunk_size(64))(x)                  // 64 examples at a time: the same result in less memory
//
// Inside, the mapped axis is hidden: the function is written for one example. Each operation runs once for all of them.
// A value that differs between the examples has no single number: item(), `if` and span() on it are a LevelError;
// choose with where(). An operation inside that meets a tensor showing the mapped name is an AxisError.
//
// Results have the batch axis in front (or where out_axes says), with its name; a result that does not depend on the
// batch is repeated. Arguments and results are trees. Batches of 0 work.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/export.hpp>
#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

namespace tlaloc::inline v0 {

/// in_axes: shared by all examples. out_axes: the result does not depend on the batch (an error if it does).
struct None {};
inline constexpr None none{};
/// out_axes: added up over the batch.
struct Summed {};
inline constexpr Summed summed{};

/// An entry of in_axes or out_axes: an axis number (from the last when negative), `none`, or (for results) `summed`.
class MapAxis {
 public:
  enum class Kind : std::uint8_t { axis, no_axis, total };

  template <integer I>
  constexpr MapAxis(I axis) : kind_(Kind::axis), number_(static_cast<int>(axis)) {}
  constexpr MapAxis(None) : kind_(Kind::no_axis) {}
  constexpr MapAxis(Summed) : kind_(Kind::total) {}

  constexpr Kind kind() const { return kind_; }
  constexpr int number() const { return number_; }

 private:
  Kind kind_;
  int number_ = 0;
};

/// One entry for each argument; an entry holds for every tensor in the argument.
struct InAxes {
  std::vector<MapAxis> entries;
};
/// One entry for all tensors of the result, or one for each.
struct OutAxes {
  std::vector<MapAxis> entries;
};
struct AxisSize {
  std::int64_t extent;
};

template <std::convertible_to<MapAxis>... Entries>
InAxes in_axes(Entries... entries) {
  return {{MapAxis(entries)...}};
}
template <std::convertible_to<MapAxis>... Entries>
OutAxes out_axes(Entries... entries) {
  return {{MapAxis(entries)...}};
}
/// Throws ValueError when it is negative.
TLALOC_API AxisSize axis_size(std::int64_t extent);

/// How many examples of a vmap, or rows or columns of a Jacobian, are computed at once.
struct ChunkSize {
  std::int64_t count = 0;  // 0: all
};
/// Throws ValueError for a count below 1.
TLALOC_API ChunkSize chunk_size(std::int64_t count);

namespace core {

struct MapOptions {
  Axis axis = Axis::none;
  std::optional<InAxes> in;
  OutAxes out{{MapAxis(0)}};
  std::int64_t size = -1;  // -1: that of the mapped arguments
  ChunkSize chunk;

  void set(Axis name) { axis = name; }
  void set(InAxes axes) { in = std::move(axes); }
  void set(OutAxes axes) { out = std::move(axes); }
  void set(AxisSize given) { size = given.extent; }
  void set(ChunkSize given) { chunk = given; }
};

/// A running vmap.
class TLALOC_API MapScope {
 public:
  MapScope(const MapOptions& options, std::size_t argument_count);
  MapScope(const MapScope&) = delete;
  MapScope& operator=(const MapScope&) = delete;
  ~MapScope();

  /// Announces a tensor of an argument; start() checks them all, begins the transform for the chunk that begins at
  /// example `begin`, and replaces the mapped ones. Returns the number of examples in all.
  void argument(Tensor& leaf, std::size_t number);
  std::int64_t start(std::int64_t begin = 0);
  /// Takes the results out of the transform and puts the batch axis where it belongs.
  void finish(const Leaves& results);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The results of several chunks as one, in the places of those of the last.
class TLALOC_API ChunkJoiner {
 public:
  explicit ChunkJoiner(const MapOptions& options) : options_(options) {}
  void add(const Leaves& results);
  void finish(const Leaves& results);

 private:
  const MapOptions& options_;
  std::vector<std::vector<Tensor>> parts_;
};

/// Maps f over the chunk that begins at `begin`, and sets `total` to the number of examples.
template <class F, class... Args>
auto run_chunk(F& f, const MapOptions& options, std::int64_t begin, std::int64_t& total, std::tuple<Args...> args) {
  MapScope scope(options, sizeof...(Args));
  std::size_t number = 0;
  const auto announce = [&](auto& argument) {
    Leaves leaves;
    collect_leaves(argument, leaves);
    for (Tensor* leaf : leaves) scope.argument(*leaf, number);
    ++number;
  };
  std::apply([&](auto&... argument) { (announce(argument), ...); }, args);
  total = scope.start(begin);
  auto result = std::apply(f, std::move(args));
  static_assert(tree<decltype(result)>, "vmap: the function must return a tree: see <tlaloc/tree.hpp>");
  Leaves leaves;
  collect_leaves(result, leaves);
  scope.finish(leaves);
  return result;
}

template <class F, class... Args>
auto run_vmap(F& f, const MapOptions& options, std::tuple<Args...> args) {
  std::int64_t total = 0;
  if (options.chunk.count == 0) return run_chunk(f, options, 0, total, std::move(args));
  ChunkJoiner joiner(options);
  for (std::int64_t begin = 0;; begin += options.chunk.count) {
    auto result = run_chunk(f, options, begin, total, args);
    Leaves leaves;
    collect_leaves(result, leaves);
    joiner.add(leaves);
    if (begin + options.chunk.count < total) continue;
    joiner.finish(leaves);
    return result;
  }
}

template <class F>
class Mapped {
 public:
  Mapped(F f, MapOptions options) : f_(std::move(f)), options_(std::move(options)) {}

  template <class... Args>
  auto operator()(Args&&... args) const {
    return run_vmap(f_, options_, std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
  }
  template <class... Args>
  auto operator()(Args&&... args) {
    return run_vmap(f_, options_, std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
  }

 private:
  F f_;
  MapOptions options_;
};

}  // namespace core

/// f mapped over a batch. The options, in any order: an Axis (maps every tensor that has it, unless in_axes says
/// otherwise, and names the result's batch axis), in_axes, out_axes, axis_size, chunk_size (then f runs once for each
/// chunk, and copyable arguments are copied for each). Without an Axis or in_axes, axis 0 of every tensor is mapped.
///
/// When the result is called: AxisError for an axis that is not there, has another name, or is already mapped;
/// ShapeError when the mapped axes have different extents; ValueError when nothing is mapped and no axis_size is given.
template <class F, class... Options>
auto vmap(F f, Options... options) {
  core::MapOptions all;
  (all.set(std::move(options)), ...);
  return core::Mapped<F>(std::move(f), std::move(all));
}

}  // namespace tlaloc::inline v0
