#include "core/interned_shape.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "core/thread_state.hpp"

namespace tlaloc::inline v0::core {
namespace {

constexpr std::size_t table_limit = 1 << 16;

std::uint64_t hash_of(const Shape& shape) {
  std::uint64_t hash = static_cast<std::uint64_t>(shape.rank()) * 0x9e3779b97f4a7c15u;
  for (const Dim dim : shape) hash = (hash ^ dim.word() ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u;
  return hash ^ (hash >> 32);
}

std::unique_ptr<InternedShape> make_record(const Shape& shape, std::uint64_t hash) {
  auto record = std::make_unique<InternedShape>();
  record->shape = shape;
  record->size = shape.size();
  record->hash = hash;
  for (const Dim dim : shape) record->named |= dim.axis().named();
  // Sizes no machine can hold still are shapes (a broadcast view has no memory of its own); allocation refuses them.
  const auto elements = static_cast<std::uint64_t>(std::min(record->size, std::int64_t{1} << 58));
  record->size_classes = {class_of(object_header_bytes + elements), class_of(object_header_bytes + 4 * elements),
                          class_of(object_header_bytes + 8 * elements)};
  return record;
}

struct HashOf {
  using is_transparent = void;
  std::size_t operator()(const InternedShape* record) const { return record->hash; }
  std::size_t operator()(const std::pair<const Shape*, std::uint64_t>& key) const { return key.second; }
};
struct SameShape {
  using is_transparent = void;
  bool operator()(const InternedShape* a, const InternedShape* b) const { return a->shape == b->shape; }
  bool operator()(const std::pair<const Shape*, std::uint64_t>& key, const InternedShape* b) const {
    return *key.first == b->shape;
  }
};

class Table {
 public:
  static Table& instance() {
    static Table* const table = new Table;
    return *table;
  }

  const InternedShape* intern(const Shape& shape, std::uint64_t hash) {
    const std::lock_guard lock(mutex_);
    if (const auto found = records_.find(std::pair(&shape, hash)); found != records_.end()) return *found;
    auto record = make_record(shape, hash);
    if (records_.size() < table_limit) {
      records_.insert(record.get());
    } else {
      record->permanent = false;
      record->count = 1;
    }
    return record.release();
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const InternedShape*, HashOf, SameShape> records_;
};

}  // namespace

void release_counted(const InternedShape* shape) noexcept {
  auto* const counted = const_cast<InternedShape*>(shape);
  if (counted->count.fetch_sub(1, std::memory_order_acq_rel) == 1) delete counted;
}

ShapeRef intern(const Shape& shape) {
  const std::uint64_t hash = hash_of(shape);
  const InternedShape*& recent = thread_state().recent_shapes[hash % ThreadState::recent_shape_count];
  if (recent != nullptr && recent->hash == hash && recent->shape == shape) return ShapeRef::adopt(recent);
  const InternedShape* const record = Table::instance().intern(shape, hash);
  if (record->permanent) recent = record;
  return ShapeRef::adopt(record);
}

}  // namespace tlaloc::inline v0::core
