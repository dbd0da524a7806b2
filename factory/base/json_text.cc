#include "factory/base/json_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"

namespace kiln {
namespace {

bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

constexpr std::uint64_t kOnes = 0x0101010101010101u;
constexpr std::uint64_t kHighs = 0x8080808080808080u;

// The high bit of each byte that is below `limit`, and perhaps of others above the first of these ("Determine
// if a word has a byte less than n", Anderson's Bit Twiddling Hacks). REQUIRES: 1 <= limit <= 128.
constexpr std::uint64_t bytes_below(std::uint64_t word, std::uint64_t limit) {
  return (word - kOnes * limit) & ~word & kHighs;
}

// Eight characters at a time.
bool is_all_plain(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((bytes_below(word, 0x20) | bytes_below(word ^ (kOnes * '"'), 1) |
         bytes_below(word ^ (kOnes * '\\'), 1)) != 0)
      return false;
  }
  for (; at < text.size(); ++at)
    if (!is_plain(text[at])) return false;
  return true;
}

void append_escape(std::string& out, char c) {
  constexpr std::string_view kCharacters = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  if (const std::size_t at = kCharacters.find(c); at != kCharacters.npos) {
    out += '\\';
    out += kLetters[at];
    return;
  }
  out += "\\u00";
  out += "0123456789abcdef"[(c >> 4) & 15];
  out += "0123456789abcdef"[c & 15];
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  if (is_all_plain(text)) {
    out += text;
    out += '"';
    return;
  }
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && is_plain(text[end])) ++end;
    out += text.substr(begin, end - begin);
    if (end < text.size()) append_escape(out, text[end++]);
    begin = end;
  }
  out += '"';
}

void append_json(std::string& out, const std::map<std::string, std::string>& members) {
  append_merged_json(out, {}, members);
}

void append_json(std::string& out, const PackedMap& members) { append_merged_json(out, {}, members); }

void append_json(std::string& out, const std::vector<std::string>& items) {
  out += '[';
  const char* between = "";
  for (const std::string& item : items) {
    out += between;
    append_json(out, item);
    between = ",";
  }
  out += ']';
}

std::string printable_json(const Json& value, int indent) {
  return printable_dump(value.dump(indent, ' ', false, Json::error_handler_t::replace));
}

// As JSON has it (RFC 8259, section 7): beyond U+FFFF in two halves.
static std::string escaped(char32_t code) {
  const auto number = static_cast<std::uint32_t>(code);
  if (number < 0x10000) return fmt::format("\\u{:04x}", number);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((number - 0x10000) >> 10), 0xdc00 + (number & 0x3ff));
}

std::string printable_dump(std::string_view dumped) {
  std::string text;
  text.reserve(dumped.size());
  for (std::size_t at = 0; at < dumped.size(); ++at) {
    const char c = dumped[at];
    if (c == '\x7f') {
      text += "\\u007f";
    } else if (c == '\xc2' && at + 1 < dumped.size() && static_cast<unsigned char>(dumped[at + 1]) < 0xa0) {
      text += fmt::format("\\u{:04x}", static_cast<unsigned char>(dumped[++at]));
    } else if (const auto code = shapeless_at(dumped, at)) {
      text += escaped(*code);
      at += *code < 0x800 ? 1 : *code < 0x10000 ? 2 : 3;
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace kiln
