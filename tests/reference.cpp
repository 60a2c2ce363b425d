#include "tests/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace ref {
namespace {

/// Calls f with every position, the last axis running fastest.
void for_each(const Index& extents, const std::function<void(const Index&)>& f) {
  Index position(extents.size(), 0);
  for (std::int64_t n = 0; n < count(extents); ++n) {
    f(position);
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (++position[d] < extents[d]) break;
      position[d] = 0;
    }
  }
}

std::int64_t flat(const Index& extents, const Index& position) {
  std::int64_t n = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) n = n * extents[d] + position[d];
  return n;
}

}  // namespace

double Array::operator[](const Index& position) const {
  return values.at(static_cast<std::size_t>(flat(extents, position)));
}

std::int64_t count(const Index& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

Array make(const Index& extents, const std::function<double(const Index&)>& f) {
  Array result{extents, {}};
  for_each(extents, [&](const Index& position) { result.values.push_back(f(position)); });
  return result;
}

Array broadcast_to(const Array& x, const Index& extents) {
  const std::size_t added = extents.size() - x.extents.size();
  return make(extents, [&](const Index& position) {
    Index from;
    for (std::size_t d = 0; d < x.extents.size(); ++d) from.push_back(x.extents[d] == 1 ? 0 : position[added + d]);
    return x[from];
  });
}

Array elementwise(const Arrays& in, const std::function<double(const double*)>& f) {
  std::size_t rank = 0;
  for (const Array& x : in) rank = std::max(rank, x.extents.size());
  Index extents(rank, 1);
  for (const Array& x : in)
    for (std::size_t d = 0; d < x.extents.size(); ++d)
      if (x.extents[d] != 1) extents[rank - x.extents.size() + d] = x.extents[d];
  Arrays stretched;
  for (const Array& x : in) stretched.push_back(broadcast_to(x, extents));
  return make(extents, [&](const Index& position) {
    std::vector<double> operands;
    for (const Array& x : stretched) operands.push_back(x[position]);
    return f(operands.data());
  });
}

Array reduce(const Array& x, const std::vector<std::size_t>& axes, bool keep,
             const std::function<double(const std::vector<double>&)>& f) {
  const auto reduced = [&](std::size_t d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); };
  Index outer;
  Index inner;
  for (std::size_t d = 0; d < x.extents.size(); ++d) {
    outer.push_back(reduced(d) ? 1 : x.extents[d]);
    inner.push_back(reduced(d) ? x.extents[d] : 1);
  }
  Array result = make(outer, [&](const Index& position) {
    std::vector<double> values;
    for_each(inner, [&](const Index& offset) {
      Index from = position;
      for (std::size_t d = 0; d < from.size(); ++d) from[d] += offset[d];
      values.push_back(x[from]);
    });
    return f(values);
  });
  if (keep) return result;
  Index left;
  for (std::size_t d = 0; d < outer.size(); ++d)
    if (!reduced(d)) left.push_back(outer[d]);
  return reshape(result, left);
}

Array along(const Array& x, std::size_t axis, const std::function<std::vector<double>(std::vector<double>)>& f) {
  return make(x.extents, [&](const Index& position) {
    std::vector<double> line;
    Index from = position;
    for (from[axis] = 0; from[axis] < x.extents[axis]; ++from[axis]) line.push_back(x[from]);
    return f(line)[static_cast<std::size_t>(position[axis])];
  });
}

Array reshape(const Array& x, const Index& extents) { return {extents, x.values}; }

Array permute(const Array& x, const std::vector<std::size_t>& order) {
  Index extents;
  for (const std::size_t axis : order) extents.push_back(x.extents[axis]);
  return make(extents, [&](const Index& position) {
    Index from(position.size());
    for (std::size_t d = 0; d < order.size(); ++d) from[order[d]] = position[d];
    return x[from];
  });
}

Array slice(const Array& x, std::size_t axis, std::int64_t start, std::int64_t step, std::int64_t extent) {
  Index extents = x.extents;
  extents[axis] = extent;
  return make(extents, [&](const Index& position) {
    Index from = position;
    from[axis] = start + step * position[axis];
    return x[from];
  });
}

Array concat(const Arrays& in, std::size_t axis) {
  Index extents = in[0].extents;
  extents[axis] = 0;
  for (const Array& x : in) extents[axis] += x.extents[axis];
  return make(extents, [&](const Index& position) {
    Index from = position;
    std::size_t k = 0;
    while (from[axis] >= in[k].extents[axis]) from[axis] -= in[k++].extents[axis];
    return in[k][from];
  });
}

Array einsum(std::string_view how, const Array& a, const Array& b) {
  const std::size_t comma = how.find(',');
  const std::size_t arrow = how.find("->");
  const std::string_view left = how.substr(0, comma);
  const std::string_view right = how.substr(comma + 1, arrow - comma - 1);
  const std::string_view result = how.substr(arrow + 2);
  std::map<char, std::int64_t> extent_of;
  for (std::size_t d = 0; d < left.size(); ++d) extent_of[left[d]] = a.extents[d];
  for (std::size_t d = 0; d < right.size(); ++d) extent_of[right[d]] = b.extents[d];
  std::vector<char> summed;
  for (const auto& [letter, extent] : extent_of)
    if (result.find(letter) == std::string_view::npos) summed.push_back(letter);
  Index extents;
  for (const char letter : result) extents.push_back(extent_of[letter]);
  Index inner;
  for (const char letter : summed) inner.push_back(extent_of[letter]);
  return make(extents, [&](const Index& outside) {
    double total = 0;
    for_each(inner, [&](const Index& inside) {
      std::map<char, std::int64_t> at;
      for (std::size_t d = 0; d < result.size(); ++d) at[result[d]] = outside[d];
      for (std::size_t d = 0; d < summed.size(); ++d) at[summed[d]] = inside[d];
      const auto element = [&](const Array& x, std::string_view letters) {
        Index position;
        for (const char letter : letters) position.push_back(at[letter]);
        return x[position];
      };
      total += element(a, left) * element(b, right);
    });
    return total;
  });
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double largest(const std::vector<double>& values) {
  double result = -std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (std::isnan(value)) return value;
    result = std::max(result, value);
  }
  return result;
}

double logsumexp(const std::vector<double>& values) {
  const double top = largest(values);
  if (std::isinf(top)) return top;
  double total = 0;
  for (const double value : values) total += std::exp(value - top);
  return top + std::log(total);
}

std::vector<double> log_softmax(std::vector<double> values) {
  const double total = logsumexp(values);
  for (double& value : values) value -= total;
  return values;
}

std::vector<double> softmax(std::vector<double> values) {
  values = log_softmax(std::move(values));
  for (double& value : values) value = std::exp(value);
  return values;
}

}  // namespace ref
