// expect: no matching function for call to
//
// What == gives is a tensor of bools, and is true or false only where a condition asks for it.
#include <tlaloc/tlaloc.hpp>

using namespace tlaloc;

void report(bool equal);
void report(bool equal, const char* what);

void compare(const Tensor& a, const Tensor& b) {
#ifdef TLALOC_TEST_CONTROL
  report(array_equal(a, b));
  if (sum(a) == sum(b)) report(true);
#else
  report(a == b);
#endif
}
