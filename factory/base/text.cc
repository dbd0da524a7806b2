#include "factory/base/text.h"

#include <fmt/format.h>

#include <algorithm>

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
  std::vector<std::string_view> pieces;
  for (std::size_t end = 0; (end = text.find(separator)) != std::string_view::npos;) {
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  pieces.push_back(text);
  return pieces;
}

std::size_t first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
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
      const std::string_view character = text.substr(at, size);
      const bool of_latin1 = size == 2 && character < "\u00A0";
      if (size > 1 ? !of_latin1 : !is_control(text[at]) || text[at] == '\n' || text[at] == '\t')
        plain += character;
      at += size;
    }
  }
  return plain;
}

std::string last_lines(std::string text, std::size_t count) {
  std::replace(text.begin(), text.end(), '\r', '\n');
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

}  // namespace kiln
