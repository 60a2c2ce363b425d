// Trees: which types are trees, in what order their tensors come, and that nothing is lost or shared on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <tlaloc/create.hpp>
#include <tlaloc/error.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

namespace {

using namespace tlaloc;

Tensor number(float value) { return tensor<float>(value); }

/// The values of the tensors in the tree, in order.
template <class T>
std::vector<float> values(const T& tree) {
  std::vector<float> result;
  for (const Tensor& leaf : tree_leaves(tree)) result.push_back(leaf.item<float>());
  return result;
}
using Values = std::vector<float>;

const auto plus_ten = [](const Tensor& x) { return number(x.item<float>() + 10); };
const auto add = [](const Tensor& x, const Tensor& y) { return number(x.item<float>() + y.item<float>()); };

enum class Mode { train, test };

struct Dense {
  Tensor w, b;
};
struct Relu {
  Tensor operator()(const Tensor& x) const { return x; }
};
struct Config {
  int steps = 0;
  std::string name;
  Mode mode = Mode::train;
};
struct Everything {
  const int version;
  Tensor first;
  Dense nested;
  float numbers[3];
  Tensor pair[2];
  Dense grid[2][2];
  std::array<Tensor, 2> fixed;
  std::vector<Dense> layers;
  std::map<std::string, Tensor> named;
  std::tuple<Tensor, int> both;
  std::pair<const int, Tensor> counted;
  std::optional<Tensor> maybe;
  std::variant<int, Tensor, Dense> either;
  Config config;
  Relu activation;
  std::function<Tensor(const Tensor&)> captured;
  float (*function)(float);
  const char* literal;
  std::vector<bool> mask;
  std::vector<std::vector<int>> indices;
  Axis axis;
  Shape shape;
  DType dtype;
  std::shared_ptr<int> count;
  Tensor last;
};

Everything everything() {
  return Everything{
      .version = 3,
      .first = number(1),
      .nested = {number(2), number(3)},
      .numbers = {1, 2, 3},
      .pair = {number(4), number(5)},
      .grid = {{{number(6), number(7)}, {number(8), number(9)}}, {{number(10), number(11)}, {number(12), number(13)}}},
      .fixed = {number(14), number(15)},
      .layers = {{number(16), number(17)}, {number(18), number(19)}},
      .named = {{"b", number(21)}, {"a", number(20)}},
      .both = {number(22), 7},
      .counted = {8, number(23)},
      .maybe = number(24),
      .either = Dense{number(25), number(26)},
      .config = {5, "five", Mode::test},
      .activation = {},
      .captured = Relu{},
      .function = nullptr,
      .literal = "text",
      .mask = {true, false},
      .indices = {{1, 2}, {3}},
      .axis = {},
      .shape = {2},
      .dtype = DType::f64,
      .count = std::make_shared<int>(9),
      .last = number(27)};
}

/// What a class with private members and no default constructor does.
class Layer {
 public:
  explicit Layer(float start) : w_(number(start)), b_(number(start + 1)), width_(static_cast<int>(start)) {}
  auto tree() { return std::tie(w_, b_); }
  auto tree() const { return std::tie(w_, b_); }
  int width() const { return width_; }

 private:
  Tensor w_, b_;
  int width_;
};
struct Network {
  Layer in, out;
  Tensor scale;
  std::array<Layer, 1> tail;
};

/// A tree of trees of its own type, with the recursion before the tensor.
struct Node {
  std::vector<Node> children;
  Tensor value;
};

struct Base {
  Tensor a;
};
struct Derived : Base {
  Tensor b;
};
struct OnlyBase : Base {};
struct EmptyBase : Relu {
  Tensor b;
};
class Private {
 public:
  Tensor a;

