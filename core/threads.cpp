// The pool behind parallel_for.
//
// The caller opens a gate, workers that see it open go in, everybody claims pieces from one counter, and the caller
// closes the gate and waits for those inside to leave. A worker that is late finds the gate closed and has missed
// nothing, so nobody ever waits for a sleeping thread. Idle workers spin for some microseconds and then sleep. The pool
// is made at the first parallel use and never destroyed; a forked child begins without one.
#include "core/threads.hpp"

#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tlaloc/error.hpp>

namespace tlaloc::inline v0 {
namespace core {
namespace {

using detail::Piece;

// Longer than the gap between two operations of a program at work, too short to be noticed in one that is not.
constexpr std::chrono::microseconds spin_time{30};

constexpr int most_threads = 1024;

// 0 until somebody asks.
constinit std::atomic<int> thread_count = 0;

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word, int threads) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

class Spin {
 public:
  // False once it has been long enough.
  bool once_more() {
    _mm_pause();
    if (++rounds_ % 16 != 0) return true;
    const auto now = std::chrono::steady_clock::now();
    if (rounds_ == 16) begin_ = now;
    return now - begin_ < spin_time;
  }

 private:
  unsigned rounds_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

// Rounding, flush-to-zero and exception masks, for SSE/AVX and for x87, whose copy fegetround() reads.
class FloatControl {
 public:
  static FloatControl of_this_thread() {
    FloatControl control;
    control.sse_ = _mm_getcsr() & ~sse_flags;
    asm volatile("fnstcw %0" : "=m"(control.x87_));
    return control;
  }

  void adopt() const {
    const FloatControl own = of_this_thread();
    if (own.sse_ != sse_) _mm_setcsr(sse_);
    if (own.x87_ != x87_) asm volatile("fldcw %0" : : "m"(x87_));
  }

 private:
  static constexpr std::uint32_t sse_flags = 0x3f;
  std::uint32_t sse_ = 0;
  std::uint16_t x87_ = 0;
};

struct Job {
  Piece piece = nullptr;
  const void* body = nullptr;
  std::int64_t n = 0;
  std::int64_t grain = 1;
  std::int64_t pieces = 0;
  FloatControl control = {};

  void run(std::int64_t index) const noexcept {
    const std::int64_t begin = index * grain;
    piece(body, begin, grain < n - begin ? begin + grain : n);
  }

  void run_all() const noexcept {
    for (std::int64_t index = 0; index < pieces; ++index) run(index);
  }
};

// One word: how many workers are inside, whether it is open, whether the caller sleeps until they have left, and a
// ticket by which a worker knows a job it has been in. Tickets come round again; a worker that takes a new job for the
// old one stays out of it once, and that is all.
class Gate {
 public:
  static constexpr std::uint32_t worker = 1, open_bit = 1u << 12, caller_sleeps = 1u << 13, ticket = 1u << 14;
  static constexpr std::uint32_t workers(std::uint32_t word) { return word & (open_bit - 1); }
  static constexpr std::uint32_t ticket_of(std::uint32_t word) { return word / ticket; }
  static constexpr std::uint32_t no_ticket = ~0u;
  static_assert(most_threads < open_bit);

  // Caller only; nobody is inside.
  void open(int wanted) { change(open_bit, wanted); }

  // Calls everybody out of their sleep, with nothing to do.
  void alarm() { change(0, INT_MAX); }

  // Caller only. What workers did inside is visible afterwards.
  void close_and_wait() {
    std::uint32_t word = word_.fetch_and(~open_bit, std::memory_order_acq_rel);
    for (Spin spin; workers(word) != 0; word = word_.load(std::memory_order_acquire)) {
      if (spin.once_more()) continue;
      word = word_.fetch_or(caller_sleeps, std::memory_order_acq_rel) | caller_sleeps;
      if (workers(word) != 0) futex_wait(word_, word);
    }
  }

  // Waits until the gate is open for a job other than `last` and goes in; false if `leave()` came true.
  template <class Leave>
  bool enter(std::uint32_t& last, Leave leave) {
    for (Spin spin;;) {
      std::uint32_t word = word_.load(std::memory_order_acquire);
      if (leave()) return false;
      if ((word & open_bit) != 0 && ticket_of(word) != last) {
        if (!word_.compare_exchange_weak(word, word + worker, std::memory_order_acq_rel)) continue;
        last = ticket_of(word);
        return true;
      }
      if (spin.once_more()) continue;
      // The sum and the kernel's look at the word on this side, the new word and the look at the sum in change(): one
      // of the two sees the other.
      sleepers_.fetch_add(1);
      futex_wait(word_, word);
      sleepers_.fetch_sub(1);
      spin = {};
    }
  }

  void leave() {
    const std::uint32_t before = word_.fetch_sub(worker, std::memory_order_acq_rel);
    if ((before & caller_sleeps) != 0 && workers(before) == 1) futex_wake(word_, INT_MAX);
  }

