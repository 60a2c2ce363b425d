// Branches and loops with a condition of each example's own.
#include <tlaloc/control.hpp>

#include <algorithm>
#include <string>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/structure.hpp>

#include "core/dispatch.hpp"
#include "core/region.hpp"
#include "ops/guard.hpp"
#include "ops/internal.hpp"

namespace tlaloc::inline v0::core {
namespace {

class Branch final : public Region {
 public:
  using Region::Region;

 private:
  Tensor guard(const Tensor& mask, const Tensor& x) override { return dispatch(ops::Guard{}, mask, x); }
};

}  // namespace

Decision decide(std::string_view op, const Tensor& condition) {
  if (!condition.defined())
    throw ValueError(std::string(op) + ": the condition is the empty tensor; return a bool tensor of rank 0");
  check_alive(op, condition);
  if (object_of(condition)->dtype != DType::boolean)
    throw DTypeError(std::string(op) + ": the condition is not a bool; got " + describe(condition) +
                     "; compare it, as in x != 0");
  if (visible_rank(condition) != 0)
    throw ShapeError(std::string(op) + ": the condition is not of rank 0; got " + describe(condition) +
                     "; reduce it to one truth, or choose element by element with where()");
  const std::int64_t size = physical_shape(condition)->size;
  std::int64_t active = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    bool value;
    read_elements(condition, i, 1, reinterpret_cast<std::byte*>(&value));
    active += value;
  }
  return active == 0 ? Decision::none : active == size ? Decision::all : Decision::some;
}

struct BranchScope::State {
  explicit State(const Tensor& mask) : branch(mask, thread_state().region), current(&branch) {}
  Branch branch;
  RegionSwitch current;
};

BranchScope::BranchScope(const Tensor& mask) : state_(std::make_unique<State>(mask)) {}
BranchScope::~BranchScope() = default;

Tensor logical_not(const Tensor& mask) { return equal(mask, full({}, 0, DType::boolean)); }
Tensor narrowed(const Tensor& mask, const Tensor& further) { return where(mask, further, full({}, 0, DType::boolean)); }

void merge(std::string_view op, const Tensor& mask, const Leaves& taken, const Leaves& other) {
  if (taken.size() != other.size())
    throw ValueError(std::string(op) + ": one result holds " + std::to_string(taken.size()) +
                     " tensors and the other " + std::to_string(other.size()) +
                     "; both must be trees of one structure");
  for (std::size_t i = 0; i < taken.size(); ++i) {
    Tensor& a = *taken[i];
    const Tensor& b = *other[i];
    if (!a.defined() && !b.defined()) continue;
    const bool fit = a.defined() && b.defined() && a.dtype() == b.dtype() && a.shape() == b.shape();
    if (!fit)
      throw ShapeError(std::string(op) + ": tensor " + std::to_string(i) + " is " + describe(a) +
                       " in one result and " + describe(b) +
                       " in the other; both need the same dtype, names and sizes");
    a = where(mask, a, b);
  }
}

Tensor element_of(const Tensor& x, std::int64_t i) { return select(x, 0, i); }

std::int64_t scan_length(const ConstLeaves& xs) {
  if (xs.size() == 0) throw ValueError("scan: there is no tensor to run along; use fori_loop");
  std::int64_t length = -1;
  for (const Tensor* x : xs) {
    if (!x->defined() || x->rank() == 0)
      throw ShapeError("scan: a tensor has no axis to run along; got " + describe(*x) + "; give every one an axis 0");
    if (length >= 0 && x->extent(0) != length)
      throw ShapeError("scan: one tensor has " + std::to_string(length) + " elements along axis 0 and another " +
                       std::to_string(x->extent(0)) + "; got " + describe(*x) + "; all need one extent");
    length = x->extent(0);
  }
  if (length == 0)
    throw ValueError(
        "scan: there is nothing along axis 0, so that the outputs' shape is not known; leave the scan out");
  return length;
}

Tensor stacked(std::vector<Tensor> parts) { return stack(parts); }

}  // namespace tlaloc::inline v0::core
