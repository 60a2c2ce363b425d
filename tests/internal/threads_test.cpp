// The pool and parallel_for: what runs where, that the pieces never depend on who runs them, and the pool's life
// through changes of size, concurrent callers and forks.
#include "core/threads.hpp"

#include <atomic>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <immintrin.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tlaloc/error.hpp>

// The child of a fork makes a pool of its own; thread sanitizer ends such a child unless it is told not to.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer looks for this name
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using namespace tlaloc;
using core::parallel_for;
using Piece = std::pair<std::int64_t, std::int64_t>;

class Threads : public testing::Test {
 public:
  ~Threads() override { set_num_threads(before_); }

 private:
  const int before_ = num_threads();
};

std::set<Piece> pieces_of(std::int64_t n, std::int64_t grain) {
  std::mutex mutex;
  std::set<Piece> pieces;
  std::size_t calls = 0;
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    pieces.emplace(begin, end);
    ++calls;
  });
  EXPECT_EQ(calls, pieces.size()) << "a piece ran twice";
  return pieces;
}

// Each piece waits until `count` of them run at once, so that as many threads must have taken part.
template <class F>
void on_threads(int count, F&& body) {
  std::atomic<int> running = 0;
  parallel_for(count, 1, [&](std::int64_t begin, std::int64_t) {
    for (++running; running < count;) std::this_thread::yield();
    body(begin);
  });
}

// The states of this process's threads other than the calling one, by the letters of /proc.
std::string states_of_other_threads() {
  std::string states;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(task.path() / "stat");
    std::string line;
    if (std::getline(file, line)) states += line[line.rfind(')') + 2];
  }
  return states;
}

std::size_t other_threads() { return states_of_other_threads().size(); }

