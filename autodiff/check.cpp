// check_grads: central differences, and the two modes against each other.
#include <tlaloc/check.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/grad.hpp>
#include <tlaloc/jvp.hpp>

namespace tlaloc::inline v0::core {
namespace {

using Numbers = std::vector<double>;

bool is_differentiable(const Tensor& x) { return x.defined() && is_float(x.dtype()); }

Tensor with_values(const Numbers& values, const Tensor& like) {
  if (like.dtype() == DType::f64) return from_data(values, like.shape());
  return from_data(std::vector<float>(values.begin(), values.end()), like.shape());
}
Numbers numbers_of(const Tensor& x) { return x.defined() ? x.to_vector<double>() : Numbers(); }

/// Fixed numbers without a pattern, between -1 and 1, in the shape of x.
Tensor weights_like(const Tensor& x, std::size_t seed) {
  if (!is_differentiable(x)) return {};
  Numbers values(static_cast<std::size_t>(x.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(1.7 * static_cast<double>(i * i + 1) + 2.3 * static_cast<double>(seed));
  return with_values(values, x);
}
Tensors weights_like(const Tensors& tensors) {
  Tensors weights;
  for (const Tensor& x : tensors) weights.push_back(weights_like(x, weights.size()));
  return weights;
}

Tensors pushed(const LeafFunction& f, Tensors in, const Tensors& tangents) {
  JvpScope scope;
  for (std::size_t i = 0; i < in.size(); ++i) scope.watch(in[i], tangents[i]);
  Tensors results = f(in);
  for (Tensor& x : results) x = scope.lower(x);
  return results;
}

/// The gradients of the results, weighed with fixed numbers and added up.
Tensors pulled(const LeafFunction& f, Tensors in) {
  GradScope scope("check_grads");
  for (std::size_t i = 0; i < in.size(); ++i) scope.watch(in[i], static_cast<int>(i), LeafKind::member);
  Tensors results = f(in);
  for (Tensor& x : results) scope.output(x);
  scope.end();
  Tensors gradients(in.size());
  scope.pull_back(weights_like(results), gradients, true);
  return gradients;
}

std::string entry_text(const Tensor& x, std::size_t entry) {
  const Shape shape = x.shape();
  if (shape.rank() == 0) return "";
  std::string text;
  auto rest = static_cast<std::int64_t>(entry);
  for (int d = shape.rank() - 1; d >= 0; --d) {
    text = std::to_string(rest % shape[d].extent()) + (text.empty() ? "" : ", ") + text;
    rest /= shape[d].extent();
  }
  return ", entry [" + text + "],";
}

std::string text_of(double value) {
  std::ostringstream text;
  text.precision(9);
  text << value;
  return text.str();
}

class Check {
 public:
  Check(const std::vector<std::size_t>& argument_of, const CheckOptions& options)
      : argument_of_(argument_of), options_(options) {}

  void run(const std::string& what, const LeafFunction& f, const Tensors& at) const {
    const Tensors results = f(at);
    const Tensors gradients = options_.reverse ? pulled(f, at) : Tensors(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (!is_differentiable(at[i])) continue;
      const auto size = static_cast<std::size_t>(at[i].size());
      const std::size_t count = std::min(size, static_cast<std::size_t>(std::max(options_.entries, 1)));
      for (std::size_t n = 0; n < count; ++n)
        by_entry(what, f, at, results, gradients, i, count == 1 ? 0 : n * (size - 1) / (count - 1));
    }
  }

 private:
  struct Differences {
    std::vector<Numbers> of;  // for each result
    double step;
  };

  Differences differences(const LeafFunction& f, const Tensors& at, std::size_t i, std::size_t entry) const {
    const bool f64 = at[i].dtype() == DType::f64;
    Numbers values = numbers_of(at[i]);
    const double x = values[entry];
    const double step = (options_.step > 0 ? options_.step : f64 ? 6e-6 : 5e-3) * std::max(1.0, std::abs(x));
    const auto shifted = [&](double by) {
      // The step that is taken is the one that the dtype can represent.
      values[entry] = f64 ? x + by : static_cast<double>(static_cast<float>(x + by));
      Tensors in = at;
      in[i] = with_values(values, at[i]);
      return std::pair(f(in), values[entry]);
    };
    const auto [above, high] = shifted(step);
    const auto [below, low] = shifted(-step);
    Differences result{{}, high - low};
    for (std::size_t k = 0; k < above.size(); ++k) {
      if (!is_differentiable(above[k])) {
        result.of.emplace_back();
        continue;
      }
      Numbers difference = numbers_of(above[k]);
      const Numbers lower = numbers_of(below[k]);
      for (std::size_t r = 0; r < difference.size(); ++r) difference[r] = (difference[r] - lower[r]) / result.step;
      result.of.push_back(std::move(difference));
    }
    return result;
  }

  void by_entry(const std::string& what, const LeafFunction& f, const Tensors& at, const Tensors& results,
                const Tensors& gradients, std::size_t i, std::size_t entry) const {
    const bool f64 = at[i].dtype() == DType::f64;
    const double tolerance = options_.tolerance > 0 ? options_.tolerance : f64 ? 1e-6 : 2e-3;
    const double epsilon = f64 ? 2.3e-16 : 1.2e-7;
    const Differences expected = differences(f, at, i, entry);
    std::vector<Numbers> derivative = expected.of;
    const std::string by = "argument " + std::to_string(argument_of_[i]) + place(i) + entry_text(at[i], entry);

    if (options_.forward) {
      Tensors tangents(at.size());
      Numbers unit(static_cast<std::size_t>(at[i].size()));
      unit[entry] = 1;
      tangents[i] = with_values(unit, at[i]);
      const Tensors found = pushed(f, at, tangents);
      for (std::size_t k = 0; k < results.size(); ++k) {
        if (!is_differentiable(results[k])) continue;
        derivative[k] = numbers_of(found[k]);
        const Numbers values = numbers_of(results[k]);
        for (std::size_t r = 0; r < values.size(); ++r) {
          const double noise = 8 * epsilon * std::abs(values[r]) / expected.step;
          if (near(derivative[k][r], expected.of[k][r], tolerance * (1 + std::abs(expected.of[k][r])) + noise))
            continue;
          throw ValueError("check_grads: " + what + "the derivative of result " + std::to_string(k) +
                           entry_text(results[k], r) + " by " + by + " is " + text_of(derivative[k][r]) +
                           " by jvp and " + text_of(expected.of[k][r]) + " by finite differences");
        }
      }
    }
    if (!options_.reverse) return;
    double total = 0;
    double scale = 1;
    const Tensors weights = weights_like(results);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Numbers weight = numbers_of(weights[k]);
      const Numbers values = weights[k].defined() ? numbers_of(results[k]) : Numbers();
      for (std::size_t r = 0; r < weight.size(); ++r) {
        total += weight[r] * derivative[k][r];
        scale += std::abs(weight[r] * derivative[k][r]);
        if (!options_.forward) scale += 8 * epsilon * std::abs(values[r]) / expected.step / tolerance;
      }
    }
    const double gradient = numbers_of(gradients[i])[entry];
    if (near(gradient, total, tolerance * scale)) return;
    throw ValueError("check_grads: " + what + "the derivative of the results, each times a fixed number, by " + by +
                     " is " + text_of(gradient) + " by vjp and " + text_of(total) + " by " +
                     (options_.forward ? "jvp" : "finite differences"));
  }

  /// ", tensor 1" when the argument of tensor i holds several.
  std::string place(std::size_t i) const {
    const auto first = std::find(argument_of_.begin(), argument_of_.end(), argument_of_[i]) - argument_of_.begin();
    const bool several = std::count(argument_of_.begin(), argument_of_.end(), argument_of_[i]) > 1;
    return several ? ", tensor " + std::to_string(i - static_cast<std::size_t>(first)) : std::string();
  }

  static bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

  const std::vector<std::size_t>& argument_of_;
  const CheckOptions& options_;
};

}  // namespace

void check_derivatives(const LeafFunction& f, const Tensors& at, const std::vector<std::size_t>& argument_of,
                       const CheckOptions& options) {
  const Check check(argument_of, options);
  check.run("", f, at);
  if (options.order < 2) return;
  if (options.reverse)
    check.run(
        "of the gradient as a function: ", [&](const Tensors& in) { return pulled(f, in); }, at);
  if (options.forward)
    check.run(
        "of the derivative along a direction as a function: ",
        [&](const Tensors& in) { return pushed(f, in, weights_like(at)); }, at);
}

}  // namespace tlaloc::inline v0::core
