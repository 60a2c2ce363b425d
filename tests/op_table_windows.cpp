// Rows of convolution and pooling.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/op_table.hpp"

namespace op_table {
namespace {

std::int64_t places(std::int64_t extent, std::int64_t window, std::int64_t stride, std::int64_t padding,
                    std::int64_t dilation = 1) {
  return (extent + 2 * padding - (window - 1) * dilation - 1) / stride + 1;
}

bool is_inside(const ref::Index& plane, std::int64_t row, std::int64_t column) {
  return row >= 0 && row < plane[plane.size() - 2] && column >= 0 && column < plane[plane.size() - 1];
}

ref::Array convolved(const ref::Array& x, const ref::Array& k, const ConvOptions& how) {
  const std::size_t rank = x.extents.size();
  ref::Index extents = x.extents;
  extents[rank - 3] = k.extents[0];
  extents[rank - 2] =
      places(x.extents[rank - 2], k.extents[2], how.stride.height, how.padding.height, how.dilation.height);
  extents[rank - 1] =
      places(x.extents[rank - 1], k.extents[3], how.stride.width, how.padding.width, how.dilation.width);
  return ref::make(extents, [&](const ref::Index& at) {
    const std::int64_t group = at[rank - 3] / (k.extents[0] / how.groups);
    double total = 0;
    for (std::int64_t c = 0; c < k.extents[1]; ++c)
      for (std::int64_t a = 0; a < k.extents[2]; ++a)
        for (std::int64_t b = 0; b < k.extents[3]; ++b) {
          ref::Index from = at;
          from[rank - 3] = group * k.extents[1] + c;
          from[rank - 2] = at[rank - 2] * how.stride.height + a * how.dilation.height - how.padding.height;
          from[rank - 1] = at[rank - 1] * how.stride.width + b * how.dilation.width - how.padding.width;
          if (is_inside(x.extents, from[rank - 2], from[rank - 1])) total += x[from] * k[{at[rank - 3], c, a, b}];
        }
    return total;
  });
}

Row conv2d_row() {
  const auto [b, f, h] = axes();
  Row row{.name = "conv2d", .promotes = true};
  const auto add_case = [&](const std::string& label, const Shape& x, const Shape& k, const ConvOptions& how,
                            const Shape& result) {
    row.cases.push_back({label,
                         {real(x), real(k)},
                         [=](const Tensors& in) { return Tensors{conv2d(in[0], in[1], how)}; },
                         [=](const ref::Arrays& in) { return ref::Arrays{convolved(in[0], in[1], how)}; },
                         {result}});
  };
  add_case("one_image", {2, 3, 4}, {2, 2, 2, 2}, {}, {2, 2, 3});
  add_case("batch", {2, 2, 3, 3}, {2, 2, 2, 2}, {}, {2, 2, 2, 2});
  add_case("stride", {1, 5, 4}, {1, 1, 2, 2}, {.stride = 2}, {1, 2, 2});
  add_case("stride_of_each", {1, 4, 5}, {2, 1, 2, 1}, {.stride = {1, 3}}, {2, 3, 2});
  add_case("padding", {1, 3, 2}, {2, 1, 3, 3}, {.padding = 1}, {2, 3, 2});
  add_case("padding_of_each", {1, 2, 3}, {1, 1, 2, 2}, {.stride = 2, .padding = {2, 1}}, {1, 3, 2});
  add_case("dilation", {1, 5, 4}, {1, 1, 2, 2}, {.dilation = {3, 2}}, {1, 2, 2});
  add_case("all_options", {2, 2, 5, 4}, {2, 1, 2, 2}, {.stride = {2, 3}, .padding = {1, 2}, .dilation = 2, .groups = 2},
           {2, 2, 3, 2});
  add_case("groups", {4, 2, 3}, {6, 2, 2, 2}, {.groups = 2}, {6, 1, 2});
  add_case("depthwise", {3, 3, 2}, {3, 1, 2, 2}, {.groups = 3}, {3, 2, 1});
  add_case("named", {b(2), f(1), 3, 3}, {h(2), f(1), 2, 2}, {}, {b(2), h(2), 2, 2});
  add_case("channels_named_alike", {f(2), 2, 3}, {f(3), 2, 2, 2}, {}, {f(3), 1, 2});
  add_case("none", {0, 2, 3, 3}, {2, 2, 2, 2}, {}, {0, 2, 2, 2});
  add_case("no_channels", {0, 3, 3}, {2, 0, 2, 2}, {}, {2, 2, 2});
  add_case("no_maps", {2, 3, 3}, {0, 2, 2, 2}, {}, {0, 2, 2});
  add_case("large", {3, 2, 20, 17}, {9, 2, 3, 3}, {.padding = 1}, {3, 9, 20, 17});
  row.cases.back().large = true;
  add_case("in_bands", {2, 70, 60}, {2, 2, 3, 3}, {.padding = 1}, {2, 70, 60});
  row.cases.back().large = true;

  const auto call = [](const ConvOptions& how) {
    return [=](const Tensors& in) { return Tensors{conv2d(in[0], in[1], how)}; };
  };
  const Tensor image = some({2, 3, 3}), kernel = some({2, 2, 2, 2});
  row.errors = {{"rank", {some({3, 3}), kernel}, call({}), Fault::shape},
                {"kernel_rank", {image, some({2, 2, 2})}, call({}), Fault::shape},
                {"channels", {image, some({2, 3, 2, 2})}, call({}), Fault::shape},
                {"groups_of_channels", {image, some({2, 2, 2, 2})}, call({.groups = 2}), Fault::shape},
                {"groups_of_maps", {image, some({3, 1, 2, 2})}, call({.groups = 2}), Fault::shape},
                {"too_large", {image, some({2, 2, 4, 2})}, call({}), Fault::shape},
                {"reaches_too_far", {image, kernel}, call({.dilation = {1, 3}}), Fault::shape},
                {"no_entries", {image, some({2, 2, 0, 2})}, call({}), Fault::shape},
                {"stride_0", {image, kernel}, call({.stride = {1, 0}}), Fault::value},
                {"dilation_0", {image, kernel}, call({.dilation = 0}), Fault::value},
                {"negative_padding", {image, kernel}, call({.padding = -1}), Fault::value},
                {"padding_beyond_all_sizes",
                 {image, kernel},
                 call({.padding = std::numeric_limits<std::int64_t>::max()}),
                 Fault::value},
                {"no_groups", {image, kernel}, call({.groups = 0}), Fault::value},
                {"other_channel_name", {some({f(2), 3, 3}), some({2, h(2), 2, 2})}, call({}), Fault::axis},
                {"name_twice", {some({b(1), 2, 3, 3}), some({b(2), 2, 2, 2})}, call({}), Fault::axis},
                {"two_floats", {image, some({2, 2, 2, 2}, DType::f64)}, call({}), Fault::dtype},
                {"empty_tensor", {image, Tensor()}, call({}), Fault::value}};
  return row;
}

/// f(elements of the window that lie in the image, how many entries the window has).
using OfWindow = std::function<double(const std::vector<double>&, double)>;

ref::Array pooled(const ref::Array& x, HeightWidth window, const PoolOptions& how, const OfWindow& f) {
  const std::size_t rank = x.extents.size();
  const HeightWidth stride = how.stride.value_or(window);
  ref::Index extents = x.extents;
  extents[rank - 2] = places(x.extents[rank - 2], window.height, stride.height, how.padding.height);
  extents[rank - 1] = places(x.extents[rank - 1], window.width, stride.width, how.padding.width);
  return ref::make(extents, [&](const ref::Index& at) {
    std::vector<double> seen;
    for (std::int64_t a = 0; a < window.height; ++a)
      for (std::int64_t b = 0; b < window.width; ++b) {
        ref::Index from = at;
        from[rank - 2] = at[rank - 2] * stride.height + a - how.padding.height;
        from[rank - 1] = at[rank - 1] * stride.width + b - how.padding.width;
        if (is_inside(x.extents, from[rank - 2], from[rank - 1])) seen.push_back(x[from]);
      }
    return f(seen, static_cast<double>(window.height * window.width));
  });
}

using Pool = std::function<Tensor(const Tensor&, HeightWidth, const PoolOptions&)>;

void add_pool_cases(Row& row, const std::string& prefix, const Pool& pool, const OfWindow& f) {
  const auto [b, g, h] = axes();
  const auto add_case = [&](const std::string& label, const Shape& x, HeightWidth window, const PoolOptions& how,
                            const Shape& result) {
    row.cases.push_back({prefix + label,
                         {real(x)},
                         [=](const Tensors& in) { return Tensors{pool(in[0], window, how)}; },
                         [=](const ref::Arrays& in) { return ref::Arrays{pooled(in[0], window, how, f)}; },
                         {result}});
  };
  add_case("plane", {4, 4}, 2, {}, {2, 2});
  add_case("rest_left_out", {2, 3, 5}, 2, {}, {2, 1, 2});
  add_case("overlap", {1, 3, 4}, 2, {.stride = 1}, {1, 2, 3});
  add_case("padding", {2, 3, 3}, 3, {.stride = 2, .padding = 1}, {2, 2, 2});
  add_case("of_each", {1, 3, 4}, {2, 3}, {.stride = HeightWidth{1, 2}, .padding = {1, 0}}, {1, 4, 1});
  add_case("stride_beyond", {1, 4, 4}, 1, {.stride = 3}, {1, 2, 2});
  add_case("named", {b(2), h(3), g(4)}, 2, {.stride = 1}, {b(2), h(2), g(3)});
  add_case("none", {0, 3, 3}, 2, {}, {0, 1, 1});
  add_case("large", {4, 65, 70}, {3, 2}, {.stride = 2, .padding = 1}, {4, 33, 36});
  row.cases.back().large = true;
}

std::vector<BadCall> pool_errors(const Pool& pool) {
  const auto call = [=](HeightWidth window, const PoolOptions& how) {
    return [=](const Tensors& in) { return Tensors{pool(in[0], window, how)}; };
  };
  const Tensor image = some({3, 3});
  return {
      {"rank", {some({3})}, call(2, {}), Fault::shape},
      {"too_large", {image}, call({2, 4}, {}), Fault::shape},
      {"no_rows", {some({0, 3})}, call(2, {.padding = 1}), Fault::shape},
      {"window_0", {image}, call({0, 1}, {}), Fault::value},
      {"stride_0", {image}, call(2, {.stride = 0}), Fault::value},
      {"stride_beyond_all_sizes", {image}, call(2, {.stride = std::numeric_limits<std::int64_t>::max()}), Fault::value},
      {"negative_padding", {image}, call(2, {.padding = {0, -1}}), Fault::value},
      {"only_padding", {image}, call(2, {.padding = 2}), Fault::value},
      {"empty_tensor", {Tensor()}, call(2, {}), Fault::value}};
}

}  // namespace

std::vector<Row> window_rows() {
  std::vector<Row> rows{conv2d_row()};
  const Pool largest = [](const Tensor& x, HeightWidth window, const PoolOptions& how) {
    return max_pool2d(x, window, how);
  };
  rows.push_back({.name = "max_pool2d", .types = Types::numbers});
  add_pool_cases(rows.back(), "", largest, [](const std::vector<double>& seen, double) { return ref::largest(seen); });
  rows.back().errors = pool_errors(largest);

  const auto mean = [](PaddingCounts counts) {
    return
        [=](const Tensor& x, HeightWidth window, const PoolOptions& how) { return avg_pool2d(x, window, how, counts); };
  };
  rows.push_back({.name = "avg_pool2d", .types = Types::floats});
  add_pool_cases(rows.back(), "", mean(PaddingCounts::yes),
                 [](const std::vector<double>& seen, double entries) { return ref::sum(seen) / entries; });
  add_pool_cases(rows.back(), "inside_", mean(PaddingCounts::no), [](const std::vector<double>& seen, double) {
    return ref::sum(seen) / static_cast<double>(seen.size());
  });
  rows.back().errors = pool_errors(mean(PaddingCounts::yes));
  return rows;
}

}  // namespace op_table
