#include "tests/op_subjects.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <sstream>

namespace op_table {
namespace {

Tensors pick(const Tensors& from, const std::vector<std::size_t>& which) {
  Tensors picked;
  for (const std::size_t i : which) picked.push_back(from[i]);
  return picked;
}

Tensors first(const Tensors& from, std::size_t count) {
  return {from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count)};
}
Tensors after(const Tensors& from, std::size_t count) {
  return {from.begin() + static_cast<std::ptrdiff_t>(count), from.end()};
}

/// The subject with more operands, differentiated by those too.
Subject with_operands(const Subject& subject, const std::vector<Input>& more, Function f) {
  Subject extended{std::move(f), subject.inputs, subject.by, {}};
  for (const Input& input : more) {
    extended.by.push_back(extended.inputs.size());
    extended.inputs.push_back(input);
  }
  return extended;
}

template <class T>
Tensor tensor_of(const std::vector<double>& values, const Shape& shape) {
  const std::vector<T> elements(values.begin(), values.end());
  return from_data(elements, shape);
}

Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype) {
  switch (dtype) {
    case DType::boolean: return cast(tensor_of<std::int32_t>(values, shape), dtype);
    case DType::i32: return tensor_of<std::int32_t>(values, shape);
    case DType::i64: return tensor_of<std::int64_t>(values, shape);
    case DType::f32: return tensor_of<float>(values, shape);
    case DType::f64: return tensor_of<double>(values, shape);
  }
  return {};
}

}  // namespace

Subject subject_of(const Row& row, const Case& c) {
  Subject subject{{}, c.inputs, {}, std::vector(c.results.size(), c.dtype)};
  for (std::size_t i = 0; i < c.inputs.size() && row.differentiable; ++i)
    if (c.inputs[i].kind == Input::Kind::real) subject.by.push_back(i);
  subject.f = [call = c.call](const Tensors& x) {
    Tensors results;
    for (const Tensor& y : call(x))
      if (is_float(y.dtype())) results.push_back(y);
    return results;
  };
  return subject;
}

Tensors pull_back(const Subject& subject, const Tensors& x, const Tensors& cotangents) {
  const auto of_active = [&](const Tensors& active) {
    Tensors all = x;
    for (std::size_t k = 0; k < subject.by.size(); ++k) all[subject.by[k]] = active[k];
    return subject.f(all);
  };
  const auto [y, back] = vjp(of_active, pick(x, subject.by));
  return back(cotangents);
}

Tensors push_forward(const Subject& subject, const Tensors& x, const Tensors& tangents) {
  Tensors all(x.size());
  for (std::size_t k = 0; k < subject.by.size(); ++k) all[subject.by[k]] = tangents[k];
  return jvp(subject.f, x, all).second;
}

Subject reverse(const Subject& subject) {
  const std::size_t count = subject.inputs.size();
  std::vector<Input> cotangents = inputs_like(subject.f(draw(subject.inputs, DType::f64)));
  for (std::size_t k = 0; k < cotangents.size(); ++k) cotangents[k].dtype = subject.results[k];
  Subject derivative = with_operands(
      subject, cotangents, [=](const Tensors& x) { return pull_back(subject, first(x, count), after(x, count)); });
  for (const std::size_t i : subject.by) derivative.results.push_back(subject.inputs[i].dtype);
  return derivative;
}

Subject forward(const Subject& subject) {
  const std::size_t count = subject.inputs.size();
  Subject derivative = with_operands(subject, inputs_by(subject), [=](const Tensors& x) {
    return push_forward(subject, first(x, count), after(x, count));
  });
  derivative.results = subject.results;
  return derivative;
}

// ---------------------------------------------------------------------------------------------------------------------
// Operands

