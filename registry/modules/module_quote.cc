#include "registry/modules/module_quote.h"

#include <fmt/format.h>

#include "factory/base/text.h"

namespace kiln {
namespace {

// In double quotes: a backslash before each of `special`, and a control character as `number` writes it.
std::string escaped_literal(std::string_view text, std::string_view special,
                            std::string (*number)(unsigned char)) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (is_control(c)) {
      quoted += number(static_cast<unsigned char>(c));
      continue;
    }
    if (contains(special, c)) quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string decimal_escape(unsigned char c) { return fmt::format("\\{:03}", c); }
std::string hex_escape(unsigned char c) { return fmt::format("\\x{:02x}", c); }
std::string unicode_escape(unsigned char c) { return fmt::format("\\u{:04x}", c); }

// Characters that YAML 1.1 takes for line ends or does not print (section 5.1), as UTF-8, and their escapes.
constexpr std::pair<std::string_view, std::string_view> kYamlUnprintable[] = {
    {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}, {"\xef\xbb\xbf", "\\ufeff"},
    {"\xef\xbf\xbe", "\\ufffe"}, {"\xef\xbf\xbf", "\\uffff"},
};

// The escape of the character at `at` and its length in `text`; "" for one that needs none.
std::pair<std::string, std::size_t> yaml_escape(std::string_view text, std::size_t at) {
  if (text[at] == '\xc2' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0)
    return {hex_escape(static_cast<unsigned char>(text[at + 1])), 2};
  for (const auto& [bytes, escape] : kYamlUnprintable)
    if (text.substr(at).starts_with(bytes)) return {std::string(escape), bytes.size()};
  return {"", 1};
}

}  // namespace

std::string quote_lua(std::string_view text) { return escaped_literal(text, "\"\\", decimal_escape); }

std::string quote_tcl(std::string_view text) {
  return escaped_literal(text, "\"\\$[]{}", unicode_escape);  // \x would take all hex digits that follow
}

std::string quote_yaml(std::string_view text) {
  const std::string plain = escaped_literal(text, "\"\\", hex_escape);
  std::string quoted;
  for (std::size_t at = 0; at < plain.size();) {
    const auto [escape, length] = yaml_escape(plain, at);
    quoted += escape.empty() ? std::string(1, plain[at]) : escape;
    at += length;
  }
  return quoted;
}

std::string quote_toml(std::string_view text) { return escaped_literal(text, "\"\\", unicode_escape); }

std::string quote_python(std::string_view text) { return escaped_literal(text, "\"\\", hex_escape); }

}  // namespace kiln
