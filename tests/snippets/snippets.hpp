// What the programs of the documents are tested with.
#pragma once

#include <gtest/gtest.h>

#include <ios>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

namespace snippets {

/// As it is printed, on one line.
template <class T>
std::string printed(const T& x) {
  std::ostringstream stream;
  stream << std::boolalpha << x;
  std::string text;
  for (const char c : stream.str()) {
    const char shown = c == '\n' ? ' ' : c;
    if (shown != ' ' || text.empty() || text.back() != ' ') text += shown;
  }
  return text;
}
template <class A, class B>
std::string printed(const std::pair<A, B>& both) {
  return "(" + printed(both.first) + ", " + printed(both.second) + ")";
}
template <class... T>
std::string printed(const std::tuple<T...>& all) {
  std::string text;
  std::apply([&](const T&... x) { ((text += (text.empty() ? "(" : ", ") + printed(x)), ...); }, all);
  return text + ")";
}
template <class T>
std::string printed(const std::vector<T>& all) {
  std::string text;
  for (const T& x : all) text += (text.empty() ? "{" : ", ") + printed(x);
  return text + "}";
}

template <class Error, class F>
void expect_throws(const F& f, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "nothing is thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace snippets
