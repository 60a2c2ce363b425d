#include "core/thread_state.hpp"

#include <atomic>
#include <memory>
#include <string>

#include <tlaloc/error.hpp>

namespace tlaloc::inline v0::core {
namespace {

// Serials are handed to threads in blocks, so that starting a transform touches no shared cache line.
constexpr std::uint64_t serial_block = 1 << 20;
std::atomic<std::uint64_t> next_serial_block = 1;

// Frees the state when its thread ends. What other thread-local destructors still do makes a new state, which then lives
// as long as the process: a few bytes for a thread that works while it dies.
struct StateOwner {
  std::unique_ptr<ThreadState> state;
  ~StateOwner() { current_thread_state = nullptr; }
};
thread_local StateOwner owner;

}  // namespace

constinit thread_local ThreadState* current_thread_state = nullptr;

ThreadState& make_thread_state() {
  auto state = std::make_unique<ThreadState>();
  current_thread_state = state.get();
  if (owner.state == nullptr)
    owner.state = std::move(state);
  else
    state.release();
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
  const auto depth = static_cast<std::size_t>(state.depth--);
  state.levels[depth] = 0;
  if (state.axes[depth].named()) --state.mapped_axes;
}

}  // namespace tlaloc::inline v0::core
