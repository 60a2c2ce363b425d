#include "core/thread_state.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include <pthread.h>

#include <tlaloc/error.hpp>

namespace tlaloc::inline v0::core {
namespace {

// Serials are handed to threads in blocks, so that starting a transform touches no shared cache line.
constexpr std::uint64_t serial_block = 1 << 20;
std::atomic<std::uint64_t> next_serial_block = 1;

// Frees the state when its thread ends. A key rather than a thread_local destructor: it runs after those, so they still
// find the state.
pthread_key_t make_state_key() {
  pthread_key_t key{};
  const auto end = [](void* state) {
    current_thread_state = nullptr;
    const std::unique_ptr<ThreadState> freed(static_cast<ThreadState*>(state));
  };
  if (pthread_key_create(&key, end) != 0) throw MemoryError("transforms: the process has no thread-specific key left");
  return key;
}

}  // namespace

constinit thread_local ThreadState* current_thread_state = nullptr;
constinit thread_local bool results_are_watched = false;

ThreadState& make_thread_state() {
  static const pthread_key_t key = make_state_key();
  auto state = std::make_unique<ThreadState>();
  if (pthread_setspecific(key, state.get()) != 0) throw MemoryError("transforms: no memory for this thread's state");
  current_thread_state = state.release();
  return *current_thread_state;
}

LevelScope::LevelScope(LevelKind kind, Interpreter& interpreter, Axis mapped) {
  ThreadState& state = thread_state();
  if (state.depth == max_levels)
    throw LevelError("transforms: more than " + std::to_string(max_levels) + " of them are nested");
  if (state.next_serial == state.serial_end) {
    state.next_serial = next_serial_block.fetch_add(serial_block, std::memory_order_relaxed);
    state.serial_end = state.next_serial + serial_block;
  }
  const auto depth = static_cast<std::size_t>(++state.depth);
  word_ = (std::uint64_t{depth} << 58) | (std::uint64_t{static_cast<std::uint8_t>(kind)} << 56) | state.next_serial++;
  state.levels[depth] = word_;
  state.interpreters[depth] = &interpreter;
  state.axes[depth] = mapped;
  if (mapped.named()) ++state.mapped_axes;
}

void LevelScope::end() noexcept {
  if (!running_) return;
  running_ = false;
  ThreadState& state = thread_state();
  const auto depth = static_cast<std::size_t>(depth_of(word_));
  state.levels[depth] = 0;
  if (std::exchange(state.axes[depth], Axis::none).named()) --state.mapped_axes;
  // A tape may end before a transform that began after it; its place goes when that one ends.
  while (state.depth > 0 && state.levels[static_cast<std::size_t>(state.depth)] == 0) --state.depth;
}

}  // namespace tlaloc::inline v0::core
