// Tensors that outlive their transform, or are used on another thread while it runs: every operation refuses them, by
// name, at their first use.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/transforms.hpp"

namespace {

using namespace transform_test;

/// A way to use a tensor of shape [1, 3], and how the message about it must begin: with the operation that meets it
/// first, which for a composed function is the one under it.
struct Use {
  const char* begins;
  std::function<void(const Tensor&)> with;
};
const std::vector<Use>& uses() {
  static const Tensor other = tensor<double>({{1, 2, 3}});
  static const Tensor flags = tensor<bool>({{true, false, true}});
  static const std::vector<Use> all{
      {"add", [](const Tensor& x) { return x + other; }},
      {"add", [](const Tensor& x) { return 1.0 + x; }},
      {"subtract", [](const Tensor& x) { return other - x; }},
      {"multiply", [](const Tensor& x) { return x * x; }},
      {"divide", [](const Tensor& x) { return 1.0 / x; }},
      {"maximum", [](const Tensor& x) { return maximum(x, 0.0); }},
      {"negative", [](const Tensor& x) { return -x; }},
      {"square", [](const Tensor& x) { return square(x); }},
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"log", [](const Tensor& x) { return log(x); }},
      {"sqrt", [](const Tensor& x) { return sqrt(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"where", [](const Tensor& x) { return where(flags, x, other); }},
      {"where", [](const Tensor& x) { return where(flags, 0.0, x); }},
      {"equal", [](const Tensor& x) { return x == other; }},
      {"not_equal", [](const Tensor& x) { return x != 1.0; }},
      {"less", [](const Tensor& x) { return x < other; }},
      {"less_equal", [](const Tensor& x) { return x <= other; }},
      {"greater", [](const Tensor& x) { return x > 0.0; }},
      {"greater_equal", [](const Tensor& x) { return other >= x; }},
      {"cast", [](const Tensor& x) { return cast(x, DType::f32); }},
      {"sum", [](const Tensor& x) { return sum(x); }},
      {"sum", [](const Tensor& x) { return mean(x, 1); }},
      {"max", [](const Tensor& x) { return max(x, -1); }},
      {"max_with_indices", [](const Tensor& x) { return max_with_indices(x, 1); }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x); }},
      {"softmax", [](const Tensor& x) { return softmax(x, 1); }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, 1); }},
      {"matmul", [](const Tensor& x) { return matmul(x, transpose(other)); }},
      {"matmul", [](const Tensor& x) { return matmul(transpose(other), x); }},
      {"matmul", [](const Tensor& x) { return outer(other, x); }},
      {"cross_entropy", [](const Tensor& x) { return cross_entropy(x, other); }},
      {"cross_entropy", [](const Tensor& x) { return cross_entropy(other, x); }},
      {"slice", [](const Tensor& x) { return cross_entropy(x, tensor<std::int64_t>({2})); }},
      {"reshape", [](const Tensor& x) { return reshape(x, {3}); }},
      {"permute",
       [](const Tensor& x) {
         return permute(x, {1, 0});
       }},
      {"permute", [](const Tensor& x) { return transpose(x); }},
      {"reshape",
       [](const Tensor& x) {
         return broadcast_to(x, {4, 3});
       }},
      {"broadcast_to", [](const Tensor& x) { return expand_dims(x, 1); }},
      {"reshape", [](const Tensor& x) { return squeeze(x); }},
      {"concat",
       [](const Tensor& x) {
         return concat({other, x}, 0);
       }},
      {"broadcast_to",
       [](const Tensor& x) {
         return stack({other, x, other, other, other});
       }},
      {"slice", [](const Tensor& x) { return slice(x, 1, 1); }},
      {"slice", [](const Tensor& x) { return select(x, 1, 2); }},
      {"to_vector", [](const Tensor& x) { return x.to_vector<double>(); }},
      {"span", [](const Tensor& x) { static_cast<void>(x.span<double>()); }},
      {"item", [](const Tensor& x) { return x.item<double>(); }},
      {"bool", [](const Tensor& x) { static_cast<void>(static_cast<bool>(x)); }},
      {"array_equal", [](const Tensor& x) { return array_equal(other, x); }},
  };
  return all;
}

void expect_refused(const Tensor& leaked) {
  for (const Use& use : uses()) {
    SCOPED_TRACE(use.begins);
    try {
      use.with(leaked);
      ADD_FAILURE() << "not refused";
    } catch (const LevelError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(std::string(use.begins) + ":")) << error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "refused for another reason: " << error.what();
    }
  }
  // What does not look at the elements, or must show them whatever happens.
  EXPECT_EQ(leaked.dtype(), DType::f64);
  EXPECT_EQ(leaked.size(), 3);
  std::ostringstream text;
  text << leaked;
  EXPECT_NE(text.str().find("f64"), std::string::npos);
  EXPECT_FALSE(to_string(leaked).empty());
  Tensor copy = leaked;
  copy = Tensor();
}

