#include "cli/table.h"

#include <algorithm>
#include <cstdio>

namespace kiln {
namespace {

// Columns of a terminal that UTF-8 text takes; good enough for the text we print.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

void Table::add(const std::vector<std::string>& row) {
  widths_.resize(std::max(widths_.size(), row.size()), 0);
  for (std::size_t i = 0; i < row.size(); ++i) {
    bytes_ += row[i];
    cell_ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    widths_[i] = std::max(widths_[i], width(row[i]));
  }
  row_ends_.push_back(static_cast<std::uint32_t>(cell_ends_.size()));
}

std::string_view Table::cell(std::size_t index) const {
  std::size_t begin = index == 0 ? 0 : cell_ends_[index - 1];
  return std::string_view(bytes_).substr(begin, cell_ends_[index] - begin);
}

template <typename Put>
void Table::each_line(Put put) const {
  std::string line;
  std::size_t index = 0;
  for (std::size_t end : row_ends_) {
    line.clear();
    for (std::size_t column = 0; index < end; ++index, ++column) {
      line += cell(index);
      if (index + 1 < end) line.append(widths_[column] - width(cell(index)) + 2, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    line += '\n';
    put(line);
  }
}

std::string Table::text() const {
  std::string out;
  each_line([&](const std::string& line) { out += line; });
  return out;
}

void Table::print() const {
  each_line([](const std::string& line) { std::fwrite(line.data(), 1, line.size(), stdout); });
}

}  // namespace kiln
