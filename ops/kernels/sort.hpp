// Sorting the rows of a dense [rows, count] array.
#pragma once

#include <cstdint>

namespace tlaloc::inline v0::kernels {

/// The first `kept` (at most `count`) elements of each row in order, [rows, kept], and where in the row they stand. nan
/// is larger than every number, 0 equals -0, and equal elements keep their order in both directions. `work` has rows *
/// count elements, and may be `indices` if kept == count. T is bool, int32_t, int64_t, float or double.
template <class T>
void sort(const T* x, T* values, std::int64_t* indices, std::int64_t* work, std::int64_t rows, std::int64_t count,
          std::int64_t kept, bool descending);

}  // namespace tlaloc::inline v0::kernels
