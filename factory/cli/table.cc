#include "factory/cli/table.h"

#include <algorithm>

#include "factory/base/packed_text.h"
#include "factory/cli/print.h"

namespace kiln {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10;

// Columns of a terminal that UTF-8 text takes; good enough for the text we print.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

void Table::add(std::initializer_list<std::string_view> row) {
  std::size_t size = kPackedLength;
  for (std::string_view cell : row) size += kPackedLength + cell.size();
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < size)
    blocks_.emplace_back().reserve(std::max(kBlock, size));
  widths_.resize(std::max(widths_.size(), row.size()), 0);
  pack_number(blocks_.back(), row.size());
  auto widest = widths_.begin();
  for (std::string_view cell : row) {
    pack_text(blocks_.back(), cell);
    *widest = std::max(*widest, width(cell));
    ++widest;
  }
  ++rows_;
}

template <typename Put>
void Table::each_line(Put put) const {
  std::string line;
  for (std::string_view rest : blocks_) {
    while (!rest.empty()) {
      line.clear();
      std::size_t cells = take_number(rest);
      for (std::size_t column = 0; column < cells; ++column) {
        std::string_view cell = take_text(rest);
        line += cell;
        if (column + 1 < cells) line.append(widths_[column] - width(cell) + 2, ' ');
      }
      while (line.ends_with(' ')) line.pop_back();
      line += '\n';
      put(line);
    }
  }
}

std::string Table::text() const {
  std::string out;
  each_line([&](const std::string& line) { out += line; });
  return out;
}

void Table::print() const {
  each_line([](const std::string& line) { print_text(line); });
}

}  // namespace kiln
