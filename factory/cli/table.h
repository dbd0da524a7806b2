// Plain tables for people: columns padded to their widest cell, two blanks between, no lines.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// Keeps the cells' text and four bytes for each cell and row, in blocks that are never moved, so that tables
// of many rows are cheap.
class Table {
 public:
  explicit Table(std::initializer_list<std::string_view> header) { add(header); }
  // REQUIRES: cells are shorter than 4 GiB.
  void add(std::initializer_list<std::string_view> row);
  bool empty() const { return rows_ == 1; }
  std::string text() const;
  void print() const;  // on stdout, without making the text first

 private:
  template <typename Put>
  void each_line(Put put) const;

  std::deque<std::string> blocks_;  // of whole rows: how many cells, then the length and the text of each
  std::size_t rows_ = 0;
  std::vector<std::size_t> widths_;
};

}  // namespace kiln
