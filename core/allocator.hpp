// The caching allocator under every tensor: blocks of memory by size class, 64-byte aligned, kept for the next tensor.
//
// Each thread has a front, one free list per class of small blocks; taking from it and giving back to it is inline
// here and costs a few instructions. Behind the fronts stand the central lists (allocator.cpp): blocks below 1 MiB are
// carved from slabs, larger ones are mappings of their own. A block may be given back on any thread, at any time.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <sanitizer/asan_interface.h>

#include <tlaloc/memory.hpp>

namespace tlaloc::inline v0::core {

/// Multiples of 64 bytes up to 512, then four steps a doubling: 640, 768, 896, 1024, 1280...
/// Every std::size_t has a class; allocate() refuses those above `largest_class`.
using SizeClass = std::uint8_t;

constexpr std::size_t block_alignment = 64;

constexpr SizeClass class_of(std::size_t bytes) {
  const std::size_t last = bytes - (bytes != 0);
  if (last < 512) return static_cast<SizeClass>(last / 64);
  const auto log2 = static_cast<unsigned>(std::bit_width(last)) - 1;
  return static_cast<SizeClass>(8 + (log2 - 9) * 4 + ((last >> (log2 - 2)) & 3));
}

constexpr std::size_t class_bytes(SizeClass size_class) {
  if (size_class < 8) return (std::size_t{size_class} + 1) * 64;
  const unsigned step = size_class - 8u;
  return std::size_t{128} * (step % 4 + 5) << (step / 4);
}

constexpr SizeClass largest_class = class_of(std::size_t{1} << 46);
constexpr SizeClass first_large_class = class_of(std::size_t{1} << 20);

struct Block {
  std::byte* data;
  SizeClass size_class;
};

/// At least `bytes` bytes (0 is a size like any other), not initialised. Under address sanitizer exactly `bytes` are
/// accessible. Throws MemoryError, or SizeError above the largest class.
Block allocate(std::size_t bytes);

/// The same for a class that is known; all of class_bytes(size_class) is accessible.
Block allocate_class(SizeClass size_class);

/// Gives back what allocate() returned. On any thread, also one that is ending, also from static destructors.
void deallocate(std::byte* data, SizeClass size_class) noexcept;

// ---------------------------------------------------------------------------------------------------------------------

namespace detail {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#else
constexpr bool address_sanitizer = false;
#endif

enum class Access : bool { none, allowed };

/// Under address sanitizer, a touch of a block that is cached is reported like a touch of freed memory.
inline void set_access(std::byte* data, std::size_t bytes, Access access) {
  if constexpr (address_sanitizer) {
    if (access == Access::none)
      __asan_poison_memory_region(data, bytes);
    else
      __asan_unpoison_memory_region(data, bytes);
  }
}

/// A free block begins with the address of the next one. The block held other types before, hence may_alias, and is
/// poisoned while it is free, hence no_sanitize.
using Link [[gnu::may_alias]] = std::byte*;
__attribute__((no_sanitize("address"))) inline std::byte* next_of(std::byte* block) {
  return *reinterpret_cast<Link*>(block);
}
__attribute__((no_sanitize("address"))) inline void set_next(std::byte* block, std::byte* next) {
  *reinterpret_cast<Link*>(block) = next;
}

/// `room` is how many more blocks the list takes, so that an empty `List{}` refuses both ways without further tests.
/// Only the owner thread writes; memory_stats() reads `room` from elsewhere, the rest is read under the central lock.
struct List {
  std::byte* head = nullptr;
  std::atomic<std::uint32_t> room = 0;
  std::uint32_t capacity = 0;

  std::uint32_t count() const { return capacity - room.load(std::memory_order_relaxed); }

  std::byte* pop() {
    std::byte* const block = head;
    if (block == nullptr) [[unlikely]]
      return nullptr;
    head = next_of(block);
    room.store(room.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return block;
  }

  bool push(std::byte* block) {
    const std::uint32_t left = room.load(std::memory_order_relaxed);
    if (left == 0) [[unlikely]]
      return false;
    set_next(block, head);
    head = block;
    room.store(left - 1, std::memory_order_relaxed);
    return true;
  }
};

struct Front {
  std::array<List, 256> lists;   // those of large classes stay empty
  std::size_t granted = 0;       // bytes that all lists may hold together
  std::int64_t cached_seen = 0;  // bytes they held when the central lists last looked
  Front* next_retired = nullptr;
};

/// Never null: a thread without a front of its own points to one whose lists are empty and have no room.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Front* front;

/// What the inline functions do not do themselves: no block in the list, no room in it, large blocks, no front.
Block allocate_slow(SizeClass size_class);
void deallocate_slow(std::byte* data, SizeClass size_class) noexcept;

inline Block take(SizeClass size_class) {
  std::byte* const block = front->lists[size_class].pop();
  if (block == nullptr) [[unlikely]]
    return allocate_slow(size_class);
  return {block, size_class};
}

}  // namespace detail

inline Block allocate(std::size_t bytes) {
  const Block block = detail::take(class_of(bytes));
  detail::set_access(block.data, bytes, detail::Access::allowed);
  return block;
}

inline Block allocate_class(SizeClass size_class) {
  const Block block = detail::take(size_class);
  detail::set_access(block.data, class_bytes(size_class), detail::Access::allowed);
  return block;
}

inline void deallocate(std::byte* data, SizeClass size_class) noexcept {
  detail::set_access(data, class_bytes(size_class), detail::Access::none);
  if (!detail::front->lists[size_class].push(data)) [[unlikely]]
    detail::deallocate_slow(data, size_class);
}

}  // namespace tlaloc::inline v0::core
