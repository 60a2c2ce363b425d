// The exceptions' key functions, so that their type information lives in the library and nowhere else: a program and
// a plug-in that both use the library can then catch what the other's call threw.
#include <tlaloc/error.hpp>

namespace tlaloc::inline v0 {

Error::Error(const std::string& message) : std::runtime_error(message) {}
Error::~Error() = default;
ShapeError::~ShapeError() = default;
AxisError::~AxisError() = default;
DTypeError::~DTypeError() = default;
SizeError::~SizeError() = default;
ValueError::~ValueError() = default;
LevelError::~LevelError() = default;
MemoryError::~MemoryError() = default;

}  // namespace tlaloc::inline v0
