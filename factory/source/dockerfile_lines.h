// The logical lines of a Dockerfile, as BuildKit's frontend/dockerfile/parser cuts them: directives,
// comments, line continuations, heredocs. Used by the parser only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/source/source_file.h"

namespace kiln {

// `# syntax=…`, `# escape=…` or `# check=…` above everything else.
struct Directive {
  std::string name;  // lower case
  std::string value;
  Position place;
};

struct Comment {
  std::string text;  // after "#", as written
  Position place;
};

// Physical lines joined; comments and empty lines between them are gone.
class LogicalLine {
 public:
  void clear(int first_line);
  void add(std::string_view text, Position place);
  const std::string& text() const { return text_; }
  Position place_of(std::size_t offset) const;
  // Where the physical lines' parts begin, counted from `offset`.
  std::vector<std::pair<std::size_t, Position>> pieces_from(std::size_t offset) const;
  int last_line = 0;

 private:
  struct Piece {
    std::size_t offset;
    Position place;
  };
  std::string text_;
  std::vector<Piece> pieces_;
};

class DockerfileLines {
 public:
  // REQUIRES: both outlive this; check_source(text) has passed.
  DockerfileLines(std::string_view text, const std::string& file) : text_(text), file_(&file) {}

  // False at the end of the file. Throws Error(input) for a bad directive.
  bool next(LogicalLine& line);
  // The lines up to the one that is `name` alone, with their line ends; `chomp` (<<-): tabs in front do not
  // count. Throws Error(input) when there is none, at `opened`.
  std::string heredoc(const std::string& name, bool chomp, Position opened);

  char escape() const { return escape_; }
  std::vector<Directive> directives;
  std::vector<Comment> comments;  // but for those inside of an instruction

 private:
  struct Physical {
    std::string_view text;  // without its line end
    std::string_view whole;
    int line;
  };
  std::optional<Physical> physical();
  void read_directive(std::string_view trimmed, Position place);
  bool ends_in_escape(std::string_view& line) const;

  std::string_view text_;
  const std::string* file_;
  std::size_t at_ = 0;
  int line_ = 0;
  char escape_ = '\\';
  bool directives_done_ = false;
};

// The words of a Dockerfile instruction, as BuildKit's parser/line_parsers.go and split_command.go take them
// apart. Used by the parser only.

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

// `<<EOF`, `<<-EOF`, `<<"EOF"`, `3<<EOF` as separate words.
struct HeredocMark {
  std::string name;
  bool chomp = false;  // <<-
  bool expand = true;  // the name is not quoted
  std::size_t offset = 0;
};
std::vector<HeredocMark> heredoc_marks(std::string_view text);

}  // namespace kiln
