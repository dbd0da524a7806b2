#include "factory/pages/page_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/json_text.h"
#include "factory/base/markup.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

struct CodeRange {
  char32_t first, last;
};

// Of Unicode's category Cf and its line ends: zero-width characters, marks and overrides of direction,
// joiners, the byte order mark, tags (Unicode 15, "Other, format").
constexpr std::array<CodeRange, 9> kShapeless = {{{0xad, 0xad},
                                                  {0x61c, 0x61c},
                                                  {0x180e, 0x180e},
                                                  {0x200b, 0x200f},
                                                  {0x2028, 0x202e},
                                                  {0x2060, 0x206f},
                                                  {0xfeff, 0xfeff},
                                                  {0xfff9, 0xfffb},
                                                  {0xe0000, 0xe007f}}};

bool is_shapeless(char32_t code) {
  return std::any_of(kShapeless.begin(), kShapeless.end(),
                     [&](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

// How many bytes the character that begins with this byte has. REQUIRES: valid UTF-8.
std::size_t length_of(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// REQUIRES: valid UTF-8, `length` bytes of it.
char32_t code_of(const char* bytes, std::size_t length) {
  constexpr unsigned char kMasks[] = {0x7f, 0x1f, 0x0f, 0x07};
  char32_t code = static_cast<unsigned char>(bytes[0]) & kMasks[length - 1];
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3f);
  return code;
}

}  // namespace

std::string visible_text(std::string_view text) {
  const std::string clean = without_controls(text);
  std::string visible;
  visible.reserve(clean.size());
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t length = std::min(length_of(static_cast<unsigned char>(clean[at])), clean.size() - at);
    const char32_t code = code_of(&clean[at], length);
    if (is_shapeless(code))
      visible += fmt::format("[U+{:04X}]", static_cast<std::uint32_t>(code));
    else
      visible.append(clean, at, length);
    at += length;
  }
  return visible;
}

std::string page_text(std::string_view text) { return markup_text(visible_text(text)); }

std::string script_text(std::string_view text) {
  std::string json;
  append_json(json, visible_text(text));
  std::string script;
  script.reserve(json.size());
  for (char c : json) {
    if (c == '<' || c == '>' || c == '&')
      script += fmt::format("\\u{:04x}", c);
    else
      script += c;
  }
  return script;
}

}  // namespace kiln
