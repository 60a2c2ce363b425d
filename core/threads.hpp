// parallel_for: one operation's loop in pieces, shared between the calling thread and the library's pool (threads.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <tlaloc/threads.hpp>

namespace tlaloc::inline v0::core {

namespace detail {

/// A piece that throws ends the process: there is nobody on a pool thread to catch it.
using Piece = void (*)(const void* body, std::int64_t begin, std::int64_t end) noexcept;

/// For n > grain >= 1.
void run_pieces(std::int64_t n, std::int64_t grain, Piece piece, const void* body);

}  // namespace detail

/// Calls body(begin, end) for [0, grain), [grain, 2 * grain), ... up to n, in any order and on several threads at once,
/// and returns when all calls have. The borders depend on n and grain only, whoever runs the pieces, so a result made
/// of one partial result per piece does not depend on the number of threads. A grain below 1 counts as 1.
///
/// All pieces run on the calling thread if n <= grain, if num_threads() is 1, inside another parallel_for, and while
/// another thread has the pool: asking for parallelism never waits for it. `body` must not throw (kernels report a
/// status instead), and must not fork unless the child goes on to exec or _exit. Pool threads run it under the caller's
/// rounding mode, flush-to-zero and exception masks; the exception flags they raise stay on their threads.
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& body) {
  if (n <= grain) {
    if (n > 0) body(std::int64_t{0}, n);
    return;
  }
  if (n <= 0) return;
  using Body = std::remove_reference_t<F>;
  const auto piece = [](const void* target, std::int64_t begin, std::int64_t end) noexcept {
    (*const_cast<Body*>(static_cast<const Body*>(target)))(begin, end);
  };
  detail::run_pieces(n, std::max(grain, std::int64_t{1}), piece, std::addressof(body));
}

}  // namespace tlaloc::inline v0::core
