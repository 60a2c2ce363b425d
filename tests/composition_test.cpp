// Every nesting of grad, jvp and vmap to depth four, over four functions.
//
// A transform makes a function from R^6 to R out of another one: grad weighs the gradient, jvp takes a derivative along
// a fixed direction, vmap weighs the values at shifted points; each mixes its parts nonlinearly, so that none commutes
// with another. The reference is a second program without the library: loops over doubles that carry four
// infinitesimals (Hyper below), one for each level, which makes every mixed derivative exact. A third program is the
// library again with every vmap replaced by a stack of single calls.
//
// All sequences run twice: as they are, and with inner functions that capture the variable of the level outside them.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

constexpr std::size_t width = 6;
constexpr std::size_t examples = 3;
constexpr unsigned deepest = 4;

/// Numbers without a pattern, in [-1, 1].
std::vector<double> numbers(unsigned seed, std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(std::sin(1.7 * static_cast<double>(i * i + 1) + 2.3 * static_cast<double>(seed)));
  return values;
}
Tensor vector_of(unsigned seed, const Shape& shape) {
  return from_data(numbers(seed, static_cast<std::size_t>(shape.size())), shape);
}

constexpr unsigned weight_seed = 10, direction_seed = 20, shift_seed = 30, blend_seed = 40;

// ---------------------------------------------------------------------------------------------------------------------
// Hyper: a number with four infinitesimals, each of square zero

struct Hyper {
  std::array<double, 1u << deepest> part{};  // by which infinitesimals are in the term

  Hyper() = default;
  Hyper(double value) { part[0] = value; }

  double real() const { return part[0]; }
};

Hyper operator+(const Hyper& a, const Hyper& b) {
  Hyper sum;
  for (std::size_t m = 0; m < sum.part.size(); ++m) sum.part[m] = a.part[m] + b.part[m];
  return sum;
}
Hyper operator*(const Hyper& a, const Hyper& b) {
  Hyper product;
  for (std::size_t m = 0; m < product.part.size(); ++m)
    for (std::size_t s = m;; s = (s - 1) & m) {
      product.part[m] += a.part[s] * b.part[m ^ s];
      if (s == 0) break;
    }
  return product;
}
Hyper operator-(const Hyper& a, const Hyper& b) { return a + Hyper(-1) * b; }

/// The Taylor series with these derivatives at x.real(); it ends by itself.
Hyper series(const Hyper& x, const std::array<double, deepest + 1>& derivatives) {
  Hyper small = x;
  small.part[0] = 0;
  Hyper power = 1;
  Hyper sum;
  double factorial = 1;
  for (unsigned k = 0; k <= deepest; ++k) {
    if (k > 0) factorial *= k;
    sum = sum + Hyper(derivatives[k] / factorial) * power;
    power = power * small;
  }
  return sum;
}
Hyper exp(const Hyper& x) {
  const double e = std::exp(x.real());
  return series(x, {e, e, e, e, e});
}
Hyper log(const Hyper& x) {
  const double r = 1 / x.real();
  return series(x, {std::log(x.real()), r, -r * r, 2 * r * r * r, -6 * r * r * r * r});
}
Hyper inverse(const Hyper& x) {
  const double r = 1 / x.real();
  return series(x, {r, -r * r, 2 * r * r * r, -6 * r * r * r * r, 24 * r * r * r * r * r});
}
Hyper sqrt(const Hyper& x) {
  const double s = std::sqrt(x.real()), r = 1 / x.real();
  return series(x, {s, s * r / 2, -s * r * r / 4, 3 * s * r * r * r / 8, -15 * s * r * r * r * r / 16});
}
Hyper tanh(const Hyper& x) {
  const double t = std::tanh(x.real()), d = 1 - t * t;
  return series(x, {t, d, -2 * t * d, (6 * t * t - 2) * d, (16 * t - 24 * t * t * t) * d});
}
Hyper sigmoid(const Hyper& x) { return inverse(Hyper(1) + exp(Hyper(-1) * x)); }
Hyper larger(const Hyper& a, const Hyper& b) { return a.real() > b.real() ? a : b; }

