// The inputs of the workloads, the library's ways of computing them beside those written by hand, and the comparison of
// what they compute. Both sides get the same numbers.
#include "bench/workloads.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <tuple>
#include <utility>

#include "bench/handwritten/chain.hpp"
#include "bench/handwritten/classifier.hpp"
#include "bench/handwritten/mlp.hpp"

#include <tlaloc/tlaloc.hpp>

namespace bench {
namespace {

using namespace tlaloc;
using handwritten::Buffer;

class Draw {
 public:
  Buffer uniform(std::size_t size, float bound) {
    std::uniform_real_distribution<float> distribution(-bound, bound);
    Buffer buffer(size);
    std::generate_n(buffer.data(), size, [&] { return distribution(engine_); });
    return buffer;
  }
  Buffer one_hot(std::size_t rows, std::size_t classes) {
    std::uniform_int_distribution<std::size_t> distribution(0, classes - 1);
    Buffer buffer(rows * classes);
    for (std::size_t row = 0; row < rows; ++row) buffer.data()[row * classes + distribution(engine_)] = 1;
    return buffer;
  }

 private:
  std::mt19937 engine_{1};
};

Tensor to_tensor(const Buffer& buffer, const Shape& shape) { return from_data(buffer.span(), shape); }

/// The rows of a matrix as tensors of their own, for the loop over examples.
std::vector<Tensor> to_rows(const Buffer& buffer, Dim columns) {
  const auto width = static_cast<std::size_t>(columns.extent());
  std::vector<Tensor> rows;
  for (std::size_t at = 0; at < buffer.size(); at += width)
    rows.push_back(from_data(buffer.span().subspan(at, width), {columns}));
  return rows;
}

std::vector<float> copy(const Buffer& buffer) { return {buffer.span().begin(), buffer.span().end()}; }

template <class... Tensors>
Results to_results(const std::tuple<Tensors...>& gradients) {
  return std::apply([](const auto&... gradient) { return Results{gradient.template to_vector<float>()...}; },
                    gradients);
}

/// Example after example, each result's entries one after the other: laid out like the batched result.
template <class Gradients>
Results to_results(const std::vector<Gradients>& of_examples) {
  Results all(std::tuple_size_v<Gradients>);
  for (const Gradients& gradients : of_examples) {
    const Results of_one = to_results(gradients);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].insert(all[i].end(), of_one[i].begin(), of_one[i].end());
  }
  return all;
}

/// The two cases of the library: `batched()` gives all gradients, `single(i)` those of one example.
template <class Batched, class Single>
void add_library_cases(std::vector<Case>& cases, const std::string& workload, std::size_t batch, Batched batched,
                       Single single) {
  // The results are kept until the loop is over, as whoever asks for them all would do.
  auto looped = [batch, single] {
    std::vector<decltype(single(std::size_t{0}))> gradients;
    gradients.reserve(batch);
    for (std::size_t i = 0; i < batch; ++i) gradients.push_back(single(i));
    return gradients;
  };
  const int size = static_cast<int>(batch);
  cases.push_back({workload, size, "batched", "gradient", 1, [batched](int) { static_cast<void>(batched()); },
                   [batched](int) { return to_results(batched()); }});
  cases.push_back({workload, size, "looped", "gradient", 1, [looped](int) { static_cast<void>(looped()); },
                   [looped](int) { return to_results(looped()); }});
}

void add_classifier(std::vector<Case>& cases, std::size_t batch_size) {
  using Inputs = handwritten::ClassifierInputs;
  Draw draw;
  const auto in = std::make_shared<const Inputs>(
      Inputs{batch_size, draw.uniform(Inputs::w1_size, 0.5f), draw.uniform(Inputs::w2_size, 0.5f),
             draw.uniform(batch_size * Inputs::features, 1), draw.one_hot(batch_size, Inputs::classes)});

  const Axis batch{"batch"};
  const Dim feature{Axis{"feature"}, Inputs::features}, hidden{Axis{"hidden"}, Inputs::hidden},
      klass{Axis{"class"}, Inputs::classes};
  const Tensor w1 = to_tensor(in->w1, {feature, hidden}), w2 = to_tensor(in->w2, {hidden, klass});
  const Tensor xs = to_tensor(in->xs, {batch(batch_size), feature}), ys = to_tensor(in->ys, {batch(batch_size), klass});

  const auto one = grad([](const Tensor& v1, const Tensor& v2, const Tensor& x,
                           const Tensor& y) { return cross_entropy(matmul(tanh(matmul(x, v1)), v2), y); },
                        argnums<0, 1>);
  add_library_cases(
      cases, "W1", batch_size, [=, all = vmap(one, batch)] { return all(w1, w2, xs, ys); },
      [=, x = to_rows(in->xs, feature), y = to_rows(in->ys, klass)](std::size_t i) { return one(w1, w2, x[i], y[i]); });

  const auto out = std::make_shared<handwritten::ClassifierGradients>(batch_size);
  const auto op_by_op = std::make_shared<handwritten::ClassifierOpByOp>(batch_size);
  const auto add = [&](const char* variant, std::function<void(int)> run) {
    cases.push_back({"W1", static_cast<int>(batch_size), variant, "gradient", 1, run, [run, out](int threads) {
                       run(threads);
                       return Results{copy(out->w1), copy(out->w2)};
                     }});
  };
  add("handwritten", [=](int threads) { handwritten::classifier_fused(*in, *out, threads); });
  add("handwritten_op_by_op", [=](int threads) { op_by_op->run(*in, *out, threads); });
}

void add_mlp(std::vector<Case>& cases, std::size_t batch_size) {
  using Inputs = handwritten::MlpInputs;
  Draw draw;
  const auto in = std::make_shared<const Inputs>(
      Inputs{batch_size, draw.uniform(Inputs::features * Inputs::hidden, 0.1f), draw.uniform(Inputs::hidden, 0.1f),
             draw.uniform(Inputs::hidden * Inputs::classes, 0.1f), draw.uniform(Inputs::classes, 0.1f),
             draw.uniform(batch_size * Inputs::features, 1), draw.one_hot(batch_size, Inputs::classes)});

  const Axis batch{"batch"};
  const Dim feature{Axis{"feature"}, Inputs::features}, hidden{Axis{"hidden"}, Inputs::hidden},
      klass{Axis{"class"}, Inputs::classes};
  const Tensor w1 = to_tensor(in->w1, {feature, hidden}), b1 = to_tensor(in->b1, {hidden});
  const Tensor w2 = to_tensor(in->w2, {hidden, klass}), b2 = to_tensor(in->b2, {klass});
  const Tensor xs = to_tensor(in->xs, {batch(batch_size), feature}), ys = to_tensor(in->ys, {batch(batch_size), klass});

  const auto one = grad([](const Tensor& v1, const Tensor& c1, const Tensor& v2, const Tensor& c2, const Tensor& x,
                           const Tensor& y) { return cross_entropy(matmul(tanh(matmul(x, v1) + c1), v2) + c2, y); },
                        argnums<0, 1, 2, 3>);
  add_library_cases(
      cases, "W2", batch_size, [=, all = vmap(one, batch)] { return all(w1, b1, w2, b2, xs, ys); },
      [=, x = to_rows(in->xs, feature), y = to_rows(in->ys, klass)](std::size_t i) {
        return one(w1, b1, w2, b2, x[i], y[i]);
      });

  const auto out = std::make_shared<handwritten::MlpGradients>(batch_size);
  const auto mlp = std::make_shared<handwritten::Mlp>(batch_size);
  cases.push_back({"W2", static_cast<int>(batch_size), "handwritten", "gradient", 1,
                   [=](int threads) { mlp->run(*in, *out, threads); },
                   [=](int threads) {
                     mlp->run(*in, *out, threads);
                     return Results{copy(out->w1), copy(out->b1), copy(out->w2), copy(out->b2)};
                   }});
}

void add_chain(std::vector<Case>& cases) {
  constexpr int operations = 1000;
  constexpr std::size_t size = 8;
  const auto x = std::make_shared<const Buffer>(Draw{}.uniform(size, 1));
  const Tensor start = to_tensor(*x, {Dim{size}});

  const auto chain = [](Tensor value) {
    for (int i = 0; i < operations; i += 2) value = tanh(value) * handwritten::chain_factor;
    return value;
  };
  const auto gradient = grad([chain](const Tensor& value) { return sum(chain(value)); });
  cases.push_back({"W4", 1, "forward", "value", operations, [=](int) { static_cast<void>(chain(start)); },
                   [=](int) { return Results{chain(start).to_vector<float>()}; }});
  cases.push_back({"W4", 1, "gradient", "gradient", operations, [=](int) { static_cast<void>(gradient(start)); },
                   [=](int) { return Results{gradient(start).template to_vector<float>()}; }});

  const auto result = std::make_shared<Buffer>(size), scratch = std::make_shared<Buffer>(size);
  const auto tape = std::make_shared<handwritten::ChainTape>(size, operations);
  const auto add = [&](const char* variant, const char* computes, std::function<void(int)> run) {
    cases.push_back({"W4", 1, variant, computes, operations, run, [run, result](int threads) {
                       run(threads);
                       return Results{copy(*result)};
                     }});
  };
  add("handwritten", "value", [=](int) { handwritten::chain_kernels(*x, *result, *scratch, operations); });
  add("handwritten_tape", "gradient", [=](int) { tape->run(*x, *result, operations); });
}

/// nan when the sizes differ or a difference is nan.
double relative_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return NAN;
  double largest_entry = 0, largest_difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(double{a[i]} - double{b[i]});
    if (std::isnan(difference)) return NAN;
    largest_difference = std::max(largest_difference, difference);
    largest_entry = std::max(largest_entry, std::abs(double{a[i]}));
  }
  return largest_difference == 0 ? 0 : largest_difference / largest_entry;
}

}  // namespace

std::vector<Case> make_cases() {
  std::vector<Case> cases;
  for (std::size_t batch : {1u, 16u, 256u, 4096u}) add_classifier(cases, batch);
  add_mlp(cases, 64);
  add_chain(cases);
  return cases;
}

std::vector<std::string> disagreements(const std::vector<Case>& cases, int threads) {
  std::vector<std::string> lines;
  std::vector<std::pair<const Case*, Results>> firsts;
  for (const Case& c : cases) {
    Results results = c.results(threads);
    const auto same = std::find_if(firsts.begin(), firsts.end(), [&](const auto& first) {
      return first.first->workload == c.workload && first.first->batch == c.batch &&
             first.first->computes == c.computes;
    });
    if (same == firsts.end()) {
      firsts.emplace_back(&c, std::move(results));
      continue;
    }
    bool agree = results.size() == same->second.size();
    for (std::size_t i = 0; agree && i < results.size(); ++i)
      agree = relative_difference(same->second[i], results[i]) <= 1e-4;
    if (!agree)
      lines.push_back(c.workload + ", batch " + std::to_string(c.batch) + ", threads " + std::to_string(threads) +
                      ": " + same->first->variant + " and " + c.variant + " disagree");
  }
  return lines;
}

}  // namespace bench
