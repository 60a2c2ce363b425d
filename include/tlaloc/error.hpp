// The exceptions the library throws.
//
// Every message reads: `operation: what disagrees; every operand with dtype, names and sizes; the likely fix`.
// An exception leaves the library as it was before the call: nothing is half done, and every transform that was
// running when it passed through has ended.
#pragma once

#include <stdexcept>
#include <string>

#include <tlaloc/export.hpp>

namespace tlaloc::inline v0 {

/// The base of everything the library throws on purpose.
class TLALOC_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);
  ~Error() override;
};

/// Sizes or ranks that do not fit each other.
class TLALOC_API ShapeError : public Error {
 public:
  using Error::Error;
  ~ShapeError() override;
};

/// Axis names that do not agree, are unknown, or appear twice; axis numbers out of range.
class TLALOC_API AxisError : public Error {
 public:
  using Error::Error;
  ~AxisError() override;
};

/// Element types an operation does not take, or that would silently lose precision together.
class TLALOC_API DTypeError : public Error {
 public:
  using Error::Error;
  ~DTypeError() override;
};

/// A size that cannot be represented: negative, too large, or more dimensions than the library supports.
class TLALOC_API SizeError : public Error {
 public:
  using Error::Error;
  ~SizeError() override;
};

/// An argument whose value, rather than its shape or type, is not acceptable: an index out of range, an empty maximum.
class TLALOC_API ValueError : public Error {
 public:
  using Error::Error;
  ~ValueError() override;
};

/// A tensor used outside the transform it belongs to, or a transform used against its rules.
class TLALOC_API LevelError : public Error {
 public:
  using Error::Error;
  ~LevelError() override;
};

/// Memory that the operating system did not give.
class TLALOC_API MemoryError : public Error {
 public:
  using Error::Error;
  ~MemoryError() override;
};

}  // namespace tlaloc::inline v0