/// The ways a tensor of shape [1, 3] can get out of a transform; `during` runs while it is still at home.
struct Leak {
  const char* from;
  std::function<Tensor(const std::function<void(const Tensor&)>& during)> make;
};
std::vector<Leak> leaks() {
  const Tensor start = tensor<double>({{0.5, 1.5, 2.5}});
  const auto keep = [](Tensor& kept, Tensor value, const auto& during) {
    kept = std::move(value);
    during(kept);
  };
  return {
      {"grad, the argument",
       [=](const auto& during) {
         Tensor kept;
         grad([&](const Tensor& x) {
           keep(kept, x, during);
           return sum(x);
         })(start);
         return kept;
       }},
      {"grad, a result",
       [=](const auto& during) {
         Tensor kept;
         grad([&](const Tensor& x) {
           keep(kept, tanh(x), during);
           return sum(kept);
         })(start);
         return kept;
       }},
      {"vjp, a view",
       [=](const auto& during) {
         Tensor kept;
         const auto result = vjp(
             [&](const Tensor& x) {
               keep(kept, transpose(transpose(x) * 1.0), during);
               return sum(x);
             },
             start);
         EXPECT_TRUE(array_equal(result.second(scalar(1)), ones({1, 3}, DType::f64)));
         return kept;
       }},
      {"jvp",
       [=](const auto& during) {
         Tensor kept;
         jvp(
             [&](const Tensor& x) {
               keep(kept, exp(x), during);
               return x;
             },
             start, start);
         return kept;
       }},
      {"vmap",
       [=](const auto& during) {
         Tensor kept;
         vmap([&](const Tensor& x) {
           keep(kept, x * 2, during);
           return x;
         })(stack({start, start}));
         return kept;
       }},
      {"a grad inside a grad",
       [=](const auto& during) {
         Tensor kept;
         grad([&](const Tensor& y) {
           return sum(grad([&](const Tensor& x) {
             keep(kept, x * y, during);
             return sum(kept * x);
           })(y));
         })(start);
         return kept;
       }},
      {"a vmap inside a jvp inside a grad",
       [=](const auto& during) {
         Tensor kept;
         grad([&](const Tensor& y) {
           return jvp(
                      [&](const Tensor& x) {
                        return sum(vmap([&](const Tensor& z) {
                          keep(kept, z * x, during);
                          return sum(kept);
                        })(stack({x, y})));
                      },
                      y, y)
               .second;
         })(start);
         return kept;
       }},
  };
}

TEST(Leak, IsRefusedByTheOperationThatMeetsIt) {
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    const Tensor kept = leak.make([](const Tensor&) {});
    expect_refused(kept);
    expect_transforms_work();
  }
}

TEST(Leak, IsRefusedInsideALaterTransformOfEqualDepth) {
  const Tensor fresh = tensor<double>({{1, 2, 3}});
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    const Tensor kept = leak.make([](const Tensor&) {});
    const auto refused_here = [&](const Tensor& x) {
      expect_refused(kept);
      // Together with a tensor that is at home here, in both orders.
      EXPECT_THROW(x * kept, LevelError);
      EXPECT_THROW(concat({kept, x}, 0), LevelError);
      EXPECT_THROW(matmul(x, transpose(kept)), LevelError);
      return sum(x);
    };
    const auto refused_deeper = [&](const Tensor& x) { return sum(grad(refused_here)(x)); };
    EXPECT_EQ(values_of(grad(refused_here)(fresh)), (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(value_of(jvp(refused_here, fresh, fresh).second), 6);
    EXPECT_EQ(values_of(vmap(refused_here)(stack({fresh, fresh}))), (std::vector<double>{6, 6}));
    EXPECT_EQ(values_of(grad(refused_deeper)(fresh)), (std::vector<double>{0, 0, 0}));
  }
}

TEST(Leak, IsRefusedByTransformsThatTakeIt) {
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    const Tensor kept = leak.make([](const Tensor&) {});
    const Tensor fresh = tensor<double>({{1, 2, 3}});
    const std::int64_t before = in_use();
    EXPECT_THROW(grad([](const Tensor& x) { return sum(x); })(kept), LevelError);
    EXPECT_THROW(jvp([](const Tensor& x) { return sum(x); }, kept, kept), LevelError);
    EXPECT_THROW(vmap([](const Tensor& x) { return x * 2; })(kept), LevelError);
    EXPECT_THROW(vmap([](const Tensor& x) { return x * 2; }, in_axes(1))(kept), LevelError);
    EXPECT_THROW(grad([&](const Tensor& x) { return sum(x * kept); })(fresh), LevelError);
    const auto [y, pullback] = vjp([](const Tensor& x) { return square(x); }, fresh);
    EXPECT_THROW(pullback(kept), LevelError);
    EXPECT_EQ(values_of(pullback(fresh)), (std::vector<double>{2, 8, 18}));
    EXPECT_THROW(jvp([](const Tensor& x) { return x * 2; }, fresh, kept), LevelError);
    expect_transforms_work();
    EXPECT_GE(in_use(), before);
  }
}

TEST(Leak, IsRefusedOnAnotherThreadWhileTheTransformRuns) {
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    leak.make([](const Tensor& at_home) {
      std::thread([&] {
        expect_refused(at_home);
        // Also inside transforms of this thread, at the same depth.
        const Tensor fresh = tensor<double>({{1, 2, 3}});
        EXPECT_THROW(grad([&](const Tensor& x) { return sum(x * at_home); })(fresh), LevelError);
        EXPECT_THROW(jvp([&](const Tensor& x) { return x + at_home; }, fresh, fresh), LevelError);
        EXPECT_THROW(vmap([&](const Tensor& x) { return x + at_home; })(stack({fresh, fresh})), LevelError);
        expect_transforms_work();
      }).join();
    });
  }
}

TEST(Leak, OfAGradReturnedFromAnInnerTransformStillCounts) {
  // A tensor of the outer level may leave the inner one, by the back door too.
  Tensor kept;
  const Tensor g = grad([&](const Tensor& x) {
    grad([&](const Tensor& y) {
      kept = x * 3;
      return y * 2;
    })(scalar(1));
    return kept * x;
  })(scalar(2));
  EXPECT_EQ(value_of(g), 12);
}

TEST(Leak, KeepsNothingAliveButItself) {
  const std::int64_t before = in_use();
  for (const Leak& leak : leaks()) {
    SCOPED_TRACE(leak.from);
    Tensor kept = leak.make([](const Tensor&) {});
    kept = Tensor();
  }
  EXPECT_EQ(in_use(), before);
}

}  // namespace
