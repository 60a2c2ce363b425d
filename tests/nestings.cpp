#include "tests/nestings.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace nestings {
namespace {

using namespace tlaloc;

using Rows = std::vector<Point>;

constexpr Point weights{0.3, -1.1, 0.7};
constexpr Point direction{0.9, 0.2, -0.5};
const Rows shifts{{0.1, 0.5, -0.2}, {-0.4, 0.3, 0.25}, {0.6, -0.7, 0.15}};
const Rows scales{{0.9, 1.1, 0.8}, {1.2, -0.7, 1.05}, {-0.6, 0.85, 1.15}};
const Rows matrix{{0.4, 0.1, -0.3}, {0.2, 0.8, 0.5}, {-0.6, 0.35, 0.9}};

Tensor rows(const Rows& all) {
  std::vector<Tensor> tensors;
  for (const Point& row : all) tensors.push_back(to_tensor(row));
  return stack(tensors);
}
Tensor number(double x) { return tensor<double>(x); }

double sum_of(const Point& x) { return x[0] + x[1] + x[2]; }
double squares_of(const Point& x) { return x[0] * x[0] + x[1] * x[1] + x[2] * x[2]; }
/// What a branch is chosen by must not be so near its bound that rounding decides.
bool clearly_above(double value, double bound) {
  if (std::abs(value - bound) < 1e-7) throw std::logic_error("nestings: a condition that rounding decides");
  return value > bound;
}

std::vector<Part> first_derivative(const Point& by) {
  return {{by[0], {1, 0, 0}}, {by[1], {0, 1, 0}}, {by[2], {0, 0, 1}}};
}
std::vector<Part> second_derivative(const Rows& by) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      Order order{};
      ++order[i];
      ++order[j];
      parts.push_back({by[i][j], order});
    }
  return parts;
}
std::vector<Part> the_same(const Point&) { return {Part{}}; }

/// `running` are the modes of the transforms around, the innermost last.
bool refused_within(std::string_view word, std::vector<Mode> running) {
  for (; !word.empty(); word.remove_prefix(1)) {
    const Mode mode = transform(word.front()).mode;
    if (mode == Mode::forward || mode == Mode::forward_reverse) running.push_back(Mode::forward);
    if (mode == Mode::reverse || mode == Mode::forward_reverse) running.push_back(Mode::reverse);
    if (running.empty()) continue;
    if (mode == Mode::forward_rule) running.back() = Mode::forward;
    if (mode == Mode::reverse_rule) {
      if (running.back() == Mode::forward) return true;
      const std::vector<Mode> around(running.begin(), running.end() - 1);
      if (refused_within(word.substr(1), around)) return true;
    }
  }
  return false;
}

constexpr double shrink = 0.6;
constexpr double small = 0.5;

