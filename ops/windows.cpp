#include "ops/windows.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <string>

#include <tlaloc/create.hpp>
#include <tlaloc/elementwise.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/windows.hpp>

#include "ops/align.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0::ops {
namespace {

/// x with its last two extents replaced.
Shape with_last_two(const Shape& x, std::int64_t rows, std::int64_t columns) {
  Shape shape = x;
  const int rank = x.rank();
  shape[rank - 2] = Dim(x[rank - 2].axis(), rows);
  shape[rank - 1] = Dim(x[rank - 1].axis(), columns);
  return shape;
}

std::int64_t planes_of(const Shape& x) { return size_of_axes(x, 0, x.rank() - 2); }

}  // namespace

Conv Conv::giving(Gives what) const {
  Conv op = *this;
  op.gives = what;
  return op;
}

Tensor Conv::eval(const Tensor& a, const Tensor& b) const {
  // Images or maps come first, and kernels or maps second.
  const Shape& first = core::physical_shape(a)->shape;
  const Shape& second = core::physical_shape(b)->shape;
  const int rank = first.rank();
  kernels::ConvSizes sizes{.sets = size_of_axes(first, 0, paired),
                           .batch = size_of_axes(first, paired, rank - 3),
                           .groups = groups,
                           .windows = windows};
  Shape shape;
  if (gives == Gives::kernels) {
    for (int i = 0; i < paired; ++i) shape.push_back(first[i]);
    sizes.inputs = first[rank - 3].extent() / groups;
    sizes.outputs = second[rank - 3].extent() / groups;
    shape.push_back(second[rank - 3]);
    shape.push_back(sizes.inputs);
    shape.push_back(windows.rows.window);
    shape.push_back(windows.columns.window);
  } else {
    sizes.outputs = second[paired].extent() / groups;
    sizes.inputs = second[paired + 1].extent();
    shape = gives == Gives::maps ? with_last_two(first, windows.rows.count, windows.columns.count)
                                 : with_last_two(first, windows.rows.extent, windows.columns.extent);
    shape[rank - 3] = gives == Gives::maps ? second[paired] : Dim(groups * sizes.inputs);
  }
  const DType dtype = core::object_of(a)->dtype;
  Tensor out = core::make_dense(shape, dtype);
  const Repeated left(a, paired), right(b, paired);
  try {
    with_type<Domain::floats>(dtype, [&]<class T>() {
      const auto kernel = gives == Gives::maps     ? &kernels::conv<T>
                          : gives == Gives::images ? &kernels::conv_images<T>
                                                   : &kernels::conv_kernels<T>;
      kernel(sizes, core::elements<const T>(left.dense), left.count, core::elements<const T>(right.dense), right.count,
             core::elements<T>(out));
    });
  } catch (const std::bad_alloc&) {
    throw MemoryError("conv2d: no memory for one padded image and its patches" + got(std::array{&a, &b}) +
                      "; use less padding");
  }
  return out;
}

void Conv::vjp(core::VjpCall& call) const {
  const Tensor& ct = call.cotangents[0];
  const Tensor& a = call.saved.in(0);
  const Tensor& b = call.saved.in(1);
  const bool wants_a = call.wants(0), wants_b = call.wants(1);
  Tensor of_a, of_b;
  switch (gives) {
    case Gives::maps:  // of images and kernels
      if (wants_a) of_a = core::dispatch(giving(Gives::images), ct, b);
      if (wants_b) of_b = core::dispatch(giving(Gives::kernels), a, ct);
      break;
    case Gives::images:  // of maps and kernels
      if (wants_a) of_a = core::dispatch(giving(Gives::maps), ct, b);
      if (wants_b) of_b = core::dispatch(giving(Gives::kernels), ct, a);
      break;
    case Gives::kernels:  // of images and maps
      if (wants_a) of_a = core::dispatch(giving(Gives::images), b, ct);
      if (wants_b) of_b = core::dispatch(giving(Gives::maps), a, ct);
      break;
  }
  call.gradients[0] = std::move(of_a);
  call.gradients[1] = std::move(of_b);
}

void Conv::jvp(core::JvpCall& call) const {
  if (call.tangents[0].defined()) accumulate(call.out_tangents[0], core::dispatch(*this, call.tangents[0], call.in[1]));
  if (call.tangents[1].defined()) accumulate(call.out_tangents[0], core::dispatch(*this, call.in[0], call.tangents[1]));
}

void Conv::batch(core::BatchCall& call) const {
  if (gives != Gives::kernels && !call.mapped[1]) {
    // One set of kernels for all examples: the batch is one more axis of images.
    const auto moved = [](const Tensor& x, int from, int to) {
      return from == to ? x : core::dispatch(Permute(Order::moving(core::visible_rank(x), from, to)), x);
    };
    call.out[0] = moved(core::dispatch(*this, moved(call.in[0], 0, paired), call.in[1]), paired, 0);
    return;
  }
  const auto with_axis = [&](std::size_t i) {
    return call.mapped[i] ? call.in[i] : with_batch_axis(call.in[i], call.extent);
  };
  Conv op = *this;
  ++op.paired;
  call.out[0] = core::dispatch(op, with_axis(0), with_axis(1));
}

