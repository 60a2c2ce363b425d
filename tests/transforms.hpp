// What the tests of transforms share: tensors of one number, and whether transforms still work after something went
// wrong.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace transform_test {

using namespace tlaloc;

using Function = std::function<Tensor(const Tensor&)>;

inline Tensor scalar(double value) { return tensor<double>(value); }
inline double value_of(const Tensor& x) { return x.item<double>(); }
inline std::vector<double> values_of(const Tensor& x) { return x.to_vector<double>(); }
inline std::int64_t in_use() { return memory_stats().in_use; }

/// Whether transforms work, at the depth they should: what runs after something has gone wrong.
inline void expect_transforms_work() {
  const Function cube = [](const Tensor& x) { return x * x * x; };
  EXPECT_EQ(grad(grad(cube))(scalar(2)).item<double>(), 12);
  EXPECT_EQ(jvp(grad(cube), scalar(2), scalar(1)).second.item<double>(), 12);
  EXPECT_EQ(values_of(vmap(grad(cube))(tensor<double>({1, 2, 3}))), (std::vector<double>{3, 12, 27}));
}

}  // namespace transform_test