/// The coefficient of the level's infinitesimal, and what does not have it.
Hyper with_infinitesimal(const Hyper& x, unsigned level) {
  const std::size_t bit = std::size_t{1} << level;
  Hyper result;
  for (std::size_t m = 0; m < x.part.size(); ++m)
    if ((m & bit) == 0) result.part[m] = x.part[m | bit];
  return result;
}
Hyper without_infinitesimal(const Hyper& x, unsigned level) {
  Hyper result = x;
  for (std::size_t m = 0; m < x.part.size(); ++m)
    if ((m >> level & 1) != 0) result.part[m] = 0;
  return result;
}
Hyper infinitesimal(unsigned level) {
  Hyper result;
  result.part[std::size_t{1} << level] = 1;
  return result;
}

using Point = std::vector<Hyper>;
using Reference = std::function<Hyper(const Point&)>;
using Function = std::function<Tensor(const Tensor&)>;

Hyper log_sum_exp(const Point& x) {
  Hyper total;
  for (const Hyper& value : x) total = total + exp(value);
  return log(total);
}

// ---------------------------------------------------------------------------------------------------------------------
// The functions, each twice

Tensor smooth(const Tensor& x) { return sum(tanh(x * vector_of(1, {width})) * x); }
Hyper smooth(const Point& x) {
  const std::vector<double> w = numbers(1, width);
  Hyper total;
  for (std::size_t i = 0; i < width; ++i) total = total + tanh(x[i] * w[i]) * x[i];
  return total;
}

constexpr std::size_t rows = 4, features = 2, classes = 3;
constexpr std::array<std::int64_t, rows> labels{2, 0, 1, 2};

Tensor classifier(const Tensor& x) {
  const Tensor logits = 2 * tanh(matmul(vector_of(2, {rows, features}), reshape(x, {features, classes})));
  return mean(cross_entropy(logits, from_data(std::vector<std::int64_t>(labels.begin(), labels.end()), {rows})));
}
Hyper classifier(const Point& x) {
  const std::vector<double> inputs = numbers(2, rows * features);
  Hyper total;
  for (std::size_t r = 0; r < rows; ++r) {
    Point logits(classes);
    for (std::size_t c = 0; c < classes; ++c) {
      for (std::size_t k = 0; k < features; ++k)
        logits[c] = logits[c] + Hyper(inputs[r * features + k]) * x[k * classes + c];
      logits[c] = Hyper(2) * tanh(logits[c]);
    }
    total = total + log_sum_exp(logits) - logits[static_cast<std::size_t>(labels[r])];
  }
  return total * (1.0 / rows);
}

Tensor kinked(const Tensor& x) {
  const Tensor chosen = where(x > 0.2, square(x), exp(x));
  return sum(chosen * maximum(x, vector_of(3, {width}))) + logsumexp(x) - max(x * relu(x + 0.4)) / 2;
}
Hyper kinked(const Point& x) {
  const std::vector<double> floor = numbers(3, width);
  Hyper total = log_sum_exp(x);
  Hyper largest = -1e300;
  for (std::size_t i = 0; i < width; ++i) {
    total = total + (x[i].real() > 0.2 ? x[i] * x[i] : exp(x[i])) * larger(x[i], floor[i]);
    largest = larger(largest, x[i] * larger(x[i] + 0.4, 0));
  }
  return total - largest * 0.5;
}

