// Tables of comma-separated values (RFC 4180). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct CsvRow {
  int line = 1;  // in which the row begins, from 1
  std::vector<std::string> fields;
  std::vector<int> columns;  // of each field: the byte of its line in which it begins, from 1
};

// All rows but empty ones; lines end with LF or CR LF. Throws Error(input) with `file`, line and column for
// an open quote and for text after a closing quote.
std::vector<CsvRow> csv_rows(std::string_view text, const std::string& file);

// One field as RFC 4180 has it: in quotes if it contains a comma, a quote or a line end.
std::string csv_field(const std::string& text);

}  // namespace kiln
