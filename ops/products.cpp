// matmul, dot and outer: how their operands' axes are paired for the one contraction.
#include <algorithm>

#include <tlaloc/contract.hpp>
#include <tlaloc/error.hpp>

#include "ops/align.hpp"
#include "ops/contraction.hpp"
#include "ops/views.hpp"

namespace tlaloc::inline v0 {
namespace {

using ops::Contract;
using ops::Order;

/// The operands in one dtype that has a product.
class Operands {
 public:
  Operands(std::string_view op, const Tensor& left, const Tensor& right) : a_(&left), b_(&right) {
    const bool same_floats = left.defined() && right.defined() && is_float(core::object_of(left)->dtype) &&
                             core::object_of(left)->dtype == core::object_of(right)->dtype;
    if (same_floats) [[likely]]
      return;
    const Tensor* const in[] = {&left, &right};
    ops::require_defined(op, in);
    const DType dtype =
        std::max(DType::i32, ops::promote(op, core::object_of(left)->dtype, core::object_of(right)->dtype, in));
    replace(ops::as_dtype(left, dtype), ops::as_dtype(right, dtype));
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  const Tensor& a() const { return *a_; }
  const Tensor& b() const { return *b_; }
  void replace(Tensor a, Tensor b) {
    made_a_ = std::move(a);
    made_b_ = std::move(b);
    a_ = &made_a_;
    b_ = &made_b_;
  }
  std::string got() const {
    const Tensor* const in[] = {a_, b_};
    return ops::got(in);
  }

 private:
  const Tensor* a_;
  const Tensor* b_;
  Tensor made_a_, made_b_;
};

/// Throws when the result would have one name twice.
void check_result_names(std::string_view op, const Operands& in, const Contract& how) {
  const auto a = core::visible_dims(in.a());
  const auto b = core::visible_dims(in.b());
  const auto uses = [](const Order& order, std::size_t axis) {
    return std::find(order.of, order.of + order.rank, axis) != order.of + order.rank;
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].axis().named()) continue;
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (a[i].axis() != b[j].axis() || uses(how.a_summed, i) || uses(how.b_summed, j)) continue;
      if ((uses(how.a_batch, i) && uses(how.b_batch, j)) || !ops::names_are_on()) continue;
      throw AxisError(std::string(op) + ": the result would have the axis " + a[i].axis().name() + " twice" + in.got() +
                      "; rename it in one operand" + (op == "dot" ? "" : ", or use dot() to pair axes by name"));
    }
  }
}

Tensor contract(std::string_view op, const Operands& in, const Contract& how) {
  check_result_names(op, in, how);
  return core::dispatch(how, in.a(), in.b());
}

void check_summed(std::string_view op, const Operands& in, Dim a, Dim b) {
  if (a == b) [[likely]]
    return;
  if (ops::names_are_on() && a.axis().named() && b.axis().named() && a.axis() != b.axis())
    throw AxisError(std::string(op) + ": the axes " + a.axis().name() + " and " + b.axis().name() +
                    " would be contracted with each other" + in.got() +
                    "; the last axis of the first operand meets the last but one (or the only one) of the second:"
                    " transpose an operand, or pair axes by name with dot()");
  if (a.extent() != b.extent())
    throw ShapeError(std::string(op) + ": the contracted axes have " + std::to_string(a.extent()) + " and " +
                     std::to_string(b.extent()) + " elements" + in.got() +
                     "; the last axis of the first operand meets the last but one (or the only one) of the second:"
                     " transpose an operand, or pair axes by name with dot()");
}

