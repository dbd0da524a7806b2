// The output of kiln: the answer on stdout, the rest on stderr. All text goes out without control sequences
// of terminals, wherever it came from.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

// Each throws Error(store) when stdout cannot be written to; std::system_error(EPIPE) when no process reads
// it.
void print_text(std::string_view text);                 // without_controls()
void print_json(const Json& document, int indent = 2);  // printable_json(), and a newline
void print_members(const Json& object);                 // a member a line, whatever is in it
void print_document(std::string_view json);             // JSON as text, wherever it came from
void print_bytes(std::string_view bytes);               // a file whose bytes are the answer

template <typename... Words>
void say(fmt::format_string<Words...> format, Words&&... words) {
  print_text(fmt::format(format, std::forward<Words>(words)...));
}

void tell(std::string_view line);  // on stderr, without_controls()

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