 private:
  void change(std::uint32_t bits, int wanted) {
    const std::uint32_t next = ticket_of(word_.load(std::memory_order_relaxed)) + 1;
    word_.store(next * ticket | bits);
    if (sleepers_.load() != 0) futex_wake(word_, wanted);
  }

  alignas(64) std::atomic<std::uint32_t> word_ = 0;
  alignas(64) std::atomic<std::uint32_t> sleepers_ = 0;
};

class Pool {
 public:
  explicit Pool(Pool* parents) : parents_(parents) {}

  // False if the pool is taken, by another thread or by the parallel_for that this call is inside of, or if there are
  // no workers to be had.
  bool try_run(const Job& job) {
    if (busy_.load(std::memory_order_relaxed) || busy_.exchange(true, std::memory_order_acquire)) return false;
    const int wanted = thread_count.load(std::memory_order_relaxed) - 1;
    if (wanted != wanted_) resize(wanted);
    const bool works = !workers_.empty();
    if (works) run(job);
    busy_.store(false, std::memory_order_release);
    return works;
  }

 private:
  void run(const Job& job) {
    job_ = job;
    job_.control = FloatControl::of_this_thread();
    next_.store(0, std::memory_order_relaxed);
    back_.store(job.pieces, std::memory_order_relaxed);
    gate_.open(static_cast<int>(std::min<std::int64_t>(job.pieces - 1, most_threads)));
    for (std::int64_t front = 0; next_.fetch_add(1, std::memory_order_relaxed) < job_.pieces; ++front) job_.run(front);
    gate_.close_and_wait();
  }

  void run_pieces() noexcept {
    for (;;) {
      if (next_.fetch_add(1, std::memory_order_relaxed) >= job_.pieces) return;
      job_.run(back_.fetch_sub(1, std::memory_order_relaxed) - 1);
    }
  }

  void work(int number) noexcept {
    std::uint32_t last = Gate::no_ticket;
    while (gate_.enter(last, [&] { return number >= staying_.load(std::memory_order_relaxed); })) {
      job_.control.adopt();
      run_pieces();
      gate_.leave();
    }
  }

  // With fewer workers than wanted if the system gives no more; it is asked again when the wish changes.
  void resize(int wanted) noexcept {
    wanted_ = wanted;
    staying_.store(wanted, std::memory_order_relaxed);
    if (static_cast<int>(workers_.size()) > wanted) gate_.alarm();
    while (static_cast<int>(workers_.size()) > wanted) {
      workers_.back().join();
      workers_.pop_back();
    }
    // Handlers for what is sent to the process run on the program's own threads.
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    try {
      while (static_cast<int>(workers_.size()) < wanted)
        workers_.emplace_back(&Pool::work, this, static_cast<int>(workers_.size()));
    } catch (const std::exception&) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  Gate gate_;
  alignas(64) std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::int64_t> back_ = 0;
  alignas(64) Job job_;
  alignas(64) std::atomic<bool> busy_ = false;
  // Spinning workers look at this: not on a line that a caller writes to.
  alignas(64) std::atomic<int> staying_ = 0;  // workers with this number and above are to end
  int wanted_ = 0;
  std::vector<std::thread> workers_;
  [[maybe_unused]] Pool* const parents_;  // of the process this one was forked from; kept so that it does not look lost
};

constinit std::atomic<Pool*> pool = nullptr;
constinit Pool* parents_pool = nullptr;
constinit std::mutex pool_creation;

Pool* make_pool() {
  static const int handlers = pthread_atfork([] { pool_creation.lock(); }, [] { pool_creation.unlock(); },
                                             [] {
                                               if (Pool* const old = pool.exchange(nullptr)) parents_pool = old;
                                               pool_creation.unlock();
                                             });
  if (handlers != 0) return nullptr;
  const std::lock_guard lock(pool_creation);
  if (pool.load() == nullptr) pool.store(new (std::nothrow) Pool(parents_pool));
  return pool.load();
}

int processors() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

namespace detail {

void run_pieces(std::int64_t n, std::int64_t grain, Piece piece, const void* body) {
  const Job job{.piece = piece, .body = body, .n = n, .grain = grain, .pieces = (n - 1) / grain + 1};
  if (num_threads() > 1) {
    Pool* workers = pool.load(std::memory_order_acquire);
    if (workers == nullptr) workers = make_pool();
    if (workers != nullptr && workers->try_run(job)) return;
  }
  job.run_all();
}

}  // namespace detail
}  // namespace core

int num_threads() {
  const int count = core::thread_count.load(std::memory_order_relaxed);
  if (count != 0) [[likely]]
    return count;
  int unset = 0;
  core::thread_count.compare_exchange_strong(unset, std::min(core::processors(), core::most_threads));
  return core::thread_count.load(std::memory_order_relaxed);
}

void set_num_threads(int count) {
  if (count < 1 || count > core::most_threads)
    throw ValueError("set_num_threads: the count must be from 1 (no parallelism) to " +
                     std::to_string(core::most_threads) + "; got " + std::to_string(count));
  core::thread_count.store(count, std::memory_order_relaxed);
}

}  // namespace tlaloc::inline v0
