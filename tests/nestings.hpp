// Every transform as a map from functions of R^3 to functions of R^3, and what each makes of a function in plain
// numbers.
//
// All of them are linear in the function: T f (x) is a sum of coefficients times derivatives of f at points that come
// from x by scaling and shifting. So a nesting of transforms is such a sum as well, and its right value needs no
// automatic differentiation: only the derivatives of f.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace nestings {

/// From R^3 to R.
using Function = std::function<tlaloc::Tensor(const tlaloc::Tensor&)>;
using Point = std::array<double, 3>;
/// How often by each of the three.
using Order = std::array<int, 3>;

/// coefficient * (d^order f)(scale * x + shift)
struct Part {
  double coefficient = 1;
  Order order{};
  Point scale{1, 1, 1};
  Point shift{};
};

enum class Mode : std::uint8_t {
  none,             // no derivative of its own
  reverse,          // the function inside runs in reverse mode
  forward,          // the function inside runs in forward mode
  forward_reverse,  // in reverse mode, and that in forward mode
  forward_rule,     // a custom_jvp whose rule is jvp
  reverse_rule      // a custom_vjp whose rule is the function and its grad
};

struct Transform {
  char letter;
  const char* name;
  Mode mode;
  int order;  // how often it differentiates
  Function (*applied)(Function f);
  std::vector<Part> (*parts)(const Point& x);
};

/// Mixes what it gets, so that no two commute.
const std::vector<Transform>& transforms();
const Transform& transform(char letter);
std::string letters();

/// The transforms of a word, the last one inside: "Vg" is vmap of grad.
Function transformed(const std::string& word, Function f);
/// coefficient * (d^order f)(shift): the nesting's value at x is the sum.
std::vector<Part> parts(const std::string& word, const Point& x);
/// How often a function inside the word is differentiated.
int order(const std::string& word);
/// Whether forward mode meets a function that has a rule for reverse mode only.
bool refused(const std::string& word);

/// All words over the letters, up to that length.
std::vector<std::string> words(const std::string& letters, std::size_t longest);

inline constexpr Point point{0.4137, -0.8291, 1.3173};
tlaloc::Tensor to_tensor(const Point& x);

}  // namespace nestings
