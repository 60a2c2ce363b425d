// Tape: reverse mode without a function to differentiate. It records from its making until end(), or as long as it
// lives.
//
//     Tape tape;
//     const Tensor w = tape.watch(w0), x = tape.watch(x0);     // any trees
//     const Tensor loss = sum(square(matmul(x, w)));
//     const auto gradients = tape.gradient(loss, {w, x});      // as often as wanted, of whatever was computed
//     Tensor dw = tape.gradient(loss, w);
//     Tensor value = tape.value(loss);                         // outlives the tape
//
// What depends on a watched tensor belongs to the tape: like inside grad, it can be computed with, printed and read
// while the tape lives, and is refused afterwards (LevelError). Tapes nest, for higher derivatives, and mix with all
// transforms; a tape that begins inside another one, or inside a transform, ends before it does. A tape neither moves
// nor changes threads.
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <utility>
#include <vector>

#include <tlaloc/export.hpp>
#include <tlaloc/grad.hpp>
#include <tlaloc/tensor.hpp>
#include <tlaloc/tree.hpp>

namespace tlaloc::inline v0 {

class Tape {
 public:
  Tape() : scope_("tape") {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape() = default;

  /// The same tensors, as gradient() can differentiate by them. DTypeError for a tensor that is not a float (within a
  /// larger tree it is left alone).
  template <tree T>
  T watch(T x) {
    core::ConstLeaves leaves;
    core::collect_leaves(std::as_const(x), leaves);
    for (const Tensor* leaf : leaves) scope_.check_watch(*leaf);
    core::watch_all(scope_, x, watched_++);
    return x;
  }

  /// The gradient of `target`, a float of rank 0, by watched tensors: a tree like `sources`, zeros where target does
  /// not depend on one. With a cotangent (dtype and shape of the target) the target may have any shape.
  template <tree T>
  T gradient(const Tensor& target, T sources, const Tensor& cotangent = Tensor()) const {
    core::Leaves leaves;
    core::collect_leaves(sources, leaves);
    scope_.pull_back_from(target, cotangent, leaves);
    return sources;
  }
  std::vector<Tensor> gradient(const Tensor& target, std::initializer_list<Tensor> sources,
                               const Tensor& cotangent = Tensor()) const {
    return gradient(target, std::vector<Tensor>(sources), cotangent);
  }

  /// A tree as it is outside the tape; gradients do not flow through it.
  template <tree T>
  T value(T x) const {
    core::lower_all(scope_, x);
    return x;
  }

  /// Stops recording before the tape is destroyed; gradient() and value() still work. LevelError while a transform or
  /// tape that began after this one still runs: they end in reverse order.
  void end() { scope_.end_in_order(); }

  /// For debug::print_tape().
  void print(std::ostream& stream, bool as_dot) const { scope_.print(stream, as_dot); }

 private:
  mutable core::GradScope scope_;
  int watched_ = 0;
};

}  // namespace tlaloc::inline v0
