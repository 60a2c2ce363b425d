// The central lists behind the threads' fronts: slabs for blocks below 1 MiB, mappings for larger ones, what is kept
// and what goes back to the operating system, and the statistics.
//
// One lock guards everything here. It is taken once per batch of small blocks and once per large block, never while
// the operating system maps or unmaps a large one. Nothing here is ever destroyed, so static objects may hold tensors.
#include "core/allocator.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <pthread.h>
#include <sanitizer/lsan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tlaloc/error.hpp>

namespace tlaloc::inline v0 {
namespace core {
namespace {

using detail::Access;
using detail::Front;
using detail::List;

constexpr std::size_t kib = 1024, mib = 1024 * kib;
constexpr std::size_t huge_page = 2 * mib;

// What one thread keeps: at most this much over all classes, this much (but two blocks) and this many in one class.
constexpr std::size_t front_bytes = 8 * mib;
constexpr std::size_t list_bytes = 512 * kib;
constexpr std::uint32_t list_blocks = 4096;

// Slabs that are wholly free are looked for only once this much is free in slabs.
constexpr std::size_t slab_release_floor = 64 * mib;

constexpr std::size_t slab_bytes(SizeClass size_class) {
  return class_bytes(size_class) <= 32 * kib ? huge_page : 4 * huge_page;
}

constexpr std::uint32_t blocks_in(std::size_t bytes, SizeClass size_class) {
  return static_cast<std::uint32_t>(bytes / class_bytes(size_class));
}

constexpr std::uint32_t list_limit(SizeClass size_class) {
  return std::clamp(blocks_in(list_bytes, size_class), 2u, list_blocks);
}

// A list begins small and doubles with each visit to the central lists, so that a class used once keeps little.
constexpr std::uint32_t list_start(SizeClass size_class) {
  return std::clamp(blocks_in(16 * kib, size_class), 1u, 32u);
}

// Enough to make a visit cheap per block, few enough not to touch much memory ahead of its use.
constexpr std::uint32_t refill_blocks(const List& list, SizeClass size_class) {
  return std::min(list.capacity, std::clamp(blocks_in(64 * kib, size_class), 1u, 256u));
}

// Fresh zero pages, aligned to `alignment`; nullptr when the operating system has none.
std::byte* map_pages(std::size_t bytes, std::size_t alignment) {
  const std::size_t padded = bytes + alignment;
  void* const mapping = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapping);
  const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment) % alignment;
  if (before != 0) munmap(begin, before);
  if (const std::size_t after = alignment - before; after != 0) munmap(begin + before + bytes, after);
  // Tensors may hold the only pointer to something on the heap; the leak checker does not look here by itself.
  if constexpr (detail::address_sanitizer) __lsan_register_root_region(begin + before, bytes);
  return begin + before;
}

void unmap_pages(std::byte* data, std::size_t bytes) {
  detail::set_access(data, bytes, Access::allowed);
  if constexpr (detail::address_sanitizer) __lsan_unregister_root_region(data, bytes);
  // Unmapping may need a further entry in the kernel's table of mappings; the pages go back in any case.
  if (munmap(data, bytes) != 0) madvise(data, bytes, MADV_DONTNEED);
}

// Stands at the beginning of its pages, which are aligned to their size: a block's address leads to its slab.
struct Slab {
  SizeClass size_class;
  std::uint32_t capacity;      // blocks that fit
  std::uint32_t carved = 0;    // of those, how many have been made
  std::uint32_t returned = 0;  // of those, how many stand in `free`
  std::byte* free = nullptr;
  Slab* previous = nullptr;  // neighbours among the class's slabs that have something to give
  Slab* next = nullptr;

  static Slab* of(std::byte* block, SizeClass size_class) {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(block) & (slab_bytes(size_class) - 1);
    return reinterpret_cast<Slab*>(block - offset);
  }

  bool exhausted() const { return returned == 0 && carved == capacity; }
  bool unused() const { return returned == carved; }

  std::byte* take() {
    if (returned == 0) return reinterpret_cast<std::byte*>(this) + block_alignment + carved++ * class_bytes(size_class);
    --returned;
    std::byte* const block = free;
    free = detail::next_of(block);
    return block;
  }

  void give(std::byte* block) {
    ++returned;
    detail::set_next(block, free);
    free = block;
  }
};
static_assert(sizeof(Slab) <= block_alignment);

constinit Front no_front_yet;       // of a thread that has not allocated so far
constinit Front no_front_any_more;  // of a thread that is ending, or for which none could be made

class Central {
 public:
  static Central& instance() {
    static Central* const central = new Central;
    return *central;
  }

