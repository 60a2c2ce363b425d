#include "ops/rows.hpp"

#include "ops/internal.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {

Order reduced_last(int rank, AxisSet reduced) {
  Order order;
  for (int i = 0; i < rank; ++i)
    if (!reduced.contains(i)) order.push_back(i);
  for (int i = 0; i < rank; ++i)
    if (reduced.contains(i)) order.push_back(i);
  return order;
}

Tensor make_reduced(const Tensor& x, AxisSet axes, DType dtype) {
  return core::make_dense(without_axes(core::physical_shape(x)->shape, axes), dtype);
}

namespace {

Tensor moved(const Tensor& x, const Order& order) {
  return ops::contiguous(order.is_identity() ? x : Permute(order).eval(x));
}

}  // namespace

Sandwich::Sandwich(const Tensor& x, AxisSet reduced) {
  const Shape& shape = core::physical_shape(x)->shape;
  int first = 0;
  while (first < shape.rank() && !reduced.contains(first)) ++first;
  int last = first;
  while (last < shape.rank() && reduced.contains(last)) ++last;
  const bool neighbours = last - first == reduced.size();
  dense = neighbours ? ops::contiguous(x) : moved(x, reduced_last(shape.rank(), reduced));
  for (int i = 0; i < shape.rank(); ++i) {
    if (reduced.contains(i))
      count *= shape[i].extent();
    else if (i < first || !neighbours)
      outer *= shape[i].extent();
    else
      inner *= shape[i].extent();
  }
}

Rows::Rows(const Tensor& x, AxisSet along) : order_(reduced_last(core::physical_shape(x)->shape.rank(), along)) {
  dense_ = moved(x, order_);
  const Shape& shape = core::physical_shape(x)->shape;
  for (int i = 0; i < shape.rank(); ++i) (along.contains(i) ? count_ : rows_) *= shape[i].extent();
}

Tensor Rows::make_like() const {
  return core::make_dense(core::ShapeRef::share(core::physical_shape(dense_)), core::object_of(dense_)->dtype);
}

Tensor Rows::restored(const Tensor& result) const {
  return order_.is_identity() ? result : Permute(order_.inverse()).eval(result);
}

}  // namespace tlaloc::inline v0::ops
