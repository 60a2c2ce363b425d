// Tensors as kernels that work along axes see them: as [outer, count, inner], or as rows.
#pragma once

#include "core/object.hpp"
#include "ops/axes.hpp"

namespace tlaloc::inline v0::ops {

/// Some axes at the end, all others before them, in their order.
Order reduced_last(int rank, AxisSet reduced);

/// A new tensor of plain x's shape without some axes.
Tensor make_reduced(const Tensor& x, AxisSet axes, DType dtype);

/// A plain tensor whose reduced axes are one dense dimension; copied only when they are not neighbours in dense memory.
struct Sandwich {
  Tensor dense;
  std::int64_t outer = 1, count = 1, inner = 1;

  Sandwich(const Tensor& x, AxisSet reduced);
};

/// A plain tensor with some axes moved to the end, where they form dense rows.
class Rows {
 public:
  Rows(const Tensor& x, AxisSet along);

  const Tensor& dense() const { return dense_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t count() const { return count_; }
  /// A new tensor of the moved layout, and such a tensor with its axes back in x's order.
  Tensor make_like() const;
  Tensor restored(const Tensor& moved) const;

 private:
  Tensor dense_;
  Order order_;
  std::int64_t rows_ = 1;
  std::int64_t count_ = 1;
};

}  // namespace tlaloc::inline v0::ops
