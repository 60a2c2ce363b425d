#include "ops/guard.hpp"

#include <algorithm>
#include <cstring>

#include "ops/selection.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {
namespace {

/// ct where the mask is true, 0 elsewhere.
Tensor masked(const Tensor& mask, const Tensor& ct) {
  const Shape shape(core::visible_dims(ct));
  AxisSet trailing;
  for (int i = core::visible_rank(mask); i < shape.rank(); ++i) trailing.insert(i);
  const Tensor rows = trailing.empty() ? mask : core::dispatch(Expand(trailing, only_axes(shape, trailing)), mask);
  return core::dispatch(Where{}, rows, ct, zero_like(ct));
}

}  // namespace

Tensor Guard::eval(const Tensor& mask, const Tensor& x) const {
  const Tensor flags = contiguous(mask);
  const Tensor source = contiguous(x);
  const auto rows = static_cast<std::size_t>(core::physical_shape(flags)->size);
  const core::InternedShape* const shape = core::physical_shape(x);
  Tensor out = core::make_dense(core::ShapeRef::share(shape), core::object_of(x)->dtype);
  if (rows == 0) return out;
  const bool* const active = core::elements<const bool>(flags);
  const std::size_t bytes = static_cast<std::size_t>(shape->size) / rows * size_of(core::object_of(x)->dtype);
  const auto first = static_cast<std::size_t>(std::find(active, active + rows, true) - active);
  for (std::size_t i = 0; i < rows; ++i)
    std::memcpy(core::object_of(out)->data + i * bytes,
                core::object_of(source)->data + (active[i] ? i : first % rows) * bytes, bytes);
  return out;
}

void Guard::vjp(core::VjpCall& call) const {
  if (call.wants(1)) call.gradients[1] = masked(call.saved.in(0), call.cotangents[0]);
}

void Guard::jvp(core::JvpCall& call) const {
  if (call.tangents[1].defined()) call.out_tangents[0] = masked(call.in[0], call.tangents[1]);
}

}  // namespace tlaloc::inline v0::ops
