// The documents say what the code says. docs/operations.md is made here, of the public headers' comments and of the op
// table, and the test fails where the file differs; with TLALOC_WRITE_DOCS in the environment it is written
// (scripts/docs). The programs of docs/transforms.md are run by tests/snippets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/op_table.hpp"

namespace {

using Lines = std::vector<std::string>;

const std::filesystem::path root = std::filesystem::path(TLALOC_TEST_DATA_DIR).parent_path();

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Lines lines_of(const std::filesystem::path& path) {
  std::istringstream text(text_of(path));
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// ---------------------------------------------------------------------------------------------------------------------
// Headers

/// Functions that stand under one comment.
struct Group {
  Lines comment;
  Lines declarations;
  Lines names;  // each once
};

struct Header {
  std::string file;
  Lines comment;
  std::vector<Group> groups;
};

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

/// What follows the marker and one blank.
std::string uncommented(const std::string& line, std::size_t marker) {
  return line.size() > marker ? line.substr(marker + 1) : std::string();
}

void add_declaration(Group& group, const std::string& declaration, const std::string& scope) {
  static const std::regex function("^TLALOC_API ([\\w:<>]+) (\\w+)\\((.*)\\);$");
  std::smatch parts;
  if (!std::regex_match(declaration, parts, function) || parts[1] == "Shape") return;
  group.declarations.push_back(parts[1].str() + ' ' + scope + parts[2].str() + '(' + parts[3].str() + ')');
  if (std::find(group.names.begin(), group.names.end(), scope + parts[2].str()) == group.names.end())
    group.names.push_back(scope + parts[2].str());
}

Header read_header(const std::string& file) {
  const Lines lines = lines_of(root / "include/tlaloc" / file);
  Header header{file, {}, {}};
  std::size_t i = 0;
  for (; i < lines.size() && starts_with(lines[i], "//"); ++i) header.comment.push_back(uncommented(lines[i], 2));

  Group group;
  const auto finish = [&] {
    if (!group.names.empty()) header.groups.push_back(std::move(group));
    group = {};
  };
  std::string scope;
  bool internal = false;
  for (; i < lines.size(); ++i) {
    if (starts_with(lines[i], "namespace core") || starts_with(lines[i], "namespace detail")) internal = true;
    if (starts_with(lines[i], "namespace random")) scope = "random::";
    if (starts_with(lines[i], "}  // namespace")) {
      internal = false;
      scope.clear();
    }
    if (internal) continue;
    if (lines[i].empty()) {
      finish();
    } else if (starts_with(lines[i], "///")) {
      if (!group.names.empty()) finish();
      group.comment.push_back(uncommented(lines[i], 3));
    } else if (starts_with(lines[i], "TLALOC_API ")) {
      std::string declaration = lines[i];
      while (declaration.back() != ';' && i + 1 < lines.size()) {
        const std::string& more = lines[++i];
        declaration += ' ' + more.substr(std::min(more.find_first_not_of(' '), more.size()));
      }
      add_declaration(group, std::regex_replace(declaration, std::regex("\\( "), "("), scope);
    }
  }
  finish();
  return header;
}

std::vector<Header> headers() {
  std::vector<Header> all{read_header("create.hpp")};
  const std::string families = text_of(root / "include/tlaloc/ops.hpp");
  const std::regex include("#include <tlaloc/(\\w+\\.hpp)>");
  for (std::sregex_iterator it(families.begin(), families.end(), include); it != std::sregex_iterator(); ++it)
    all.push_back(read_header((*it)[1]));
  return all;
}

// ---------------------------------------------------------------------------------------------------------------------
// The op table

const op_table::Row* row_of(std::string name) {
  for (const op_table::Row& row : op_table::rows())
    if (row.name == std::regex_replace(name, std::regex("::"), "_")) return &row;
  const std::size_t scope = name.find("::");
  return scope == std::string::npos ? nullptr : row_of(name.substr(scope + 2));
}

std::string types_of(const op_table::Row& row) {
  switch (row.types) {
    case op_table::Types::floats: return "a float; bools and integers give f32";
    case op_table::Types::numbers: return "the operands' dtype; bools give i32";
    case op_table::Types::sums: return "the operands' dtype; bools and i32 give i64";
    case op_table::Types::any: return "the operands' dtype";
    case op_table::Types::truth: return "bool";
    case op_table::Types::made: return "as asked for";
  }
  return "";
}

/// "[b 2, f 3], [f 3] -> [b 2, f 3]" of the first case with a named operand and result.
std::string names_of(const op_table::Row& row) {
  const auto is_named = [](const tlaloc::Shape& shape) {
    for (int i = 0; i < shape.rank(); ++i)
      if (shape[i].axis().named()) return true;
    return false;
  };
  for (const op_table::Case& c : row.cases) {
    bool named = false;
    std::string text;
    for (const op_table::Input& input : c.inputs) {
      named |= is_named(input.shape);
      text += (text.empty() ? "" : ", ") + input.shape.to_string();
    }
    if (!named || c.large) continue;
    text += " -> ";
    for (std::size_t k = 0; k < c.results.size(); ++k) text += (k == 0 ? "" : ", ") + c.results[k].to_string();
    return text;
  }
  return "";
}

std::string operands_of(const op_table::Row& row) {
  std::size_t most = 0;
  for (const op_table::Case& c : row.cases) most = std::max(most, c.inputs.size());
  if (most == 0) return "";
  if (most == 1) return "one application for all examples";
  if (most == 2) return "one application for all examples, whether the first operand is mapped, the second, or both";
  return "one application for all examples, whichever of the operands are mapped";
}

/// What there is to say of one function, a line each.
Lines facts_of(const op_table::Row& row) {
  Lines facts{"Results: " + types_of(row) + (row.promotes ? ", of the operands together." : ".")};
  if (const std::string names = names_of(row); !names.empty()) facts.push_back("Names: `" + names + "`.");
  facts.push_back(row.differentiable ? "Derivatives: forward and reverse, of every order." : "Derivatives: none.");
  if (const std::string operands = operands_of(row); !operands.empty())
    facts.push_back("Under vmap: " + operands + ".");
  return facts;
}

// ---------------------------------------------------------------------------------------------------------------------
// The document

/// Indented lines are examples, and become code.
void write_comment(std::ostream& to, const Lines& comment) {
  bool code = false;
  for (const std::string& line : comment) {
    const bool indented = starts_with(line, "  ");
    if (indented != code) to << '\n';
    if (indented && !starts_with(line, "    ")) to << "  ";
    to << line << '\n';
    code = indented;
  }
}

void write_facts(std::ostream& to, const Group& group) {
  std::vector<std::pair<Lines, Lines>> all;  // facts, and the functions they hold for
  for (const std::string& name : group.names) {
    const op_table::Row* const row = row_of(name);
    ASSERT_NE(row, nullptr) << name << " has no row";
    const Lines facts = facts_of(*row);
    const auto same = std::find_if(all.begin(), all.end(), [&](const auto& known) { return known.first == facts; });
    if (same == all.end())
      all.push_back({facts, {name}});
    else
      same->second.push_back(name);
  }
  for (const auto& [facts, names] : all) {
    if (all.size() > 1) {
      to << "\nOf ";
      for (std::size_t i = 0; i < names.size(); ++i) to << (i == 0 ? "`" : ", `") << names[i] << '`';
      to << ":\n";
    }
    to << '\n';
    for (const std::string& fact : facts) to << "* " << fact << '\n';
  }
}

void write_accuracy(std::ostream& to, const std::vector<Header>& all) {
  to << "\n## Accuracy\n\n"
        "Bounds that the headers state; tests hold them over the whole range of f32. Where none is stated, results "
        "are\n"
        "what the composition in the given dtype gives.\n\n"
        "| operation | f32, at most |\n|---|---|\n";
  static const std::regex bound("within ([0-9.]+) ULP");
  for (const Header& header : all)
    for (const Group& group : header.groups) {
      std::string text;
      for (const std::string& line : group.comment) text += line + ' ';
      std::smatch found;
      const bool exact = text.find("correctly rounded") != std::string::npos;
      if (!exact && !std::regex_search(text, found, bound)) continue;
      to << "| ";
      for (std::size_t i = 0; i < group.names.size(); ++i) to << (i == 0 ? "`" : ", `") << group.names[i] << '`';
      to << " | " << (exact ? "0.5" : found[1].str()) << " ULP |\n";
    }
}

std::string document() {
  std::ostringstream to;
  to << "# Operations\n\n"
        "Made from the public headers and from the table that the tests run on; `scripts/docs` makes it anew, and a "
        "test fails\nwhen it is stale. Every operation takes tensors of any strides and of extent 0, works inside "
        "every "
        "transform and every\nnesting of them, and throws before it has changed anything. *Names* shows the shapes of "
        "one call that the tests make.\n";
  const std::vector<Header> all = headers();
  for (const Header& header : all) {
    to << "\n## " << header.file.substr(0, header.file.find('.')) << "\n\n";
    write_comment(to, header.comment);
    for (const Group& group : header.groups) {
      to << "\n### ";
      for (std::size_t i = 0; i < group.names.size(); ++i) to << (i == 0 ? "" : ", ") << group.names[i];
      to << "\n\n";
      for (const std::string& declaration : group.declarations) to << "    " << declaration << '\n';
      if (!group.comment.empty()) to << '\n';
      write_comment(to, group.comment);
      write_facts(to, group);
    }
  }
  write_accuracy(to, all);
  return to.str();
}

TEST(OperationsDocument, SaysWhatTheHeadersAndTheTableSay) {
  const std::filesystem::path path = root / "docs/operations.md";
  const std::string text = document();
  if (std::getenv("TLALOC_WRITE_DOCS") != nullptr) std::ofstream(path) << text;
  // Not EXPECT_EQ, which would print both.
  EXPECT_TRUE(text_of(path) == text) << "docs/operations.md is stale; scripts/docs makes it anew";
}

TEST(Readme, ShowsTheFirstProgramAsItIs) {
  const std::string readme = text_of(root / "README.md");
  const std::size_t begin = readme.find("```cpp\n") + 7;
  const std::string shown = readme.substr(begin, readme.find("```", begin) - begin);
  ASSERT_FALSE(shown.empty());
  EXPECT_NE(text_of(root / "examples/first_program.cpp").find(shown), std::string::npos) << shown;
}

}  // namespace
