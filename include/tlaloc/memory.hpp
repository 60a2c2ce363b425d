// What the caching allocator holds, and how to make it give memory back.
#pragma once

#include <cstdint>

#include <tlaloc/export.hpp>

namespace tlaloc::inline v0 {

/// All figures are bytes, over all threads, in whole blocks: a tensor's size is rounded up to a multiple of 64, and
/// above 512 by less than a quarter. They are exact while no other thread allocates.
struct MemoryStats {
  std::int64_t in_use = 0;  ///< in tensors that are alive
  std::int64_t peak = 0;    ///< the largest `in_use` since the start or the last reset_peak_memory(): exact whenever a
                            ///< block of 1 MiB or more was taken, else to what the threads keep (8 MiB each at most)
  std::int64_t cached = 0;  ///< kept for later tensors
  std::int64_t reserved = 0;  ///< obtained from the operating system: in_use + cached + what the allocator itself needs
};

TLALOC_API MemoryStats memory_stats();
TLALOC_API void reset_peak_memory();

/// Gives every cached block of this thread and of the central lists back to the operating system, except where it
/// shares its pages with a block that is in use or that another running thread keeps.
TLALOC_API void empty_cache();

/// Bounds what is kept for later (the default is half of the machine's memory, whatever a container may use of it).
/// Beyond the limit blocks of 1 MiB and more go back to the operating system at once, those not used for longest first;
/// 0 keeps none of them. Smaller blocks are kept, and go back when others need the room or with empty_cache().
/// Throws ValueError for a negative limit.
TLALOC_API void set_cache_limit(std::int64_t bytes);

}  // namespace tlaloc::inline v0
