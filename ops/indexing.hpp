// Gather and ScatterAdd: elements taken from, or added to, the places along one axis that a tensor of indices names.
// Each is the other's transpose.
//
// A table has axes [batch..., outer..., places, inner...], the indices [batch..., picks...], and what is taken or added
// [batch..., outer..., picks..., inner...]. So take() has no batch axes, and take_along_axis() nothing else.
#pragma once

#include <string_view>

#include "ops/axes.hpp"
#include "ops/internal.hpp"

namespace tlaloc::inline v0::ops {

/// The places along one axis of a table, and what messages say of them.
struct Places {
  int batch;            // how many axes the table and the indices share
  int axis;             // of the table
  std::int64_t extent;  // of that axis
  std::string_view who;
  int shown_axis;             // the axis as the caller numbers it
  int shown_index_axis = -1;  // of take_along_axis: the axis of the indices that stands last here
  AxisSet hidden_table{};     // what vmaps brought in and the caller does not see
  AxisSet hidden_index{};

  /// With one more shared axis in front.
  Places with_batch_axis() const;
  /// With one more axis in front of the table alone.
  Places with_table_axis() const;
  /// With one more axis of the indices alone, in front of their own.
  Places with_index_axis() const;
};

/// Inputs: the table, and i32 or i64 indices.
struct Gather {
  static constexpr OpInfo info{.name = "take", .inputs = 2};
  static constexpr std::array needs{input(1), nothing};
  Places places;

  explicit Gather(const Places& where) : places(where) {}

  Tensor eval(const Tensor& table, const Tensor& indices) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  void batch(core::BatchCall& call) const;
};

/// Inputs: the table, what is added to it, and i32 or i64 indices.
struct ScatterAdd {
  static constexpr OpInfo info{.name = "scatter_add", .inputs = 3};
  static constexpr std::array needs{nothing, input(2), nothing};
  Places places;

  explicit ScatterAdd(const Places& where) : places(where) {}

  Tensor eval(const Tensor& table, const Tensor& updates, const Tensor& indices) const;
  void vjp(core::VjpCall& call) const;
  void jvp(core::JvpCall& call) const;
  void batch(core::BatchCall& call) const;
};

/// The transpose of Gather in its table: ct added up where it was taken from.
Tensor scattered(const Places& places, const Tensor& ct, const Tensor& indices);

}  // namespace tlaloc::inline v0::ops
