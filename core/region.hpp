// Regions: what every operation inside a branch whose condition differs from example to example passes through.
//
// A value that enters a region, as an argument or captured, is replaced by a guarded copy, in which the examples that
// are not active hold the first active one's values, with no gradient. So nothing in a branch that an example does not
// take can trap, or leak a nan into its derivative. What is made inside is left alone.
//
// What a transform's interpreter runs is below its level, and a mask that differs between the examples of that level or
// of one inside it means nothing there. So a region covers an interpreter's work only where its whole mask lies
// further out; the operands were admitted before the interpreter got them.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include <tlaloc/tensor.hpp>

#include "core/object.hpp"
#include "core/thread_state.hpp"

namespace tlaloc::inline v0::core {

class Region {
 public:
  /// `mask`, a bool tensor of visible rank 0, says which examples are active. `outer` is the region around, or null.
  Region(Tensor mask, Region* outer);
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// x as operations inside see it: a guarded copy if it comes from outside and differs between the mask's examples.
  /// The empty tensor stands for x itself.
  Tensor admitted(const Tensor& x);
  /// Notes that x was made inside.
  void adopt(const Tensor& x) { made_here_.insert_or_assign(object_of(x), x); }

  Region* outer() const { return outer_; }
  /// The innermost vmap that this mask, or one around it, is mapped by.
  LevelWord level() const { return level_; }

 protected:
  ~Region() = default;
  /// The guarded copy; called outside the region.
  virtual Tensor guard(const Tensor& mask, const Tensor& x) = 0;

 private:
  Tensor mask_;
  Region* outer_;
  LevelWord level_;
  std::vector<LevelWord> levels_;                                          // of the vmaps that the mask is mapped by
  std::unordered_map<std::uintptr_t, std::pair<Tensor, Tensor>> guarded_;  // by handle: the value and its copy
  std::unordered_map<const Object*, Tensor> made_here_;  // holding them keeps addresses from being reused
};

/// Of the regions around this point, the innermost one that covers what the interpreter of `level` runs, or null.
inline Region* region_outside(Region* region, LevelWord level) {
  while (region != nullptr && region->level() >= level) region = region->outer();
  return region;
}

/// Makes a region the current one of this thread, or (null) leaves all regions, while it lives.
class RegionSwitch {
 public:
  explicit RegionSwitch(Region* region) : state_(thread_state()), before_(std::exchange(state_.region, region)) {}
  ~RegionSwitch() { state_.region = before_; }
  RegionSwitch(const RegionSwitch&) = delete;
  RegionSwitch& operator=(const RegionSwitch&) = delete;

 private:
  ThreadState& state_;
  Region* before_;
};

}  // namespace tlaloc::inline v0::core