Tensor structural(const Tensor& x) {
  const Tensor a = reshape(x, {2, 3});
  const Tensor b = concat({slice(a, 1, 0, 2), transpose(slice(a, 1, 2, 0, -1))}, 0);  // [4, 2]
  const Tensor p = matmul(b, a);                                                      // [4, 3]
  const Tensor s = stack({select(p, 0, 1), select(p, 0, -1)});                        // [2, 3]
  return sum(softmax(s, -1) * sqrt(1 + square(a))) / (2 + mean(sigmoid(p))) + sum(log(1.5 + square(s))) / 3;
}
Hyper structural(const Point& x) {
  const auto a = [&](std::size_t i, std::size_t j) { return x[i * 3 + j]; };
  const auto b = [&](std::size_t i, std::size_t j) { return i < 2 ? a(i, j) : a(j, 4 - i); };
  const auto p = [&](std::size_t i, std::size_t j) { return b(i, 0) * a(0, j) + b(i, 1) * a(1, j); };
  Hyper weighted, logs, mean;
  for (std::size_t i = 0; i < 2; ++i) {
    const Point s{p(i == 0 ? 1 : 3, 0), p(i == 0 ? 1 : 3, 1), p(i == 0 ? 1 : 3, 2)};
    for (std::size_t j = 0; j < 3; ++j) {
      weighted = weighted + exp(s[j] - log_sum_exp(s)) * sqrt(Hyper(1) + a(i, j) * a(i, j));
      logs = logs + log(Hyper(1.5) + s[j] * s[j]);
    }
  }
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j) mean = mean + sigmoid(p(i, j)) * (1.0 / 12);
  return weighted * inverse(Hyper(2) + mean) + logs * (1.0 / 3);
}

// ---------------------------------------------------------------------------------------------------------------------
// The transforms, each twice, with level 0 the outermost

enum class Batch { mapped, looped };

Tensor map_level(const Function& f, const Tensor& x, unsigned level, Batch batch) {
  const Axis axis("composition" + std::to_string(level));
  const Tensor xs = x + vector_of(shift_seed + level, {axis(examples), width});
  if (batch == Batch::looped) {
    std::vector<Tensor> single;
    for (std::size_t i = 0; i < examples; ++i) single.push_back(f(select(xs, axis, static_cast<std::int64_t>(i))));
    return stack(single);
  }
  // Another way to say it on every level.
  switch (level) {
    case 0: return vmap(f)(xs);
    case 1: return vmap(f, in_axes(-1), chunk_size(2))(transpose(xs));
    case 2: return vmap(f, axis)(transpose(xs));
    default: return vmap(f, out_axes(-1), axis, in_axes(0), chunk_size(1))(xs);
  }
}

Function transformed(char kind, unsigned level, Function f, bool captures, Batch batch) {
  return [=](const Tensor& x) -> Tensor {
    const Function inner = !captures ? f : [&](const Tensor& y) {
      return f(0.9 * y + 0.2 * (x * y)) * (1 + 0.1 * sum(x * y)) + 0.3 * sum(x);
    };
    switch (kind) {
      case 'G': {
        const Tensor g = grad(inner)(x);
        return sum(g * (vector_of(weight_seed + level, {width}) + 0.25 * g));
      }
      case 'J': {
        const auto [y, dy] = jvp(inner, x, vector_of(direction_seed + level, {width}));
        return dy * (1 + 0.3 * y);
      }
      default: {
        const Tensor ys = map_level(inner, x, level, batch);
        return sum(ys * (vector_of(blend_seed + level, {examples}) + 0.2 * ys));
      }
    }
  };
}

Reference transformed(char kind, unsigned level, Reference f, bool captures) {
  return [=](const Point& x) -> Hyper {
    const Reference inner = !captures ? f : [&](const Point& y) {
      Point z(width);
      Hyper product, total;
      for (std::size_t i = 0; i < width; ++i) {
        z[i] = y[i] * 0.9 + x[i] * y[i] * 0.2;
        product = product + x[i] * y[i];
        total = total + x[i];
      }
      return f(z) * (Hyper(1) + product * 0.1) + total * 0.3;
    };
    Hyper result;
    Point y = x;
    if (kind == 'G') {
      const std::vector<double> weights = numbers(weight_seed + level, width);
      for (std::size_t i = 0; i < width; ++i) {
        y[i] = x[i] + infinitesimal(level);
        const Hyper g = with_infinitesimal(inner(y), level);
        result = result + g * (Hyper(weights[i]) + g * 0.25);
        y[i] = x[i];
      }
    } else if (kind == 'J') {
      const std::vector<double> direction = numbers(direction_seed + level, width);
      for (std::size_t i = 0; i < width; ++i) y[i] = x[i] + infinitesimal(level) * direction[i];
      const Hyper value = inner(y);
      result = with_infinitesimal(value, level) * (Hyper(1) + without_infinitesimal(value, level) * 0.3);
    } else {
      const std::vector<double> shifts = numbers(shift_seed + level, examples * width);
      const std::vector<double> blend = numbers(blend_seed + level, examples);
      for (std::size_t e = 0; e < examples; ++e) {
        for (std::size_t i = 0; i < width; ++i) y[i] = x[i] + shifts[e * width + i];
        const Hyper value = inner(y);
        result = result + value * (Hyper(blend[e]) + value * 0.2);
      }
    }
    return result;
  };
}

