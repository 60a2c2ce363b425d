// Checks of values, dtypes and errors.
#include "tests/op_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "tests/op_subjects.hpp"

namespace op_table {
namespace {

constexpr DType dtypes[] = {DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64};

DType result_dtype(const Row& row, const Case& c, DType dtype) {
  if (c.dtype) return *c.dtype;
  switch (c.types.value_or(row.types)) {
    case Types::floats: return is_float(dtype) ? dtype : DType::f32;
    case Types::numbers: return dtype == DType::boolean ? DType::i32 : dtype;
    case Types::sums: return is_float(dtype) ? dtype : DType::i64;
    case Types::any: return dtype;
    case Types::truth: return DType::boolean;
    case Types::made: break;
  }
  ADD_FAILURE() << row.name << " has a case without a dtype";
  return dtype;
}

double rounding(DType dtype) { return dtype == DType::f32 ? 1e-5 : 1e-12; }

/// Calls the operation and holds every result against the reference of the same operands.
void compare(const Row& row, const Case& c, const Tensors& x, DType dtype) {
  ref::Arrays operands;
  for (const Tensor& one : x) operands.push_back(array(one));
  const Tensors got = c.call(x);
  const ref::Arrays wanted = c.reference(operands);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    const bool index = k > 0 && got[k].dtype() == DType::i64;  // as the positions beside the largest values
    const DType type = result_dtype(row, c, dtype);
    if (!index) {
      EXPECT_EQ(got[k].dtype(), type) << "instead of " << name(type);
    }
    EXPECT_EQ(got[k].shape(), c.results[k]) << got[k].shape().to_string() << " instead of " << c.results[k].to_string();
    EXPECT_EQ(difference(numbers(got[k]), wanted[k].values, rounding(type)), "") << "in result " << k;
  }
}

void check_values(const Row& row, const Case& c) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Tensors dense = draw(c.inputs, dtype);
    for (const Layout layout : all_layouts) {
      // All operands in that layout, then each alone.
      for (std::size_t which = 0; which <= dense.size(); ++which) {
        Tensors x = dense;
        for (std::size_t i = 0; i < x.size(); ++i)
          if (which == dense.size() || which == i) x[i] = laid_out(dense[i], layout);
        SCOPED_TRACE(std::string(name(dtype)) + ", operand " + std::to_string(which) + " " + name_of(layout));
        compare(row, c, x, dtype);
      }
    }
  }
}

void check_integers(const Row& row, const Case& c) {
  for (const DType dtype : {DType::boolean, DType::i32, DType::i64}) {
    SCOPED_TRACE(std::string(name(dtype)));
    const Tensors x = draw(c.inputs, dtype);
    compare(row, c, x, dtype);
    Tensors transposed;
    for (const Tensor& one : x) transposed.push_back(laid_out(one, Layout::transposed));
    compare(row, c, transposed, dtype);
  }
}

/// Real operands of different dtypes go to the higher one; f32 does not mix with f64.
void check_promotion(const Row& row, const Case& c) {
  for (const DType left : dtypes) {
    for (const DType right : dtypes) {
      SCOPED_TRACE(std::string(name(left)) + " and " + std::string(name(right)));
      const Tensors as_left = draw(c.inputs, left);
      Tensors x = draw(c.inputs, right);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (c.inputs[i].kind != Input::Kind::real) continue;
        x[i] = as_left[i];
        break;
      }
      if (left != right && is_float(left) && is_float(right)) {
        EXPECT_THROW(c.call(x), DTypeError);
        continue;
      }
      compare(row, c, x, std::max(left, right));
    }
  }
}

/// Every combination of infinities, nan, zeros and ordinary numbers; f64 to rounding and f32 like it, long enough for
/// whole vectors and a rest.
void check_special_values(const Row& row, const Case& c) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> special{-inf, -1.5, -0.0, 0.0, 0.75, inf, nan};
  const std::size_t count = c.inputs.size() == 1 ? special.size() : special.size() * special.size();
  std::vector<std::vector<double>> operands(c.inputs.size());
  for (std::size_t n = 0; n < 3 * count; ++n) {
    operands[0].push_back(special[n % special.size()]);
    if (operands.size() > 1) operands[1].push_back(special[n / special.size() % special.size()]);
  }
  std::vector<double> wanted;
  for (std::size_t n = 0; n < 3 * count; ++n) {
    const double at[] = {operands[0][n], operands.back()[n]};
    wanted.push_back(row.scalar(at));
  }
  const auto extent = static_cast<std::int64_t>(3 * count);
  for (const DType dtype : {DType::f64, DType::f32}) {
    Tensors x;
    for (const std::vector<double>& values : operands) x.push_back(cast(from_data(values, {extent}), dtype));
    const std::vector<double> got = numbers(c.call(x)[0]);
    EXPECT_EQ(difference(got, wanted, rounding(dtype)), "") << name(dtype);
    for (std::size_t n = 0; row.signed_zeros && n < got.size(); ++n)
      EXPECT_TRUE(got[n] != 0 || std::signbit(got[n]) == std::signbit(wanted[n])) << "sign of the zero at " << n;
  }
}