  Block allocate_small(SizeClass size_class) {
    Front* const own = own_front();
    std::unique_lock lock(mutex_);
    std::byte* block = refill(own, size_class);
    if (block == nullptr) {
      lock.unlock();
      release_everything();
      lock.lock();
      block = refill(own, size_class);
    }
    if (block == nullptr) throw no_memory(slab_bytes(size_class));
    note_peak(own);
    return {block, size_class};
  }

  Block allocate_large(SizeClass size_class) {
    const std::size_t bytes = class_bytes(size_class);
    std::unique_lock lock(mutex_);
    LargeList& list = large_[size_class - first_large_class];
    std::byte* block = list.head;
    if (block != nullptr) {
      list.head = detail::next_of(block);
      cached_ -= bytes;
    } else {
      lock.unlock();
      block = map_large(bytes);
      if (block == nullptr) {
        release_everything();
        block = map_large(bytes);
      }
      lock.lock();
      if (block == nullptr) throw no_memory(bytes);
      mapped_ += bytes;
    }
    list.last_use = ++clock_;
    handed_ += bytes;
    note_peak(detail::front);
    return {block, size_class};
  }

  void deallocate_small(std::byte* block, SizeClass size_class) noexcept {
    Front* const own = own_front();
    const std::lock_guard lock(mutex_);
    if (own == nullptr) return give(block, size_class);
    List& list = own->lists[size_class];
    if (list.capacity == list_limit(size_class))
      shrink(list, size_class, (list.count() + 1) / 2);
    else
      grow(*own, size_class);
    list.push(block);
  }

  void deallocate_large(std::byte* block, SizeClass size_class) noexcept {
    {
      const std::lock_guard lock(mutex_);
      LargeList& list = large_[size_class - first_large_class];
      detail::set_next(block, list.head);
      list.head = block;
      list.last_use = ++clock_;
      cached_ += class_bytes(size_class);
      handed_ -= class_bytes(size_class);
      if (cached_ <= limit_) return;
    }
    release_large(Until::limit);
  }

  void release_everything() {
    {
      const std::lock_guard lock(mutex_);
      if (Front* const own = detail::front; own != &no_front_yet && own != &no_front_any_more) flush(*own);
      release_slabs();
    }
    release_large(Until::none);
  }

  void set_limit(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      limit_ = bytes;
    }
    release_large(Until::limit);
  }

  MemoryStats stats() {
    const std::lock_guard lock(mutex_);
    return stats_locked();
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    peak_ = 0;
    peak_ = stats_locked().in_use;
  }

 private:
  struct LargeList {
    std::byte* head = nullptr;
    std::uint64_t last_use = 0;
  };

  enum class Until { limit, none };

