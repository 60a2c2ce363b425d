// A user's program: it includes the installed headers, links the installed library, and checks one answer.
#include <cstdio>

#include <tlaloc/axis.hpp>
#include <tlaloc/shape.hpp>

int main() {
  const tlaloc::Axis batch{"batch"};
  const tlaloc::Shape shape{batch(16), 4};
  std::printf("%s\n", shape.to_string().c_str());
  return shape.size() == 64 && shape.find(batch) == 0 ? 0 : 1;
}