std::vector<Transform> make_transforms() {
  std::vector<Transform> all;
  all.push_back(
      {'g', "grad", Mode::reverse, 1,
       [](Function f) -> Function { return [f](const Tensor& x) { return sum(grad(f)(x) * to_tensor(weights)); }; },
       [](const Point&) { return first_derivative(weights); }});
  all.push_back({'p', "vjp", Mode::reverse, 1,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) {
                     auto [y, pullback] = vjp(f, x);
                     return sum(pullback(number(0.6)) * to_tensor(direction)) + y * 0.25;
                   };
                 },
                 [](const Point&) {
                   std::vector<Part> parts = first_derivative({0.6 * 0.9, 0.6 * 0.2, 0.6 * -0.5});
                   parts.push_back({0.25});
                   return parts;
                 }});
  all.push_back({'t', "Tape", Mode::reverse, 1,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) {
                     Tape tape;
                     const Tensor watched = tape.watch(x);
                     return sum(tape.gradient(f(watched), watched) * to_tensor(scales[1]));
                   };
                 },
                 [](const Point&) { return first_derivative(scales[1]); }});
  all.push_back({'l', "linearize", Mode::reverse, 1,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) { return linearize(f, x).second(to_tensor(scales[2])); };
                 },
                 [](const Point&) { return first_derivative(scales[2]); }});
  all.push_back({'j', "jvp", Mode::forward, 1,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) {
                     const auto [y, derivative] = jvp(f, x, to_tensor(direction));
                     return derivative - y * 0.5;
                   };
                 },
                 [](const Point&) {
                   std::vector<Part> parts = first_derivative(direction);
                   parts.push_back({-0.5});
                   return parts;
                 }});
  all.push_back({'F', "jacfwd", Mode::forward, 1,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) { return sum(jacfwd(f, chunk_size(2))(x) * to_tensor(scales[0])); };
                 },
                 [](const Point&) { return first_derivative(scales[0]); }});
  all.push_back({'R', "jacrev", Mode::reverse, 1,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) {
                     const auto scaled = [&](const Tensor& y) { return to_tensor(weights) * f(y); };
                     return sum(jacrev(scaled)(x) * rows(matrix));
                   };
                 },
                 [](const Point&) {
                   Point by{};
                   for (std::size_t i = 0; i < 3; ++i)
                     for (std::size_t j = 0; j < 3; ++j) by[j] += weights[i] * matrix[i][j];
                   return first_derivative(by);
                 }});
  all.push_back(
      {'H', "hessian", Mode::forward_reverse, 2,
       [](Function f) -> Function { return [f](const Tensor& x) { return sum(hessian(f)(x) * rows(matrix)); }; },
       [](const Point&) { return second_derivative(matrix); }});
  all.push_back({'h', "hvp", Mode::forward_reverse, 2,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) { return sum(hvp(f, x, to_tensor(direction)) * to_tensor(weights)); };
                 },
                 [](const Point&) {
                   Rows by(3);
                   for (std::size_t i = 0; i < 3; ++i)
                     for (std::size_t j = 0; j < 3; ++j) by[i][j] = weights[i] * direction[j];
                   return second_derivative(by);
                 }});
  all.push_back({'V', "vmap", Mode::none, 0,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) { return sum(vmap(f)(x + rows(shifts)) * to_tensor(weights)); };
                 },
                 [](const Point&) {
                   std::vector<Part> parts;
                   for (std::size_t i = 0; i < 3; ++i) parts.push_back({weights[i], {}, {1, 1, 1}, shifts[i]});
                   return parts;
                 }});
  all.push_back(
      {'X', "vmap from axis 1 to axis -1", Mode::none, 0,
       [](Function f) -> Function {
         return [f](const Tensor& x) {
           const Tensor columns = expand_dims(x, 1) * transpose(rows({scales[0], scales[1]}));
           const auto two = [&](const Tensor& y) { return stack({f(y), 2.0 * f(y + 0.1)}); };
           return sum(vmap(two, in_axes(1), out_axes(-1))(columns) * tensor<double>({{1.0, -0.5}, {0.4, 0.2}}));
         };
       },
       [](const Point&) {
         return std::vector<Part>{{1.0, {}, scales[0], {}},
                                  {-0.5, {}, scales[1], {}},
                                  {0.8, {}, scales[0], {0.1, 0.1, 0.1}},
                                  {0.4, {}, scales[1], {0.1, 0.1, 0.1}}};
       }});
  all.push_back(
      {'Y', "vmap of two arguments, summed", Mode::none, 0,
       [](Function f) -> Function {
         return [f](const Tensor& x) {
           const auto shifted = [&](const Tensor& y, const Tensor& shift) { return f(y + shift); };
           return vmap(shifted, in_axes(none, -1), out_axes(summed))(x, transpose(rows({shifts[1], shifts[2]})));
         };
       },
       [](const Point&) {
         return std::vector<Part>{{1, {}, {1, 1, 1}, shifts[1]}, {1, {}, {1, 1, 1}, shifts[2]}};
       }});
  all.push_back({'C', "vmap in chunks, of a closure", Mode::none, 0,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) {
                     const auto scaled = [&](const Tensor& scale) { return f(x * scale); };
                     return sum(vmap(scaled, chunk_size(2))(rows(scales)) * to_tensor(direction));
                   };
                 },
                 [](const Point&) {
                   std::vector<Part> parts;
                   for (std::size_t i = 0; i < 3; ++i) parts.push_back({direction[i], {}, scales[i], {}});
                   return parts;
                 }});
  all.push_back({'k', "checkpoint", Mode::none, 0, [](Function f) -> Function { return checkpoint(f); }, the_same});
  all.push_back({'a', "custom_vjp", Mode::reverse_rule, 0,
                 [](Function f) -> Function {
                   return custom_vjp(
                       f, [f](const Tensor& x) { return std::pair(f(x), grad(f)(x)); },
                       [](const Tensor& gradient, const Tensor& ct) { return ct * gradient; });
                 },
                 the_same});
  all.push_back({'m', "custom_jvp", Mode::forward_rule, 0,
                 [](Function f) -> Function {
                   return custom_jvp(f, [f](const Tensor& x, const Tensor& dx) { return jvp(f, x, dx); });
                 },
                 the_same});
  all.push_back({'v', "custom_vmap", Mode::none, 0,
                 [](Function f) -> Function {
                   return custom_vmap(
                       f, [f](std::int64_t, const std::vector<bool>&, const Tensor& x) { return vmap(f)(x); });
                 },
                 the_same});
  all.push_back({'c', "cond", Mode::none, 0,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) {
                     return cond(
                         sum(x) > 0.7, [&](const Tensor& y) { return 1.5 * f(y); },
                         [&](const Tensor& y) { return f(y * to_tensor(scales[0])) - f(x + 0.2); }, x);
                   };
                 },
                 [](const Point& x) {
                   if (clearly_above(sum_of(x), 0.7)) return std::vector<Part>{{1.5}};
                   return std::vector<Part>{{1, {}, scales[0], {}}, {-1, {}, {1, 1, 1}, {0.2, 0.2, 0.2}}};
                 }});
  all.push_back({'w', "while_loop", Mode::none, 0,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) {
                     using State = std::pair<Tensor, Tensor>;
                     return while_loop(
                                [](const State& s) { return sum(square(s.first)) > small; },
                                [&](const State& s) { return State(s.first * shrink, s.second * 0.5 + f(s.first)); },
                                State(x, number(0)))
                         .second;
                   };
                 },
                 [](const Point& x) {
                   std::vector<Part> parts;
                   double scale = 1;
                   for (Point y = x; clearly_above(squares_of(y), small); scale *= shrink) {
                     for (Part& part : parts) part.coefficient *= 0.5;
                     parts.push_back({1, {}, {scale, scale, scale}, {}});
                     for (double& element : y) element *= shrink;
                   }
                   return parts;
                 }});
  all.push_back({'s', "scan", Mode::none, 0,
                 [](Function f) -> Function {
                   return [f](const Tensor& x) {
                     const auto step = [&](const Tensor& carry, const Tensor& shift) {
                       return std::pair(carry * 0.8 + shift, f(carry));
                     };
                     const auto [last, ys] = scan(step, x, rows(shifts));
                     return sum(ys * to_tensor(weights)) + 0.5 * f(last);
                   };
                 },
                 [](const Point&) {
                   std::vector<Part> parts;
                   Part carry;
                   for (std::size_t i = 0; i < 3; ++i) {
                     carry.coefficient = weights[i];
                     parts.push_back(carry);
                     for (std::size_t k = 0; k < 3; ++k) {
                       carry.scale[k] *= 0.8;
                       carry.shift[k] = carry.shift[k] * 0.8 + shifts[i][k];
                     }
                   }
                   carry.coefficient = 0.5;
                   parts.push_back(carry);
                   return parts;
                 }});
  return all;
}

}  // namespace

