// Jacobians: a pull-back mapped over a basis of cotangents, or a push-forward over a basis of tangents.
#include <tlaloc/jacobian.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include <tlaloc/error.hpp>
#include <tlaloc/structure.hpp>
#include <tlaloc/vmap.hpp>

#include "core/dispatch.hpp"
#include "ops/axes.hpp"

namespace tlaloc::inline v0::core {
namespace {

/// Rows [begin, begin + count) of the identity of x's elements, each in the shape of x.
Tensor basis(const Tensor& x, std::int64_t begin, std::int64_t count) {
  const Shape shape(visible_dims(x));
  const std::int64_t size = shape.size();
  Tensor rows = make_dense(Shape{count, size}, object_of(x)->dtype);
  const auto fill = [&]<class T>() {
    T* const to = elements<T>(rows);
    std::fill_n(to, count * size, T{0});
    for (std::int64_t i = 0; i < count; ++i) to[i * size + begin + i] = T{1};
  };
  object_of(x)->dtype == DType::f64 ? fill.operator()<double>() : fill.operator()<float>();
  return reshape(rows, ops::with_dim_in_front(count, shape));
}

/// The axes of a result, then those of an argument, primed where their name is taken.
Shape jacobian_shape(const Tensor& result, const Tensor& argument) {
  Shape shape(visible_dims(result));
  for (const Dim dim : visible_dims(argument)) {
    Axis axis = dim.axis();
    while (axis.named() && shape.position(axis) >= 0) axis = axis.primed();
    shape.push_back(Dim(axis, dim.extent()));
  }
  return shape;
}

/// Calls `run` for the basis of x, mapped, a chunk at a time; joins what it gives, along a new axis in front of each.
template <class Run>
std::vector<Tensor> over_basis(const Tensor& x, ChunkSize chunk, Run run) {
  const std::int64_t size = Shape(visible_dims(x)).size();
  const std::int64_t step = chunk.count > 0 ? chunk.count : std::max<std::int64_t>(size, 1);
  std::vector<std::vector<Tensor>> parts;
  for (std::int64_t begin = 0; begin < size || begin == 0; begin += step) {
    Tensor vectors = basis(x, begin, std::min(step, size - begin));
    const MapOptions options;
    MapScope scope(options, 1);
    scope.argument(vectors, 0);
    scope.start();
    std::vector<Tensor> results = run(vectors);
    Leaves leaves;
    for (Tensor& result : results) leaves.push_back(&result);
    scope.finish(leaves);
    parts.resize(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) parts[i].push_back(std::move(results[i]));
  }
  std::vector<Tensor> joined;
  for (const std::vector<Tensor>& part : parts)
    joined.push_back(part.size() == 1 || !part[0].defined() ? part[0] : concat(part, 0));
  return joined;
}

}  // namespace

void jacobian_by_rows(GradScope& scope, std::size_t k, ChunkSize chunk, std::span<Tensor> blocks) {
  const Tensor& result = scope.output_value(k);
  if (!result.defined() || !is_float(object_of(result)->dtype))
    throw DTypeError("jacrev: result " + std::to_string(k) + " is not a float; got " + describe(result) +
                     "; differentiate floats, or cast it");
  const NamesOff names_off;
  const std::vector<Tensor> rows = over_basis(result, chunk, [&](const Tensor& cotangent) {
    std::vector<Tensor> cotangents(scope.output_count());
    cotangents[k] = cotangent;
    std::vector<Tensor> gradients(scope.input_count());
    scope.pull_back(cotangents, gradients, false);
    return gradients;
  });
  for (std::size_t i = 0; i < blocks.size(); ++i)
    blocks[i] = rows[i].defined() ? reshape(rows[i], jacobian_shape(result, scope.input_value(i))) : Tensor();
}

std::vector<Tensor> jacobian_by_columns(const Tensor& input, ChunkSize chunk,
                                        const std::function<Pushed(const Tensor&)>& push) {
  if (!input.defined() || !is_float(object_of(input)->dtype)) return {};
  std::vector<Tensor> values;
  const std::vector<Tensor> columns = over_basis(input, chunk, [&](const Tensor& tangent) {
    Pushed pushed = push(tangent);
    values = std::move(pushed.values);
    return std::move(pushed.tangents);
  });
  const NamesOff names_off;
  std::vector<Tensor> blocks;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (!columns[k].defined()) {
      blocks.emplace_back();
      continue;
    }
    std::vector<AxisRef> order;
    for (int axis = 1; axis < visible_rank(columns[k]); ++axis) order.emplace_back(axis);
    order.emplace_back(0);
    blocks.push_back(reshape(permute(columns[k], order), jacobian_shape(values[k], input)));
  }
  return blocks;
}

}  // namespace tlaloc::inline v0::core
