// Plain tables for people: columns padded to their widest cell, two blanks between, no lines.
#pragma once

#include <string>
#include <vector>

namespace kiln {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kiln
