// The tape: what reverse mode remembers of a computation, and the sweep that goes back over it.
//
// Nodes lie in creation order in chunks of memory, so creation order is the order of the sweep: a loop, no recursion,
// no search. A node holds its operation, the values its rule declared to need, one cotangent slot for each result, and
// the addresses of its inputs' slots. A value on the tape belongs to transforms further out only, never to the tape's
// own level, so nothing can own itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <tlaloc/tensor.hpp>

#include "core/allocator.hpp"
#include "core/op.hpp"
#include "core/thread_state.hpp"

namespace tlaloc::inline v0::autodiff {

/// Whether a sweep is known to be the last, and may free what it has used.
enum class Sweep : bool { again, last };

class Tape {
 public:
  Tape() = default;
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// A cotangent slot for a differentiated input.
  Tensor* new_slot();

  /// Records an application. Nothing is recorded when the memory for it cannot be had: then this throws and the tape is
  /// as it was. Returns the slots of the results.
  Tensor* record(const core::OpTable& table, const void* op, std::span<const Tensor> in,
                 std::span<Tensor* const> input_slots, std::span<const Tensor> out);

  /// Goes back over all nodes, from whatever cotangents stand in the slots; afterwards only the inputs' slots hold any.
  /// When a rule throws, no slot does.
  void sweep(Sweep kind);
  /// A node as it can be shown.
  struct View {
    std::string_view name;
    const Tensor* slots;  // of the results
    std::size_t result_count;
    std::span<Tensor* const> input_slots;  // null: constant
    std::span<const Tensor> saved;
  };
  /// All nodes, the oldest first.
  std::vector<View> nodes() const;

  /// Forgets the cotangents in all slots.
  void clear_slots() noexcept;

 private:
  struct Node;
  struct Chunk;
  struct InputSlot;

  std::byte* take(std::size_t bytes);
  void add_chunk(std::size_t bytes);
  static void clear(Node* node) noexcept;

  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  Chunk* chunks_ = nullptr;
  Node* last_ = nullptr;
  InputSlot* inputs_ = nullptr;
  bool sweeping_ = false;
};

}  // namespace tlaloc::inline v0::autodiff
