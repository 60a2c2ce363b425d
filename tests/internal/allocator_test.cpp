// The caching allocator: size classes, reuse, blocks that cross threads and outlive them, what is kept and what is
// given back, the statistics, and forks.
#include "core/allocator.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tlaloc/error.hpp>

namespace {

using namespace tlaloc;
using core::allocate;
using core::allocate_class;
using core::Block;
using core::class_bytes;
using core::class_of;
using core::deallocate;
using core::SizeClass;

constexpr std::size_t kib = 1024, mib = 1024 * kib;
constexpr std::int64_t front_bytes = 8 * mib;  // what a thread may keep, by core/allocator.cpp

void release(const Block& block) { deallocate(block.data, block.size_class); }

std::vector<Block> allocate_many(std::size_t count, std::size_t bytes) {
  std::vector<Block> blocks(count);
  for (Block& block : blocks) block = allocate(bytes);
  return blocks;
}

void release_all(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) release(block);
}

bool aligned(const Block& block, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(block.data) % alignment == 0;
}

bool filled_with(const Block& block, std::size_t bytes, int value) {
  return std::all_of(block.data, block.data + bytes, [value](std::byte b) { return b == std::byte(value); });
}

class Allocator : public testing::Test {
 public:
  Allocator() {
    empty_cache();
    at_start_ = memory_stats().in_use;
  }
  ~Allocator() override { EXPECT_EQ(memory_stats().in_use, at_start_) << "a test kept memory, or a count is wrong"; }

 private:
  std::int64_t at_start_ = 0;
};

static_assert(class_of(0) == 0 && class_of(1) == 0 && class_of(64) == 0 && class_of(65) == 1);
static_assert(class_bytes(class_of(512)) == 512 && class_bytes(class_of(513)) == 640);
static_assert(class_bytes(class_of(1025)) == 1280 && class_bytes(class_of(mib)) == mib);
static_assert(core::largest_class < std::numeric_limits<SizeClass>::max());

TEST_F(Allocator, SizeClassesAreExactAtTheirBorders) {
  for (unsigned c = 0; c <= core::largest_class; ++c) {
    const auto size_class = static_cast<SizeClass>(c);
    const std::size_t bytes = class_bytes(size_class);
    EXPECT_EQ(class_of(bytes), c);
    EXPECT_EQ(class_of(bytes + 1), c + 1);
    EXPECT_EQ(bytes % core::block_alignment, 0u);
    if (bytes > 512) {
      EXPECT_LE(bytes - class_bytes(static_cast<SizeClass>(c - 1)), bytes / 5) << bytes;
    }
  }
  EXPECT_GT(class_of(std::numeric_limits<std::size_t>::max()), core::largest_class);
}

TEST_F(Allocator, BlocksAreAlignedAndApart) {
  for (int round = 0; round < 2; ++round) {
    std::vector<Block> blocks;
    std::vector<std::size_t> sizes;
    for (std::size_t bytes = 1; bytes < 5 * mib; bytes += bytes / 3 + 1)
      for (int copy = 0; copy < 3; ++copy) {
        blocks.push_back(allocate(bytes));
        sizes.push_back(bytes);
        ASSERT_TRUE(aligned(blocks.back(), 64));
        ASSERT_GE(class_bytes(blocks.back().size_class), bytes);
        std::memset(blocks.back().data, static_cast<int>(blocks.size() % 251), bytes);
      }
    for (std::size_t i = 0; i < blocks.size(); ++i)
      EXPECT_TRUE(filled_with(blocks[i], sizes[i], static_cast<int>((i + 1) % 251))) << sizes[i] << " bytes";
    release_all(blocks);
  }
}

TEST_F(Allocator, WholeClassesAreApart) {
  for (unsigned c = 0; c < class_of(3 * mib); ++c) {
    const auto size_class = static_cast<SizeClass>(c);
    // More than one slab of the larger ones.
    std::vector<Block> blocks(20);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      blocks[i] = allocate_class(size_class);
      EXPECT_EQ(blocks[i].size_class, size_class);
      std::memset(blocks[i].data, static_cast<int>(i), 64);
      std::memset(blocks[i].data + class_bytes(size_class) - 64, static_cast<int>(i), 64);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Block end{blocks[i].data + class_bytes(size_class) - 64, size_class};
      ASSERT_TRUE(filled_with(blocks[i], 64, static_cast<int>(i))) << class_bytes(size_class);
      ASSERT_TRUE(filled_with(end, 64, static_cast<int>(i))) << class_bytes(size_class);
    }
    release_all(blocks);
    empty_cache();
  }
}

