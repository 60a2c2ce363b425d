// A function with rules of its own, in every nesting of transforms: what it gives is what the function gives without
// them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "tests/nestings.hpp"
#include "tests/sines.hpp"

namespace {

using namespace tlaloc;
using namespace sines;

struct Variant {
  const char* name;
  bool forward_mode;
  std::function<Tensor(const Tensor&)> sine;
};
const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{
      {"custom_vjp", false, vjp_sin()},
      {"custom_jvp", true, jvp_sin()},
      {"custom_vmap", true, vmap_sin()},
      {"checkpoint", true, checkpoint(plain_sin())},
      {"custom_vjp that calls custom_jvp", false,
       custom_vjp(
           plain_sin(), [](const Tensor& x) { return std::pair(jvp_sin()(x), jvp_sin()(x + std::acos(0.0))); },
           [](const Tensor& cosine, const Tensor& ct) { return ct * cosine; })},
      {"custom_vmap of custom_vjp", false,
       custom_vmap(vjp_sin(), [](std::int64_t, const std::vector<bool>&, const Tensor& x) { return vjp_sin()(x); })},
      {"custom_vjp of custom_vmap", false,
       custom_vjp(
           vmap_sin(), [](const Tensor& x) { return std::pair(vmap_sin()(x), x); },
           [](const Tensor& x, const Tensor& ct) { return ct * vmap_sin()(x + std::acos(0.0)); })},
      {"custom_jvp of custom_vmap", true,
       custom_jvp(vmap_sin(),
                  [](const auto& primals, const auto& tangents) {
                    const auto& [x] = primals;
                    const auto& [dx] = tangents;
                    return std::pair(vmap_sin()(x), dx * vmap_sin()(x + std::acos(0.0)));
                  })},
      {"custom_vmap of custom_jvp", true,
       custom_vmap(jvp_sin(), [](std::int64_t, const std::vector<bool>&, const Tensor& x) { return jvp_sin()(x); })},
      {"checkpoint of custom_vjp", false, checkpoint(vjp_sin())},
      {"checkpoint of checkpoint of custom_jvp", true, checkpoint(checkpoint(jvp_sin()))},
      {"custom_jvp of checkpoint", true,
       custom_jvp(checkpoint(plain_sin()),
                  [](const Tensor& x, const Tensor& dx) {
                    return std::pair(checkpoint(plain_sin())(x),
                                     dx * checkpoint([](const Tensor& y) { return cos(y); })(x));
                  })},
  };
  return all;
}

/// From R^3 to R, with the sine applied to several values that depend on each other.
nestings::Function function_of(std::function<Tensor(const Tensor&)> sine) {
  return [sine = std::move(sine)](const Tensor& x) {
    const Tensor s = sine(x * 1.5);
    return sum(s * x) + sine(sum(s));
  };
}

class EveryNesting : public ::testing::TestWithParam<int> {};

TEST_P(EveryNesting, EqualsTheFunctionWithoutRules) {
  const Variant& variant = variants()[static_cast<std::size_t>(GetParam())];
  SCOPED_TRACE(variant.name);
  int compared = 0;
  for (const std::string& word : nestings::words("gjVCRH", 3)) {
    SCOPED_TRACE(word);
    const nestings::Function custom = nestings::transformed(word, function_of(variant.sine));
    if (!variant.forward_mode && nestings::refused(word + "a")) {
      EXPECT_THROW(custom(nestings::to_tensor(nestings::point)), LevelError);
      continue;
    }
    const double expected =
        nestings::transformed(word, function_of(plain_sin()))(nestings::to_tensor(nestings::point)).item<double>();
    EXPECT_NEAR(custom(nestings::to_tensor(nestings::point)).item<double>(), expected,
                1e-11 * (1 + std::abs(expected)));
    ++compared;
  }
  EXPECT_GT(compared, 150);
}

INSTANTIATE_TEST_SUITE_P(Custom, EveryNesting, ::testing::Range(0, static_cast<int>(variants().size())));

}  // namespace