bool always(const Row&, const Case&) { return true; }
bool has_real_operands(const Row&, const Case& c) {
  return std::any_of(c.inputs.begin(), c.inputs.end(), [](const Input& in) { return in.kind == Input::Kind::real; });
}
bool is_first_of_promoting(const Row& row, const Case& c) { return row.promotes && &c == &row.cases.front(); }
bool is_first_of_scalar(const Row& row, const Case& c) { return row.scalar != nullptr && &c == &row.cases.front(); }

// ---------------------------------------------------------------------------------------------------------------------
// Errors

std::string describe(const Tensor& x) {
  return x.defined() ? std::string(name(x.dtype())) + ' ' + x.shape().to_string() : "empty";
}

template <class F>
std::pair<std::optional<Fault>, std::string> fault_of(F&& f) {
  try {
    f();
  } catch (const ShapeError& error) {
    return {Fault::shape, error.what()};
  } catch (const AxisError& error) {
    return {Fault::axis, error.what()};
  } catch (const DTypeError& error) {
    return {Fault::dtype, error.what()};
  } catch (const ValueError& error) {
    return {Fault::value, error.what()};
  } catch (const SizeError& error) {
    return {Fault::size, error.what()};
  }
  return {std::nullopt, "nothing was thrown"};
}

/// A derivative that needs the stack of transforms in order and names switched on.
void expect_usable() {
  const Axis b = axes().b;
  const Tensor x = tensor<double>({1, 2, 3}, {b});
  const auto loss = [&](const Tensor& v) { return sum(square(v) * v, b); };
  EXPECT_EQ(vmap(grad(loss), in_axes(0))(stack({x, x}, 0)).to_vector<double>(),
            (std::vector<double>{3, 12, 27, 3, 12, 27}));
  EXPECT_THROW(add(x, rename(x, {axes().f})), AxisError);
}

}  // namespace

void check_error(const Row& row, const BadCall& error) {
  const auto [fault, message] = fault_of([&] { error.call(error.inputs); });
  ASSERT_TRUE(fault.has_value()) << message;
  EXPECT_EQ(*fault, error.fault) << message;
  const std::string start = row.name == "from_data" ? "tensor" : row.name;
  EXPECT_EQ(message.substr(0, start.size() + 2), start + ": ") << message;
  for (const Tensor& x : error.inputs)
    EXPECT_NE(message.find(describe(x)), std::string::npos) << describe(x) << "\n" << message;
  EXPECT_NE(message.find(';'), std::string::npos) << "no hint of a fix: " << message;
  expect_usable();

  if (error.inputs.empty()) return;
  const auto expect_same = [&, message = message](const char* where, auto&& call) {
    const auto [fault_there, message_there] = fault_of(call);
    EXPECT_EQ(fault_there, error.fault) << where;
    EXPECT_EQ(message_there, message) << where;
    expect_usable();
  };
  expect_same("in grad",
              [&] { grad([&](const Tensors& x) { return sum(cast(error.call(x)[0], DType::f64)); })(error.inputs); });
  expect_same("in jvp", [&] {
    Tensors tangents;
    for (const Tensor& x : error.inputs)
      tangents.push_back(x.defined() && is_float(x.dtype()) ? ones_like(x) : Tensor());
    jvp(error.call, error.inputs, tangents);
  });
  expect_same("in vmap", [&] {
    Tensors examples;
    for (const Tensor& x : error.inputs) examples.push_back(x.defined() ? expand_dims(x, 0, example_axis()) : x);
    vmap(error.call, example_axis(), axis_size(1))(examples);
  });
}

std::vector<Check> value_checks() {
  return {{"Values", check_values, always},
          {"Integers", check_integers, has_real_operands},
          {"Promotion", check_promotion, is_first_of_promoting},
          {"SpecialValues", check_special_values, is_first_of_scalar}};
}

const std::vector<Check>& checks() {
  static const std::vector<Check> all = [] {
    std::vector<Check> list;
    for (auto family : {value_checks, derivative_checks, map_checks})
      for (const Check& check : family()) list.push_back(check);
    return list;
  }();
  return all;
}

}  // namespace op_table