TEST_F(Allocator, AThreadGetsItsLastBlockBack) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, 5 * kib, 300 * kib, 3 * mib}) {
    release(allocate(bytes));
    const Block first = allocate(bytes);
    release(first);
    const Block second = allocate(bytes);
    EXPECT_EQ(second.data, first.data) << bytes << " bytes";
    release(second);
  }
}

TEST_F(Allocator, LargeBlocksBeginAtAHugePage) {
  for (const std::size_t bytes : {mib, 3 * mib, 52 * mib}) {
    const Block block = allocate(bytes);
    EXPECT_TRUE(aligned(block, 2 * mib));
    release(block);
  }
}

TEST_F(Allocator, ARepeatedLargeResultCostsNoPageFault) {
  const auto faults = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
  };
  const auto use = [] {
    const Block block = allocate(52 * mib);
    for (std::size_t i = 0; i < 52 * mib; i += 4 * kib) block.data[i] = std::byte{1};
    release(block);
  };
  use();
  use();
  const std::int64_t reserved = memory_stats().reserved;
  // The round that was disturbed least: a machine short of memory takes pages away, and a sanitizer's thread takes
  // some. Fresh memory would take 26 to 13,312 faults in every round.
  long fewest = std::numeric_limits<long>::max();
  for (int round = 0; round < 10; ++round) {
    const long before = faults();
    use();
    fewest = std::min(fewest, faults() - before);
  }
  EXPECT_LT(fewest, 3);
  EXPECT_EQ(memory_stats().reserved, reserved);
}

TEST_F(Allocator, StatisticsCountWholeBlocks) {
  const MemoryStats before = memory_stats();
  const auto small = allocate_many(1000, 100);
  const Block large = allocate(5 * mib + 1);
  EXPECT_EQ(memory_stats().in_use - before.in_use,
            std::int64_t{128'000} + static_cast<std::int64_t>(class_bytes(class_of(5 * mib + 1))));
  release(large);
  EXPECT_EQ(memory_stats().in_use - before.in_use, 128'000);
  EXPECT_GE(memory_stats().cached - before.cached, static_cast<std::int64_t>(5 * mib));
  release_all(small);
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.in_use, before.in_use);
  EXPECT_GE(after.reserved, after.in_use + after.cached);
}

TEST_F(Allocator, PeakIsExactForLargeBlocks) {
  const std::int64_t before = memory_stats().in_use;
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak, before);
  for (int round = 0; round < 2; ++round) {
    const Block first = allocate(8 * mib), second = allocate(16 * mib);
    release(first);
    release(second);
    release(allocate(20 * mib));
  }
  EXPECT_EQ(memory_stats().peak - before, static_cast<std::int64_t>(24 * mib));
  EXPECT_EQ(memory_stats().in_use, before);
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak, before);
}

