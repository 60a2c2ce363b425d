// What the caching allocator holds, and how to make it give memory back.
#pragma once

#include <cstdint>

#include <tlaloc/export.hpp>

namespace tlaloc::inline v0 {

/// All figures are bytes, over all threads.
struct MemoryStats {
  std::int64_t in_use = 0;    ///< in tensors that are alive
  std::int64_t peak = 0;      ///< the largest `in_use` since the start or the last reset_peak_memory()
  std::int64_t cached = 0;    ///< kept for later tensors
  std::int64_t reserved = 0;  ///< obtained from the operating system: in_use + cached + what the allocator itself needs
};

TLALOC_API MemoryStats memory_stats();
TLALOC_API void reset_peak_memory();

/// Gives every cached block of this thread and of the central lists back to the operating system.
TLALOC_API void empty_cache();

/// Bounds what is kept for later (the default is half of the machine's memory); 0 keeps nothing above small blocks.
TLALOC_API void set_cache_limit(std::int64_t bytes);

}  // namespace tlaloc::inline v0
