// Every nesting of transforms, for tests that compare two ways to write one function.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace nestings {

/// From R^3 to R.
using Function = std::function<tlaloc::Tensor(const tlaloc::Tensor&)>;

/// G grad, J jvp, V vmap, C vmap in chunks, R jacrev, H hessian: each makes a function of the same kind, and mixes what
/// it gets so that none commutes with another.
inline Function transformed(char transform, Function f) {
  using namespace tlaloc;
  static const Tensor weights = tensor<double>({0.3, -1.1, 0.7});
  static const Tensor direction = tensor<double>({0.9, 0.2, -0.5});
  static const Tensor shifts = tensor<double>({{0.1, 0.5, -0.2}, {-0.4, 0.3, 0.25}, {0.6, -0.7, 0.15}});
  static const Tensor matrix = tensor<double>({{0.4, 0.1, -0.3}, {0.2, 0.8, 0.5}, {-0.6, 0.35, 0.9}});
  switch (transform) {
    case 'G': return [f](const Tensor& x) { return sum(grad(f)(x) * weights); };
    case 'J': return [f](const Tensor& x) { return jvp(f, x, direction).second; };
    case 'V': return [f](const Tensor& x) { return sum(vmap(f)(x + shifts) * weights); };
    case 'C': return [f](const Tensor& x) { return sum(vmap(f, chunk_size(2))(x * shifts) * weights); };
    case 'R': return [f](const Tensor& x) { return sum(jacrev(f)(x) * direction); };
    default: return [f](const Tensor& x) { return sum(hessian(f)(x) * matrix); };
  }
}

/// The transforms of a word, the last one inside: "VG" is vmap of grad.
inline Function transformed(const std::string& word, Function f) {
  for (auto letter = word.rbegin(); letter != word.rend(); ++letter) f = transformed(*letter, f);
  return f;
}

/// All words over the letters, up to that length.
inline std::vector<std::string> words(const std::string& letters, std::size_t longest) {
  std::vector<std::string> all{""};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].size() < longest)
      for (const char letter : letters) all.push_back(all[i] + letter);
  return all;
}

inline const tlaloc::Tensor& point() {
  static const tlaloc::Tensor x = tlaloc::tensor<double>({0.4, -0.8, 1.3});
  return x;
}

}  // namespace nestings
