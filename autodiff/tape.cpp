#include "autodiff/tape.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include <tlaloc/error.hpp>

#include "core/finite.hpp"
#include "core/inline_vector.hpp"
#include "ops/internal.hpp"

namespace tlaloc::inline v0::autodiff {

using core::Needs;
using core::OpTable;

// What follows a node in memory, in this order: the results' slots, the inputs' slot addresses, the saved values, the
// operation. A unary operation without parameters makes 56 bytes.
struct Tape::Node {
  const OpTable* table;
  Node* previous;
  Needs saved_mask;
  std::uint32_t result_count;
  std::uint32_t input_count;
  std::uint16_t saved_count;
  std::uint16_t saved_done;  // 1 once the saved values and the operation are freed

  Tensor* slots() { return std::launder(reinterpret_cast<Tensor*>(this + 1)); }
  Tensor** input_slots() { return reinterpret_cast<Tensor**>(slots() + result_count); }
  Tensor* saved() { return reinterpret_cast<Tensor*>(input_slots() + input_count); }
  void* op() { return saved() + saved_count; }
};

struct Tape::InputSlot {
  Tensor cotangent;
  InputSlot* previous;
};

struct Tape::Chunk {
  Chunk* previous;
  core::SizeClass size_class;
};

namespace {

/// The first cotangent to arrive is just kept.
inline void accumulate(Tensor& slot, Tensor&& term) {
  if (!slot.defined())
    slot = std::move(term);
  else
    ops::accumulate(slot, std::move(term));
}

constexpr std::size_t chunk_bytes = 64 * 1024;

constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace

Tape::~Tape() {
  for (Node* node = last_; node != nullptr; node = node->previous) {
    std::destroy_n(node->slots(), node->result_count);
    clear(node);
  }
  for (InputSlot* input = inputs_; input != nullptr; input = input->previous) std::destroy_at(&input->cotangent);
  while (chunks_ != nullptr) {
    Chunk* const chunk = std::exchange(chunks_, chunks_->previous);
    core::deallocate(reinterpret_cast<std::byte*>(chunk), chunk->size_class);
  }
}

/// Frees the saved values and the operation.
void Tape::clear(Node* node) noexcept {
  if (node->saved_done != 0) return;
  node->saved_done = 1;
  std::destroy_n(node->saved(), node->saved_count);
  if (node->table->destroy != nullptr) node->table->destroy(node->op());
}

void Tape::add_chunk(std::size_t bytes) {
  const core::Block block = core::allocate_class(core::class_of(std::max(chunk_bytes, bytes + sizeof(Chunk))));
  chunks_ = ::new (block.data) Chunk{chunks_, block.size_class};
  next_ = block.data + sizeof(Chunk);
  end_ = block.data + core::class_bytes(block.size_class);
}

std::byte* Tape::take(std::size_t bytes) {
  if (static_cast<std::size_t>(end_ - next_) < bytes) [[unlikely]]
    add_chunk(bytes);
  return std::exchange(next_, next_ + bytes);
}

Tensor* Tape::new_slot() {
  inputs_ = ::new (take(sizeof(InputSlot))) InputSlot{Tensor(), inputs_};
  return &inputs_->cotangent;
}

Tensor* Tape::record(const OpTable& table, const void* op, std::span<const Tensor> in,
                     std::span<Tensor* const> input_slots, std::span<const Tensor> out) {
  Needs mask = 0;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (input_slots[i] != nullptr) mask |= table.needs_of(i);
  const std::size_t results = out.size();
  const auto saved_count = static_cast<std::size_t>(std::popcount(mask));
  const std::size_t bytes = sizeof(Node) + (results + in.size() + saved_count) * sizeof(void*) + rounded(table.size);
  auto* const node = ::new (take(bytes)) Node{&table,
                                              last_,
                                              mask,
                                              static_cast<std::uint32_t>(results),
                                              static_cast<std::uint32_t>(in.size()),
                                              static_cast<std::uint16_t>(saved_count),
                                              0};
  for (std::size_t k = 0; k < results; ++k) ::new (node->slots() + k) Tensor;
  std::copy(input_slots.begin(), input_slots.end(), node->input_slots());
  Tensor* saved = node->saved();
  for (Needs rest = mask; rest != 0; rest &= rest - 1) {
    const int bit = std::countr_zero(rest);
    ::new (saved++) Tensor(bit < 16 ? in[static_cast<std::size_t>(bit)] : out[static_cast<std::size_t>(bit - 16)]);
  }
  table.copy(node->op(), op);
  last_ = node;
  return node->slots();
}

std::vector<Tape::View> Tape::nodes() const {
  std::vector<View> views;
  for (Node* node = last_; node != nullptr; node = node->previous)
    views.push_back({node->table->info.name,
                     node->slots(),
                     node->result_count,
                     {node->input_slots(), node->input_count},
                     {node->saved(), node->saved_done != 0 ? std::size_t{0} : node->saved_count}});
  std::reverse(views.begin(), views.end());
  return views;
}

void Tape::clear_slots() noexcept {
  for (Node* node = last_; node != nullptr; node = node->previous)
    for (std::size_t k = 0; k < node->result_count; ++k) node->slots()[k] = Tensor();
  for (InputSlot* input = inputs_; input != nullptr; input = input->previous) input->cotangent = Tensor();
}

void Tape::sweep(Sweep kind) {
  if (std::exchange(sweeping_, true))
    throw LevelError("vjp: a pull-back was called while the same one was running; call one after the other");
  struct Cleanup {
    Tape& tape;
    bool done = false;
    ~Cleanup() {
      tape.sweeping_ = false;
      if (!done) tape.clear_slots();
    }
  } cleanup{*this};
  const core::NamesOff names_off;

  for (Node* node = last_; node != nullptr; node = node->previous) {
    Tensor* const slots = node->slots();
    bool reached = false;
    for (std::size_t k = 0; k < node->result_count; ++k) reached |= slots[k].defined();
    if (reached) {
      const std::size_t inputs = node->input_count;
      core::InlineVector<Tensor, 3> gradients(inputs);
      core::VjpCall call{.saved = {node->saved(), node->saved_mask},
                         .cotangents = slots,
                         .input_slots = node->input_slots(),
                         .gradients = gradients.data(),
                         .input_count = static_cast<int>(inputs),
                         .result_count = node->result_count};
      try {
        node->table->vjp(node->op(), call);
      } catch (const core::NotFinite& error) {
        throw error.on_the_way_back(node->table->info.name);
      }
      for (std::size_t k = 0; k < node->result_count; ++k) slots[k] = Tensor();
      for (std::size_t i = 0; i < inputs; ++i)
        if (Tensor* const slot = node->input_slots()[i]; slot != nullptr && gradients[i].defined())
          accumulate(*slot, std::move(gradients[i]));
    }
    if (kind == Sweep::last) clear(node);
  }
  cleanup.done = true;
}

}  // namespace tlaloc::inline v0::autodiff
