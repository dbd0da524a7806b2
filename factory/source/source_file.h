// A file that is looked at, and where bytes stand in it.
#pragma once

#include <cstddef>
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
  std::size_t start_of(int line) const;  // offset of the line's first byte; the text's end behind the last
  std::size_t offset_of(int line, int column) const;  // the text's end for what lies behind it
  std::string_view line_text(int line) const;         // without its end; "" for a line that is not there

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

}  // namespace kiln
