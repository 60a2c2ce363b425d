// Finding out what a program does: where a nan comes from, and what a tape has recorded.
//
//     {
//       const auto check = debug::nan_check();
//       auto g = grad(loss)(w, x);          // ValueError from the first operation that makes a nan or an infinity,
//     }                                     // forward or on the way back
//
//     debug::print_tape(std::cout, tape);
//     debug::print_tape(file, tape, debug::TapeFormat::dot);
#pragma once

#include <cstdint>
#include <iosfwd>
#include <source_location>

#include <tlaloc/export.hpp>
#include <tlaloc/tape.hpp>

namespace tlaloc::inline v0::debug {

/// While it lives, this thread looks at the result of every operation: ValueError from the first one that makes a nan
/// of operands that hold none, or an infinity of operands that are finite. The message names the operation and its
/// operands, the index of the element and, inside vmap, the example; on the way back, whose derivative it is; and where
/// the check began. Nested checks are one. It costs a pass over every result while it lives, and nothing otherwise.
class [[nodiscard]] NanCheck {
 public:
  TLALOC_API explicit NanCheck(std::source_location where);
  TLALOC_API ~NanCheck();
  NanCheck(const NanCheck&) = delete;
  NanCheck& operator=(const NanCheck&) = delete;

 private:
  std::source_location before_;
  bool was_on_;
};
inline NanCheck nan_check(std::source_location where = std::source_location::current()) { return NanCheck(where); }

enum class TapeFormat : std::uint8_t { text, dot };

/// What a tape has recorded: its inputs and operations in order, what each was computed from, and what it keeps for the
/// way back. `dot` is for Graphviz.
inline void print_tape(std::ostream& stream, const Tape& tape, TapeFormat format = TapeFormat::text) {
  tape.print(stream, format == TapeFormat::dot);
}

}  // namespace tlaloc::inline v0::debug
