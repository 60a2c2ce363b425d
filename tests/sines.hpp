// sin with right rules, in every way to give them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace sines {

using namespace tlaloc;

inline auto plain_sin() {
  return [](const Tensor& x) { return sin(x); };
}
inline auto vjp_sin() {
  return custom_vjp([](const Tensor& x) { return sin(x); }, [](const Tensor& x) { return std::pair(sin(x), x); },
                    [](const Tensor& x, const Tensor& ct) { return ct * cos(x); });
}
inline auto jvp_sin() {
  return custom_jvp([](const Tensor& x) { return sin(x); },
                    [](const Tensor& x, const Tensor& dx) { return std::pair(sin(x), dx * cos(x)); });
}
inline auto vmap_sin() {
  return custom_vmap([](const Tensor& x) { return sin(x); },
                     [](std::int64_t, const std::vector<bool>&, const Tensor& x) { return sin(x); });
}

}  // namespace sines
