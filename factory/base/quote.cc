#include "factory/base/quote.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

// BuildKit reads characters, not bytes: what is no UTF-8 comes out as U+FFFD.
void refuse_other_encodings(std::string_view value) {
  std::size_t at = first_not_utf8(value);
  if (at != std::string_view::npos)
    throw Error(ExitCode::input, fmt::format("a value is not UTF-8 at its byte {}", at + 1),
                "values of recipes and matrices are UTF-8");
}

// Line ends would start a new instruction, section or rule, and none of the formats can quote them all.
void refuse_line_ends(std::string_view value) {
  for (char c : value) {
    if (c != '\n' && c != '\r' && c != '\0') continue;
    std::string shown;
    for (char s : value.substr(0, 60)) shown += static_cast<unsigned char>(s) < 0x20 ? '?' : s;
    throw Error(ExitCode::input, fmt::format("the value '{}' has a line end or a NUL in it", shown),
                "values of recipes and matrices are single lines");
  }
}

bool is_bare_word(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || contains("./:@_+=,-", c); });
}

}  // namespace

std::string quote_shell(std::string_view value) {
  refuse_line_ends(value);
  refuse_other_encodings(value);
  std::string quoted = "'";
  quoted.reserve(value.size() + 2);
  if (value.find_first_of("'{") == std::string_view::npos) {
    quoted += value;
    return quoted += '\'';
  }
  char before = 0;
  for (char c : value) {
    if (c == '\'') {
      quoted += "'\"'\"'";  // not \': Apptainer's own shell, which reads %environment, keeps that backslash
    } else if (c == '{' && before == '{') {
      quoted += "''{";  // Apptainer replaces {{ name }} wherever it stands
    } else {
      quoted += c;
    }
    before = c;
  }
  return quoted + "'";
}

std::string quote_shell_text(std::string_view text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string_view(&c, 1);
  return quoted + "'";
}

std::string shell_word(std::string_view value) {
  return is_bare_word(value) ? std::string(value) : quote_shell(value);
}

std::string shell_text_word(std::string_view text) {
  return is_bare_word(text) ? std::string(text) : quote_shell_text(text);
}

std::string quote_docker_env(std::string_view value) {
  refuse_line_ends(value);
  refuse_other_encodings(value);
  std::string quoted = "\"";
  quoted.reserve(value.size() + 2);
  for (char c : value) {
    if (c == '"' || c == '\\' || c == '$') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string quote_ninja(std::string_view value) {
  refuse_line_ends(value);
  std::string quoted;
  for (char c : value) {
    if (c == '$' || c == ' ' || c == ':') quoted += '$';
    quoted += c;
  }
  return quoted;
}

std::string markup_text(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::string_view kWritten[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string markup;
  for (char c : without_controls(text)) {
    const std::size_t at = kSpecial.find(c);
    markup += at == kSpecial.npos ? std::string_view(&c, 1) : kWritten[at];
  }
  return markup;
}

}  // namespace kiln
