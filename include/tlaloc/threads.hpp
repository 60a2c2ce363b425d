// The threads the library computes with. There is one pool for everything; BLAS runs on one thread inside it.
#pragma once

#include <tlaloc/export.hpp>

namespace tlaloc::inline v0 {

/// Sets how many threads, the calling one included, share the work of one operation. Results do not depend on it.
/// Throws ValueError for a count below 1 or above 1024. The default is the number of processors this process may run on
/// (its affinity mask; a container's quota of processor time is not looked at). Threads begin and end at the next
/// operation that is shared, so a program that never runs one has none.
TLALOC_API void set_num_threads(int count);

TLALOC_API int num_threads();

}  // namespace tlaloc::inline v0
