// Transforms on several threads at once: each thread has its own levels and tapes, and they share nothing but the
// values they read. The results are those of one thread, bit for bit.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

using Function = std::function<Tensor(const Tensor&)>;

constexpr int thread_count = 8;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int repeats = 4;
#else
constexpr int repeats = 25;
#endif

void on_threads(int count, const std::function<void(int)>& work) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      work(t);
    });
  for (std::thread& thread : threads) thread.join();
}

Tensor number_of(double value) { return tensor<double>(value); }

/// Numbers without a pattern, the same for the same seed.
Tensor noise(std::uint32_t seed, const Shape& shape) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.size(); ++i) {
    seed = seed * 1664525 + 1013904223;
    values.push_back(static_cast<float>(seed >> 8) / static_cast<float>(1 << 23) - 1);
  }
  return from_data(values, shape);
}

/// What all threads read.
struct Shared {
  Axis batch{"batch"}, feature{"feature"}, hidden{"hidden"}, klass{"class"};
  Tensor w1 = noise(1, {feature(4), hidden(8)});
  Tensor w2 = noise(2, {hidden(8), klass(3)});
  Tensor xs = noise(3, {batch(16), feature(4)});
  Tensor labels = from_data(std::vector<std::int64_t>{0, 1, 2, 2, 1, 0, 0, 1, 2, 0, 1, 2, 1, 1, 0, 2}, {batch(16)});
  Tensor plain = noise(4, {6});

  Tensor loss(const Tensor& a, const Tensor& b, const Tensor& x, const Tensor& y) const {
    return cross_entropy(matmul(tanh(matmul(x, a)), b), y);
  }
};

void append(std::vector<float>& to, const Tensor& x) {
  const std::vector<float> values = x.to_vector<float>();
  to.insert(to.end(), values.begin(), values.end());
}

/// Every kind of transform and nesting; `t` makes one thread's numbers differ from another's.
std::vector<float> work(const Shared& shared, int t) {
  std::vector<float> results;
  const float scale = 1 + 0.125f * static_cast<float>(t);
  const auto loss = [&](const Tensor& a, const Tensor& b, const Tensor& x, const Tensor& y) {
    return shared.loss(a * scale, b, x, y);
  };
  const auto [g1, g2] = vmap(grad(loss, argnums<0, 1>), shared.batch)(shared.w1, shared.w2, shared.xs, shared.labels);
  append(results, g1);
  append(results, g2);
  const auto whole = [&](const Tensor& a) { return mean(loss(a, shared.w2, shared.xs, shared.labels)); };
  append(results, jvp([&](const Tensor& a) { return grad(whole)(a); }, shared.w1, shared.w1).second);
  const Function curved = [&](const Tensor& x) { return sum(tanh(x * scale) * shared.plain) + logsumexp(square(x)); };
  append(results, vmap([&](const Tensor& v) { return jvp(grad(curved), shared.plain, v).second; })(eye(6)));
  const auto [y, pullback] = vjp([&](const Tensor& x) { return softmax(x * scale, 0); }, shared.plain);
  append(results, vmap([&, &p = pullback](const Tensor& ct) { return p(ct); })(eye(6)));
  // A name of this thread's own, and a new shape each.
  const Axis own("thread" + std::to_string(t));
  append(results, vmap(grad([](const Tensor& x) { return sum(exp(x)); }), own)(noise(5, {own(t + 2), 3})));
  return results;
}

TEST(Threads, EachRunsItsOwnTransforms) {
  const Shared shared;
  std::vector<std::vector<float>> expected;
  for (int t = 0; t < thread_count; ++t) expected.push_back(work(shared, t));
  EXPECT_NE(expected[0], expected[1]);
  std::vector<int> wrong(thread_count);
  on_threads(thread_count, [&](int t) {
    const auto place = static_cast<std::size_t>(t);
    for (int i = 0; i < repeats; ++i) wrong[place] += work(shared, t) != expected[place];
  });
  EXPECT_EQ(wrong, std::vector<int>(thread_count));
}

