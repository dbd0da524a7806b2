// A file under examination, and the positions of bytes in it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/error.h"

namespace kiln {

class SourceFile {
 public:
  SourceFile(std::string path, std::string text);

  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }
  SourceLocation at(std::size_t offset) const;  // line and column of a byte; the end of the text is allowed
  int line_of(std::size_t offset) const;        // counted from 1
  std::size_t lines() const { return starts_.size(); }
  std::size_t start_of(int line) const;  // of the line's first byte; the text's end after the last line
  std::size_t offset_of(int line, int column) const;  // the text's end for a position after it
  std::string_view line_text(int line) const;         // without its end; "" for a missing line

 private:
  std::string path_;
  std::string text_;
  std::vector<std::size_t> starts_;
};

// Bytes of a file: [begin, end).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Shared by both parsers: places, refusals, and Go's definition of white space, by which BuildKit and
// Apptainer trim.

// A position in a file. Counted from 1, columns in bytes; 0 means "the file as a whole".
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

// Whether `word` is one of those that `words` lists with blanks between; false for "".
bool is_one_of(std::string_view word, std::string_view words);

// Files beyond this are no definitions. REQUIRES of both parsers is nothing: any bytes may come.
inline constexpr std::size_t kMaxDefinitionBytes = 4u << 20;

// Throws Error(input) `file:line:col: error: message; hint`.
[[noreturn]] void refuse_at(const std::string& file, Position place, std::string message,
                            std::string hint = {});

// The most errors that are reported at a time. A reader that continues after a mistake stops here.
inline constexpr std::size_t kMostErrors = 20;

// Calls `read`; false when it threw an Error, which is added to `errors`.
template <typename Read>
bool collected(std::vector<Error>& errors, Read read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    errors.push_back(error);
    return false;
  }
}

// Throws Error(input) for more than kMaxDefinitionBytes and for a NUL byte, with its place.
void check_source(std::string_view text, const std::string& file);

// Bytes of the white-space character (unicode.IsSpace of Go: U+0085, U+00A0, U+2028 … included) at `at`; 0
// when there is none.
std::size_t wide_space_at(std::string_view text, std::size_t at);  // beyond ASCII
inline std::size_t space_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  auto c = static_cast<unsigned char>(text[at]);
  if (c >= 0x80) return wide_space_at(text, at);
  return c == ' ' || (c >= '\t' && c <= '\r') ? 1 : 0;
}
bool is_blank(char c);  // a separator of a Dockerfile's words: tab, vertical tab, form feed, CR, blank

// Both parsers trim by space_at(), not by ASCII alone.
std::string_view trim_left(std::string_view text);
std::string_view trim_right(std::string_view text);
std::string_view trim(std::string_view text);

// Kind of a file, by its name alone, in small or capital letters; and whether it is a link.

// `word` alone, or `word`, one of . - _ and more text
bool begins_with(std::string_view name, std::string_view word);

// Dockerfile, Dockerfile.gpu, Containerfile-cpu, pytorch.dockerfile.
bool is_dockerfile_name(std::string_view name);

// Singularity, Singularity.gpu, Apptainer_cpu, pytorch.def.
bool is_definition_name(std::string_view name);

// Whether the path is a symbolic link on the disk. FileSystem follows links; a search of a folder must not:
// links lead in circles, to what is found anyway, or out. False for files in memory.
bool is_link(const std::filesystem::path& path);

}  // namespace kiln
