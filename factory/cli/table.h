// Plain tables for people: columns padded to their widest cell, two blanks between, no lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// Keeps the cells' text and four bytes for each cell, so that tables of many rows are cheap.
class Table {
 public:
  explicit Table(const std::vector<std::string>& header) { add(header); }
  void add(const std::vector<std::string>& row);
  bool empty() const { return row_ends_.size() == 1; }
  std::string text() const;
  void print() const;  // on stdout, without making the text first

 private:
  template <typename Put>
  void each_line(Put put) const;
  std::string_view cell(std::size_t index) const;

  std::string bytes_;  // of all cells
  std::vector<std::uint32_t> cell_ends_;
  std::vector<std::uint32_t> row_ends_;  // in cells
  std::vector<std::size_t> widths_;
};

}  // namespace kiln
