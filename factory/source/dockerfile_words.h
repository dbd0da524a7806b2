// The words of a Dockerfile instruction, as BuildKit's parser/line_parsers.go and split_command.go take them
// apart. Used by the parser only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/source/source_text.h"

namespace kiln {

// Text as written, quotes and escapes included, and where it begins in the logical line.
struct RawWord {
  std::string text;
  std::size_t offset = 0;
};

// Words separated by white space outside of quotes (ENV, LABEL, ARG).
std::vector<RawWord> quoted_words(std::string_view text, char escape);
// Words separated by blanks, whatever the quotes (FROM, COPY, EXPOSE).
std::vector<RawWord> plain_words(std::string_view text);
// The `--name=value` words at the front, quotes and backslashes taken off; `rest` is where the others begin.
std::vector<RawWord> flag_words(std::string_view text, std::size_t& rest);

// The exec form: a JSON array of strings, or nothing when this is no JSON array. `not_strings` is set for an
// array with other things in it, which BuildKit refuses.
std::optional<std::vector<std::string>> exec_form(std::string_view text, bool& not_strings);

// `<<EOF`, `<<-EOF`, `<<"EOF"`, `3<<EOF` that stand as words of their own.
struct HeredocMark {
  std::string name;
  bool chomp = false;  // <<-
  bool expand = true;  // the name is not quoted
  std::size_t offset = 0;
};
std::vector<HeredocMark> heredoc_marks(std::string_view text);

}  // namespace kiln
