// What the library keeps per thread: the stack of running transforms, whether names are off, and the shapes used
// lately.
#pragma once

#include <array>
#include <cstdint>

#include <tlaloc/axis.hpp>

namespace tlaloc::inline v0::core {

struct InternedShape;
class Interpreter;
class Region;

/// What a transform does to a tensor; part of its level, so that a refused tensor can say what it belonged to.
enum class LevelKind : std::uint8_t { grad, jvp, vmap };

/// One running transform, in a word: depth (6 bits), kind (2), serial (56, never used twice in a process).
using LevelWord = std::uint64_t;
constexpr int max_levels = 63;
constexpr int depth_of(LevelWord level) { return static_cast<int>(level >> 58); }
constexpr LevelKind kind_of(LevelWord level) { return static_cast<LevelKind>((level >> 56) & 3); }

struct ThreadState {
  static constexpr std::size_t recent_shape_count = 256;

  int depth = 0;        // how many transforms run; the innermost is at levels[depth]
  int names_off = 0;    // above 0 while a rule, an interpreter or a kernel runs
  int mapped_axes = 0;  // how many of the running transforms are vmaps over a named axis
  std::array<LevelWord, max_levels + 1> levels{};
  std::array<Interpreter*, max_levels + 1> interpreters{};
  std::array<Axis, max_levels + 1> axes{};  // the name a vmap has hidden, or none
  Region* region = nullptr;                 // the innermost branch that some examples do not take, or null
  std::uint64_t next_serial = 0;
  std::uint64_t serial_end = 0;
  std::array<const InternedShape*, recent_shape_count> recent_shapes{};  // permanent records only
};

/// Null until this thread's first call. A pointer, not the state itself: a shared library that is opened at run time
/// has room for few thread-local bytes of the fast kind.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadState* current_thread_state;

/// Whether this thread looks at the results of operations (core/finite.hpp). A word of its own, for speed: dispatch()
/// reads it every time.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool results_are_watched;

ThreadState& make_thread_state();
inline ThreadState& thread_state() {
  ThreadState* const state = current_thread_state;
  return state != nullptr ? *state : make_thread_state();
}

/// While it lives, operations align by position and ignore names: rules, interpreters and kernels run under it.
class NamesOff {
 public:
  NamesOff() : state_(thread_state()) { ++state_.names_off; }
  ~NamesOff() { --state_.names_off; }
  NamesOff(const NamesOff&) = delete;
  NamesOff& operator=(const NamesOff&) = delete;

 private:
  ThreadState& state_;
};

/// While it lives, names are on again: users' functions run under it wherever they are called from.
class NamesOn {
 public:
  NamesOn() : state_(thread_state()), before_(state_.names_off) { state_.names_off = 0; }
  ~NamesOn() { state_.names_off = before_; }
  NamesOn(const NamesOn&) = delete;
  NamesOn& operator=(const NamesOn&) = delete;

 private:
  ThreadState& state_;
  int before_;
};

/// A running transform: from construction to end() or destruction, whichever comes first.
class LevelScope {
 public:
  /// Throws LevelError when more than `max_levels` transforms would be nested.
  LevelScope(LevelKind kind, Interpreter& interpreter, Axis mapped = Axis::none);
  ~LevelScope() { end(); }
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;

  void end() noexcept;
  LevelWord word() const { return word_; }

 private:
  LevelWord word_;
  bool running_ = true;
};

}  // namespace tlaloc::inline v0::core
