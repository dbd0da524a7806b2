#include "factory/source/source_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {

void refuse_at(const std::string& file, Place place, std::string message, std::string hint) {
  throw Error(ExitCode::input, SourceLocation{file, place.line, place.column, ""}, std::move(message),
              std::move(hint));
}

void check_source(std::string_view text, const std::string& file) {
  if (text.size() > kMaxDefinitionBytes)
    refuse_at(file, {}, fmt::format("the file has {} bytes, more than {}", text.size(), kMaxDefinitionBytes));
  std::size_t nul = text.find('\0');
  if (nul == std::string_view::npos) return;
  std::string_view before = text.substr(0, nul);
  auto line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  refuse_at(file, {line, static_cast<int>(nul - start) + 1}, "a NUL byte", "this is a text file");
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }

std::size_t wide_space_at(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  unsigned first = byte(0);

  if (first == 0xc2) return byte(1) == 0x85 || byte(1) == 0xa0 ? 2 : 0;
  unsigned rest = byte(1) << 8 | byte(2);
  if (first == 0xe1) return rest == 0x9a80 ? 3 : 0;  // U+1680
  if (first == 0xe3) return rest == 0x8080 ? 3 : 0;  // U+3000
  if (first != 0xe2) return 0;
  bool space = (rest >= 0x8080 && rest <= 0x808a) || rest == 0x80a8 || rest == 0x80a9 || rest == 0x80af ||
               rest == 0x819f;
  return space ? 3 : 0;
}

std::string_view trim_left(std::string_view text) {
  std::size_t at = 0;
  for (std::size_t size = 0; at < text.size() && (size = space_at(text, at)) != 0;) at += size;
  return text.substr(at);
}

std::string_view trim_right(std::string_view text) {
  while (!text.empty()) {
    bool trimmed = false;
    for (std::size_t size = 1; size <= 3 && size <= text.size() && !trimmed; ++size) {
      if (space_at(text, text.size() - size) != size) continue;
      text.remove_suffix(size);
      trimmed = true;
    }
    if (!trimmed) break;
  }
  return text;
}

std::string_view trim(std::string_view text) { return trim_right(trim_left(text)); }

}  // namespace kiln
