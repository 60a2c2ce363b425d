// Operations that rearrange or pick elements, beyond those of views.hpp.
#pragma once

#include <algorithm>

#include <tlaloc/scalar.hpp>

#include "ops/linear_family.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {

/// Its own transpose.
struct Flip : Linear<Flip> {
  static constexpr OpInfo info{.name = "flip"};
  AxisSet axes;

  explicit Flip(AxisSet which) : axes(which) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const { return core::dispatch(*this, ct); }
  Flip batched(std::int64_t) const { return Flip(axes.shifted()); }
};

/// Element i of the result is element (i + cut) mod extent, with cut in [0, extent).
struct Roll : Linear<Roll> {
  static constexpr OpInfo info{.name = "roll"};
  int axis;
  std::int64_t cut;
  std::int64_t extent;

  Roll(int which, std::int64_t first, std::int64_t whole) : axis(which), cut(first), extent(whole) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const {
    return core::dispatch(Roll(axis, cut == 0 ? 0 : extent - cut, extent), ct);
  }
  Roll batched(std::int64_t) const { return {axis + 1, cut, extent}; }
};

/// A number around x, which stands in the part's place. With zeros instead, as Embed does it, it is the derivative.
struct Pad : BroadcastBatching<Pad> {
  static constexpr OpInfo info{.name = "pad"};
  static constexpr std::array needs{nothing};
  Part part;
  Scalar fill;

  Pad(const Part& which, Scalar number) : part(which), fill(number) {}

  Tensor eval(const Tensor& x) const;
  void vjp(core::VjpCall& call) const {
    if (call.wants(0)) call.gradients[0] = core::dispatch(Slice(part), call.cotangents[0]);
  }
  void jvp(core::JvpCall& call) const { call.out_tangents[0] = core::dispatch(Embed(part), call.tangents[0]); }
  Pad batched(std::int64_t) const { return {part.shifted(), fill}; }
};

enum class Side : std::uint8_t { below, above };

/// A matrix, the last two axes, with zeros on the other side of a diagonal. Its own transpose.
template <Side side>
struct Triangle : Linear<Triangle<side>> {
  static constexpr OpInfo info{.name = side == Side::below ? "tril" : "triu"};
  std::int64_t diagonal;

  explicit Triangle(std::int64_t border) : diagonal(border) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const { return core::dispatch(*this, ct); }
  Triangle batched(std::int64_t) const { return *this; }
};

/// A diagonal of the last two axes: elements (row + i, column + i).
struct Line {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row;
  std::int64_t column;

  Line(std::int64_t height, std::int64_t width, std::int64_t offset)
      : rows(height),
        columns(width),
        row(std::max<std::int64_t>(-offset, 0)),
        column(std::max<std::int64_t>(offset, 0)) {}
  std::int64_t count() const { return std::max<std::int64_t>(std::min(rows - row, columns - column), 0); }
};

struct Diagonal : Linear<Diagonal> {
  static constexpr OpInfo info{.name = "diagonal"};
  Line line;

  explicit Diagonal(const Line& which) : line(which) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const;
  Diagonal batched(std::int64_t) const { return *this; }
};

/// The transpose of Diagonal: zeros with x on a diagonal.
struct OnDiagonal : Linear<OnDiagonal> {
  static constexpr OpInfo info{.name = "diagonal"};
  Line line;

  explicit OnDiagonal(const Line& which) : line(which) {}

  Tensor eval(const Tensor& x) const;
  Tensor transpose(const Tensor& ct) const { return core::dispatch(Diagonal(line), ct); }
  OnDiagonal batched(std::int64_t) const { return *this; }
};

struct OneHot : BroadcastBatching<OneHot> {
  static constexpr OpInfo info{.name = "one_hot"};
  static constexpr std::string_view not_differentiable = "class indices have no derivatives";
  Dim classes;
  DType dtype;

  OneHot(Dim dim, DType type) : classes(dim), dtype(type) {}

  /// ValueError for an index outside the classes.
  Tensor eval(const Tensor& x) const;
  OneHot batched(std::int64_t) const { return *this; }
};

}  // namespace tlaloc::inline v0::ops
