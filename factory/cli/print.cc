#include "factory/cli/print.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "factory/base/error.h"
#include "factory/base/json_text.h"
#include "factory/base/packed_map.h"
#include "factory/base/text.h"

namespace kiln {

void print_bytes(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return;
  if (errno == EPIPE) throw std::system_error(errno, std::generic_category());
  throw Error(ExitCode::store, fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

void print_text(std::string_view text) { print_bytes(without_controls(text)); }

void print_document(std::string_view json) { print_bytes(printable_dump(json)); }

void print_json(const Json& document, int indent) { print_bytes(printable_json(document, indent) + "\n"); }

void print_members(const Json& object) {
  std::string text = "{";
  for (const auto& [key, value] : object.items())
    text += fmt::format("{}\n  {}: {}", text.size() == 1 ? "" : ",", printable_json(key, -1),
                        printable_json(value, -1));
  print_bytes(text + (text.size() == 1 ? "}\n" : "\n}\n"));
}

void tell(std::string_view line) {
  const std::string text = without_controls(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

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
