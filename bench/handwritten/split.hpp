// split: shares a range between the calling thread and one helper.
#pragma once

#include <cstddef>
#include <type_traits>

namespace handwritten {

using RangeFunction = void (*)(const void* body, std::size_t begin, std::size_t end);

/// Runs the second half of [0, size) on the helper while the caller runs the first; returns when both are done.
void split_in_two(std::size_t size, std::size_t grain, RangeFunction function, const void* body);

/// body(begin, end) over [0, size) on one or two threads; the cut is at a multiple of `grain`.
template <class Body>
void split(int threads, std::size_t size, std::size_t grain, const Body& body) {
  if (threads < 2 || size < 2 * grain) return body(std::size_t{0}, size);
  split_in_two(
      size, grain,
      [](const void* erased, std::size_t begin, std::size_t end) { (*static_cast<const Body*>(erased))(begin, end); },
      &body);
}

}  // namespace handwritten