/// The axes before the last two, brought to one shape.
void broadcast_batch_axes(Operands& in) {
  const Shape a = ops::shape_of(in.a());
  const Shape b = ops::shape_of(in.b());
  const int batch = std::max(a.rank(), b.rank()) - 2;
  Shape common;
  for (int i = 0; i < batch; ++i) {
    const int at_a = i - (batch + 2 - a.rank());
    const int at_b = i - (batch + 2 - b.rank());
    const Dim x = at_a >= 0 ? a[at_a] : Dim(1);
    const Dim y = at_b >= 0 ? b[at_b] : Dim(1);
    if (ops::names_are_on() && x.axis().named() && y.axis().named() && x.axis() != y.axis())
      throw AxisError("matmul: the batch axes " + x.axis().name() + " and " + y.axis().name() + " meet in one place" +
                      in.got() + "; permute one operand, or use dot() to pair axes by name");
    if (x.extent() != y.extent() && x.extent() != 1 && y.extent() != 1)
      throw ShapeError("matmul: batch extents " + std::to_string(x.extent()) + " and " + std::to_string(y.extent()) +
                       " meet in one place" + in.got() + "; only an extent of 1 stretches");
    common.push_back(Dim(x.axis().named() ? x.axis() : y.axis(), x.extent() == 1 ? y.extent() : x.extent()));
  }
  const auto with_batch = [&](const Tensor& x, const Shape& own) {
    Shape to = common;
    to.push_back(own[own.rank() - 2]);
    to.push_back(own[own.rank() - 1]);
    return ops::broadcast_by_position(x, to);
  };
  in.replace(with_batch(in.a(), a), with_batch(in.b(), b));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  Operands in("matmul", a, b);
  const auto dims_a = core::visible_dims(in.a());
  const auto dims_b = core::visible_dims(in.b());
  int a_rank = static_cast<int>(dims_a.size());
  int b_rank = static_cast<int>(dims_b.size());
  if (a_rank == 0 || b_rank == 0)
    throw ShapeError("matmul: an operand has no axis to contract" + in.got() + "; multiply by a scalar with *");
  check_summed("matmul", in, dims_a.back(), dims_b[static_cast<std::size_t>(std::max(b_rank - 2, 0))]);
  Contract how;
  if (a_rank > 2 && b_rank > 2) {
    broadcast_batch_axes(in);
    a_rank = b_rank = core::visible_rank(in.a());
    for (int i = 0; i < a_rank - 2; ++i) {
      how.a_batch.push_back(i);
      how.b_batch.push_back(i);
    }
  }
  how.a_summed.push_back(a_rank - 1);
  how.b_summed.push_back(std::max(b_rank - 2, 0));
  Tensor result = contract("matmul", in, how);
  if (b_rank <= 2 || a_rank != 2) return result;
  // [rows, batch of b..., columns]: the rows belong after the batch.
  const int rank = core::visible_rank(result);
  return core::dispatch(ops::Permute(Order::moving(rank, 0, rank - 2)), result);
}

Tensor dot(const Tensor& a, const Tensor& b, Axis axis) { return dot(a, b, std::span<const Axis>(&axis, 1)); }

Tensor dot(const Tensor& a, const Tensor& b, std::span<const Axis> axes) {
  const Operands in("dot", a, b);
  const Shape shape_a = ops::shape_of(in.a());
  const Shape shape_b = ops::shape_of(in.b());
  for (const Axis axis : axes) {
    if (!axis.named()) throw AxisError("dot: Axis::none names no axis" + in.got() + "; use matmul to pair by position");
    if (shape_a.position(axis) < 0 || shape_b.position(axis) < 0)
      throw AxisError("dot: the axis " + axis.name() + " is not in both operands" + in.got() +
                      "; sum or rename the axis of one operand");
  }
  Contract how;
  for (int i = 0; i < shape_a.rank(); ++i) {
    const Axis axis = shape_a[i].axis();
    const int there = axis.named() ? shape_b.position(axis) : -1;
    if (there < 0) continue;
    if (shape_a[i] != shape_b[there])
      throw ShapeError("dot: the axis " + axis.name() + " has " + std::to_string(shape_a[i].extent()) + " and " +
                       std::to_string(shape_b[there].extent()) + " elements" + in.got() +
                       "; equal names need equal extents");
    const bool summed = std::find(axes.begin(), axes.end(), axis) != axes.end();
    (summed ? how.a_summed : how.a_batch).push_back(i);
    (summed ? how.b_summed : how.b_batch).push_back(there);
  }
  return contract("dot", in, how);
}

Tensor outer(const Tensor& a, const Tensor& b) { return contract("outer", Operands("outer", a, b), Contract{}); }

}  // namespace tlaloc::inline v0