TEST_F(Allocator, PeakOfSmallBlocksMissesLittle) {
  const std::int64_t before = memory_stats().in_use;
  reset_peak_memory();
  release_all(allocate_many(100'000, 128));
  const std::int64_t peak = memory_stats().peak - before;
  constexpr std::int64_t all = std::int64_t{100'000} * 128;
  EXPECT_LE(peak, all);
  EXPECT_GE(peak, all - 64 * std::int64_t{kib});
}

TEST_F(Allocator, EmptyCacheGivesEverythingBack) {
  const MemoryStats before = memory_stats();
  auto kept = allocate_many(1, 200);
  std::vector<Block> blocks;
  for (const std::size_t bytes : {std::size_t{64}, 3 * kib, 100 * kib, 700 * kib, mib, 30 * mib})
    for (int copy = 0; copy < 40; ++copy) blocks.push_back(allocate(bytes));
  const std::int64_t all = memory_stats().reserved;
  release_all(blocks);
  EXPECT_EQ(memory_stats().reserved, all);
  empty_cache();
  // What stays is the slab of the block that is alive.
  const MemoryStats after = memory_stats();
  EXPECT_LE(after.reserved, before.reserved + static_cast<std::int64_t>(2 * mib));
  EXPECT_LE(after.cached, before.cached + static_cast<std::int64_t>(2 * mib));
  release_all(kept);
}

TEST_F(Allocator, TheCacheLimitUnmapsWhatWasUsedLongestAgo) {
  const std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  const Block old = allocate(40 * mib), middle = allocate(32 * mib), recent = allocate(48 * mib);
  std::byte* const recent_data = recent.data;
  set_cache_limit(static_cast<std::int64_t>(100 * mib));
  release(old);
  release(middle);
  const std::int64_t reserved = memory_stats().reserved;
  release(recent);
  EXPECT_EQ(reserved - memory_stats().reserved, static_cast<std::int64_t>(40 * mib));
  EXPECT_LE(memory_stats().cached, static_cast<std::int64_t>(100 * mib) + front_bytes);
  const Block again = allocate(48 * mib);
  EXPECT_EQ(again.data, recent_data);
  release(again);

  const std::int64_t before_none = memory_stats().reserved;
  set_cache_limit(0);
  EXPECT_EQ(before_none - memory_stats().reserved, static_cast<std::int64_t>(80 * mib));
  const std::int64_t none = memory_stats().reserved;
  release(allocate(52 * mib));
  EXPECT_EQ(memory_stats().reserved, none);
  set_cache_limit(unlimited);
  EXPECT_THROW(set_cache_limit(-1), ValueError);
}

TEST_F(Allocator, BeyondTheLimitUnusedSlabsMakeRoomForOtherClasses) {
  set_cache_limit(0);
  std::int64_t most = 0;
  for (const std::size_t bytes : {256u, 320u, 384u, 448u, 512u, 640u, 768u, 896u}) {
    release_all(allocate_many(100 * mib / bytes, bytes));
    most = std::max(most, memory_stats().reserved);
  }
  set_cache_limit(std::numeric_limits<std::int64_t>::max());
  EXPECT_LT(most, static_cast<std::int64_t>(320 * mib)) << "of 800 MiB that were in use one after the other";
}

TEST_F(Allocator, BlocksMayBeGivenBackOnAnotherThread) {
  for (const std::size_t bytes : {std::size_t{128}, 20 * kib, 2 * mib}) {
    const std::size_t count = bytes < mib ? 5000 : 5;
    const auto blocks = allocate_many(count, bytes);
    for (const Block& block : blocks) std::memset(block.data, 7, bytes);
    std::thread([&] {
      for (const Block& block : blocks) EXPECT_TRUE(filled_with(block, bytes, 7));
      release_all(blocks);
    }).join();
    const std::int64_t reserved = memory_stats().reserved;
    release_all(allocate_many(count, bytes));
    EXPECT_EQ(memory_stats().reserved, reserved) << "blocks freed elsewhere were not used again, " << bytes << " bytes";
  }
}

TEST_F(Allocator, ThreadsExchangeBlocksAllTheTime) {
  constexpr int threads = 4, slots = 64;
  struct Slot {
    std::atomic<bool> busy = false;
    Block block{};
    std::size_t bytes = 0;
    int value = 0;
  };
  std::vector<Slot> board(slots);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> workers;
  workers.reserve(threads);
  for (int worker = 0; worker < threads; ++worker)
    workers.emplace_back([&, state = static_cast<std::uint32_t>(worker + 1)]() mutable {
      for (int round = 0; round < 5'000; ++round) {
        state = state * 1664525u + 1013904223u;
        Slot& slot = board[(state >> 16) % slots];
        if (slot.busy.exchange(true, std::memory_order_acquire)) continue;
        if (slot.bytes != 0) {
          if (!filled_with(slot.block, slot.bytes, slot.value)) ++wrong;
          release(slot.block);
        }
        slot.bytes = (state >> 8) % 500 == 0 ? mib + state % mib : 1 + (state >> 4) % 2000;
        slot.value = static_cast<int>(state % 251);
        slot.block = allocate(slot.bytes);
        std::memset(slot.block.data, slot.value, slot.bytes);
        slot.busy.store(false, std::memory_order_release);
        if (round % 1000 == 0 && memory_stats().in_use < 0) ++wrong;
        if (round % 1000 == 500) empty_cache();
      }
    });
  for (std::thread& worker : workers) worker.join();
  for (const Slot& slot : board)
    if (slot.bytes != 0) release(slot.block);
  EXPECT_EQ(wrong, 0);
}

TEST_F(Allocator, AThreadsEndGivesItsCacheToTheOthers) {
  const auto use = [] { release_all(allocate_many(2000, 1000)); };
  std::thread(use).join();
  const MemoryStats first = memory_stats();
  for (int round = 0; round < 20; ++round) std::thread(use).join();
  EXPECT_EQ(memory_stats().reserved, first.reserved);
  empty_cache();
  EXPECT_LT(memory_stats().reserved, first.reserved - 1'900'000);
}

TEST_F(Allocator, ALivingThreadKeepsABoundedShare) {
  std::thread([] {
    std::int64_t most = 0;
    for (std::size_t bytes = 64; bytes < mib; bytes = bytes * 5 / 4 + 64) {
      release_all(allocate_many(4 * mib / bytes + 1, bytes));
      std::int64_t kept = 0;
      for (unsigned c = 0; c <= core::largest_class; ++c)
        kept +=
            core::detail::front->lists[c].count() * static_cast<std::int64_t>(class_bytes(static_cast<SizeClass>(c)));
      EXPECT_LE(kept, front_bytes);
      most = std::max(most, kept);
    }
    EXPECT_GT(most, front_bytes / 2) << "the bound was not put to the test";
  }).join();
}

TEST_F(Allocator, OthersCanUseWhatALivingThreadHasFreed) {
  constexpr std::size_t count = 100'000, bytes = 256;
  std::atomic<bool> freed = false, done = false;
  std::thread holder([&] {
    release_all(allocate_many(count, bytes));
    freed = true;
    while (!done) std::this_thread::yield();
  });
  while (!freed) std::this_thread::yield();
  const std::int64_t reserved = memory_stats().reserved;
  const auto blocks = allocate_many(count, bytes);
  EXPECT_LE(memory_stats().reserved, reserved + static_cast<std::int64_t>(2 * mib));
  release_all(blocks);
  done = true;
  holder.join();
}

TEST_F(Allocator, MemoryIsTakenAndGivenBackAfterTheThreadsFrontIsGone) {
  // Key destructors run in rounds; in the second one, the allocator's own has run.
  static pthread_key_t key;
  static std::atomic<int> rounds;
  rounds = 0;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void* value) {
                                 if (++rounds < 3) {
                                   pthread_setspecific(key, value);
                                   return;
                                 }
                                 release(*static_cast<Block*>(value));
                                 release_all(allocate_many(100, 128));
                                 release(allocate(3 * mib));
                               }),
            0);
  Block held{};
  std::thread([&] {
    held = allocate(128);
    pthread_setspecific(key, &held);
  }).join();
  EXPECT_EQ(rounds, 3);
  pthread_key_delete(key);
}

