// What the families of operations share: the default batching rule, sums of cotangents, and tensors handed to kernels.
#pragma once

#include <cstdint>
#include <span>

#include <tlaloc/shape.hpp>
#include <tlaloc/tensor.hpp>

#include "core/dispatch.hpp"
#include "core/inline_vector.hpp"
#include "ops/kernels/elementwise.hpp"

namespace tlaloc::inline v0::ops {

using core::input;
using core::nothing;
using core::OpInfo;
using core::output;

/// x, the same for every example, with a batch axis of that extent in front: a view with stride 0.
Tensor with_batch_axis(const Tensor& x, std::int64_t extent);

/// The batching rule of most operations: shared inputs get the batch axis as a view, and `op.batched(extent)` is the
/// same operation with its axis numbers one further to the right.
template <class Op>
struct BroadcastBatching {
  void batch(core::BatchCall& call) const {
    core::Borrowed<3> in(call.in.size());
    core::InlineVector<Tensor, 3> made;
    for (std::size_t i = 0; i < call.in.size(); ++i) {
      if (!call.mapped[i]) made.push_back(with_batch_axis(call.in[i], call.extent));
      in.set(i, call.mapped[i] ? call.in[i].bits() : made.back().bits());
    }
    const auto batched = static_cast<const Op*>(this)->batched(call.extent);
    core::op_table<std::remove_const_t<decltype(batched)>>.run(&batched, in.span(call.in.size()), call.out);
  }
};

/// sum += term, either of which may be absent; writes over `sum` when nobody else holds it.
void accumulate(Tensor& sum, Tensor term);
Tensor negated(const Tensor& x);

/// Runs an elementwise kernel over tensors of equal extents and any layout. The result takes over the elements of
/// `reuse` (null, or the first input) where it can.
Tensor map_tensors(kernels::DenseRun run, const void* op, std::span<const Tensor* const> in, DType out, Tensor* reuse);

/// A plain tensor's elements in row-major order without gaps: x itself if they are, else a copy.
Tensor contiguous(const Tensor& x);

/// A plain tensor, dense once the leading axes along which it only repeats itself are taken away.
struct Repeated {
  Tensor dense;
  std::int64_t count;  // how many different ones there are along the first `batch` axes

  Repeated(const Tensor& x, int batch);
};

/// The operand of a kernel that takes strides; `strides` must live as long as it.
kernels::Operand operand_of(const Tensor& x, core::Strides& strides);

/// Extents of a shape, for a kernel.
struct Extents {
  std::int64_t of[Shape::max_rank];
  std::size_t rank = 0;
  explicit Extents(const Shape& shape) {
    for (const Dim dim : shape) of[rank++] = dim.extent();
  }
  operator std::span<const std::int64_t>() const { return {of, rank}; }
};

}  // namespace tlaloc::inline v0::ops
