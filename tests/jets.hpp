// Derivatives that owe nothing to the library: functions of three variables as truncated Taylor series in plain
// doubles.
//
// A Jet holds the coefficients of x, y, z around a point up to a total degree; products are those of polynomials, and
// sin, exp and the others are the series of one variable with the rest of the jet put in.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace jets {

inline constexpr int degree = 6;
/// How often by x, by y and by z.
using Order = std::array<int, 3>;

inline int total(const Order& order) { return order[0] + order[1] + order[2]; }

inline double factorial(int n) {
  double product = 1;
  for (int i = 2; i <= n; ++i) product *= i;
  return product;
}

/// All orders up to the degree.
inline const std::vector<Order>& orders() {
  static const std::vector<Order> all = [] {
    std::vector<Order> list;
    for (int i = 0; i <= degree; ++i)
      for (int j = 0; i + j <= degree; ++j)
        for (int k = 0; i + j + k <= degree; ++k) list.push_back({i, j, k});
    return list;
  }();
  return all;
}

class Jet {
 public:
  Jet(double value = 0) { at({0, 0, 0}) = value; }

  static Jet variable(std::size_t i, double value) {
    Jet x(value);
    Order first{};
    first[i] = 1;
    x.at(first) = 1;
    return x;
  }

  double value() const { return at({0, 0, 0}); }
  double derivative(const Order& order) const {
    return at(order) * factorial(order[0]) * factorial(order[1]) * factorial(order[2]);
  }

  Jet& operator+=(const Jet& other) {
    for (const Order& order : orders()) at(order) += other.at(order);
    return *this;
  }
  Jet operator*(const Jet& other) const {
    Jet product;
    for (const Order& a : orders()) {
      if (at(a) == 0) continue;
      for (const Order& b : orders())
        if (total(a) + total(b) <= degree) product.at({a[0] + b[0], a[1] + b[1], a[2] + b[2]}) += at(a) * other.at(b);
    }
    return product;
  }

  /// The sum of series[k] (this - value())^k.
  Jet composed(const std::array<double, degree + 1>& series) const {
    Jet step = *this;
    step.at({0, 0, 0}) = 0;
    Jet sum(series[degree]);
    for (std::size_t k = degree; k > 0; --k) {
      sum = sum * step;
      sum += Jet(series[k - 1]);
    }
    return sum;
  }

 private:
  static std::size_t place(const Order& order) {
    constexpr std::size_t n = degree + 1;
    return (static_cast<std::size_t>(order[0]) * n + static_cast<std::size_t>(order[1])) * n +
           static_cast<std::size_t>(order[2]);
  }
  double& at(const Order& order) { return coefficients_[place(order)]; }
  double at(const Order& order) const { return coefficients_[place(order)]; }

  std::array<double, (degree + 1) * (degree + 1) * (degree + 1)> coefficients_{};
};

inline Jet operator+(Jet a, const Jet& b) {
  a += b;
  return a;
}
inline Jet operator-(const Jet& a) { return a * Jet(-1); }
inline Jet operator-(const Jet& a, const Jet& b) { return a + -b; }

inline Jet exp(const Jet& x) {
  std::array<double, degree + 1> series{};
  for (std::size_t k = 0; k <= degree; ++k) series[k] = std::exp(x.value()) / factorial(static_cast<int>(k));
  return x.composed(series);
}
inline Jet sin(const Jet& x) {
  const double s = std::sin(x.value());
  const double c = std::cos(x.value());
  const std::array<double, 4> cycle{s, c, -s, -c};
  std::array<double, degree + 1> series{};
  for (std::size_t k = 0; k <= degree; ++k) series[k] = cycle[k % 4] / factorial(static_cast<int>(k));
  return x.composed(series);
}
/// The real exponent's binomial series.
inline Jet power(const Jet& x, double exponent) {
  std::array<double, degree + 1> series{};
  double binomial = 1;
  for (std::size_t k = 0; k <= degree; ++k) {
    series[k] = binomial * std::pow(x.value(), exponent - static_cast<double>(k));
    binomial *= (exponent - static_cast<double>(k)) / static_cast<double>(k + 1);
  }
  return x.composed(series);
}
inline Jet log(const Jet& x) {
  std::array<double, degree + 1> series{std::log(x.value())};
  for (std::size_t k = 1; k <= degree; ++k)
    series[k] = (k % 2 == 1 ? 1 : -1) / (static_cast<double>(k) * std::pow(x.value(), static_cast<double>(k)));
  return x.composed(series);
}
inline Jet operator/(const Jet& a, const Jet& b) { return a * power(b, -1); }
inline Jet tanh(const Jet& x) { return Jet(1) - Jet(2) / (exp(x + x) + Jet(1)); }

}  // namespace jets
