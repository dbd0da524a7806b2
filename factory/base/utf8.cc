#include "base/utf8.h"

namespace kiln {
namespace {

// Bytes of the character at `at`; 0 when there is none.
std::size_t character_at(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  unsigned first = byte(0);
  if (first < 0x80) return 1;
  std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < size; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return size;
}

}  // namespace

std::size_t first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = character_at(text, at);
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

}  // namespace kiln