TEST(Threads, ShareThePoolForLargeOperations) {
  const int before = num_threads();
  set_num_threads(4);
  const Tensor a = noise(6, {150, 200}), b = noise(7, {200, 130});
  const Tensor wide = noise(8, {300'000});
  const auto large = [&](int t) {
    std::vector<float> results;
    const auto f = [&](const Tensor& x, const Tensor& w) { return sum(tanh(matmul(x, b))) + sum(square(w) * (t + 1)); };
    const auto [da, dw] = grad(f, argnums<0, 1>)(a, wide);
    append(results, da);
    append(results, select(reshape(dw, {300, 1000}), 0, 7));
    append(results, vmap(grad([&](const Tensor& x) { return sum(exp(x * 0.01)); }))(reshape(wide, {300, 1000})));
    return results;
  };
  std::vector<std::vector<float>> expected;
  for (int t = 0; t < 4; ++t) expected.push_back(large(t));
  std::vector<int> wrong(4);
  on_threads(4, [&](int t) {
    const auto place = static_cast<std::size_t>(t);
    for (int i = 0; i < 3; ++i) wrong[place] += large(t) != expected[place];
  });
  EXPECT_EQ(wrong, std::vector<int>(4));
  set_num_threads(before);
}

TEST(Threads, ThrowInTheirTransformsWithoutHarmToOthers) {
  const Shared shared;
  const std::vector<float> expected = work(shared, 0);
  std::atomic<int> wrong = 0;
  on_threads(thread_count, [&](int t) {
    for (int i = 0; i < repeats; ++i) {
      if (t % 2 == 0) {
        wrong += work(shared, 0) != expected;
        continue;
      }
      try {
        vmap(grad([&](const Tensor& x) {
          const Tensor y = tanh(x) * x;
          if (i % 2 == 0) throw i;
          return sum(y * ones({7}));
        }))(reshape(shared.plain, {1, 6}));
        ++wrong;
      } catch (int thrown) {
        wrong += thrown != i;
      } catch (const ShapeError&) {
        wrong += i % 2 == 0;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, FreeWhatOthersMade) {
  const std::int64_t before = memory_stats().in_use;
  {
    // A ring: each thread makes tensors for the next one, which reads and frees them.
    struct Mailbox {
      std::mutex mutex;
      std::condition_variable arrived;
      std::deque<std::pair<Tensor, double>> letters;
    };
    constexpr int count = 4;
    std::vector<Mailbox> boxes(count);
    std::atomic<int> wrong = 0;
    on_threads(count, [&](int t) {
      for (int i = 0; i < 40 * repeats; ++i) {
        Tensor x = full({1 + i % 700}, t * 1000 + i, DType::f64);
        Tensor made = grad([](const Tensor& y) { return sum(square(y)); })(x);
        Tensor view = slice(std::move(made), 0, 0, 1);  // holds an owner that nobody else holds
        {
          Mailbox& next = boxes[static_cast<std::size_t>((t + 1) % count)];
          const std::lock_guard lock(next.mutex);
          next.letters.emplace_back(std::move(view), 2.0 * (t * 1000 + i));
          next.arrived.notify_one();
        }
        Mailbox& own = boxes[static_cast<std::size_t>(t)];
        std::unique_lock lock(own.mutex);
        own.arrived.wait(lock, [&] { return !own.letters.empty(); });
        const auto [letter, expected] = std::move(own.letters.front());
        own.letters.pop_front();
        lock.unlock();
        wrong += letter.item<double>() != expected;
      }
    });
    EXPECT_EQ(wrong, 0);
    for (const Mailbox& box : boxes) EXPECT_TRUE(box.letters.empty());
  }
  EXPECT_EQ(memory_stats().in_use, before);
}

TEST(Threads, EndWhileTheirTensorsLive) {
  const std::int64_t before = memory_stats().in_use;
  {
    std::vector<Tensor> kept(thread_count);
    using Back = decltype(vjp(std::declval<Function>(), std::declval<const Tensor&>()).second);
    std::vector<std::optional<Back>> pullbacks(thread_count);
    on_threads(thread_count, [&](int t) {
      const auto place = static_cast<std::size_t>(t);
      // This one ends with the thread, after whatever the library keeps for it or before.
      static thread_local Tensor until_the_end;
      until_the_end = full({100}, t) * 1.5;
      kept[place] = full({3000}, t, DType::f64) * 2;
      pullbacks[place].emplace(vjp(Function([](const Tensor& x) { return exp(x) * x; }), number_of(t)).second);
    });
    for (int t = 0; t < thread_count; ++t) {
      const auto place = static_cast<std::size_t>(t);
      EXPECT_EQ(sum(kept[place]).item<double>(), 6000.0 * t);
      EXPECT_DOUBLE_EQ((*pullbacks[place])(number_of(1)).item<double>(), std::exp(t) * (t + 1));
    }
    // And all of them freed on yet another thread.
    std::thread([&] {
      kept.clear();
      pullbacks.clear();
    }).join();
  }
  EXPECT_EQ(memory_stats().in_use, before);
}

struct WorksWhileItDies {
  std::vector<double>* results = nullptr;
  Tensor kept;
  ~WorksWhileItDies() {
    if (results == nullptr) return;
    const Function cube = [](const Tensor& x) { return x * x * x; };
    results->push_back(grad(grad(cube))(kept).item<double>());
    results->push_back(sum(vmap(grad(cube))(tensor<double>({1, 2, 3}))).item<double>());
  }
};

TEST(Threads, MayUseTransformsInThreadLocalDestructors) {
  std::vector<double> results;
  std::thread([&] {
    // One that is made before the library's own thread-local state, so that it dies after it.
    static thread_local WorksWhileItDies dying;
    dying.results = &results;
    dying.kept = number_of(5);
  }).join();
  EXPECT_EQ(results, (std::vector<double>{30, 42}));
}

}  // namespace
