// What nan_check() does.
#include "core/finite.hpp"

#include <cmath>
#include <utility>

#include <tlaloc/debug.hpp>

#include "core/dispatch.hpp"

namespace tlaloc::inline v0 {
namespace core {
namespace {

thread_local std::source_location check_began_at;

struct Found {
  std::int64_t nan = -1;  // the first of each, by its number in row-major order
  std::int64_t infinity = -1;
};

Found look_at(const Tensor& x) {
  Found found;
  if (!x.defined() || !is_float(object_of(x)->dtype)) return found;
  const auto look = [&]<class T>() {
    for (std::int64_t i = 0; i < physical_shape(x)->size; ++i) {
      T value;
      if (object_of(x)->is_dense())
        value = elements<const T>(x)[i];
      else
        read_elements(x, i, 1, reinterpret_cast<std::byte*>(&value));
      if (std::isnan(value) && found.nan < 0) found.nan = i;
      if (std::isinf(value) && found.infinity < 0) found.infinity = i;
    }
  };
  object_of(x)->dtype == DType::f64 ? look.operator()<double>() : look.operator()<float>();
  return found;
}

std::vector<std::int64_t> index_of(const Tensor& x, std::int64_t number) {
  const Shape& shape = physical_shape(x)->shape;
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[static_cast<std::size_t>(d)] = number % shape[d].extent();
    number /= shape[d].extent();
  }
  return index;
}

std::string list_of(const std::vector<std::int64_t>& index) {
  std::string text = "[";
  for (std::size_t i = 0; i < index.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(index[i]);
  return text + ']';
}

}  // namespace

NotFinite::NotFinite(std::string what, std::string operation, std::vector<std::int64_t> index, std::string examples,
                     std::string way)
    : ValueError(what + (index.empty() ? "" : " at " + list_of(index)) + examples + way + "; " + operation +
                 "; its operands hold no such number, so it begins here"),
      what_(std::move(what)),
      operation_(std::move(operation)),
      index_(std::move(index)),
      examples_(std::move(examples)),
      way_(std::move(way)) {}

NotFinite NotFinite::out_of_map(const std::string& axis, const std::string& operation) const {
  if (index_.empty()) return *this;
  return {what_,
          operation,
          {index_.begin() + 1, index_.end()},
          " of example " + std::to_string(index_[0]) + (axis.empty() ? "" : " along " + axis) + examples_,
          way_};
}

NotFinite NotFinite::on_the_way_back(std::string_view through) const {
  return {what_, operation_, index_, examples_, " on the way back through " + std::string(through) + way_};
}

void require_finite(const OpTable& table, std::span<const Tensor> in, const Tensor* out) {
  bool nan_came_in = false;
  bool infinity_came_in = false;
  for (const Tensor& x : in) {
    const Found found = look_at(x);
    nan_came_in |= found.nan >= 0;
    infinity_came_in |= found.infinity >= 0;
  }
  for (int k = 0; k < table.info.results; ++k) {
    const Found found = look_at(out[k]);
    const bool nan = found.nan >= 0 && !nan_came_in;
    const bool infinity = found.infinity >= 0 && !infinity_came_in && !nan_came_in;
    if (!nan && !infinity) continue;
    const std::string file = check_began_at.file_name();
    throw NotFinite("nan_check, begun at " + file.substr(file.rfind('/') + 1) + ':' +
                        std::to_string(check_began_at.line()) + ": " + std::string(table.info.name) + " makes " +
                        (nan ? "nan" : "inf"),
                    describe(in), index_of(out[k], nan ? found.nan : found.infinity), "", "");
  }
}

}  // namespace core

namespace debug {

NanCheck::NanCheck(std::source_location where) : before_(core::check_began_at), was_on_(core::results_are_watched) {
  if (!was_on_) core::check_began_at = where;
  core::results_are_watched = true;
}

NanCheck::~NanCheck() {
  core::results_are_watched = was_on_;
  core::check_began_at = before_;
}

}  // namespace debug
}  // namespace tlaloc::inline v0