std::array<Tensor, 2> MaxPool::eval(const Tensor& x) const {
  const Tensor dense = ops::contiguous(x);
  const Shape& from = core::physical_shape(x)->shape;
  const DType dtype = core::object_of(x)->dtype;
  const Shape to = with_last_two(from, windows.rows.count, windows.columns.count);
  Shape flat;
  for (int i = 0; i < from.rank() - 2; ++i) flat.push_back(from[i]);
  flat.push_back(windows.places());
  Tensor values = core::make_dense(to, dtype);
  Tensor numbers = core::make_dense(flat, DType::i64);
  with_type<Domain::numbers>(dtype, [&]<class T>() {
    kernels::max_pool(windows, planes_of(from), core::elements<const T>(dense), core::elements<T>(values),
                      core::elements<std::int64_t>(numbers));
  });
  return {std::move(values), std::move(numbers)};
}

Places MaxPool::places(const Tensor& numbers) const {
  const int last = core::visible_rank(numbers) - 1;
  return {.batch = last, .axis = last, .extent = windows.plane(), .who = info.name, .shown_axis = last};
}

namespace {

/// x with other last axes, `dropped` of them replaced.
Tensor with_last_axes(const Tensor& x, int dropped, std::initializer_list<std::int64_t> extents) {
  const Shape from = shape_of(x);
  Shape to;
  for (int i = 0; i < from.rank() - dropped; ++i) to.push_back(from[i]);
  for (const std::int64_t extent : extents) to.push_back(extent);
  return core::dispatch(Reshape(from, to), x);
}

}  // namespace

void MaxPool::vjp(core::VjpCall& call) const {
  if (!call.wants(0)) return;
  const Tensor& numbers = call.saved.out(1);
  const Tensor ct = with_last_axes(call.cotangents[0], 2, {windows.places()});
  call.gradients[0] =
      with_last_axes(scattered(places(numbers), ct, numbers), 1, {windows.rows.extent, windows.columns.extent});
}

void MaxPool::jvp(core::JvpCall& call) const {
  const Tensor tangent = with_last_axes(call.tangents[0], 2, {windows.plane()});
  call.out_tangents[0] = with_last_axes(core::dispatch(Gather(places(call.out[1])), tangent, call.out[1]), 1,
                                        {windows.rows.count, windows.columns.count});
}

Tensor WindowSum::eval(const Tensor& x) const {
  const Tensor dense = ops::contiguous(x);
  const Shape& from = core::physical_shape(x)->shape;
  const DType dtype = core::object_of(x)->dtype;
  Tensor out = core::make_dense(transposed ? with_last_two(from, windows.rows.extent, windows.columns.extent)
                                           : with_last_two(from, windows.rows.count, windows.columns.count),
                                dtype);
  with_type<Domain::floats>(dtype, [&]<class T>() {
    (transposed ? kernels::window_spread<T> : kernels::window_sums<T>)(windows, planes_of(from),
                                                                       core::elements<const T>(dense),
                                                                       core::elements<T>(out));
  });
  return out;
}

Tensor WindowSum::transpose(const Tensor& ct) const {
  WindowSum op = *this;
  op.transposed = !transposed;
  return core::dispatch(op, ct);
}

}  // namespace tlaloc::inline v0::ops

