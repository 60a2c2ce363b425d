// Transforms inside transforms: every pair and three, and a sample of four, against derivatives of Taylor series.
//
// With TLALOC_ALL_NESTINGS in the environment every nesting of four runs, which takes minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/jets.hpp"
#include "tests/nestings.hpp"

namespace {

using namespace tlaloc;
using jets::Jet;

using Jets = std::array<Jet, 3>;

struct Subject {
  const char* name;
  nestings::Function f;
  std::function<Jet(const Jets&)> jet;
};

const std::array<std::array<double, 3>, 3> mixing{{{0.5, -0.3, 0.2}, {0.1, 0.7, -0.4}, {-0.6, 0.2, 0.3}}};

Jet softmax_times_x(const Jets& x) {
  const Jet total = exp(x[0]) + exp(x[1]) + exp(x[2]);
  return (exp(x[0]) * x[0] + exp(x[1]) * x[1] + exp(x[2]) * x[2]) / total * log(total);
}

constexpr double bound = 0.037;
/// Refuses to decide what rounding would decide.
bool above(double a, double b) {
  if (std::abs(a - b) < 1e-7) throw std::logic_error("a comparison that rounding decides");
  return a > b;
}

const std::vector<Subject>& subjects() {
  static const Tensor w = tensor<double>({0.8, -0.5, 1.1});
  static const std::vector<Subject> all{
      {"products from the left", [](const Tensor& x) { return sum(cumprod(sin(x * 0.7), 0) * w) + prod(x) * 0.1; },
       [](const Jets& x) {
         const Jet a = sin(x[0] * 0.7);
         const Jet b = a * sin(x[1] * 0.7);
         const Jet c = b * sin(x[2] * 0.7);
         return a * 0.8 + b * -0.5 + c * 1.1 + x[0] * x[1] * x[2] * 0.1;
       }},
      {"by size",
       [](const Tensor& x) {
         const auto [values, places] = sort_with_indices(x, 0);
         return sum(sin(values) * w * take(tensor<double>({1.0, 2.0, -1.5}), places, 0)) +
                max(x) * tanh(select(x, 0, 0));
       },
       [](const Jets& x) {
         std::array<std::size_t, 3> order{0, 1, 2};
         std::sort(order.begin(), order.end(), [&](auto i, auto j) { return above(x[j].value(), x[i].value()); });
         const std::array<double, 3> by_rank{0.8, -0.5, 1.1};
         const std::array<double, 3> by_place{1.0, 2.0, -1.5};
         Jet total = x[order[2]] * tanh(x[0]);
         for (std::size_t i = 0; i < 3; ++i) total += sin(x[order[i]]) * (by_rank[i] * by_place[order[i]]);
         return total;
       }},
      {"softmax", [](const Tensor& x) { return sum(softmax(x, 0) * x) * logsumexp(x); }, softmax_times_x},
      {"two layers",
       [](const Tensor& x) {
         const Tensor m = tensor<double>({{0.5, -0.3, 0.2}, {0.1, 0.7, -0.4}, {-0.6, 0.2, 0.3}});
         return sum(tanh(matmul(m, x)) * x) + matmul(x, matmul(m, sin(x)));
       },
       [](const Jets& x) {
         Jet total;
         for (std::size_t i = 0; i < 3; ++i) {
           Jet linear;
           Jet sines;
           for (std::size_t k = 0; k < 3; ++k) {
             linear += x[k] * mixing[i][k];
             sines += sin(x[k]) * mixing[i][k];
           }
           total += tanh(linear) * x[i] + x[i] * sines;
         }
         return total;
       }},
      {"quotients and parts",
       [](const Tensor& x) {
         const Tensor n = norm(concat({x, tensor<double>({0.9})}, 0));
         return select(x, 0, 1) / (1.5 + sum(square(x))) + mean(where(x > bound, x * select(x, 0, 2), exp(x) * n)) +
                power(n, 1.5);
       },
       [](const Jets& x) {
         const Jet squares = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
         const Jet n = power(squares + Jet(0.81), 0.5);
         Jet mean;
         for (std::size_t i = 0; i < 3; ++i)
           mean += (above(x[i].value(), bound) ? x[i] * x[2] : exp(x[i]) * n) * (1.0 / 3);
         return x[1] / (squares + Jet(1.5)) + mean + power(n, 1.5);
       }},
  };
  return all;
}

/// The value of a nesting, and the sum of the sizes of what it is made of.
struct Expected {
  double value = 0;
  double size = 0;
};

class Reference {
 public:
  explicit Reference(const Subject& subject) : subject_(subject) {}

