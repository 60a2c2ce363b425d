// Tensors as values: how they are made, read, printed, copied and compared, and the dims, shapes and axes they have.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <locale>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

namespace {

using namespace tlaloc;

const Axis& batch() {
  static const Axis axis("batch");
  return axis;
}
const Axis& feature() {
  static const Axis axis("feature");
  return axis;
}

using Floats = std::vector<float>;
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// ---------------------------------------------------------------------------------------------------------------------
// Construction

TEST(Construct, FromNestedBraces) {
  EXPECT_EQ(tensor<float>(2.5f).shape(), Shape{});
  EXPECT_EQ(tensor<float>(2.5f).item<float>(), 2.5f);
  EXPECT_EQ(tensor<float>({1, 2, 3}).shape(), Shape{3});
  EXPECT_EQ(tensor<float>({{1, 2, 3}, {4, 5, 6}}).shape(), (Shape{2, 3}));
  EXPECT_EQ(tensor<float>({{1, 2, 3}, {4, 5, 6}}).to_vector<float>(), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor<float>({{{1}, {2}}, {{3}, {4}}, {{5}, {6}}}).shape(), (Shape{3, 2, 1}));
  EXPECT_EQ(tensor<float>({{{{1, 2}}}, {{{3, 4}}}}).shape(), (Shape{2, 1, 1, 2}));
  EXPECT_EQ(tensor<float>({{{{1, 2}}}, {{{3, 4}}}}).to_vector<float>(), (Floats{1, 2, 3, 4}));
}

TEST(Construct, ASingleElementInBracesKeepsItsRank) {
  EXPECT_EQ(tensor<float>({1.0f}).shape(), Shape{1});
  EXPECT_EQ(tensor<double>({1.0}).shape(), Shape{1});
  EXPECT_EQ(tensor<std::int32_t>({1}).shape(), Shape{1});
  EXPECT_EQ(tensor<std::int64_t>({1}).shape(), Shape{1});
  EXPECT_EQ(tensor<bool>({true}).shape(), Shape{1});
  EXPECT_EQ(tensor<float>({{1.0f}}).shape(), (Shape{1, 1}));
  EXPECT_EQ(tensor<std::int32_t>({{{1}}}).shape(), (Shape{1, 1, 1}));
}

TEST(Construct, EveryDType) {
  EXPECT_EQ(tensor<bool>({true, false}).dtype(), DType::boolean);
  EXPECT_EQ(tensor<std::int32_t>({1, 2}).dtype(), DType::i32);
  EXPECT_EQ(tensor<std::int64_t>({1, 2}).dtype(), DType::i64);
  EXPECT_EQ(tensor<float>({1, 2}).dtype(), DType::f32);
  EXPECT_EQ(tensor<double>({1, 2}).dtype(), DType::f64);
}

TEST(Construct, WithNames) {
  EXPECT_EQ(tensor<float>({{1, 2, 3}, {4, 5, 6}}, {batch(), feature()}).shape(), (Shape{batch()(2), feature()(3)}));
  EXPECT_EQ(tensor<float>({{1, 2}}, {Axis::none, feature()}).shape(), (Shape{1, feature()(2)}));
  EXPECT_EQ(tensor<float>({1, 2}, {batch()}).axes(), std::vector{batch()});
  EXPECT_THROW(tensor<float>({1, 2}, {batch(), feature()}), ShapeError);
  EXPECT_THROW(tensor<float>({{1, 2}}, {batch(), batch()}), AxisError);
}

TEST(Construct, FromData) {
  const std::vector<double> data{1, 2, 3, 4, 5, 6};
  const Tensor x = from_data(data, {batch()(3), 2});
  EXPECT_EQ(x.shape(), (Shape{batch()(3), 2}));
  EXPECT_EQ(x.to_vector<double>(), data);
  const std::array<std::int32_t, 2> ints{7, 8};
  EXPECT_EQ(from_data(std::span<const std::int32_t>(ints), {2}).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{7, 8}));
  EXPECT_EQ(from_data(std::vector<float>{}, {0, 4}).shape(), (Shape{0, 4}));
  EXPECT_THROW(from_data(data, {5}), ShapeError);
  EXPECT_THROW(from_data(data, {7}), ShapeError);
  EXPECT_THROW(from_data(data, {batch()(2), batch()(3)}), AxisError);
}

