#include "factory/base/text.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

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
  return std::ranges::any_of(
      kShapeless, [&](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

// REQUIRES: one character of UTF-8.
char32_t code_of(std::string_view character) {
  constexpr unsigned char kMasks[] = {0x7f, 0x1f, 0x0f, 0x07};
  char32_t code = static_cast<unsigned char>(character[0]) & kMasks[character.size() - 1];
  for (char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return code;
}

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

// The position behind an escape sequence that starts at `i` (ECMA-48): CSI ends with 0x40 to 0x7e, a string
// with BEL or ST, any other after its intermediates.
std::size_t after_escape(std::string_view text, std::size_t i) {
  auto skip = [&](auto&& belongs) {
    while (i < text.size() && belongs(text[i])) ++i;
  };
  if (++i >= text.size()) return text.size();
  const char kind = text[i];
  if (kind == '[') {
    ++i;
    skip([](char c) { return c < 0x40 || c > 0x7e; });
  } else if (std::string_view("]PX^_").find(kind) != std::string_view::npos) {
    skip([](char c) { return c != '\a' && c != '\033'; });
    if (text.substr(i).starts_with("\033\\")) ++i;
  } else {
    skip([](char c) { return c >= 0x20 && c <= 0x2f; });
  }
  return std::min(i + 1, text.size());
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_case(c);
  return out;
}

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = upper_case(c);
  return out;
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string percent_encoded(std::string_view text, std::string_view plain) {
  std::string out;
  for (char c : text) {
    if (is_letter_or_digit(c) || plain.find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view trimmed(std::string_view text) {
  std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  return split(text, std::string_view(&separator, 1));
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> pieces;
  for (std::size_t end = 0; (end = text.find_first_of(separators)) != std::string_view::npos;) {
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  pieces.push_back(text);
  return pieces;
}

std::size_t first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {  // nearly all that is read
      ++at;
      continue;
    }
    std::size_t size = character_at(text, at);
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

// Where the printable ASCII from there ends: nearly all text is that, and goes in one piece.
static std::size_t after_ascii(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= ' ' && text[at] < '\177') ++at;
  return at;
}

std::optional<char32_t> shapeless_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || static_cast<unsigned char>(text[at]) < 0x80) return std::nullopt;
  const std::size_t size = character_at(text, at);
  const char32_t code = size == 0 ? 0 : code_of(text.substr(at, size));
  return is_shapeless(code) ? std::optional(code) : std::nullopt;
}

// REQUIRES: one character of UTF-8.
static void append_visible(std::string& plain, std::string_view character) {
  const char32_t code = code_of(character);
  if (is_shapeless(code))
    plain += fmt::format("[U+{:04X}]", static_cast<std::uint32_t>(code));
  else if (character.size() > 1 ? code >= 0xa0
                                : !is_control(character[0]) || character == "\n" || character == "\t")
    plain += character;
}

std::string without_controls(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t plain_end = after_ascii(text, at);
    plain += text.substr(at, plain_end - at);
    if ((at = plain_end) == text.size()) break;
    const std::size_t size = character_at(text, at);
    if (text[at] == '\033') {
      at = after_escape(text, at);
    } else if (size == 0) {
      plain += "\uFFFD";
      ++at;
    } else {
      append_visible(plain, text.substr(at, size));
      at += size;
    }
  }
  return plain;
}

std::string on_one_line(std::string_view text) {
  std::string line;
  for (char c : without_controls(text))
    line += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string_view(&c, 1);
  return line;
}

std::string last_lines(std::string text, std::size_t count) {
  std::ranges::replace(text, '\r', '\n');
  std::string clean = without_controls(text);
  while (clean.ends_with('\n')) clean.pop_back();
  std::size_t start = clean.size();
  for (std::size_t lines = 0; start > 0; --start)
    if (clean[start - 1] == '\n' && ++lines == count) break;
  return clean.substr(start);
}

std::string counted(std::size_t number, std::string_view word, std::string_view many) {
  if (number == 1 || many.empty()) return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
  return fmt::format("{} {}", number, many);
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // the last `*` seen, and where its run of text began
  std::size_t run = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      run = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++run;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace kiln
