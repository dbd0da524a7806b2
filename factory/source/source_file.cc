#include "factory/source/source_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "factory/base/text.h"

namespace kiln {

SourceFile::SourceFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  starts_.push_back(0);
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    if (at + 1 < text_.size()) starts_.push_back(at + 1);
}

int SourceFile::line_of(std::size_t offset) const {
  auto after = std::ranges::upper_bound(starts_, offset);
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

bool is_one_of(std::string_view word, std::string_view words) {
  return !word.empty() && contains(split(words, ' '), word);
}

void refuse_at(const std::string& file, Position place, std::string message, std::string hint) {
  throw Error(ExitCode::input, SourceLocation{file, place.line, place.column, ""}, std::move(message),
              std::move(hint));
}

void check_source(std::string_view text, const std::string& file) {
  if (text.size() > kMaxDefinitionBytes)
    refuse_at(file, {}, fmt::format("the file has {} bytes, more than {}", text.size(), kMaxDefinitionBytes));
  std::size_t nul = text.find('\0');
  if (nul == std::string_view::npos) return;
  std::string_view before = text.substr(0, nul);
  auto line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
  std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  refuse_at(file, {line, static_cast<int>(nul - start) + 1}, "the file contains a NUL byte",
            "Dockerfiles and definition files are text");
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }

std::size_t wide_space_at(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  unsigned first = byte(0);

  if (first == 0xc2) return byte(1) == 0x85 || byte(1) == 0xa0 ? 2 : 0;
  unsigned rest = byte(1) << 8 | byte(2);
  if (first == 0xe1) return rest == 0x9a80 ? 3 : 0;  // U+1680
  if (first == 0xe3) return rest == 0x8080 ? 3 : 0;  // U+3000
  if (first != 0xe2) return 0;
  bool space = (rest >= 0x8080 && rest <= 0x808a) || rest == 0x80a8 || rest == 0x80a9 || rest == 0x80af ||
               rest == 0x819f;
  return space ? 3 : 0;
}

std::string_view trim_left(std::string_view text) {
  std::size_t at = 0;
  for (std::size_t size = 0; at < text.size() && (size = space_at(text, at)) != 0;) at += size;
  return text.substr(at);
}

std::string_view trim_right(std::string_view text) {
  while (!text.empty()) {
    bool trimmed = false;
    for (std::size_t size = 1; size <= 3 && size <= text.size() && !trimmed; ++size) {
      if (space_at(text, text.size() - size) != size) continue;
      text.remove_suffix(size);
      trimmed = true;
    }
    if (!trimmed) break;
  }
  return text;
}

std::string_view trim(std::string_view text) { return trim_right(trim_left(text)); }

namespace {

// Something in front of `ending`.
bool ends_with(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.ends_with(ending);
}

}  // namespace

bool begins_with(std::string_view name, std::string_view word) {
  if (!name.starts_with(word)) return false;
  return name.size() == word.size() || contains(".-_", name[word.size()]);
}

bool is_dockerfile_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return begins_with(lower, "dockerfile") || begins_with(lower, "containerfile") ||
         ends_with(lower, ".dockerfile") || ends_with(lower, ".containerfile");
}

bool is_definition_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return begins_with(lower, "singularity") || begins_with(lower, "apptainer") || ends_with(lower, ".def");
}

bool is_link(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_symlink(std::filesystem::symlink_status(path, none));
}

}  // namespace kiln