struct Subject {
  const char* name;
  Tensor (*library)(const Tensor&);
  Hyper (*reference)(const Point&);
};
constexpr Subject subjects[] = {
    {"smooth", smooth, smooth},
    {"classifier", classifier, classifier},
    {"kinked", kinked, kinked},
    {"structural", structural, structural},
};

double library_value(const Subject& subject, const std::string& kinds, bool captures, Batch batch) {
  Function f = subject.library;
  for (auto level = static_cast<unsigned>(kinds.size()); level-- > 0;)
    f = transformed(kinds[level], level, std::move(f), captures, batch);
  return f(vector_of(0, {width})).item<double>();
}

double reference_value(const Subject& subject, const std::string& kinds, bool captures) {
  Reference f = subject.reference;
  for (auto level = static_cast<unsigned>(kinds.size()); level-- > 0;)
    f = transformed(kinds[level], level, std::move(f), captures);
  const std::vector<double> x = numbers(0, width);
  return f(Point(x.begin(), x.end())).real();
}

std::vector<std::string> nestings() {
  std::vector<std::string> all{""};
  for (std::size_t next = 0; all[next].size() < deepest; ++next)
    for (const char kind : {'G', 'J', 'V'}) all.push_back(all[next] + kind);
  return all;
}

class Composition : public testing::TestWithParam<std::string> {};

TEST_P(Composition, IsWhatTheReferenceSays) {
  for (const Subject& subject : subjects)
    for (const bool captures : {false, true}) {
      SCOPED_TRACE(std::string(subject.name) + (captures ? ", capturing" : ""));
      const double expected = reference_value(subject, GetParam(), captures);
      ASSERT_TRUE(std::isfinite(expected) && expected != 0);
      const double tolerance = 1e-12 * std::max(1.0, std::abs(expected));
      EXPECT_NEAR(library_value(subject, GetParam(), captures, Batch::mapped), expected, tolerance);
      EXPECT_NEAR(library_value(subject, GetParam(), captures, Batch::looped), expected, tolerance);
    }
}

INSTANTIATE_TEST_SUITE_P(Nestings, Composition, testing::ValuesIn(nestings()), [](const auto& instance) {
  return instance.param.empty() ? std::string("none") : instance.param;
});

// The reference itself, against differences of its own values.
TEST(CompositionReference, AgreesWithDifferences) {
  constexpr double step = 1e-5;
  for (const Subject& subject : subjects) {
    SCOPED_TRACE(subject.name);
    const std::vector<double> x = numbers(0, width);
    const std::vector<double> direction = numbers(direction_seed, width);
    for (const std::string inner : {"", "J", "GJ"}) {
      // The level under test is the outermost; what it differentiates is `inner` moved one level in.
      Reference f = subject.reference;
      for (auto level = static_cast<unsigned>(inner.size()); level-- > 0;)
        f = transformed(inner[level], level + 1, std::move(f), true);
      const auto at = [&](double t) {
        Point y;
        for (std::size_t i = 0; i < width; ++i) y.emplace_back(x[i] + t * direction[i]);
        return f(y).real();
      };
      Point y;
      for (std::size_t i = 0; i < width; ++i) y.push_back(Hyper(x[i]) + infinitesimal(0) * direction[i]);
      const double exact = with_infinitesimal(f(y), 0).real();
      const double difference = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
      EXPECT_NEAR(exact, difference, 1e-8 * std::max(1.0, std::abs(exact)));
    }
  }
}

}  // namespace
