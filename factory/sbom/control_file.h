// Files of "Name: value" paragraphs: Debian control data (deb822), and the headers of Python's METADATA.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::sbom {

// Without its end.
inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class ControlParagraph {
 public:
  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  void extend_last(std::string_view line) { (fields_.back().second += '\n') += line; }
  bool empty() const { return fields_.empty(); }
  // The first value of that name, letter case aside; continuation lines follow after "\n", without the blank
  // that marks them. "" when there is none.
  const std::string& at(std::string_view name) const;
  std::string line(std::string_view name) const { return first_line(at(name)); }  // its first
  std::vector<std::string> all(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// Reads one paragraph after the other; the text outlives the reader.
class ControlReader {
 public:
  explicit ControlReader(std::string_view text) : rest_(text) {}
  // nullopt at the end. Throws Error(input), naming the line, for a line that is no field, a paragraph with
  // more than 10 000 fields, and one with more than 4 MiB.
  std::optional<ControlParagraph> next();

 private:
  std::string_view line();
  std::string_view rest_;
  std::size_t line_ = 0;
};

}  // namespace kiln::sbom