TEST_F(Allocator, ThreadLocalObjectsMayHoldBlocks) {
  struct Holder {
    Block block{};
    ~Holder() { release(block); }
  };
  std::thread([] {
    static thread_local Holder holder;
    holder.block = allocate(128);
  }).join();
}

TEST_F(Allocator, SizesBeyondEveryClassAreRefused) {
  EXPECT_THROW(allocate(std::numeric_limits<std::size_t>::max()), SizeError);
  EXPECT_THROW(allocate(class_bytes(core::largest_class) + 1), SizeError);
  EXPECT_THROW(allocate_class(static_cast<SizeClass>(core::largest_class + 1)), SizeError);
}

int exit_status_of_child(int (*body)()) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Allocator, AForkedChildGoesOn) {
  std::atomic<bool> done = false;
  // Holds the central lock most of the time.
  std::thread busy([&] {
    while (!done) {
      release(allocate(2 * mib));
      release_all(allocate_many(100, 10 * kib));
    }
  });
  const Block block = allocate(1000);
  std::memset(block.data, 3, 1000);
  static Block inherited;
  inherited = block;
  for (int round = 0; round < 20; ++round)
    EXPECT_EQ(exit_status_of_child([] {
                if (!filled_with(inherited, 1000, 3)) return 1;
                release(inherited);
                release_all(allocate_many(1000, 1000));
                release(allocate(5 * mib));
                empty_cache();
                return memory_stats().in_use >= 0 ? 5 : 2;
              }),
              5);
  done = true;
  busy.join();
  EXPECT_TRUE(filled_with(block, 1000, 3)) << "the child's memory is not the parent's";
  release(block);
}

