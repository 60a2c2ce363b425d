// Runs every check of op_checks.hpp on every case and error of the op table, and sees to it that the table is complete.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/op_checks.hpp"

namespace {

using namespace op_table;

struct CheckOfCase {
  const Row* row;
  const Case* c;
  const Check* check;
};

std::vector<CheckOfCase> all_checks() {
  std::vector<CheckOfCase> all;
  for (const Row& row : rows())
    for (const Case& c : row.cases)
      for (const Check& check : checks())
        if (check.applies(row, c)) all.push_back({&row, &c, &check});
  return all;
}

class OpCheck : public testing::TestWithParam<CheckOfCase> {};

TEST_P(OpCheck, Holds) {
  const auto& [row, c, check] = GetParam();
  check->run(*row, *c);
}

std::string name_of_check(const testing::TestParamInfo<CheckOfCase>& instance) {
  return instance.param.row->name + '_' + instance.param.c->label + '_' + instance.param.check->name;
}
INSTANTIATE_TEST_SUITE_P(All, OpCheck, testing::ValuesIn(all_checks()), name_of_check);

struct ErrorOfRow {
  const Row* row;
  const BadCall* error;
};

std::vector<ErrorOfRow> all_errors() {
  std::vector<ErrorOfRow> all;
  for (const Row& row : rows())
    for (const BadCall& error : row.errors) all.push_back({&row, &error});
  return all;
}

class OpError : public testing::TestWithParam<ErrorOfRow> {};

TEST_P(OpError, IsRefused) { check_error(*GetParam().row, *GetParam().error); }

std::string name_of_error(const testing::TestParamInfo<ErrorOfRow>& instance) {
  return instance.param.row->name + '_' + instance.param.error->label;
}
INSTANTIATE_TEST_SUITE_P(All, OpError, testing::ValuesIn(all_errors()), name_of_error);

// ---------------------------------------------------------------------------------------------------------------------
// The table is complete

const std::filesystem::path root = std::filesystem::path(TLALOC_TEST_DATA_DIR).parent_path();

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What the expression's group captures, everywhere in the text.
std::set<std::string> matches(const std::string& text, const std::regex& expression) {
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), expression); it != std::sregex_iterator(); ++it)
    found.insert((*it)[1]);
  return found;
}

std::set<std::string> row_names() {
  std::set<std::string> names;
  for (const Row& row : rows()) EXPECT_TRUE(names.insert(row.name).second) << "two rows for " << row.name;
  return names;
}

TEST(OpTable, HasARowForEveryPublicOperation) {
  const std::string families = text_of(root / "include/tlaloc/ops.hpp") + "#include <tlaloc/create.hpp>\n";
  const std::set<std::string> headers = matches(families, std::regex("#include <(tlaloc/\\w+\\.hpp)>"));
  ASSERT_GE(headers.size(), 6u);
  const std::set<std::string> rows = row_names();
  std::size_t functions = 0;
  for (const std::string& header : headers) {
    // Whatever a function returns, it is an operation, unless that is a shape.
    for (const std::string& name :
         matches(text_of(root / "include" / header), std::regex("TLALOC_API (?!Shape)[\\w:<>]+ (\\w+)\\("))) {
      EXPECT_TRUE(rows.contains(name)) << name << " in " << header << " has no row in tests/op_table*.cpp";
      ++functions;
    }
  }
  EXPECT_GE(functions, 40u);
}

TEST(OpTable, HasARowForEveryOperationOfTheLibrary) {
  std::set<std::string> rows = row_names();
  // What cond and while_loop are made of: they take functions, and are tested in control_test.cpp.
  rows.insert("guard");
  std::size_t operations = 0;
  for (const auto& file : std::filesystem::directory_iterator(root / "ops")) {
    const std::string text = text_of(file.path());
    for (const std::string& name : matches(text, std::regex("OpInfo info\\{\\.name = \"(\\w+)\""))) {
      EXPECT_TRUE(rows.contains(name)) << name << " in " << file.path() << " has no row in tests/op_table*.cpp";
      ++operations;
    }
  }
  EXPECT_GE(operations, 25u);
}

TEST(OpTable, RowsHaveCasesAndErrorsWithDifferentLabels) {
  for (const Row& row : rows()) {
    std::set<std::string> labels;
    EXPECT_FALSE(row.cases.empty()) << row.name;
    for (const Case& c : row.cases) EXPECT_TRUE(labels.insert(c.label).second) << row.name << ' ' << c.label;
    labels.clear();
    for (const BadCall& error : row.errors)
      EXPECT_TRUE(labels.insert(error.label).second) << row.name << ' ' << error.label;
  }
}

}  // namespace