namespace tlaloc::inline v0 {
namespace {

using ops::got;

/// How a window lies along the axis `extent` stands for; its options have been checked.
kernels::Slide slide_along(std::string_view op, std::string_view which, std::int64_t extent, std::int64_t window,
                           std::int64_t stride, std::int64_t padding, std::int64_t dilation,
                           std::span<const Tensor* const> in) {
  const std::int64_t room = extent + 2 * padding, reach = (window - 1) * dilation + 1;
  if (window > 0 && reach > room)
    throw ShapeError(std::string(op) + ": a window that reaches over " + std::to_string(reach) + " " +
                     std::string(which) + " does not fit into " + std::to_string(room) + " of them, padding included" +
                     got(in) + "; use a smaller window or more padding");
  return {extent, window, (room - reach) / stride + 1, stride, padding, dilation};
}

/// Sizes made of options stay below 2^63.
constexpr std::int64_t largest_option = std::int64_t{1} << 30;

void check_option(std::string_view op, std::string_view what, HeightWidth given, std::int64_t least,
                  std::span<const Tensor* const> in) {
  const std::int64_t smaller = std::min(given.height, given.width);
  if (smaller < least)
    throw ValueError(std::string(op) + ": the " + std::string(what) + " is " + std::to_string(smaller) + got(in) +
                     "; it must be at least " + std::to_string(least));
  const std::int64_t larger = std::max(given.height, given.width);
  if (larger > largest_option)
    throw ValueError(std::string(op) + ": the " + std::string(what) + " is " + std::to_string(larger) + got(in) +
                     "; it must be at most " + std::to_string(largest_option));
}

kernels::Windows pool_windows(std::string_view op, const Tensor& x, HeightWidth window, const PoolOptions& options) {
  const Tensor* const in[] = {&x};
  const auto dims = core::visible_dims(x);
  if (dims.size() < 2)
    throw ShapeError(std::string(op) + ": an image has at least two axes, height and width" + got(x));
  const HeightWidth stride = options.stride.value_or(window), padding = options.padding;
  check_option(op, "window", window, 1, in);
  check_option(op, "stride", stride, 1, in);
  check_option(op, "padding", padding, 0, in);
  if (padding.height >= window.height || padding.width >= window.width)
    throw ValueError(std::string(op) + ": a window of " + std::to_string(window.height) + " x " +
                     std::to_string(window.width) + " could lie in a padding of " + std::to_string(padding.height) +
                     " x " + std::to_string(padding.width) + " altogether" + got(x) +
                     "; the padding must be smaller than the window");
  const std::int64_t height = dims[dims.size() - 2].extent(), width = dims[dims.size() - 1].extent();
  // An image without elements has a window all in the padding.
  if (height == 0 || width == 0)
    throw ShapeError(std::string(op) + ": an image of " + std::to_string(height) + " x " + std::to_string(width) +
                     " has nothing to put a window on" + got(x));
  return {slide_along(op, "rows", height, window.height, stride.height, padding.height, 1, in),
          slide_along(op, "columns", width, window.width, stride.width, padding.width, 1, in)};
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& kernel, const ConvOptions& options) {
  constexpr std::string_view op = "conv2d";
  const Tensor* const in[] = {&x, &kernel};
  ops::require_defined(op, in);
  DType dtype = ops::promote(op, core::object_of(x)->dtype, core::object_of(kernel)->dtype, in);
  if (!is_float(dtype)) dtype = DType::f32;
  const Shape images = ops::shape_of(x), weights = ops::shape_of(kernel);
  const int rank = images.rank();
  if (rank < 3 || weights.rank() != 4)
    throw ShapeError("conv2d: images are [..., channels, height, width] and kernels [maps, channels, height, width]" +
                     got(in) + "; reshape the operand that is not");
  check_option(op, "stride", options.stride, 1, in);
  check_option(op, "dilation", options.dilation, 1, in);
  check_option(op, "padding", options.padding, 0, in);
  check_option(op, "number of groups", options.groups, 1, in);
  const Dim channels = images[rank - 3], per_group = weights[1];
  if (ops::names_are_on() && channels.axis().named() && per_group.axis().named() && channels.axis() != per_group.axis())
    throw AxisError("conv2d: the axes " + channels.axis().name() + " and " + per_group.axis().name() +
                    " would be contracted with each other" + got(in) + "; the kernel's second axis meets the channels");
  if (per_group.extent() * options.groups != channels.extent() || weights[0].extent() % options.groups != 0)
    throw ShapeError("conv2d: " + std::to_string(options.groups) + " group(s) of kernels with " +
                     std::to_string(per_group.extent()) + " channels, " + std::to_string(weights[0].extent()) +
                     " kernels in all, do not fit " + std::to_string(channels.extent()) + " channels" + got(in) +
                     "; a kernel has channels / groups of them, and the groups share the kernels evenly");
  if (weights[2].extent() == 0 || weights[3].extent() == 0)
    throw ShapeError("conv2d: the kernel has no entries" + got(in) + "; its height and width must be at least 1");
  for (int i = 0; ops::names_are_on() && i < rank; ++i)
    if (i != rank - 3 && weights[0].axis().named() && images[i].axis() == weights[0].axis())
      throw AxisError("conv2d: the result would have the axis " + weights[0].axis().name() + " twice" + got(in) +
                      "; rename it in one operand");
  const kernels::Windows windows{
      slide_along(op, "rows", images[rank - 2].extent(), weights[2].extent(), options.stride.height,
                  options.padding.height, options.dilation.height, in),
      slide_along(op, "columns", images[rank - 1].extent(), weights[3].extent(), options.stride.width,
                  options.padding.width, options.dilation.width, in)};
  return core::dispatch(ops::Conv(windows, options.groups), ops::as_dtype(x, dtype), ops::as_dtype(kernel, dtype));
}

Tensor max_pool2d(const Tensor& x, HeightWidth window, const PoolOptions& options) {
  const Tensor numbers = ops::as_number("max_pool2d", x);
  return core::dispatch(ops::MaxPool(pool_windows("max_pool2d", x, window, options)), numbers)[0];
}

Tensor avg_pool2d(const Tensor& x, HeightWidth window, const PoolOptions& options, PaddingCounts padding_counts) {
  const Tensor numbers = ops::as_float("avg_pool2d", x);
  const ops::WindowSum sum(pool_windows("avg_pool2d", x, window, options));
  const Tensor sums = core::dispatch(sum, numbers);
  if (padding_counts == PaddingCounts::yes) return divide(sums, sum.windows.entries());
  const Tensor counts =
      core::dispatch(sum, ones({sum.windows.rows.extent, sum.windows.columns.extent}, core::object_of(numbers)->dtype));
  return divide(sums, ops::broadcast_by_position(counts, ops::shape_of(sums)));
}

}  // namespace tlaloc::inline v0
