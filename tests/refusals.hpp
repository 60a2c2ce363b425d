// What tests of messages share: tensors to make mistakes with, and the check of a refusal.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace refusals {

using namespace tlaloc;

struct Axes {
  Axis batch{"batch"}, feature{"feature"}, hidden{"hidden"}, klass{"class"};
};
inline const Axes& ax() {
  static const Axes axes;
  return axes;
}

/// f32 [batch 3, feature 2], and what it meets.
inline Tensor matrix() { return zeros({ax().batch(3), ax().feature(2)}); }
inline Tensor plain() { return zeros({3, 2}); }
inline Tensor matrix64() { return zeros({ax().batch(3), ax().feature(2)}, DType::f64); }
inline Tensor vector() { return tensor<float>({1, 2}, {ax().feature}); }
inline Tensor scalar() { return tensor<float>(1.0f); }
inline Tensor integers() { return tensor<std::int64_t>({0, 1, 0}); }
inline Tensor identity(const Tensor& x) { return x; }
inline Tensor sum_of_both(const Tensor& x, const Tensor& y) { return x + y; }

/// Every transform and a few operations, as if nothing had happened.
inline void expect_library_works() {
  const auto cubes = [](const Tensor& x) { return sum(x * x * x); };
  const Tensor x = tensor<double>({{1, 2}, {3, 4}}, {ax().batch, ax().feature});
  EXPECT_EQ(vmap(grad(cubes), ax().batch)(x).to_vector<double>(), (std::vector<double>{3, 12, 27, 48}));
  EXPECT_EQ(jvp(grad(cubes), x, ones_like(x)).second.to_vector<double>(), (std::vector<double>{6, 12, 18, 24}));
}

/// Expects `f` to throw exactly Error, saying `text`.
template <class Error, class F>
void expect_refusal(const std::string& text, F&& f) {
  SCOPED_TRACE(text);
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_TRUE(typeid(error) == typeid(Error)) << "another type: " << typeid(error).name();
    EXPECT_EQ(error.what(), text);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
  }
  expect_library_works();
}

/// What the Error that `f` throws says.
template <class Error, class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}
inline void expect_mentions(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* word : words)
    EXPECT_NE(message.find(word), std::string::npos) << word << " is missing in: " << message;
}

}  // namespace refusals
