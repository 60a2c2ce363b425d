#include "core/region.hpp"

#include <algorithm>

namespace tlaloc::inline v0::core {

Region::Region(Tensor mask, Region* outer)
    : mask_(std::move(mask)), outer_(outer), level_(outer != nullptr ? outer->level() : 0) {
  for (int i = 0; i < cursor_of(mask_); ++i)
    if (const LevelWord level = object_of(mask_)->note(i).level; kind_of(level) == LevelKind::vmap) {
      levels_.push_back(level);
      level_ = std::max(level_, level);
    }
}

Tensor Region::admitted(const Tensor& x) {
  bool concerned = false;
  for (int i = 0; i < cursor_of(x); ++i)
    concerned |= std::find(levels_.begin(), levels_.end(), object_of(x)->note(i).level) != levels_.end();
  if (!concerned || made_here_.contains(object_of(x))) return {};
  if (const auto found = guarded_.find(x.bits()); found != guarded_.end()) return found->second.second;
  const RegionSwitch outside(outer_);
  Tensor copy = guard(mask_, x);
  adopt(copy);
  guarded_.emplace(x.bits(), std::pair(x, copy));
  return copy;
}

}  // namespace tlaloc::inline v0::core
