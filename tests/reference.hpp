// What operations should give: plain loops over doubles that know nothing of the library. They are written for whoever
// reads them, not for speed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace ref {

using Index = std::vector<std::int64_t>;

/// Numbers in row-major order.
struct Array {
  Index extents;
  std::vector<double> values;

  double operator[](const Index& position) const;
};
using Arrays = std::vector<Array>;

std::int64_t count(const Index& extents);
/// An array whose elements are f(position).
Array make(const Index& extents, const std::function<double(const Index&)>& f);

/// f of the elements that meet when shapes align from the right and an extent of 1 stretches.
Array elementwise(const Arrays& in, const std::function<double(const double*)>& f);
Array broadcast_to(const Array& x, const Index& extents);

/// f of the elements along `axes`, for every position on the others.
Array reduce(const Array& x, const std::vector<std::size_t>& axes, bool keep,
             const std::function<double(const std::vector<double>&)>& f);
/// Every line along an axis replaced by f(line).
Array along(const Array& x, std::size_t axis, const std::function<std::vector<double>(std::vector<double>)>& f);

Array reshape(const Array& x, const Index& extents);
/// Axis i of the result is axis order[i] of x.
Array permute(const Array& x, const std::vector<std::size_t>& order);
/// Positions start, start + step, ...: `extent` of them.
Array slice(const Array& x, std::size_t axis, std::int64_t start, std::int64_t step, std::int64_t extent);
Array concat(const Arrays& in, std::size_t axis);

/// "bf,fh->bh": sums products over all letters that the result does not have.
Array einsum(std::string_view how, const Array& a, const Array& b);

double sum(const std::vector<double>& values);
double largest(const std::vector<double>& values);  // nan if there is one
double logsumexp(const std::vector<double>& values);
std::vector<double> log_softmax(std::vector<double> values);
std::vector<double> softmax(std::vector<double> values);

}  // namespace ref