  Central() {
    const auto pages = static_cast<std::size_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
    limit_ = pages / 2 * static_cast<std::size_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
    has_key_ = pthread_key_create(&key_, [](void* ending) { instance().retire(*static_cast<Front*>(ending)); }) == 0;
    // The child of a fork finds the lists whole and the lock free. The fronts of threads it does not have keep what
    // they hold: their owners may have been half-way through a change.
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().mutex_.unlock(); });
  }

  // --- fronts ---

  // The calling thread's, made on first use; nullptr if it can have none, and central lists have to do.
  Front* own_front() noexcept {
    if (detail::front == &no_front_any_more) return nullptr;
    if (detail::front != &no_front_yet) return detail::front;
    detail::front = &no_front_any_more;
    Front* const own = obtain_front();
    if (own == nullptr) return nullptr;
    // A key rather than a thread_local destructor: it runs after those, so they still find the front.
    if (!has_key_ || pthread_setspecific(key_, own) != 0) {
      retire(*own);
      return nullptr;
    }
    return detail::front = own;
  }

  Front* obtain_front() noexcept try {
    const std::lock_guard lock(mutex_);
    if (Front* const own = retired_; own != nullptr) {
      retired_ = own->next_retired;
      return own;
    }
    fronts_.reserve(fronts_.size() + 1);
    Front* const own = new Front;
    fronts_.push_back(own);
    return own;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  void retire(Front& own) noexcept {
    detail::front = &no_front_any_more;
    const std::lock_guard lock(mutex_);
    flush(own);
    own.next_retired = retired_;
    retired_ = &own;
  }

  // One block for the caller and a batch for its front; nullptr when there is no memory.
  std::byte* refill(Front* own, SizeClass size_class) {
    std::byte* const block = take(size_class);
    if (block == nullptr || own == nullptr) return block;
    List& list = own->lists[size_class];
    if (list.capacity < list_limit(size_class)) grow(*own, size_class);
    // Taken in order and hung on at the end, so that they come out by rising addresses.
    std::byte* last = nullptr;
    for (std::uint32_t left = refill_blocks(list, size_class) - 1; left != 0; --left) {
      std::byte* const further = take(size_class);
      if (further == nullptr) break;
      detail::set_next(further, nullptr);
      if (last == nullptr)
        list.head = further;
      else
        detail::set_next(last, further);
      last = further;
      list.room.store(list.room.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    return block;
  }

  // Gives a list more room. A front that has granted all it may starts anew with empty lists.
  void grow(Front& own, SizeClass size_class) noexcept {
    const auto size_after = [size_class](std::uint32_t capacity) {
      return capacity == 0 ? list_start(size_class) : std::min(2 * capacity, list_limit(size_class));
    };
    List& list = own.lists[size_class];
    std::uint32_t more = size_after(list.capacity) - list.capacity;
    if (own.granted + more * class_bytes(size_class) > front_bytes) {
      flush(own);
      more = size_after(0);
    }
    own.granted += more * class_bytes(size_class);
    list.capacity += more;
    list.room.store(list.room.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  void shrink(List& list, SizeClass size_class, std::uint32_t blocks) noexcept {
    for (; blocks != 0; --blocks) give(list.pop(), size_class);
  }

  void flush(Front& own) noexcept {
    for (unsigned c = 0; c < first_large_class; ++c) {
      List& list = own.lists[c];
      shrink(list, static_cast<SizeClass>(c), list.count());
      list.capacity = 0;
      list.room.store(0, std::memory_order_relaxed);
    }
    own.granted = 0;
    fronts_cached_ -= own.cached_seen;
    own.cached_seen = 0;
  }

  // --- slabs ---

  std::byte* take(SizeClass size_class) {
    Slab* slab = slabs_[size_class];
    if (slab == nullptr) slab = new_slab(size_class);
    if (slab == nullptr) return nullptr;
    const bool fresh = slab->returned == 0;
    std::byte* const block = slab->take();
    if (slab->exhausted()) unlink(*slab);
    const std::size_t bytes = class_bytes(size_class);
    handed_ += bytes;
    if (!fresh) {
      cached_ -= bytes;
      cached_in_slabs_ -= bytes;
    }
    return block;
  }

  void give(std::byte* block, SizeClass size_class) noexcept {
    Slab& slab = *Slab::of(block, size_class);
    if (slab.exhausted()) link(slab);
    slab.give(block);
    const std::size_t bytes = class_bytes(size_class);
    handed_ -= bytes;
    cached_ += bytes;
    cached_in_slabs_ += bytes;
  }

  Slab* new_slab(SizeClass size_class) {
    if (cached_ > limit_ && cached_in_slabs_ >= release_slabs_at_) {
      release_slabs();
      release_slabs_at_ = std::max(2 * cached_in_slabs_, slab_release_floor);
    }
    const std::size_t bytes = slab_bytes(size_class);
    std::byte* const pages = map_pages(bytes, bytes);
    if (pages == nullptr) return nullptr;
    mapped_ += bytes;
    // A class with little in it should not occupy whole huge pages; one that fills its first slab will fill a second.
    if (has_slab_[size_class]) madvise(pages, bytes, MADV_HUGEPAGE);
    has_slab_[size_class] = true;
    detail::set_access(pages + block_alignment, bytes - block_alignment, Access::none);
    Slab* const slab = new (pages) Slab{size_class, blocks_in(bytes - block_alignment, size_class)};
    link(*slab);
    return slab;
  }

  void link(Slab& slab) noexcept {
    Slab*& first = slabs_[slab.size_class];
    slab.previous = nullptr;
    slab.next = first;
    if (first != nullptr) first->previous = &slab;
    first = &slab;
  }

  void unlink(Slab& slab) noexcept {
    (slab.previous != nullptr ? slab.previous->next : slabs_[slab.size_class]) = slab.next;
    if (slab.next != nullptr) slab.next->previous = slab.previous;
  }

  void release_slabs() noexcept {
    for (Slab* const first : slabs_) {
      for (Slab* slab = first; slab != nullptr;) {
        Slab* const next = slab->next;
        if (slab->unused()) {
          unlink(*slab);
          const std::size_t free_bytes = slab->returned * class_bytes(slab->size_class);
          cached_ -= free_bytes;
          cached_in_slabs_ -= free_bytes;
          const std::size_t bytes = slab_bytes(slab->size_class);
          mapped_ -= bytes;
          unmap_pages(reinterpret_cast<std::byte*>(slab), bytes);
        }
        slab = next;
      }
    }
  }

  // --- large blocks ---

  static std::byte* map_large(std::size_t bytes) {
    std::byte* const block = map_pages(bytes, huge_page);
    if (block == nullptr) return nullptr;
    madvise(block, bytes, MADV_HUGEPAGE);
    detail::set_access(block, bytes, Access::none);
    return block;
  }

  // Unmaps cached blocks, those of the class least recently used first.
  void release_large(Until until) noexcept {
    for (;;) {
      std::byte* block = nullptr;
      std::size_t bytes = 0;
      {
        const std::lock_guard lock(mutex_);
        if (until == Until::limit && cached_ <= limit_) return;
        LargeList* oldest = nullptr;
        for (LargeList& list : large_)
          if (list.head != nullptr && (oldest == nullptr || list.last_use < oldest->last_use)) oldest = &list;
        if (oldest == nullptr) return;
        block = oldest->head;
        oldest->head = detail::next_of(block);
        bytes = class_bytes(static_cast<SizeClass>(first_large_class + (oldest - large_.data())));
        cached_ -= bytes;
        mapped_ -= bytes;
      }
      unmap_pages(block, bytes);
    }
  }

  // --- statistics: `in use` is what has been handed out and does not stand in a front ---

  static std::int64_t cached_in(const Front& front) {
    static constexpr auto sizes = [] {
      std::array<std::int64_t, first_large_class> bytes{};
      for (unsigned c = 0; c < first_large_class; ++c)
        bytes[c] = static_cast<std::int64_t>(class_bytes(static_cast<SizeClass>(c)));
      return bytes;
    }();
    std::int64_t sum = 0;
    for (unsigned c = 0; c < first_large_class; ++c) sum += front.lists[c].count() * sizes[c];
    return sum;
  }

  // Sees what the calling thread's front holds now, and the others' as of their last visit.
  void note_peak(Front* own) noexcept {
    if (own != nullptr && own != &no_front_yet && own != &no_front_any_more) {
      const std::int64_t now = cached_in(*own);
      fronts_cached_ += now - own->cached_seen;
      own->cached_seen = now;
    }
    peak_ = std::max(peak_, static_cast<std::int64_t>(handed_) - fronts_cached_);
  }

  MemoryStats stats_locked() {
    std::int64_t in_fronts = 0;
    for (const Front* const front : fronts_) in_fronts += cached_in(*front);
    MemoryStats stats;
    stats.in_use = static_cast<std::int64_t>(handed_) - in_fronts;
    stats.cached = static_cast<std::int64_t>(cached_) + in_fronts;
    stats.reserved = static_cast<std::int64_t>(mapped_);
    stats.peak = peak_ = std::max(peak_, stats.in_use);
    return stats;
  }

  MemoryError no_memory(std::size_t bytes) {
    const MemoryStats now = stats_locked();
    return MemoryError("allocate: the operating system gave no " + std::to_string(bytes) + " bytes; in use " +
                       std::to_string(now.in_use) + " bytes, cached " + std::to_string(now.cached) +
                       " bytes after everything that could be given back was; use smaller batches or chunks, or let "
                       "go of tensors that are no longer needed");
  }

  std::mutex mutex_;
  std::array<Slab*, first_large_class> slabs_{};  // those that have something to give
  std::array<bool, first_large_class> has_slab_{};
  std::array<LargeList, largest_class - first_large_class + 1> large_;
  std::uint64_t clock_ = 0;

  std::vector<Front*> fronts_;
  Front* retired_ = nullptr;
  pthread_key_t key_{};
  bool has_key_ = false;

  std::size_t limit_ = 0;
  std::size_t release_slabs_at_ = slab_release_floor;
  std::size_t mapped_ = 0;
  std::size_t handed_ = 0;           // in use, or in a front
  std::size_t cached_ = 0;           // free in slabs, or large and free
  std::size_t cached_in_slabs_ = 0;  // the first of the two
  std::int64_t fronts_cached_ = 0;   // the sum of `cached_seen`
  std::int64_t peak_ = 0;
};

}  // namespace

namespace detail {

[[gnu::tls_model("initial-exec")]] constinit thread_local Front* front = &no_front_yet;

Block allocate_slow(SizeClass size_class) {
  if (size_class > largest_class)
    throw SizeError("allocate: a block of more than " +
                    std::to_string(class_bytes(static_cast<SizeClass>(size_class - 1))) +
                    " bytes was asked for, and none can be larger than " + std::to_string(class_bytes(largest_class)) +
                    "; check the extents");
  Central& central = Central::instance();
  return size_class < first_large_class ? central.allocate_small(size_class) : central.allocate_large(size_class);
}

void deallocate_slow(std::byte* data, SizeClass size_class) noexcept {
  Central& central = Central::instance();
  size_class < first_large_class ? central.deallocate_small(data, size_class)
                                 : central.deallocate_large(data, size_class);
}

}  // namespace detail
}  // namespace core

MemoryStats memory_stats() { return core::Central::instance().stats(); }

void reset_peak_memory() { core::Central::instance().reset_peak(); }

void empty_cache() { core::Central::instance().release_everything(); }

void set_cache_limit(std::int64_t bytes) {
  if (bytes < 0)
    throw ValueError("set_cache_limit: a limit cannot be negative; got " + std::to_string(bytes) +
                     "; 0 keeps no large block");
  core::Central::instance().set_limit(static_cast<std::size_t>(bytes));
}

}  // namespace tlaloc::inline v0
