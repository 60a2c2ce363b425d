// What every operation owes its user, as checks of a case or an error of the op table. Each reports through GoogleTest.
#pragma once

#include <vector>

#include "tests/op_table.hpp"

namespace op_table {

struct Check {
  const char* name;
  void (*run)(const Row& row, const Case& c);
  bool (*applies)(const Row& row, const Case& c);
};

/// All checks of cases.
const std::vector<Check>& checks();
std::vector<Check> value_checks();
std::vector<Check> derivative_checks();
std::vector<Check> map_checks();

/// The exception is of the type that the error deserves; its message starts with the operation's name and shows every
/// operand, and is the same within transforms; the library works on afterwards.
void check_error(const Row& row, const BadCall& error);

}  // namespace op_table
