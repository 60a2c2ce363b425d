// What trees need that depends on no user's type: the list of their tensors, and where the tensors stand.
#include <tlaloc/tree.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tlaloc/error.hpp>

namespace tlaloc::inline v0::core {

template <class Pointer>
void LeafList<Pointer>::grow() {
  std::vector<Pointer> larger(2 * capacity_);
  std::copy(begin(), end(), larger.begin());
  heap_items_ = std::move(larger);
  items_ = heap_items_.data();
  capacity_ = heap_items_.size();
}
template class LeafList<Tensor*>;
template class LeafList<const Tensor*>;

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
  const auto describe = [](const char* which, std::string tree, const auto& places, auto place) {
    return std::string(which) + tree + " (tensors: " + std::to_string(places.size()) + ") has " +
           (place == places.end() ? "no more"
            : place->empty()      ? "one that is the whole tree"
                                  : "one at " + *place);
  };
  throw ShapeError(std::string(operation) + ": the trees hold tensors in different places; the first " +
                   std::to_string(in_a - a.begin()) + " agree, then " + describe("tree ", "1", a, in_a) +
                   describe(" and tree ", std::to_string(number), b, in_b) +
                   "; the trees need equal sizes, keys and alternatives");
}

std::vector<Tensor> copy_leaves(const ConstLeaves& leaves) {
  std::vector<Tensor> tensors;
  tensors.reserve(leaves.size());
  for (const Tensor* leaf : leaves) tensors.push_back(*leaf);
  return tensors;
}

}  // namespace tlaloc::inline v0::core
