#include "factory/source/source_file.h"

#include <algorithm>

namespace kiln {

SourceFile::SourceFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  starts_.push_back(0);
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    if (at + 1 < text_.size()) starts_.push_back(at + 1);
}

int SourceFile::line_of(std::size_t offset) const {
  auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  return static_cast<int>(after - starts_.begin());
}

std::size_t SourceFile::start_of(int line) const {
  return line < 1 || static_cast<std::size_t>(line) > starts_.size()
             ? text_.size()
             : starts_[static_cast<std::size_t>(line) - 1];
}

std::size_t SourceFile::offset_of(int line, int column) const {
  return std::min(start_of(line) + static_cast<std::size_t>(std::max(column, 1) - 1), text_.size());
}

SourceLocation SourceFile::at(std::size_t offset) const {
  int line = line_of(offset);
  return {path_, line, static_cast<int>(offset - start_of(line)) + 1, ""};
}

std::string_view SourceFile::line_text(int line) const {
  std::size_t start = start_of(line);
  std::size_t end = std::min(text_.find('\n', start), text_.size());
  return std::string_view(text_).substr(start, end - start);
}

}  // namespace kiln