TEST(Construct, TakesACopyOfTheData) {
  std::vector<float> data{1, 2};
  const Tensor x = from_data(data, {2});
  data[0] = 9;
  EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2}));
}

TEST(Construct, Filled) {
  EXPECT_EQ(zeros({2}).to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(ones({2}, DType::i64).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(ones({2}, DType::boolean).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ(full({}, 1.5).item<float>(), 1.5f);
  EXPECT_EQ(full({2}, 7).dtype(), DType::i64);
  EXPECT_EQ(full({2}, 1.5).dtype(), DType::f32);
  EXPECT_EQ(full({2}, 7, DType::f64).to_vector<double>(), (std::vector<double>{7, 7}));
  EXPECT_EQ(full({batch()(2)}, 7).shape(), Shape{batch()(2)});
  EXPECT_EQ(full({}, (std::int64_t{1} << 62) + 1).item<std::int64_t>(), (std::int64_t{1} << 62) + 1);
  EXPECT_THROW(full({2}, 1.5, DType::i32), DTypeError);
  EXPECT_THROW(full({2}, std::int64_t{1} << 31, DType::i32), ValueError);
  EXPECT_EQ(full({}, (std::int64_t{1} << 31) - 1, DType::i32).item<std::int32_t>(), 2147483647);
  EXPECT_THROW(zeros({batch()(2), batch()(2)}), AxisError);
}

TEST(Construct, RangesAndIdentities) {
  EXPECT_EQ(arange(4).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(arange(batch()(3), DType::f32).shape(), Shape{batch()(3)});
  EXPECT_EQ(arange(3, DType::f32).to_vector<float>(), (Floats{0, 1, 2}));
  EXPECT_EQ(arange(0).size(), 0);
  EXPECT_THROW(arange(2, DType::boolean), DTypeError);
  EXPECT_EQ(eye(2).to_vector<float>(), (Floats{1, 0, 0, 1}));
  EXPECT_EQ(eye(feature()(2), DType::i32).shape(), (Shape{feature()(2), 2}));
  EXPECT_EQ(eye(0).shape(), (Shape{0, 0}));
}

TEST(Construct, LikeAnother) {
  const Tensor x = tensor<double>({{1, 2}}, {batch(), feature()});
  EXPECT_TRUE(array_equal(zeros_like(x), zeros({batch()(1), feature()(2)}, DType::f64)));
  EXPECT_TRUE(array_equal(ones_like(x), ones({batch()(1), feature()(2)}, DType::f64)));
  EXPECT_TRUE(array_equal(full_like(x, 3), full({batch()(1), feature()(2)}, 3, DType::f64)));
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

TEST(Read, ItemInEveryTypeThatHoldsTheValue) {
  EXPECT_EQ(tensor<float>(0.1f).item<float>(), 0.1f);
  EXPECT_EQ(tensor<float>(0.1f).item<double>(), double{0.1f});
  EXPECT_EQ(tensor<std::int32_t>(-7).item<std::int64_t>(), -7);
  EXPECT_EQ(tensor<std::int32_t>(-7).item<double>(), -7.0);
  EXPECT_EQ(tensor<bool>(true).item<bool>(), true);
  EXPECT_EQ(tensor<bool>(true).item<std::int32_t>(), 1);
  EXPECT_EQ(tensor<bool>(true).item<float>(), 1.0f);
  EXPECT_EQ(tensor<std::int64_t>(std::numeric_limits<std::int64_t>::max()).item<std::int64_t>(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(tensor<float>({{5.0f}}).item<float>(), 5.0f) << "one element, whatever the rank";
}

TEST(Read, ItemRefusesWhatATypeDoesNotHold) {
  EXPECT_THROW(tensor<double>(1).item<float>(), DTypeError);
  EXPECT_THROW(tensor<float>(1).item<std::int64_t>(), DTypeError);
  EXPECT_THROW(tensor<std::int64_t>(1).item<double>(), DTypeError);
  EXPECT_THROW(tensor<std::int64_t>(1).item<std::int32_t>(), DTypeError);
  EXPECT_THROW(tensor<std::int32_t>(1).item<float>(), DTypeError);
  EXPECT_THROW(tensor<std::int32_t>(1).item<bool>(), DTypeError);
  EXPECT_THROW(zeros({2}).item<float>(), ShapeError);
  EXPECT_THROW(zeros({0}).item<float>(), ShapeError);
  EXPECT_THROW(Tensor().item<float>(), ValueError);
}

TEST(Read, ToVectorIsRowMajorWhateverTheStrides) {
  const Tensor x = tensor<float>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(transpose(x).to_vector<float>(), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(slice(x, 1, slice_end, slice_end, -2).to_vector<double>(), (std::vector<double>{3, 1, 6, 4}));
  EXPECT_EQ(broadcast_to(tensor<bool>({true, false}), {2, 2}).to_vector<bool>(),
            (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(tensor<bool>({true, false}).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(zeros({3, 0}).to_vector<float>(), Floats{});
  EXPECT_THROW(zeros({2}, DType::f64).to_vector<float>(), DTypeError);
  EXPECT_THROW(Tensor().to_vector<float>(), ValueError);
}

template <class T>
concept gives_span = requires(T&& x) { std::forward<T>(x).template span<float>(); };
static_assert(gives_span<Tensor&> && gives_span<const Tensor&>);
static_assert(!gives_span<Tensor> && !gives_span<const Tensor>, "a span into a temporary would dangle");

TEST(Read, SpanShowsTheElementsInPlace) {
  const Tensor x = tensor<float>({{1, 2}, {3, 4}});
  const std::span<const float> elements = x.span<float>();
  EXPECT_EQ(Floats(elements.begin(), elements.end()), (Floats{1, 2, 3, 4}));
  const Tensor copy = x;
  EXPECT_EQ(copy.span<float>().data(), elements.data());
  EXPECT_TRUE(zeros({0}).shape() == Shape{0});
  const Tensor none = zeros({0});
  EXPECT_TRUE(none.span<float>().empty());
  const Tensor turned = transpose(x);
  EXPECT_THROW(turned.span<float>(), ShapeError);
  const Tensor made = contiguous(turned);
  EXPECT_EQ(made.span<float>()[1], 3);
  EXPECT_THROW(x.span<double>(), DTypeError);
  const Tensor empty;
  EXPECT_THROW(empty.span<float>(), ValueError);
}

TEST(Read, TruthOfRankZeroOnly) {
  EXPECT_TRUE(tensor<bool>(true));
  EXPECT_FALSE(tensor<bool>(false));
  EXPECT_TRUE(tensor<float>(-0.5f));
  EXPECT_FALSE(tensor<double>(-0.0));
  EXPECT_TRUE(tensor<float>(nan)) << "as in C++";
  EXPECT_TRUE(tensor<std::int64_t>(std::int64_t{1} << 62));
  EXPECT_TRUE(tensor<float>(2) == 2);
  EXPECT_THROW((void)static_cast<bool>(ones({1})), ShapeError);
  EXPECT_THROW((void)static_cast<bool>(ones({2}) == ones({2})), ShapeError);
  EXPECT_THROW((void)static_cast<bool>(Tensor()), ValueError);
  static_assert(std::is_constructible_v<bool, Tensor> && !std::is_convertible_v<Tensor, bool>);
}

TEST(Read, GoesThroughGradAndJvp) {
  const Tensor x = tensor<float>({1, 2});
  grad([](const Tensor& y) {
    EXPECT_EQ((2 * y).to_vector<float>(), (Floats{2, 4}));
    EXPECT_EQ(sum(y).item<float>(), 3);
    EXPECT_TRUE(array_equal(y, tensor<float>({1, 2})));
    EXPECT_EQ(y.span<float>()[1], 2);
    EXPECT_TRUE(sum(y) > 0);
    return sum(y);
  })(x);
}

// ---------------------------------------------------------------------------------------------------------------------
// Handles

static_assert(!std::is_convertible_v<double, Tensor> && !std::is_constructible_v<Tensor, double>);
static_assert(!std::is_convertible_v<int, Tensor> && !std::is_constructible_v<Tensor, int>);
static_assert(!std::is_convertible_v<bool, Tensor> && !std::is_constructible_v<Tensor, bool>);
static_assert(sizeof(Tensor) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<Tensor> && std::is_nothrow_move_constructible_v<Tensor>);
static_assert(std::is_nothrow_copy_assignable_v<Tensor> && std::is_nothrow_move_assignable_v<Tensor>);

TEST(Handle, CopiesShareAndMovesEmpty) {
  Tensor x = tensor<float>({1, 2});
  const Tensor copy = x;
  x = x + 1;
  EXPECT_EQ(x.to_vector<float>(), (Floats{2, 3}));
  EXPECT_EQ(copy.to_vector<float>(), (Floats{1, 2})) << "a value never changes";
  Tensor taken = std::move(x);
  EXPECT_FALSE(x.defined());  // NOLINT(bugprone-use-after-move): moved from means empty
  EXPECT_EQ(taken.to_vector<float>(), (Floats{2, 3}));
  Tensor& itself = taken;
  taken = itself;
  EXPECT_EQ(taken.to_vector<float>(), (Floats{2, 3}));
  taken = std::move(itself);
  EXPECT_TRUE(taken.defined()) << "moving to itself keeps the value";
  x = taken;
  EXPECT_TRUE(x.defined());
  std::swap(x, taken);
  EXPECT_EQ(x.to_vector<float>(), (Floats{2, 3}));
}

TEST(Handle, TheEmptyTensorRefusesEverythingButAssignment) {
  Tensor empty;
  EXPECT_FALSE(empty.defined());
  EXPECT_THROW(empty.dtype(), ValueError);
  EXPECT_THROW(empty.shape(), ValueError);
  EXPECT_THROW(empty.rank(), ValueError);
  EXPECT_THROW(empty.size(), ValueError);
  EXPECT_THROW(empty.axes(), ValueError);
  EXPECT_THROW(empty.extent(0), ValueError);
  const Tensor copy = empty;
  EXPECT_FALSE(copy.defined());
  empty = tensor<float>(1);
  EXPECT_TRUE(empty.defined());
}

TEST(ArrayEqual, ComparesTypeNamesSizesAndValues) {
  const Tensor x = tensor<float>({1, nan, -0.0f}, {batch()});
  EXPECT_TRUE(array_equal(x, x));
  EXPECT_TRUE(array_equal(x, tensor<float>({1, nan, 0.0f}, {batch()}))) << "nan equals nan, -0 equals 0";
  EXPECT_FALSE(array_equal(x, tensor<float>({1, 2, 0}, {batch()})));
  EXPECT_FALSE(array_equal(x, tensor<float>({1, nan, 0})));
  EXPECT_FALSE(array_equal(x, tensor<float>({1, nan, 0}, {feature()})));
  EXPECT_FALSE(array_equal(x, tensor<double>({1, nan, 0}, {batch()})));
  EXPECT_FALSE(array_equal(zeros({2, 3}), zeros({3, 2})));
  EXPECT_TRUE(array_equal(zeros({0, 3}), ones({0, 3})));
  EXPECT_TRUE(array_equal(transpose(transpose(x)), x));
  const Tensor big = tensor<std::int64_t>(std::int64_t{1} << 62);
  EXPECT_FALSE(array_equal(big, big + 1)) << "i64 is compared as i64";
  EXPECT_THROW(array_equal(x, Tensor()), ValueError);
}

// ---------------------------------------------------------------------------------------------------------------------
// Printing

TEST(Print, ExactText) {
  EXPECT_EQ(to_string(tensor<float>(2.5f)), "f32 [] 2.5");
  EXPECT_EQ(to_string(tensor<std::int64_t>({1, -2})), "i64 [2] [1, -2]");
  EXPECT_EQ(to_string(tensor<bool>({true, false}, {batch()})), "bool [batch 2] [true, false]");
  EXPECT_EQ(to_string(tensor<double>({{1, 2}, {3, 4}}, {batch(), feature()})),
            "f64 [batch 2, feature 2]\n[[1, 2],\n [3, 4]]");
  EXPECT_EQ(to_string(tensor<std::int32_t>({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})),
            "i32 [2, 2, 2]\n[[[1, 2],\n  [3, 4]],\n [[5, 6],\n  [7, 8]]]");
  EXPECT_EQ(to_string(Tensor()), "empty tensor");
}

TEST(Print, UnusualNumbers) {
  EXPECT_EQ(to_string(tensor<float>({nan, -nan, inf, -inf})), "f32 [4] [nan, nan, inf, -inf]");
  EXPECT_EQ(to_string(tensor<float>({0.0f, -0.0f})), "f32 [2] [0, -0]");
  EXPECT_EQ(to_string(tensor<float>({0.1f, 1e-20f, 1e20f, 16777216})), "f32 [4] [0.1, 1e-20, 1e+20, 1.67772e+07]");
  EXPECT_EQ(to_string(tensor<double>({0.1, 1.0 / 3})), "f64 [2] [0.1, 0.3333333333]");
  EXPECT_EQ(to_string(tensor<std::int64_t>(std::numeric_limits<std::int64_t>::min())), "i64 [] -9223372036854775808");
}

TEST(Print, NothingInThem) {
  EXPECT_EQ(to_string(zeros({0})), "f32 [0] []");
  EXPECT_EQ(to_string(zeros({2, batch()(0)})), "f32 [2, batch 0]\n[]");
}

TEST(Print, ViewsPrintAsWhatTheyShow) {
  EXPECT_EQ(to_string(transpose(tensor<float>({{1, 2}, {3, 4}}))), "f32 [2, 2]\n[[1, 3],\n [2, 4]]");
  EXPECT_EQ(to_string(full({3}, 7)), "i64 [3] [7, 7, 7]");
}

TEST(Print, AThousandElementsAreWholeAndMoreAreAbridged) {
  const std::string whole = to_string(arange(1000));
  EXPECT_EQ(whole.find("..."), std::string::npos);
  EXPECT_TRUE(whole.ends_with("998, 999]")) << whole;
  EXPECT_EQ(to_string(arange(1001)), "i64 [1001] [0, 1, 2, ..., 998, 999, 1000]");
  EXPECT_EQ(to_string(reshape(arange(8008), {1001, 8})),
            "i64 [1001, 8]\n[[0, 1, 2, ..., 5, 6, 7],\n [8, 9, 10, ..., 13, 14, 15],\n [16, 17, 18, ..., 21, 22, 23],\n"
            " ...,\n [7984, 7985, 7986, ..., 7989, 7990, 7991],\n [7992, 7993, 7994, ..., 7997, 7998, 7999],\n"
            " [8000, 8001, 8002, ..., 8005, 8006, 8007]]");
  EXPECT_EQ(to_string(zeros({2, 501}, DType::i32)),
            "i32 [2, 501]\n[[0, 0, 0, ..., 0, 0, 0],\n [0, 0, 0, ..., 0, 0, 0]]")
      << "an axis of six or less is whole";
}

TEST(Print, DependsOnNothingAround) {
  struct Points : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Points));
  const std::string text = to_string(tensor<float>({0.5f, 4096}));
  const std::string whole = to_string(tensor<std::int64_t>({1234567, 1}, {batch()}));
  std::locale::global(before);
  EXPECT_EQ(text, "f32 [2] [0.5, 4096]");
  EXPECT_EQ(whole, "i64 [batch 2] [1234567, 1]");
  std::ostringstream stream;
  stream << std::hex << std::setprecision(2) << std::fixed << tensor<std::int64_t>({10, 255}) << tensor<float>(0.125f);
  EXPECT_EQ(stream.str(), "i64 [2] [10, 255]f32 [] 0.125");
}

TEST(Print, InsideTransforms) {
  const Tensor x = tensor<float>({{1, 2}, {3, 4}, {5, 6}}, {batch(), feature()});
  std::string text;
  grad([&](const Tensor& y) {
    text = to_string(y);
    return sum(y);
  })(x);
  EXPECT_EQ(text, to_string(x));
  vmap(
      [&](const Tensor& y) {
        text = to_string(y);
        return y;
      },
      batch())(x);
  EXPECT_EQ(text, "f32 [feature 2] of each example in 3\n[[1, 2],\n [3, 4],\n [5, 6]]");
  vmap(vmap(
           [&](const Tensor& y) {
             text = to_string(y);
             return y;
           },
           feature()),
       batch())(x);
  EXPECT_EQ(text, "f32 [] of each example in 3 x 2\n[[1, 2],\n [3, 4],\n [5, 6]]");
}

// ---------------------------------------------------------------------------------------------------------------------
// Dims, shapes and axes

TEST(DimTest, ExtentsThatDoNotFit) {
  EXPECT_EQ(Dim(Dim::max_extent).extent(), Dim::max_extent);
  EXPECT_EQ(batch()(0).extent(), 0);
  EXPECT_THROW(Dim(-1), SizeError);
  EXPECT_THROW(batch()(-1), SizeError);
  EXPECT_THROW(Dim(Dim::max_extent + 1), SizeError);
  EXPECT_THROW(Dim{std::numeric_limits<std::uint64_t>::max()}, SizeError);
  EXPECT_THROW(Dim{std::numeric_limits<std::int64_t>::min()}, SizeError);
  EXPECT_THROW(zeros({2, -1}), SizeError);
  EXPECT_EQ(Dim(static_cast<unsigned char>(200)).extent(), 200);
  const std::vector<float> v(3);
  EXPECT_EQ(zeros({v.size(), 2}).shape(), (Shape{3, 2})) << "any integer type does";
}

TEST(ShapeTest, RankAndSizeHaveLimits) {
  Shape most;
  for (int i = 0; i < Shape::max_rank; ++i) most.push_back(1);
  EXPECT_EQ(zeros(most).rank(), Shape::max_rank);
  EXPECT_THROW(most.push_back(1), SizeError);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}), SizeError);
  EXPECT_THROW(expand_dims(zeros(most), 0), SizeError);
  EXPECT_THROW(outer(zeros(most), zeros({2})), SizeError);
  EXPECT_THROW((Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}.size()), SizeError);
  EXPECT_EQ((Shape{std::int64_t{1} << 40, std::int64_t{1} << 40, 0}.size()), 0);
  EXPECT_THROW(zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}), SizeError);
}

TEST(ShapeTest, FindsAxesByNameAndNumber) {
  const Shape shape{batch()(3), 4, feature()(5)};
  EXPECT_EQ(shape.extent(batch()), 3);
  EXPECT_EQ(shape.extent(-1), 5);
  EXPECT_EQ(shape.extent(1), 4);
  EXPECT_EQ(shape.axis(-1), feature());
  EXPECT_EQ(shape.axis(1), Axis::none);
  EXPECT_EQ(shape.find(feature()), 2);
  EXPECT_EQ(shape.find(-3), 0);
  EXPECT_EQ(shape.position(Axis("absent")), -1);
  EXPECT_THROW(shape.extent(3), AxisError);
  EXPECT_THROW(shape.extent(-4), AxisError);
  EXPECT_THROW(shape.extent(Axis("absent")), AxisError);
  EXPECT_EQ(shape.to_string(), "[batch 3, 4, feature 5]");
  EXPECT_EQ(Shape{}.to_string(), "[]");
  EXPECT_NE(shape, (Shape{3, 4, 5})) << "names are part of a shape";
}

TEST(AxisTest, NamesAndPrimes) {
  EXPECT_EQ(Axis("batch"), batch());
  EXPECT_NE(batch(), feature());
  EXPECT_EQ(batch().name(), "batch");
  EXPECT_EQ(Axis("a.b:c_d-9").name(), "a.b:c_d-9");
  EXPECT_EQ(Axis("größe").name(), "größe");
  EXPECT_EQ(Axis::none.name(), "");
  EXPECT_FALSE(Axis::none.named());
  for (const char* wrong : {"", "a b", "a'", "a,b", "a[0]", "a\n", "\"", "a/b", "(", "\x7f"})
    EXPECT_THROW(Axis{wrong}, AxisError) << wrong;
  EXPECT_THROW(Axis(std::string_view("a\0b", 3)), AxisError);
  const Axis primed = feature().primed();
  EXPECT_EQ(primed.name(), "feature'");
  EXPECT_EQ(primed.primed().name(), "feature''");
  EXPECT_NE(primed, feature());
  EXPECT_EQ(feature().primed(), primed);
  EXPECT_THROW(Axis::none.primed(), AxisError);
  EXPECT_EQ(zeros({feature()(2), primed(2)}).shape().to_string(), "[feature 2, feature' 2]");
}

}  // namespace
