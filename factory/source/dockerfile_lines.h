// The logical lines of a Dockerfile, as BuildKit's frontend/dockerfile/parser cuts them: directives,
// comments, line continuations, heredocs. Used by the parser only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/source/source_text.h"

namespace kiln {

// `# syntax=…`, `# escape=…` or `# check=…` above everything else.
struct Directive {
  std::string name;  // lower case
  std::string value;
  Place place;
};

struct Comment {
  std::string text;  // after "#", as written
  Place place;
};

// Physical lines joined; comments and empty lines between them are gone.
class LogicalLine {
 public:
  void clear(int first_line);
  void add(std::string_view text, Place place);
  const std::string& text() const { return text_; }
  Place place_of(std::size_t offset) const;
  // Where the physical lines' parts begin, counted from `offset`.
  std::vector<std::pair<std::size_t, Place>> pieces_from(std::size_t offset) const;
  int last_line = 0;

 private:
  struct Piece {
    std::size_t offset;
    Place place;
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
  std::string heredoc(const std::string& name, bool chomp, Place opened);

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
  void read_directive(std::string_view trimmed, Place place);
  bool ends_in_escape(std::string_view& line) const;

  std::string_view text_;
  const std::string* file_;
  std::size_t at_ = 0;
  int line_ = 0;
  char escape_ = '\\';
  bool directives_done_ = false;
};

}  // namespace kiln