Tensors draw(const std::vector<Input>& inputs, DType dtype, unsigned seed) {
  std::int64_t total = 0;
  for (const Input& input : inputs) total += input.shape.size();
  total += total % 2;  // an even grid over [-c, c] does not meet 0
  std::vector<std::int64_t> place(static_cast<std::size_t>(total));
  std::iota(place.begin(), place.end(), 0);
  std::mt19937 random(17 + seed);
  for (std::size_t i = place.size(); i > 1; --i) std::swap(place[i - 1], place[random() % i]);

  Tensors tensors;
  std::size_t next = 0;
  for (const Input& input : inputs) {
    const bool truth = input.kind == Input::Kind::truth;
    const bool index = input.kind == Input::Kind::index;
    const DType own = truth ? DType::boolean : index ? DType::i64 : input.dtype.value_or(dtype);
    const double low = std::ceil(input.low);
    const double wholes = index ? input.high : std::floor(input.high) - low + 1;
    std::vector<double> values;
    for (std::int64_t i = 0; i < input.shape.size(); ++i) {
      const auto at = static_cast<double>(place[next++]);
      const double jitter = 0.4 * (static_cast<double>(random() % 1000) / 1000 - 0.5);
      if (own == DType::boolean)
        values.push_back(truth || input.low < 0 ? static_cast<double>(random() % 2) : 1);
      else if (!is_float(own))
        values.push_back(low + std::fmod(at, wholes));
      else
        values.push_back(input.low + (input.high - input.low) * (at + 0.5 + jitter) / static_cast<double>(total));
    }
    tensors.push_back(tensor_of(values, input.shape, own));
  }
  return tensors;
}

std::vector<Input> inputs_like(const Tensors& results) {
  std::vector<Input> inputs;
  for (const Tensor& x : results) inputs.push_back({x.shape(), -1, 1, Input::Kind::real, x.dtype()});
  return inputs;
}
std::vector<Input> inputs_by(const Subject& subject) {
  std::vector<Input> inputs;
  for (const std::size_t i : subject.by)
    inputs.push_back({subject.inputs[i].shape, -1, 1, Input::Kind::real, subject.inputs[i].dtype});
  return inputs;
}

std::string name_of(Layout layout) {
  switch (layout) {
    case Layout::dense: return "dense";
    case Layout::transposed: return "transposed";
    case Layout::spaced: return "spaced";
    case Layout::backwards: return "backwards";
    case Layout::repeated_first: return "repeated along the first axis";
    case Layout::repeated_last: return "repeated along the last axis";
    case Layout::repeated: return "repeated along all axes";
  }
  return {};
}

Tensor laid_out(const Tensor& x, Layout layout) {
  const ref::Array values = array(x);
  const Shape shape = x.shape();
  const auto rank = static_cast<std::size_t>(shape.rank());
  if (rank == 0) return x;
  switch (layout) {
    case Layout::dense: return x;
    case Layout::transposed: {
      std::vector<std::size_t> order(rank);
      for (std::size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
      Shape reversed;
      for (const std::size_t i : order) reversed.push_back(shape[static_cast<int>(i)]);
      return transpose(tensor_of(ref::permute(values, order).values, reversed, x.dtype()));
    }
    case Layout::spaced: {
      // The elements stand at odd positions; numbers that are in no domain fill the gaps.
      Shape wide;
      ref::Index extents;
      for (const Dim dim : shape) {
        wide.push_back(Dim(dim.axis(), 2 * dim.extent() + 1));
        extents.push_back(2 * dim.extent() + 1);
      }
      const ref::Array filled = ref::make(extents, [&](const ref::Index& position) {
        ref::Index from;
        for (const std::int64_t i : position) {
          if (i % 2 == 0) return 1e9;
          from.push_back(i / 2);
        }
        return values[from];
      });
      Tensor result = tensor_of(filled.values, wide, x.dtype());
      for (int i = 0; i < shape.rank(); ++i) result = slice(result, i, 1, slice_end, 2);
      return result;
    }
    case Layout::backwards: {
      ref::Array reversed = values;
      for (std::size_t i = 0; i < rank; ++i)
        reversed = ref::slice(reversed, i, reversed.extents[i] - 1, -1, reversed.extents[i]);
      Tensor result = tensor_of(reversed.values, shape, x.dtype());
      for (int i = 0; i < shape.rank(); ++i) result = slice(result, i, -1, slice_end, -1);
      return result;
    }
    case Layout::repeated_first:
    case Layout::repeated_last:
    case Layout::repeated: {
      if (shape.size() == 0) return x;
      Shape one;
      ref::Array kept = values;
      for (std::size_t i = 0; i < rank; ++i) {
        const bool repeats = layout == Layout::repeated || i == (layout == Layout::repeated_first ? 0 : rank - 1);
        one.push_back(repeats ? Dim(1) : Dim(values.extents[i]));
        if (repeats) kept = ref::slice(kept, i, 0, 1, 1);
      }
      return broadcast_to(tensor_of(kept.values, one, x.dtype()), shape);
    }
  }
  return x;
}

std::vector<double> numbers(const Tensor& x) {
  if (x.dtype() != DType::i64) return x.to_vector<double>();
  const std::vector<std::int64_t> whole = x.to_vector<std::int64_t>();
  return {whole.begin(), whole.end()};
}

ref::Array array(const Tensor& x) {
  ref::Array result;
  for (const Dim dim : x.shape()) result.extents.push_back(dim.extent());
  result.values = numbers(x);
  return result;
}

std::string difference(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance) {
  std::ostringstream text;
  text.precision(17);
  if (got.size() != wanted.size()) {
    text << got.size() << " elements instead of " << wanted.size();
    return text.str();
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same = got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]));
    if (same || std::abs(got[i] - wanted[i]) <= tolerance * (1 + std::abs(wanted[i]))) continue;
    text << "element " << i << " is " << got[i] << " instead of " << wanted[i];
    return text.str();
  }
  return {};
}

