// What trees need that depends on no user's type: the list of their tensors, and where the tensors stand.
#include <tlaloc/tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tlaloc/error.hpp>

namespace tlaloc::inline v0::core {

namespace {

template <class Pointer>
Pointer* move_to_twice_the_room(std::vector<Pointer>& heap, const Pointer* items, std::size_t capacity) {
  std::vector<Pointer> larger(2 * capacity);
  std::copy(items, items + capacity, larger.begin());
  heap = std::move(larger);
  return heap.data();
}

}  // namespace

Tensor** twice_the_room(std::vector<Tensor*>& heap, Tensor** items, std::size_t capacity) {
  return move_to_twice_the_room(heap, items, capacity);
}
const Tensor** twice_the_room(std::vector<const Tensor*>& heap, const Tensor** items, std::size_t capacity) {
  return move_to_twice_the_room(heap, items, capacity);
}

void LeafPlaces::leaf(const Tensor&) { places_.push_back(place_); }

void LeafPlaces::enter(char before, std::int64_t number, char after) {
  lengths_.push_back(place_.size());
  place_ += before;
  place_ += std::to_string(number);
  if (after != '\0') place_ += after;
}

void LeafPlaces::enter_key(std::string_view key) {
  lengths_.push_back(place_.size());
  place_ += "[\"";
  place_ += key;
  place_ += "\"]";
}

void LeafPlaces::leave() {
  place_.resize(lengths_.back());
  lengths_.pop_back();
}

void check_places(const char* operation, const LeafPlaces& first, const LeafPlaces& other, int number) {
  const auto& a = first.places();
  const auto& b = other.places();
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() && in_b == b.end()) return;
  const auto describe = [](int tree, const auto& places, auto place) {
    return "tree " + std::to_string(tree) + " (tensors: " + std::to_string(places.size()) + ") has " +
           (place == places.end() ? "no more"
            : place->empty()      ? "one that is the whole tree"
                                  : "one at " + *place);
  };
  throw ShapeError(std::string(operation) + ": the trees hold tensors in different places; the first " +
                   std::to_string(in_a - a.begin()) + " agree, then " + describe(1, a, in_a) + " and " +
                   describe(number, b, in_b) + "; the trees need equal sizes, keys and alternatives");
}

std::vector<Tensor> copy_leaves(const ConstLeaves& leaves) {
  std::vector<Tensor> tensors;
  tensors.reserve(leaves.size());
  for (const Tensor* leaf : leaves) tensors.push_back(*leaf);
  return tensors;
}

}  // namespace tlaloc::inline v0::core