int exit_status_of_child(int (*body)()) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Threads, PiecesCoverTheRangeOnce) {
  set_num_threads(2);
  EXPECT_EQ(pieces_of(10, 4), (std::set<Piece>{{0, 4}, {4, 8}, {8, 10}}));
  EXPECT_EQ(pieces_of(8, 4), (std::set<Piece>{{0, 4}, {4, 8}}));
  EXPECT_EQ(pieces_of(4, 4), (std::set<Piece>{{0, 4}}));
  EXPECT_EQ(pieces_of(3, 100), (std::set<Piece>{{0, 3}}));
  EXPECT_EQ(pieces_of(3, 0), (std::set<Piece>{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(pieces_of(0, 4), std::set<Piece>{});
  EXPECT_EQ(pieces_of(-3, 4), std::set<Piece>{});
  EXPECT_EQ(pieces_of(-3, -4), std::set<Piece>{});
}

TEST_F(Threads, BordersNearTheLargestRange) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(pieces_of(most, most / 2), (std::set<Piece>{{0, most / 2}, {most / 2, most - 1}, {most - 1, most}}));
}

TEST_F(Threads, BordersAndResultsDoNotDependOnTheCount) {
  std::vector<float> values(100'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f / static_cast<float>(i + 1);
  const auto sum = [&] {
    const auto n = static_cast<std::int64_t>(values.size());
    std::vector<float> partial(static_cast<std::size_t>(n / 1000 + 1));
    parallel_for(n, 1000, [&](std::int64_t begin, std::int64_t end) {
      partial[static_cast<std::size_t>(begin / 1000)] =
          std::accumulate(values.begin() + begin, values.begin() + end, 0.0f);
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0f);
  };
  set_num_threads(1);
  const auto pieces = pieces_of(1001, 7);
  const float expected = sum();
  for (const int count : {2, 3, 5, 2, 1}) {
    set_num_threads(count);
    EXPECT_EQ(pieces_of(1001, 7), pieces) << count << " threads";
    EXPECT_EQ(sum(), expected) << count << " threads";
  }
}

TEST_F(Threads, AllOfThemTakePartAlsoAfterGrowingAndShrinking) {
  for (const int count : {2, 4, 3, 1, 2, 6, 2}) {
    set_num_threads(count);
    EXPECT_EQ(num_threads(), count);
    std::mutex mutex;
    std::set<std::thread::id> ids;
    on_threads(count, [&](std::int64_t) {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(ids.contains(std::this_thread::get_id()));
  }
}

TEST_F(Threads, ShrinkingEndsThreads) {
  set_num_threads(6);
  on_threads(6, [](std::int64_t) {});
  const std::size_t with_six = other_threads();
  set_num_threads(2);
  on_threads(2, [](std::int64_t) {});
  EXPECT_EQ(with_six - other_threads(), 4u);
}

TEST_F(Threads, RefusesCountsBelowOneAndBeyondReason) {
  EXPECT_THROW(set_num_threads(0), ValueError);
  EXPECT_THROW(set_num_threads(-2), ValueError);
  EXPECT_THROW(set_num_threads(1'000'000), ValueError);
}

TEST_F(Threads, NestedRunsInline) {
  set_num_threads(2);
  std::atomic<int> elsewhere = 0, inner = 0;
  on_threads(2, [&](std::int64_t) {
    const auto outer = std::this_thread::get_id();
    parallel_for(100, 1, [&](std::int64_t, std::int64_t) {
      ++inner;
      if (std::this_thread::get_id() != outer) ++elsewhere;
    });
  });
  EXPECT_EQ(inner, 200);
  EXPECT_EQ(elsewhere, 0);
  std::set<std::thread::id> ids;
  std::mutex mutex;
  on_threads(2, [&](std::int64_t) {
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(ids.size(), 2u) << "the pool is not used any more after a nested call";
}

TEST_F(Threads, ACallerThatFindsThePoolTakenWorksAlone) {
  set_num_threads(2);
  std::atomic<bool> taken = false, done = false;
  std::thread owner([&] {
    on_threads(2, [&](std::int64_t) {
      taken = true;
      while (!done) std::this_thread::yield();
    });
  });
  while (!taken) std::this_thread::yield();
  int pieces = 0, elsewhere = 0;  // not atomic: all on this thread
  parallel_for(10, 1, [&, self = std::this_thread::get_id()](std::int64_t, std::int64_t) {
    ++pieces;
    elsewhere += std::this_thread::get_id() != self;
  });
  done = true;
  owner.join();
  EXPECT_EQ(pieces, 10);
  EXPECT_EQ(elsewhere, 0);
}

TEST_F(Threads, ConcurrentCallersAndAChangingCount) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 500; ++round) {
        if (caller == 0 && round % 50 == 0) set_num_threads(round / 50 % 3 + 1);
        std::vector<int> seen(64);
        parallel_for(64, 3, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        if (seen != std::vector<int>(64, 1)) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Threads, WorkersSeeAndHandBackPlainMemory) {
  set_num_threads(2);
  std::int64_t plain = 0;
  std::vector<std::int64_t> results(2);
  for (int round = 0; round < 20'000; ++round) {
    ++plain;
    parallel_for(2, 1, [&](std::int64_t begin, std::int64_t) { results[static_cast<std::size_t>(begin)] = plain; });
    ASSERT_EQ(results, (std::vector<std::int64_t>(2, plain)));
  }
}

TEST_F(Threads, ACallWhoseWorkersSleepIsRight) {
  set_num_threads(2);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(pieces_of(100, 7).size(), 15u);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    on_threads(2, [](std::int64_t) {});
  }
}

TEST_F(Threads, ACallerThatSleepsUntilAWorkerIsDoneWakesUp) {
  set_num_threads(2);
  for (int round = 0; round < 20; ++round) {
    const auto self = std::this_thread::get_id();
    std::atomic<bool> worker_done = false;
    on_threads(2, [&](std::int64_t) {
      if (std::this_thread::get_id() == self) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      worker_done = true;
    });
    EXPECT_TRUE(worker_done);
  }
}

// Looks for some seconds; the states last seen are the answer if they never all sleep.
std::string states_once_asleep() {
  std::string states;
  for (int look = 0; look < 5000; ++look) {
    states = states_of_other_threads();
    if (states.find_first_not_of('S') == std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return states;
}

TEST_F(Threads, IdleWorkersFallAsleep) {
  set_num_threads(3);
  on_threads(3, [](std::int64_t) {});
  const std::string states = states_once_asleep();
  EXPECT_GE(states.size(), 2u);
  EXPECT_EQ(states, std::string(states.size(), 'S'));
}

TEST_F(Threads, WorkersWithNothingLeftFallAsleepBesideTheCallersLastPiece) {
  set_num_threads(2);
  std::string states;
  on_threads(2, [&, self = std::this_thread::get_id()](std::int64_t) {
    if (std::this_thread::get_id() == self) states = states_once_asleep();
  });
  EXPECT_GE(states.size(), 1u);
  EXPECT_EQ(states, std::string(states.size(), 'S'));
}

TEST_F(Threads, WorkersTakeOverTheFloatingPointControl) {
  set_num_threads(2);
  volatile float one = 1.0f, three = 3.0f;
  const auto check = [&](int rounding, unsigned flush) {
    std::fesetround(rounding);
    _mm_setcsr((_mm_getcsr() & ~0x8040u) | flush);
    const float expected = one / three;
    int roundings[2] = {};
    unsigned flushes[2] = {};
    float thirds[2] = {};
    on_threads(2, [&](std::int64_t piece) {
      roundings[piece] = std::fegetround();
      flushes[piece] = _mm_getcsr() & 0x8040u;
      thirds[piece] = one / three;
    });
    std::fesetround(FE_TONEAREST);
    _mm_setcsr(_mm_getcsr() & ~0x8040u);
    for (const int piece : {0, 1}) {
      EXPECT_EQ(roundings[piece], rounding);
      EXPECT_EQ(flushes[piece], flush);
      EXPECT_EQ(thirds[piece], expected);
    }
  };
  check(FE_UPWARD, 0);
  check(FE_DOWNWARD, 0x8040);
  check(FE_TONEAREST, 0);
}

TEST_F(Threads, SignalsForTheProcessStayOffTheWorkers) {
  set_num_threads(2);
  bool blocked[2] = {};
  on_threads(2, [&, self = std::this_thread::get_id()](std::int64_t) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked[std::this_thread::get_id() != self] = sigismember(&mask, SIGINT) == 1;
  });
  EXPECT_FALSE(blocked[0]);
  EXPECT_TRUE(blocked[1]);
}

TEST_F(Threads, AForkedChildMakesAPoolOfItsOwn) {
  set_num_threads(2);
  on_threads(2, [](std::int64_t) {});
  const int in_child = exit_status_of_child([] {
    int result = pieces_of(100, 7).size() == 15 ? 0 : 1;
    on_threads(2, [](std::int64_t) {});
    set_num_threads(3);
    on_threads(3, [](std::int64_t) {});
    // And the child's child.
    const int below = exit_status_of_child([] {
      on_threads(3, [](std::int64_t) {});
      return 5;
    });
    return result + (below == 5 ? 0 : 2);
  });
  EXPECT_EQ(in_child, 0);
  on_threads(2, [](std::int64_t) {});
}

TEST_F(Threads, AForkWhileAnotherThreadHasThePool) {
  set_num_threads(2);
  std::atomic<bool> taken = false, done = false;
  std::thread owner([&] {
    on_threads(2, [&](std::int64_t) {
      taken = true;
      while (!done) std::this_thread::yield();
    });
  });
  while (!taken) std::this_thread::yield();
  EXPECT_EQ(exit_status_of_child([] {
              on_threads(2, [](std::int64_t) {});
              return 5;
            }),
            5);
  done = true;
  owner.join();
}

// A fresh process for each of these: the death test runs this program again.
class ThreadsDeathTest : public testing::Test {
 protected:
  ThreadsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ThreadsDeathTest, ThePoolBeginsAtTheFirstParallelUse) {
  EXPECT_EXIT(
      {
        std::thread([] {}).join();  // a sanitizer may begin a thread of its own with the first
        const std::size_t at_first = other_threads();
        set_num_threads(3);
        parallel_for(5, 10, [](std::int64_t, std::int64_t) {});
        const std::size_t after_small = other_threads();
        parallel_for(50, 10, [](std::int64_t, std::int64_t) {});
        const std::size_t after_large = other_threads();
        _exit(after_small == at_first && after_large == at_first + 2 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ThreadsDeathTest, TheDefaultIsWhatTheProcessMayUse) {
  EXPECT_EXIT(
      {
        cpu_set_t all;
        sched_getaffinity(0, sizeof all, &all);
        const int processors = CPU_COUNT(&all);
        cpu_set_t first;
        CPU_ZERO(&first);
        for (std::size_t cpu = 0; CPU_COUNT(&first) == 0; ++cpu)
          if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &first);
        sched_setaffinity(0, sizeof first, &first);
        _exit(processors >= 1 && num_threads() == 1 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ThreadsDeathTest, StaticDestructorsMayStillUseThePool) {
  EXPECT_EXIT(
      {
        set_num_threads(2);
        on_threads(2, [](std::int64_t) {});
        std::atexit([] {
          on_threads(2, [](std::int64_t) {});
          _exit(7);
        });
        std::exit(1);
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(ThreadsDeathTest, AThrowingBodyEndsTheProcess) {
  const std::vector<int> empty;
  const auto body = [&](std::int64_t begin, std::int64_t) {
    if (begin == 0) (void)empty.at(0);
  };
  EXPECT_DEATH(parallel_for(2, 1, body), "out_of_range");
}

}  // namespace