// ---------------------------------------------------------------------------------------------------------------------
// Mapped functions

std::vector<unsigned> subsets(std::size_t count) {
  const unsigned all = (1u << count) - 1;
  std::vector<unsigned> sets;
  for (unsigned set = 1; set <= all; ++set) {
    const auto size = static_cast<std::size_t>(std::popcount(set));
    if (count <= 4 || size == 1 || size + 1 >= count) sets.push_back(set);
  }
  return sets;
}

int Mapping::place_in(std::size_t i, int rank) const {
  switch (place) {
    case Place::front: return 0;
    case Place::back: return rank;
    case Place::mixed: return static_cast<int>(i + 1) % (rank + 1);
  }
  return 0;
}

std::string Mapping::describe() const {
  std::string text = std::to_string(extent) + " examples of operands";
  for (std::size_t i = 0; subset >> i != 0; ++i)
    if (maps(i)) text += ' ' + std::to_string(i);
  constexpr const char* places[] = {"front", "back", "mixed"};
  return text + ", " + places[static_cast<int>(place)];
}

Axis example_axis() { return Axis("example"); }

Tensor with_first_at(const Tensor& x, int place) {
  std::vector<AxisRef> order;
  for (int i = 1; i < x.rank(); ++i) order.push_back(i);
  order.insert(order.begin() + place, AxisRef(0));
  return permute(x, order);
}

Subject mapped(const Subject& subject, const Mapping& mapping) {
  // vmap maps all tensors of an argument alike, so each operand is an argument, a vector of one tensor or none.
  constexpr std::size_t most = 8;
  using Arguments = std::array<Tensors, most>;
  Subject result{{}, subject.inputs, subject.by, subject.results};
  InAxes in{std::vector<MapAxis>(most, MapAxis(none))};
  for (std::size_t i = 0; i < subject.inputs.size(); ++i) {
    if (!mapping.maps(i)) continue;
    const Shape& shape = subject.inputs[i].shape;
    const int place = mapping.place_in(i, shape.rank());
    const bool from_the_end = mapping.place == Mapping::Place::back || i % 2 == 1;
    in.entries[i] = MapAxis(from_the_end ? place - shape.rank() - 1 : place);
    Shape with_examples;
    for (int d = 0; d <= shape.rank(); ++d)
      with_examples.push_back(d == place ? Dim(mapping.extent) : shape[d < place ? d : d - 1]);
    result.inputs[i].shape = with_examples;
  }
  const OutAxes out = out_axes(mapping.place == Mapping::Place::back ? -1 : 0);
  const Axis name = mapping.place == Mapping::Place::mixed ? example_axis() : Axis::none;
  result.f = [=, f = subject.f](const Tensors& x) {
    const auto of_arguments = [&](const auto&... arguments) {
      Tensors operands;
      (operands.insert(operands.end(), arguments.begin(), arguments.end()), ...);
      return f(operands);
    };
    Arguments arguments;
    for (std::size_t i = 0; i < x.size(); ++i) arguments[i] = {x[i]};
    return std::apply(vmap(of_arguments, name, in, out), arguments);
  };
  return result;
}

}  // namespace op_table