 private:
  Tensor b;
};
struct Constructed {
  Constructed() {}
  Tensor a;
};
struct Reference {
  Tensor& a;
};
struct ConstReference {
  int n;
  const Tensor& a;
};
struct RvalueReference {
  Tensor&& a;
};
struct NumberReference {
  Tensor a;
  int& n;
};
struct Mutable {
  mutable Tensor a;
  const int n;
};
struct Constant {
  const Tensor a;
};
struct ConstantLayers {
  const std::vector<Dense> a;
};
struct Shared {
  Tensor a;
  std::shared_ptr<Tensor> b;
};
struct Unique {
  std::unique_ptr<Dense> a;
};
struct Raw {
  Tensor* a;
};
struct ArrayOfLayers {
  float n[2];
  Layer layers[2];
};
union Overlay {
  int n;
  float x;
};
struct ByValue {
  Tensor a;
  auto tree() const { return std::tuple(a); }
};
struct OnlyMutable {
  Tensor a;
  auto tree() { return std::tie(a); }
};
struct OnlyConst {
  Tensor a;
  auto tree() const { return std::tie(a); }
};
struct Forty {
  Tensor a[3];
  Tensor m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20;
  Tensor n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19;
};
struct FortyOne {
  Tensor m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20;
  Tensor n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19, n20, n21;
};
struct Clock {
  explicit Clock(int) {}
  int ticks = 0;
};
struct Timed {
  Tensor a;
  Clock clock;
};

}  // namespace

template <>
inline constexpr bool tlaloc::holds_no_tensor<Clock> = true;

