#include "ops/internal.hpp"

#include <array>

#include "ops/arithmetic.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {

Tensor with_batch_axis(const Tensor& x, std::int64_t extent) { return core::dispatch(Expand::in_front(extent), x); }

void accumulate(Tensor& sum, Tensor term) {
  if (!term.defined()) return;
  if (!sum.defined())
    sum = std::move(term);
  else if (core::runs_directly(sum, term) && core::is_sole_owner(sum))
    sum = Add{}.compute(&sum, sum, term);
  else
    sum = core::dispatch(Add{}, sum, term);
}

Tensor negated(const Tensor& x) { return core::dispatch(Negative{}, x); }

kernels::Operand operand_of(const Tensor& x, core::Strides& strides) {
  const core::Object* const object = core::object_of(x);
  const auto size = static_cast<std::int64_t>(size_of(object->dtype));
  if (object->is_dense()) return {object->data, size, nullptr};
  strides = core::strides_of(x);
  return {object->data, size, strides.of};
}

Tensor map_tensors(kernels::DenseRun run, const void* op, std::span<const Tensor* const> in, DType out_dtype,
                   Tensor* reuse) {
  std::array<core::Strides, kernels::max_operands> strides;
  std::array<kernels::Operand, kernels::max_operands> operands;
  const core::InternedShape* shape = core::physical_shape(*in[0]);
  bool one_shape = true;
  for (std::size_t i = 0; i < in.size(); ++i) {
    operands[i] = operand_of(*in[i], strides[i]);
    one_shape &= core::physical_shape(*in[i]) == shape;
  }
  Shape merged = shape->shape;
  if (!one_shape)
    for (const Tensor* x : in)
      for (int d = 0; d < merged.rank(); ++d)
        if (!merged[d].axis().named()) merged[d] = core::physical_shape(*x)->shape[d];
  const Extents extents(merged);
  const bool takes_over = reuse != nullptr && operands[0].strides == nullptr;
  Tensor out = takes_over  ? std::move(*reuse)
               : one_shape ? core::make_dense(core::ShapeRef::share(shape), out_dtype)
                           : core::make_dense(merged, out_dtype);
  kernels::map(run, op, extents, {operands.data(), in.size()}, core::object_of(out)->data,
               static_cast<std::int64_t>(size_of(out_dtype)));
  return out;
}

Tensor contiguous(const Tensor& x) {
  if (core::object_of(x)->is_dense()) return x;
  core::Strides strides;
  const kernels::Operand source = operand_of(x, strides);
  const core::InternedShape* const shape = core::physical_shape(x);
  Tensor out = core::make_dense(core::ShapeRef::share(shape), core::object_of(x)->dtype);
  kernels::copy(Extents(shape->shape), source, core::object_of(out)->data);
  return out;
}

Repeated::Repeated(const Tensor& x, int batch) : count(1) {
  const Shape& shape = core::physical_shape(x)->shape;
  const core::Strides strides = core::strides_of(x);
  int dropped = 0;
  while (dropped < batch && strides[dropped] == 0) ++dropped;
  core::Strides rest;
  Shape rest_shape;
  for (int i = dropped; i < shape.rank(); ++i) {
    rest[i - dropped] = strides[i];
    rest_shape.push_back(shape[i]);
    if (i < batch) count *= shape[i].extent();
  }
  dense = ops::contiguous(dropped == 0 ? x : core::make_view(x, core::intern(rest_shape), 0, rest));
}

}  // namespace tlaloc::inline v0::ops