// Each of these runs in a fresh process.
class AllocatorDeathTest : public testing::Test {
 protected:
  AllocatorDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// The process may map this much more than it has mapped now.
void limit_address_space(std::size_t further) {
  std::size_t pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%zu", &pages) != 1) _exit(9);
  std::fclose(file);
  const rlim_t limit = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + further;
  const rlimit limits{limit, limit};
  if (setrlimit(RLIMIT_AS, &limits) != 0) _exit(9);
}

TEST_F(AllocatorDeathTest, ARefusalEmptiesTheCacheAndTriesAgain) {
  EXPECT_EXIT(
      {
        // The sizes leave room for what the BLAS library maps in threads of its own meanwhile, some 150 MiB.
        const Block first = allocate(1024 * mib);
        release(first);
        limit_address_space(400 * mib);
        const Block second = allocate(1152 * mib);  // only in place of the first
        release(second);
        const auto small = allocate_many(10000, 100 * kib);  // only in place of the second
        _exit(small.size() == 10000 ? 5 : 1);
      },
      testing::ExitedWithCode(5), "");
}

TEST_F(AllocatorDeathTest, ARefusalIsATypedErrorAndLeavesTheCountsRight) {
  EXPECT_EXIT(
      {
        const Block held = allocate(8 * mib);
        const std::int64_t in_use = memory_stats().in_use;
        limit_address_space(100 * mib);
        std::string large;
        std::string small;
        try {
          allocate(512 * mib);
        } catch (const MemoryError& error) {
          large = error.what();
        }
        const std::int64_t after_large = memory_stats().in_use;
        std::vector<Block> blocks;
        blocks.reserve(1'000'000);
        try {
          for (;;) blocks.push_back(allocate(50 * kib));
        } catch (const MemoryError& error) {
          small = error.what();
        }
        release_all(blocks);
        release(allocate(50 * kib));
        std::fprintf(stderr, "%s\n%s\n", large.c_str(), small.c_str());
        const bool counts = after_large == in_use && memory_stats().in_use == in_use;
        release(held);
        _exit(counts && !blocks.empty() && memory_stats().in_use == 0 ? 5 : 1);
      },
      testing::ExitedWithCode(5),
      "allocate: the operating system gave no 536870912 bytes; in use 8388608 bytes, cached .*\n"
      "allocate: the operating system gave no 8388608 bytes");
}

TEST_F(AllocatorDeathTest, StaticDestructorsMayGiveMemoryBack) {
  EXPECT_EXIT(
      {
        struct Holder {
          Block small{};
          Block large{};
          ~Holder() {
            release(small);
            release(large);
            release(allocate(100));
            _exit(memory_stats().in_use == 0 ? 5 : 1);
          }
        };
        static Holder holder;
        holder.small = allocate(128);
        holder.large = allocate(2 * mib);
        std::exit(1);
      },
      testing::ExitedWithCode(5), "");
}

#if defined(__SANITIZE_ADDRESS__)
#define TLALOC_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define TLALOC_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#endif

#if TLALOC_ADDRESS_SANITIZER
TEST_F(AllocatorDeathTest, AddressSanitizerSeesUseAfterFree) {
  for (const std::size_t bytes : {std::size_t{128}, 50 * kib, 3 * mib}) {
    const Block block = allocate(bytes);
    block.data[0] = std::byte{1};
    release(block);
    EXPECT_TRUE(__asan_address_is_poisoned(block.data));
    EXPECT_TRUE(__asan_address_is_poisoned(block.data + bytes - 1));
    EXPECT_DEATH(*static_cast<volatile std::byte*>(block.data) = std::byte{1}, "use-after-poison");
    const Block again = allocate(bytes);
    EXPECT_EQ(again.data, block.data);
    EXPECT_FALSE(__asan_address_is_poisoned(again.data));
    release(again);
  }
}

TEST_F(AllocatorDeathTest, AddressSanitizerSeesTheEndOfWhatWasAskedFor) {
  for (const std::size_t bytes : {std::size_t{1500}, 90 * kib + 4, 9 * mib}) {
    const Block block = allocate(bytes);
    EXPECT_FALSE(__asan_address_is_poisoned(block.data + bytes - 1));
    EXPECT_TRUE(__asan_address_is_poisoned(block.data + bytes));
    EXPECT_TRUE(__asan_address_is_poisoned(block.data + class_bytes(block.size_class) - 1));
    release(block);
  }
}

TEST_F(AllocatorDeathTest, AddressSanitizerFindsMemoryWhereTheOperatingSystemTookItBack) {
  const Block block = allocate(3 * mib);
  release(block);
  empty_cache();
  EXPECT_FALSE(__asan_address_is_poisoned(block.data)) << "whoever gets these addresses next may use them";
}
#endif

}  // namespace
