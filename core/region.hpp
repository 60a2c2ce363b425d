// Regions: what every operation inside a branch whose condition differs from example to example passes through.
//
// A value that enters a region, as an argument or captured, is replaced by a guarded copy, in which the examples that
// are not active hold the first active one's values, with no gradient. So nothing in a branch that an example does not
// take can trap, or leak a nan into its derivative. What is made inside is left alone.
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
  /// `mask`, a bool tensor of visible rank 0, says which examples are active.
  explicit Region(Tensor mask);
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// x as operations inside see it: a guarded copy if it comes from outside and differs between the mask's examples.
  /// The empty tensor stands for x itself.
  Tensor admitted(const Tensor& x);
  /// Notes that x was made inside.
  void adopt(const Tensor& x) { made_here_.insert_or_assign(object_of(x), x); }

 protected:
  ~Region() = default;
  /// The guarded copy, made outside the region.
  virtual Tensor guard(const Tensor& mask, const Tensor& x) = 0;

 private:
  Tensor mask_;
  std::vector<LevelWord> levels_;                                          // of the vmaps that the mask is mapped by
  std::unordered_map<std::uintptr_t, std::pair<Tensor, Tensor>> guarded_;  // by handle: the value and its copy
  std::unordered_map<const Object*, Tensor> made_here_;  // holding them keeps addresses from being reused
};

/// Makes a region the current one of this thread, or (null) leaves all regions, while it lives.
class RegionSwitch {
 public:
  explicit RegionSwitch(Region* region) : state_(thread_state()), before_(std::exchange(state_.region, region)) {}
  ~RegionSwitch() { state_.region = before_; }
  RegionSwitch(const RegionSwitch&) = delete;
  RegionSwitch& operator=(const RegionSwitch&) = delete;

  Region* before() const { return before_; }

 private:
  ThreadState& state_;
  Region* before_;
};

}  // namespace tlaloc::inline v0::core
