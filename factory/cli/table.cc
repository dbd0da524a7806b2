#include "cli/table.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace kiln {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10;
constexpr std::size_t kNumber = sizeof(std::uint32_t);

// Columns of a terminal that UTF-8 text takes; good enough for the text we print.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void append_number(std::string& block, std::size_t number) {
  auto value = static_cast<std::uint32_t>(number);
  char bytes[kNumber];
  std::memcpy(bytes, &value, kNumber);
  block.append(bytes, kNumber);
}

std::size_t take_number(std::string_view& rest) {
  std::uint32_t value = 0;
  std::memcpy(&value, rest.data(), kNumber);
  rest.remove_prefix(kNumber);
  return value;
}

std::string_view take_cell(std::string_view& rest) {
  std::size_t size = take_number(rest);
  std::string_view cell = rest.substr(0, size);
  rest.remove_prefix(size);
  return cell;
}

}  // namespace

void Table::add(const std::vector<std::string>& row) {
  std::size_t size = kNumber;
  for (const std::string& cell : row) size += kNumber + cell.size();
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < size)
    blocks_.emplace_back().reserve(std::max(kBlock, size));
  widths_.resize(std::max(widths_.size(), row.size()), 0);
  append_number(blocks_.back(), row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    append_number(blocks_.back(), row[i].size());
    blocks_.back() += row[i];
    widths_[i] = std::max(widths_[i], width(row[i]));
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
        std::string_view cell = take_cell(rest);
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
  each_line([](const std::string& line) { std::fwrite(line.data(), 1, line.size(), stdout); });
}

}  // namespace kiln