  Expected of(const std::string& word) {
    Expected total;
    for (const nestings::Part& part : nestings::parts(word, nestings::point)) {
      const double value = part.coefficient * jet_at(part.shift).derivative(part.order);
      total.value += value;
      total.size += std::abs(value);
    }
    return total;
  }

 private:
  const Jet& jet_at(const nestings::Point& x) {
    const auto found = known_.find(x);
    if (found != known_.end()) return found->second;
    const Jets variables{Jet::variable(0, x[0]), Jet::variable(1, x[1]), Jet::variable(2, x[2])};
    return known_.emplace(x, subject_.jet(variables)).first->second;
  }

  const Subject& subject_;
  std::map<nestings::Point, Jet> known_;
};

constexpr int highest_order = 5;

/// Whether it was computed, rather than refused.
bool check(const std::string& word, const Subject& subject, Reference& reference) {
  SCOPED_TRACE(word);
  const nestings::Function f = nestings::transformed(word, subject.f);
  if (nestings::refused(word)) {
    EXPECT_THROW(f(nestings::to_tensor(nestings::point)), LevelError);
    return false;
  }
  const Expected expected = reference.of(word);
  double found = 0;
  EXPECT_NO_THROW(found = f(nestings::to_tensor(nestings::point)).item<double>());
  EXPECT_NEAR(found, expected.value, 1e-11 * (1 + expected.size));
  return true;
}

class Nesting : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Subject& subject() const { return subjects()[GetParam()]; }
};

TEST_P(Nesting, EveryPair) {
  SCOPED_TRACE(subject().name);
  Reference reference(subject());
  int computed = 0;
  for (const std::string& word : nestings::words(nestings::letters(), 2))
    computed += check(word, subject(), reference) ? 1 : 0;
  EXPECT_EQ(computed, 419);
}

TEST_P(Nesting, EveryThree) {
  SCOPED_TRACE(subject().name);
  Reference reference(subject());
  for (const std::string& word : nestings::words(nestings::letters(), 3))
    if (nestings::order(word) <= highest_order) check(word, subject(), reference);
}

TEST_P(Nesting, SomeOfFour) {
  SCOPED_TRACE(subject().name);
  Reference reference(subject());
  const std::size_t stride = std::getenv("TLALOC_ALL_NESTINGS") != nullptr ? 1 : 101;
  const std::vector<std::string> all = nestings::words(nestings::letters(), 4);
  for (std::size_t i = GetParam(); i < all.size(); i += stride)
    if (all[i].size() == 4 && nestings::order(all[i]) <= highest_order) check(all[i], subject(), reference);
}

INSTANTIATE_TEST_SUITE_P(Functions, Nesting, ::testing::Range(std::size_t{0}, subjects().size()));

// The reference itself, on functions whose derivatives are known by formula.
TEST(Jets, GiveTheDerivativesOfElementaryFunctions) {
  const Jet x = Jet::variable(0, 0.7);
  const Jet y = Jet::variable(1, -0.4);
  const Jet z = Jet::variable(2, 1.2);
  // d^(1,2,1) exp(x + 2 y + 3 z) = 12 exp(...)
  EXPECT_NEAR(exp(x + y * 2 + z * 3).derivative({1, 2, 1}), 12 * std::exp(0.7 - 0.8 + 3.6), 1e-10);
  EXPECT_NEAR(sin(x * z).derivative({1, 0, 1}), std::cos(0.84) - 0.84 * std::sin(0.84), 1e-14);
  EXPECT_NEAR(log(z).derivative({0, 0, 4}), -6 / std::pow(1.2, 4), 1e-12);
  EXPECT_NEAR(power(z, 1.5).derivative({0, 0, 3}), 1.5 * 0.5 * -0.5 * std::pow(1.2, -1.5), 1e-13);
  EXPECT_NEAR(tanh(x).derivative({2, 0, 0}), -2 * std::tanh(0.7) / std::pow(std::cosh(0.7), 2), 1e-13);
  EXPECT_NEAR((x * x * y / z).derivative({2, 1, 1}), -2 / 1.44, 1e-13);
}

}  // namespace
