// Makes a test program of a document: every `## ` section is a test, the C++ blocks in it are its body.
//
//     extract DOCUMENT.md OUT.cpp
//
// In a block, a line `expression;  // -> text` expects that the expression prints as the text, and
// `expression;  // throws Type: text` that it throws, with the text somewhere in the message. Either comment may also
// stand alone on the next line or lines, and then belongs to the statement before it.
#include <algorithm>
#include <cctype>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

const std::string prints = "// -> ";
const std::string throws = "// throws ";

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string test_name(const std::string& heading) {
  std::string name;
  bool upper = true;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return name;
}

std::string literal(const std::string& text) { return "R\"text(" + text + ")text\""; }

class Program {
 public:
  Program(std::string document, std::ostream& out) : document_(std::move(document)), out_(out) {
    out_ << "#include \"tests/snippets/snippets.hpp\"\n";
  }
  ~Program() { finish_test(); }

  void heading(const std::string& text) {
    finish_test();
    heading_ = text;
  }

  void line(const std::string& text, int number) {
    if (!open_) out_ << "\nTEST(Transforms, " << test_name(heading_) << ") {\n";
    open_ = true;
    const std::string code = trimmed(text);
    const std::size_t note = std::min(text.find(prints), text.find(throws));
    if (note == std::string::npos) {
      finish_statement();
      if (!code.empty()) statement_.push_back({text, number});
      return;
    }
    if (const std::string before = trimmed(text.substr(0, note)); !before.empty()) {
      finish_statement();
      statement_.push_back({before, number});
    }
    expectation_ += (expectation_.empty() ? "" : " ") + trimmed(text.substr(note));
  }

 private:
  struct Line {
    std::string text;
    int number;
  };

  void place(int number) { out_ << "#line " << number << " \"" << document_ << "\"\n"; }

  void finish_statement() {
    if (expectation_.empty()) {
      // A line may be the beginning of a statement that ends on a later one.
      for (const Line& line : statement_) pending_.push_back(line);
      statement_.clear();
      if (!pending_.empty() && (pending_.back().text.back() == ';' || pending_.back().text.back() == '}')) flush();
      return;
    }
    std::string expression;
    for (const Line& line : pending_) expression += line.text + '\n';
    const int number = pending_.empty() ? statement_.front().number : pending_.front().number;
    for (const Line& line : statement_) expression += line.text + '\n';
    expression = expression.substr(0, expression.rfind(';'));
    place(number);
    if (starts_with(expectation_, prints)) {
      out_ << "EXPECT_EQ(snippets::printed((" << expression << ")), " << literal(expectation_.substr(prints.size()))
           << ");\n";
    } else {
      const std::string what = expectation_.substr(throws.size());
      const std::size_t colon = what.find(": ");
      if (colon == std::string::npos) throw std::runtime_error("line " + std::to_string(number) + ": no type: text");
      out_ << "snippets::expect_throws<" << what.substr(0, colon) << ">([&] { static_cast<void>(" << expression
           << "); }, " << literal(what.substr(colon + 2)) << ");\n";
    }
    pending_.clear();
    statement_.clear();
    expectation_.clear();
  }

  void flush() {
    for (const Line& line : pending_) {
      place(line.number);
      out_ << line.text << '\n';
    }
    pending_.clear();
  }

  void finish_test() {
    if (!open_) return;
    finish_statement();
    flush();
    out_ << "}\n";
    open_ = false;
  }

  std::string document_;
  std::ostream& out_;
  std::string heading_;
  bool open_ = false;
  std::vector<Line> pending_;    // lines whose statement has not ended
  std::vector<Line> statement_;  // the line before
  std::string expectation_;
};

int extract(const std::string& document, const std::string& to) {
  std::ifstream in(document);
  std::ofstream out(to);
  if (!in || !out) throw std::runtime_error("cannot open " + (in ? to : document));
  Program program(document, out);
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (starts_with(line, "## ") && !inside) program.heading(line.substr(3));
    if (starts_with(line, "```"))
      inside = line == "```cpp";
    else if (inside)
      program.line(line, number);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "extract DOCUMENT.md OUT.cpp\n";
    return 2;
  }
  try {
    return extract(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << argv[1] << ": " << error.what() << '\n';
    return 1;
  }
}
