// Results tables in CSV: the limits, columns, fields and complaints that the readers of all projects share.
// Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "factory/bench/csv_rows.h"

namespace kiln {

// A column that a project's tables may have.
struct ResultsColumn {
  std::string_view name;
  double most = 0;      // largest number, far beyond any network or machine; 0: the column is no number
  bool needed = false;  // a table without it is refused
};

// Characters that a table may have: printable ones of ASCII, or any visible ones of UTF-8.
enum class ResultsText { ascii, utf8 };

// Layout of the tables of one project.
struct ResultsLayout {
  std::string_view project;  // for messages: "timm"
  std::span<const ResultsColumn> columns;
  std::string_view prefix;  // that a column's name may begin with: "infer_"
  ResultsText text = ResultsText::ascii;
};

// Throws Error(input) with this place in `file`.
[[noreturn]] void refuse_results(const std::string& file, int line, int column, const std::string& why,
                                 const std::string& hint = "");

// All rows of a table, the header first. Throws Error(input) with `file`, line and column for an empty table,
// a table over 512 KiB, a line over 4,096 bytes, a byte order mark, a character that the layout does not
// allow, and as csv_rows().
std::vector<CsvRow> results_rows(std::string_view text, const std::string& file, const ResultsLayout& layout);

// Where a header has the columns of a layout.
struct ResultsPlaces {
  static constexpr std::size_t kMissing = static_cast<std::size_t>(-1);
  std::vector<std::size_t> of;  // of each column of the layout: its field; kMissing
  std::size_t fields = 0;       // of each row
};

// Throws Error(input) for an unknown column, a second column of one name and a needed column that is missing.
ResultsPlaces results_places(const CsvRow& header, const std::string& file, const ResultsLayout& layout);

// One row of a table; its columns are named by their places in the layout.
class ResultsRow {
 public:
  // REQUIRES: all arguments outlive this. Throws Error(input) for another number of fields than the header's.
  ResultsRow(const CsvRow& row, const ResultsPlaces& places, const std::string& file,
             const ResultsLayout& layout);

  int line() const { return row_.line; }
  // "" where the table does not have the column.
  const std::string& text(std::size_t column) const;
  // Throws Error(input) for no number over 0, and for one over the column's largest.
  double number(std::size_t column) const;
  // `name`, which is from this column. Throws Error(input) for one that is no network's: letters, digits,
  // '.', '_' and '-', 128 at most.
  std::string network(std::size_t column, std::string_view name) const;
  // Throws Error(input) with the place of this column.
  [[noreturn]] void complain(std::size_t column, const std::string& why, const std::string& hint = "") const;

 private:
  const CsvRow& row_;
  const ResultsPlaces& places_;
  const std::string& file_;
  const ResultsLayout& layout_;
};

}  // namespace kiln
