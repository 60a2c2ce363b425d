// The library and the life of a process: forked children, and tensors that live or are used until the very end.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#if defined(__SANITIZE_THREAD__)
// A forked child starts its pool anew, which the thread sanitizer refuses by default.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer looks for this name
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace {

using namespace tlaloc;

using Function = std::function<Tensor(const Tensor&)>;

/// Uses transforms of every kind, names, the allocator and the pool; true when all results are right.
bool transforms_work() {
  const Function cube = [](const Tensor& x) { return x * x * x; };
  const Axis batch("batch");
  bool right = grad(grad(cube))(tensor<double>(5.0)).item<double>() == 30;
  right &=
      array_equal(vmap(grad(cube), batch)(tensor<double>({1, 2, 3}, {batch})), tensor<double>({3, 12, 27}, {batch}));
  right &= jvp(cube, tensor<double>(2.0), tensor<double>(1.0)).second.item<double>() == 12;
  // Large enough to be shared among threads.
  const Tensor wide = full({400'000}, 0.5, DType::f32);
  const Tensor slope = grad([](const Tensor& x) { return sum(square(x)); })(wide);
  return right && array_equal(slope, ones({400'000}));
}

/// The same, and BLAS.
bool everything_works() {
  const Tensor square_matrix = ones({160, 160});
  const auto product = [&](const Tensor& a) { return sum(matmul(a, square_matrix)); };
  return transforms_work() && array_equal(grad(product)(square_matrix), full({160, 160}, 160.0));
}

/// Runs `work` in a forked child; its result is the child's exit status. A child that hangs is killed by its alarm.
template <class Work>
int status_of_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    int status = 100;
    try {
      status = work();
    } catch (...) {
    }
    _exit(status);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

class Process : public testing::Test {
 protected:
  void SetUp() override { set_num_threads(4); }
  void TearDown() override { set_num_threads(before_); }

 private:
  const int before_ = num_threads();
};

TEST_F(Process, AForkedChildWorks) {
  ASSERT_TRUE(everything_works());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(status_of_child([] { return everything_works() ? 0 : 1; }), 0);
    EXPECT_TRUE(everything_works());
  }
}

TEST_F(Process, AForkedChildHasItsParentsTensors) {
  const Tensor x = full({1000}, 3, DType::f64) * 2;
  const auto result = vjp([](const Tensor& y) { return square(y); }, x);
  EXPECT_EQ(status_of_child([&] {
              const Tensor g = result.second(x);
              return sum(g).item<double>() == 72000 && sum(x).item<double>() == 6000 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(sum(result.second(x)).item<double>(), 72000);
}

TEST_F(Process, AChildForkedInsideATransformGoesOnWithIt) {
  const Tensor g = grad([](const Tensor& x) {
    const Tensor y = x * x;
    EXPECT_EQ(status_of_child([&] {
                const double inner =
                    grad([&](const Tensor& z) { return z * z * y; })(tensor<double>(3.0)).item<double>();
                return inner == 24 && everything_works() ? 0 : 1;
              }),
              0);
    return y * x;
  })(tensor<double>(2.0));
  EXPECT_EQ(g.item<double>(), 12);
  // The whole rest of a transform in the child.
  const auto forking = [](const Tensor& x) {
    const Tensor y = x * x;
    const pid_t child = fork();
    if (child == 0) alarm(100);
    return std::pair(y * x, static_cast<int>(child));
  };
  const auto [slope, child] = grad(forking)(tensor<double>(2.0));
  if (child == 0) _exit(slope.item<double>() == 12 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(slope.item<double>(), 12);
}

TEST_F(Process, AChildOfAChildWorks) {
  EXPECT_EQ(status_of_child([] {
              if (!everything_works()) return 1;
              return status_of_child([] { return everything_works() ? 0 : 2; });
            }),
            0);
}

TEST_F(Process, AForkedChildOfAThreadThatIsNotTheMainOne) {
  ASSERT_TRUE(everything_works());
  int status = -1;
  std::thread([&] { status = status_of_child([] { return everything_works() ? 0 : 1; }); }).join();
  EXPECT_EQ(status, 0);
}

TEST_F(Process, ForksWhileOtherThreadsAreAtWork) {
  std::atomic<bool> stop = false;
  std::atomic<bool> right = true;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) right = right && everything_works();
    });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status_of_child([] { return everything_works() ? 0 : 1; }), 0);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(right);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need address space of their own
/// Bytes of address space this process has.
std::int64_t address_space() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// Memory runs out at every place there is, forwards and on the way back; nothing stays behind, and the program goes on.
TEST_F(Process, MemoryThatRunsOutAnywhereLeavesNothingBehind) {
  const int status = status_of_child([] {
    set_num_threads(1);
    const Tensor x = full({250'000}, 0.5, DType::f64) * 1.0;
    const auto second_order = [&] {
      const auto f = [](const Tensor& v) { return sum(tanh(v * v) * exp(v)); };
      return grad([&](const Tensor& v) { return sum(grad(f)(v) * jvp(f, v, x).second); })(x);
    };
    const Tensor expected = second_order();
    empty_cache();
    const std::int64_t before = memory_stats().in_use;
    int failures = 0;
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    for (std::int64_t room = 0;; room += 1 << 20) {
      empty_cache();
      limit.rlim_cur = static_cast<rlim_t>(address_space() + room);
      setrlimit(RLIMIT_AS, &limit);
      bool done = true;
      Tensor result;
      try {
        result = second_order();
      } catch (const MemoryError&) {
        done = false;
        ++failures;
      }
      limit.rlim_cur = limit.rlim_max;
      setrlimit(RLIMIT_AS, &limit);
      if (done && !array_equal(result, expected)) return 2;
      result = Tensor();
      if (memory_stats().in_use != before) return 3;
      if (!array_equal(second_order(), expected)) return 4;
      if (done) break;
    }
    return failures > 10 ? 0 : 5;
  });
  EXPECT_EQ(status, 0);
}
#endif

// What a program may do after main has returned: static objects hold tensors, and their destructors use transforms.
bool at_the_end = false;
struct WorksAtTheEnd {
  Tensor kept;
  ~WorksAtTheEnd() {
    if (!at_the_end) return;
    const bool right = kept.defined() && sum(kept).item<double>() == 6 && everything_works();
    if (!right) _exit(9);
  }
};
WorksAtTheEnd made_before_the_library_was_used;
Tensor global_tensor;

TEST(ProcessEnd, StaticObjectsMayHoldAndUseTensors) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        at_the_end = true;
        set_num_threads(4);
        made_before_the_library_was_used.kept = tensor<double>({1, 2, 3}) * 1.0;
        global_tensor = full({100'000}, 2.0) * 3.0;
        static WorksAtTheEnd made_after;
        made_after.kept = made_before_the_library_was_used.kept * 1.0;
        static thread_local WorksAtTheEnd of_this_thread;
        of_this_thread.kept = made_after.kept + 0.0;
        std::exit(everything_works() ? 5 : 1);
      },
      testing::ExitedWithCode(5), "");
}

TEST(ProcessEnd, MayComeInsideATransform) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(grad([](const Tensor& x) -> Tensor {
                at_the_end = true;
                made_before_the_library_was_used.kept = tensor<double>({1, 2, 3}) * 1.0;
                global_tensor = x * x;  // belongs to a transform that never ends
                std::exit(6);
              })(tensor<double>(1.0)),
              testing::ExitedWithCode(6), "");
}

// Without BLAS, which takes itself down when the process ends.
TEST(ProcessEnd, ThreadsThatAreStillAtWorkDoNoHarm) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static std::atomic<int> rounds = 0;
        std::thread([] {
          for (;;) {
            if (!transforms_work()) _exit(8);
            ++rounds;
          }
        }).detach();
        while (rounds < 2) std::this_thread::yield();
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
