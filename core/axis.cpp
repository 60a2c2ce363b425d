// The table of axis names. It only grows, and it is never destroyed: an axis that a static object holds must stay valid
// until the process ends.
#include <tlaloc/axis.hpp>

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include <tlaloc/error.hpp>
#include <tlaloc/shape.hpp>

namespace tlaloc::inline v0 {
namespace {

class AxisTable {
 public:
  static AxisTable& instance() {
    static AxisTable* const table = new AxisTable;
    return *table;
  }

  std::uint32_t intern(std::string name) {
    const std::lock_guard lock(mutex_);
    if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
    if (names_.size() >= Dim::max_axes)
      throw SizeError("Axis: more than " + std::to_string(Dim::max_axes - 1) + " different names in one process");
    const auto id = static_cast<std::uint32_t>(names_.size());
    names_.push_back(name);
    ids_.emplace(std::move(name), id);
    return id;
  }

  std::string name(std::uint32_t id) {
    const std::lock_guard lock(mutex_);
    return names_[id];
  }

 private:
  AxisTable() : names_{""}, ids_{{"", 0}} {}

  std::mutex mutex_;
  std::deque<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

bool allowed_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == ':' || static_cast<unsigned char>(c) > 127;
}

}  // namespace

Axis::Axis(std::string_view name) {
  if (name.empty()) throw AxisError("Axis: the name is empty; an unnamed dimension is Axis::none");
  for (const char c : name)
    if (!allowed_in_name(c))
      throw AxisError("Axis: '" + std::string(1, c) + "' cannot be part of a name; got \"" + std::string(name) +
                      "\"; use letters, digits, '_', '-', '.' and ':'");
  id_ = AxisTable::instance().intern(std::string(name));
}

std::string Axis::name() const { return AxisTable::instance().name(id_); }

Axis Axis::primed() const {
  if (!named()) throw AxisError("Axis: an unnamed axis cannot be primed; give it a name first");
  return from_id(AxisTable::instance().intern(name() + "'"));
}

}  // namespace tlaloc::inline v0
