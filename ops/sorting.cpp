#include "ops/sorting.hpp"

#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/sorting.hpp>

#include "ops/align.hpp"
#include "ops/kernels/sort.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {

std::array<Tensor, 2> Sort::eval(const Tensor& x) const {
  const Tensor dense = ops::contiguous(x);
  const core::InternedShape* const whole = core::physical_shape(x);
  const DType dtype = core::object_of(x)->dtype;
  Shape shape = whole->shape;
  const int last = shape.rank() - 1;
  shape[last] = Dim(shape[last].axis(), kept);
  Tensor values = core::make_dense(shape, dtype);
  Tensor indices = core::make_dense(shape, DType::i64);
  const Tensor work = kept == extent ? indices : core::make_dense(core::ShapeRef::share(whole), DType::i64);
  std::int64_t rows = 1;
  for (int i = 0; i < last; ++i) rows *= shape[i].extent();
  const auto run = [&]<class T>() {
    kernels::sort(core::elements<const T>(dense), core::elements<T>(values), core::elements<std::int64_t>(indices),
                  core::elements<std::int64_t>(work), rows, extent, kept, descending);
  };
  if (dtype == DType::boolean)
    run.operator()<bool>();
  else
    with_type<Domain::numbers>(dtype, run);
  return {std::move(values), std::move(indices)};
}

Places Sort::places(const Tensor& indices) const {
  const int last = core::visible_rank(indices) - 1;
  return {.batch = last, .axis = last, .extent = extent, .who = info.name, .shown_axis = last};
}

void Sort::vjp(core::VjpCall& call) const {
  const Tensor& indices = call.saved.out(1);
  if (call.wants(0)) call.gradients[0] = scattered(places(indices), call.cotangents[0], indices);
}

void Sort::jvp(core::JvpCall& call) const {
  call.out_tangents[0] = core::dispatch(Gather(places(call.out[1])), call.tangents[0], call.out[1]);
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {
namespace {

constexpr std::int64_t all_of_them = -1;

ValuesAndIndices sorted(std::string_view op, const Tensor& x, AxisRef axis, std::int64_t k, Descending descending) {
  ops::require_defined(op, x);
  const int along = ops::resolve_axis(op, x, axis);
  const int last = core::visible_rank(x) - 1;
  const std::int64_t extent = core::visible_dims(x)[static_cast<std::size_t>(along)].extent();
  const ops::Sort sort_last(extent, k == all_of_them ? extent : k, descending == Descending::yes);
  if (along == last) {
    auto [values, indices] = core::dispatch(sort_last, x);
    return {std::move(values), std::move(indices)};
  }
  const ops::Order to_last = ops::Order::moving(last + 1, along, last);
  const ops::Permute back(to_last.inverse());
  const auto [values, indices] = core::dispatch(sort_last, core::dispatch(ops::Permute(to_last), x));
  return {core::dispatch(back, values), core::dispatch(back, indices)};
}

}  // namespace

Tensor sort(const Tensor& x, AxisRef axis, Descending descending) {
  return sorted("sort", x, axis, all_of_them, descending).values;
}

Tensor argsort(const Tensor& x, AxisRef axis, Descending descending) {
  // A constant: the values, which nobody will see, need no place on a tape.
  ops::require_defined("argsort", x);
  return sorted("argsort", stop_gradient(x), axis, all_of_them, descending).indices;
}

ValuesAndIndices sort_with_indices(const Tensor& x, AxisRef axis, Descending descending) {
  return sorted("sort_with_indices", x, axis, all_of_them, descending);
}

ValuesAndIndices topk(const Tensor& x, std::int64_t k, AxisRef axis, Descending descending) {
  ops::require_defined("topk", x);
  const int along = ops::resolve_axis("topk", x, axis);
  const std::int64_t extent = core::visible_dims(x)[static_cast<std::size_t>(along)].extent();
  if (k < 0 || k > extent)
    throw ValueError("topk: there are no " + std::to_string(k) + " elements along axis " + std::to_string(along) +
                     ops::got(x) + "; k goes from 0 to " + std::to_string(extent));
  return sorted("topk", x, along, k, descending);
}

}  // namespace tlaloc::inline v0