const std::vector<Transform>& transforms() {
  static const std::vector<Transform> all = make_transforms();
  return all;
}

const Transform& transform(char letter) {
  for (const Transform& each : transforms())
    if (each.letter == letter) return each;
  throw std::logic_error(std::string("nestings: no transform has the letter ") + letter);
}

std::string letters() {
  std::string all;
  for (const Transform& each : transforms()) all += each.letter;
  return all;
}

Function transformed(const std::string& word, Function f) {
  for (auto letter = word.rbegin(); letter != word.rend(); ++letter) f = transform(*letter).applied(std::move(f));
  return f;
}

std::vector<Part> parts(const std::string& word, const Point& x) {
  std::vector<Part> all{{1, {}, {}, x}};
  for (const char letter : word) {
    std::vector<Part> further;
    for (const Part& outer : all)
      for (const Part& inner : transform(letter).parts(outer.shift)) {
        Part part{outer.coefficient * inner.coefficient, outer.order, {}, inner.shift};
        for (std::size_t k = 0; k < 3; ++k) {
          part.coefficient *= std::pow(inner.scale[k], outer.order[k]);
          part.order[k] += inner.order[k];
          part.shift[k] += inner.scale[k] * outer.shift[k];
        }
        further.push_back(part);
      }
    all = std::move(further);
  }
  return all;
}

int order(const std::string& word) {
  int total = 0;
  for (const char letter : word) total += transform(letter).order;
  return total;
}

bool refused(const std::string& word) { return refused_within(word, {}); }

std::vector<std::string> words(const std::string& letters, std::size_t longest) {
  std::vector<std::string> all{""};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].size() < longest)
      for (const char letter : letters) all.push_back(all[i] + letter);
  return all;
}

Tensor to_tensor(const Point& x) { return tensor<double>({x[0], x[1], x[2]}); }

}  // namespace nestings
