// The helper thread waits in two steps: it spins for some microseconds, so that the next task finds it awake, and then
// sleeps, so that it takes no time from the benchmarks of others.
#include "bench/handwritten/split.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace handwritten {
namespace {

constexpr int spins = 2000;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class Helper {
 public:
  Helper() : thread_([this] { serve(); }) {}
  ~Helper() {
    function_ = nullptr;
    start();
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  void run(std::size_t size, std::size_t grain, RangeFunction function, const void* body) {
    const std::size_t half = size / 2 / grain * grain;
    function_ = function;
    body_ = body;
    begin_ = half;
    end_ = size;
    start();
    function(body, 0, half);
    while (finished_.load(std::memory_order_acquire) != started_.load(std::memory_order_relaxed)) pause();
  }

 private:
  void start() {
    started_.fetch_add(1, std::memory_order_release);
    started_.notify_one();
  }

  void serve() {
    std::uint32_t seen = 0;
    for (;;) {
      for (int i = 0; i < spins && started_.load(std::memory_order_relaxed) == seen; ++i) pause();
      started_.wait(seen, std::memory_order_acquire);
      seen = started_.load(std::memory_order_acquire);
      if (function_ == nullptr) return;
      function_(body_, begin_, end_);
      finished_.store(seen, std::memory_order_release);
    }
  }

  RangeFunction function_ = nullptr;
  const void* body_ = nullptr;
  std::size_t begin_ = 0, end_ = 0;
  alignas(64) std::atomic<std::uint32_t> started_{0};
  alignas(64) std::atomic<std::uint32_t> finished_{0};
  std::thread thread_;
};

}  // namespace

void split_in_two(std::size_t size, std::size_t grain, RangeFunction function, const void* body) {
  static Helper helper;
  helper.run(size, grain, function, body);
}

}  // namespace handwritten