namespace {

static_assert(tree<Tensor> && tree<int> && tree<std::string> && tree<Config> && tree<Dense> && tree<Everything>);
static_assert(tree<Layer> && tree<Network> && tree<Node> && tree<Forty> && tree<Timed> && tree<Relu>);
static_assert(tree<std::map<int, Dense>> && tree<std::map<Mode, Tensor>> && tree<std::tuple<>>);

static_assert(!tree<Tensor&> && !tree<const Tensor> && !tree<const Dense&> && !tree<Dense&&> && !tree<Tensor[2]>);
static_assert(!tree<Derived> && !tree<OnlyBase> && !tree<EmptyBase>);
static_assert(!tree<Private> && !tree<Constructed> && !tree<Overlay> && !tree<FortyOne> && !tree<ArrayOfLayers>);
static_assert(!tree<Reference> && !tree<ConstReference> && !tree<RvalueReference> && !tree<NumberReference>);
static_assert(!tree<Mutable> && !tree<Constant> && !tree<ConstantLayers> && !tree<std::pair<const Tensor, int>>);
static_assert(!tree<Shared> && !tree<Unique> && !tree<Raw> && !tree<Tensor*> && !tree<void*> && !tree<Tensor**>);
static_assert(!tree<ByValue> && !tree<OnlyMutable> && !tree<OnlyConst>);
static_assert(!tree<std::tuple<Tensor&>> && !tree<std::tuple<Tensor, const Tensor&>> && !tree<std::set<int>>);
static_assert(!tree<std::unordered_map<std::string, Tensor>> && !tree<std::reference_wrapper<Tensor>>);
static_assert(!tree<std::span<Tensor>> && !tree<std::map<double, Tensor>> && !tree<std::complex<float>>);
static_assert(!tree<std::vector<Shared>> && !tree<std::optional<std::tuple<int, Raw>>>);

TEST(TreeTest, AClosureThatCapturedATensorIsNoTree) {
  const Tensor x = number(1);
  const auto by_value = [x] { return x; };
  const auto by_reference = [&x] { return x; };
  EXPECT_FALSE(tree<std::remove_const_t<decltype(by_value)>>);
  EXPECT_FALSE(tree<std::remove_const_t<decltype(by_reference)>>);
}

TEST(TreeTest, TypesTellHowManyTensorsTheyHold) {
  EXPECT_EQ(core::leaf_count<Tensor>, 1);
  EXPECT_EQ(core::leaf_count<int>, 0);
  EXPECT_EQ(core::leaf_count<Config>, 0);
  EXPECT_EQ(core::leaf_count<Dense>, 2);
  EXPECT_EQ((core::leaf_count<std::array<Dense, 3>>), 6);
  EXPECT_EQ(core::leaf_count<Network>, 7);
  EXPECT_EQ(core::leaf_count<Forty>, 42);
  EXPECT_EQ(core::leaf_count<std::vector<Dense>>, -1);
  EXPECT_EQ(core::leaf_count<std::vector<Config>>, 0);
  EXPECT_EQ((core::leaf_count<std::tuple<Tensor, std::optional<Tensor>>>), -1);
  EXPECT_TRUE(core::has_leaves<Node>);
  EXPECT_FALSE((core::has_leaves<std::map<std::string, std::vector<Config>>>));
}

TEST(TreeTest, ATensorIsATree) {
  EXPECT_EQ(values(number(4)), (Values{4}));
  EXPECT_EQ(values(tree_map(plus_ten, number(4))), (Values{14}));
}

TEST(TreeTest, TensorsComeInTheOrderOfDeclaration) {
  Values expected;
  for (int i = 1; i <= 27; ++i) expected.push_back(static_cast<float>(i));
  EXPECT_EQ(values(everything()), expected);
}

TEST(TreeTest, LeavesAreTheTensorsThemselves) {
  Everything tree = everything();
  core::Leaves leaves;
  core::collect_leaves(tree, leaves);
  ASSERT_EQ(leaves.size(), 27u);
  EXPECT_EQ(leaves[0], &tree.first);
  EXPECT_EQ(leaves[12], &tree.grid[1][1].b);
  EXPECT_EQ(leaves[19], &tree.named.at("a"));
  EXPECT_EQ(leaves[25], &std::get<Dense>(tree.either).b);
  EXPECT_EQ(leaves[26], &tree.last);
  const Everything& constant = tree;
  core::ConstLeaves const_leaves;
  core::collect_leaves(constant, const_leaves);
  EXPECT_TRUE(std::equal(leaves.begin(), leaves.end(), const_leaves.begin(), const_leaves.end()));
}

TEST(TreeTest, LeavesOfSeveralTreesFollowEachOther) {
  Dense a{number(1), number(2)};
  std::vector<Tensor> many(40, number(3));
  core::Leaves leaves;
  core::collect_leaves(a, leaves);
  core::collect_leaves(many, leaves);
  ASSERT_EQ(leaves.size(), 42u);
  EXPECT_EQ(leaves[1], &a.b);
  for (std::size_t i = 0; i < many.size(); ++i) EXPECT_EQ(leaves[i + 2], &many[i]);
}

TEST(TreeTest, EmptyTensorsAreLeavesToo) {
  const std::vector<Tensor> leaves = tree_leaves(std::vector<Dense>{{number(1), Tensor()}, {Tensor(), number(2)}});
  ASSERT_EQ(leaves.size(), 4u);
  EXPECT_TRUE(leaves[0].defined());
  EXPECT_FALSE(leaves[1].defined());
  EXPECT_FALSE(leaves[2].defined());
  EXPECT_EQ(leaves[3].item<float>(), 2);
}

TEST(TreeTest, FortyMembersAreFoundOneByOne) {
  Forty tree;
  core::Leaves leaves;
  core::collect_leaves(tree, leaves);
  ASSERT_EQ(leaves.size(), 42u);
  for (std::size_t i = 0; i < leaves.size(); ++i) EXPECT_EQ(leaves[i], &tree.a[0] + i);
}

TEST(TreeTest, MapKeepsWhatIsNoTensorAndTheOriginal) {
  const Everything tree = everything();
  const Everything mapped = tree_map(plus_ten, tree);
  Values expected;
  for (int i = 1; i <= 27; ++i) expected.push_back(static_cast<float>(i + 10));
  EXPECT_EQ(values(mapped), expected);
  EXPECT_EQ(values(tree).front(), 1);
  EXPECT_EQ(values(tree).back(), 27);
  EXPECT_EQ(mapped.version, 3);
  EXPECT_EQ(mapped.numbers[2], 3);
  EXPECT_EQ(std::get<1>(mapped.both), 7);
  EXPECT_EQ(mapped.counted.first, 8);
  EXPECT_EQ(mapped.config.name, "five");
  EXPECT_EQ(mapped.config.mode, Mode::test);
  EXPECT_EQ(mapped.mask, (std::vector<bool>{true, false}));
  EXPECT_EQ(mapped.indices, tree.indices);
  EXPECT_EQ(mapped.shape, tree.shape);
  EXPECT_EQ(mapped.dtype, DType::f64);
  EXPECT_EQ(mapped.count, tree.count);
  EXPECT_STREQ(mapped.literal, "text");
}

TEST(TreeTest, ClassesSayWhatTheyHold) {
  const Network network{Layer(1), Layer(3), number(5), {Layer(6)}};
  EXPECT_EQ(values(network), (Values{1, 2, 3, 4, 5, 6, 7}));
  const Network mapped = tree_map(plus_ten, network);
  EXPECT_EQ(values(mapped), (Values{11, 12, 13, 14, 15, 16, 17}));
  EXPECT_EQ(mapped.out.width(), 3);
  EXPECT_EQ(values(network), (Values{1, 2, 3, 4, 5, 6, 7}));
}

TEST(TreeTest, AClassMayHoldItsOwnKind) {
  const Node node{{{{}, number(1)}, {{{{}, number(2)}}, number(3)}}, number(4)};
  EXPECT_EQ(values(node), (Values{1, 2, 3, 4}));
  EXPECT_EQ(values(tree_map(plus_ten, node)), (Values{11, 12, 13, 14}));
}

TEST(TreeTest, MapOfSeveralTrees) {
  const Dense a{number(1), number(2)};
  const Dense b{number(30), number(40)};
  const Dense c{number(500), number(600)};
  EXPECT_EQ(values(tree_map(add, a, b)), (Values{31, 42}));
  const auto add_three = [](const Tensor& x, const Tensor& y, const Tensor& z) { return add(add(x, y), z); };
  EXPECT_EQ(values(tree_map(add_three, a, b, c)), (Values{531, 642}));
  EXPECT_EQ(values(tree_map(add, everything(), everything()))[26], 54);
}

TEST(TreeTest, MapLeavesTheFirstTreesTensorWhereOneIsEmpty) {
  const Dense a{number(1), Tensor()};
  EXPECT_FALSE(tree_map(plus_ten, a).b.defined());
  const Dense gradient{Tensor(), number(2)};
  const Dense mapped = tree_map(add, a, gradient);
  EXPECT_EQ(mapped.w.item<float>(), 1);
  EXPECT_FALSE(mapped.b.defined());
}

/// What tree_map says of two trees that do not fit.
template <class T>
std::string complaint(const T& a, const T& b) {
  try {
    tree_map(add, a, b);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "";
}

TEST(TreeTest, MapOfTreesThatDifferSaysWhere) {
  using Layers = std::tuple<int, std::vector<Dense>>;
  const Dense dense{number(1), number(2)};
  EXPECT_EQ(complaint(Layers{0, {dense, dense}}, Layers{0, {dense}}),
            "tree_map: the trees hold tensors in different places; the first 2 agree, then tree 1 (tensors: 4) has one "
            "at .1[1].0 and tree 2 (tensors: 2) has no more; the trees need equal sizes, keys and alternatives");

  using Named = std::map<std::string, Dense>;
  EXPECT_NE(complaint(Named{{"in", dense}}, Named{{"out", dense}}).find("at [\"in\"].0 and"), std::string::npos);
  using Numbered = std::map<int, Tensor>;
  EXPECT_NE(complaint(Numbered{{-1, number(1)}}, Numbered{{2, number(1)}}).find("at [-1] and"), std::string::npos);

  using Either = std::variant<Tensor, Tensor>;
  const Either second(std::in_place_index<1>, number(1));
  EXPECT_NE(complaint(Either(std::in_place_index<0>, number(1)), second).find("at <0> and"), std::string::npos);
  EXPECT_EQ(complaint(second, second), "");

  using Maybe = std::optional<Tensor>;
  EXPECT_NE(complaint(Maybe(number(1)), Maybe()).find("has one that is the whole tree and"), std::string::npos);
  EXPECT_EQ(complaint(Maybe(), Maybe()), "");
}

TEST(TreeTest, SizesOfWhatIsNoTensorMayDiffer) {
  using Trained = std::pair<std::vector<int>, std::vector<Tensor>>;
  EXPECT_EQ(complaint(Trained{{1, 2}, {number(1)}}, Trained{{}, {number(2)}}), "");
}

TEST(TreeTest, AFailingFunctionLeavesTheTreeAsItWas) {
  const std::vector<Tensor> tree{number(1), number(2)};
  const auto fail_at_two = [](const Tensor& x) {
    if (x.item<float>() == 2) throw ValueError("two");
    return number(0);
  };
  EXPECT_THROW(tree_map(fail_at_two, tree), ValueError);
  EXPECT_EQ(values(tree), (Values{1, 2}));
}

TEST(TreeTest, MapTakesWhatCannotBeCopied) {
  struct Movable {
    Tensor a;
    std::unique_ptr<int> n;
  };
  const Movable mapped = tree_map(plus_ten, Movable{number(1), std::make_unique<int>(5)});
  EXPECT_EQ(mapped.a.item<float>(), 11);
  EXPECT_EQ(*mapped.n, 5);
}

}  // namespace
