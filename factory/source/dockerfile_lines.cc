#include "factory/source/dockerfile_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

bool is_word(char c) { return is_letter_or_digit(c); }

}  // namespace

void LogicalLine::clear(int first_line) {
  text_.clear();
  pieces_.clear();
  last_line = first_line;
}

void LogicalLine::add(std::string_view text, Place place) {
  pieces_.push_back({text_.size(), place});
  text_ += text;
  last_line = place.line;
}

Place LogicalLine::place_of(std::size_t offset) const {
  if (pieces_.empty()) return {last_line, 1};
  auto after = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                [](std::size_t at, const Piece& piece) { return at < piece.offset; });
  const Piece& piece = after == pieces_.begin() ? *after : *std::prev(after);
  return {piece.place.line, piece.place.column + static_cast<int>(offset - piece.offset)};
}

std::vector<std::pair<std::size_t, Place>> LogicalLine::pieces_from(std::size_t offset) const {
  std::vector<std::pair<std::size_t, Place>> out = {{0, place_of(offset)}};
  for (const Piece& piece : pieces_)
    if (piece.offset > offset) out.emplace_back(piece.offset - offset, piece.place);
  return out;
}

std::optional<DockerfileLines::Physical> DockerfileLines::physical() {
  if (at_ >= text_.size()) return std::nullopt;
  std::size_t end = text_.find('\n', at_);
  std::size_t next = end == std::string_view::npos ? text_.size() : end + 1;
  Physical line{text_.substr(at_, next - at_), text_.substr(at_, next - at_), ++line_};
  at_ = next;
  while (line.text.ends_with('\n') || line.text.ends_with('\r')) line.text.remove_suffix(1);
  if (line_ == 1 && line.text.starts_with("\xef\xbb\xbf")) line.text.remove_prefix(3);
  return line;
}

// The grammar of parser/directives.go: `# name = value`, and no directive after anything else.
void DockerfileLines::read_directive(std::string_view trimmed, Place place) {
  if (directives_done_) return;
  directives_done_ = true;
  if (!trimmed.starts_with('#')) return;
  std::string_view rest = trim(trimmed.substr(1));
  std::size_t size = 0;
  while (size < rest.size() && is_word(rest[size])) ++size;
  std::string_view after = trim_left(rest.substr(size));
  if (size == 0 || is_digit(rest[0]) || !after.starts_with('=')) return;
  Directive directive{lower_case(rest.substr(0, size)), std::string(trim(after.substr(1))), place};
  bool known = directive.name == "syntax" || directive.name == "escape" || directive.name == "check";
  if (!known || directive.value.empty()) return;
  directives_done_ = false;
  for (const Directive& other : directives)
    if (other.name == directive.name)
      refuse_at(*file_, place, fmt::format("the directive '{}' is there twice", directive.name));
  if (directive.name == "escape") {
    if (directive.value != "\\" && directive.value != "`")
      refuse_at(*file_, place, fmt::format("'{}' cannot be the escape character", directive.value),
                "it is \\ or `");
    escape_ = directive.value[0];
  }
  directives.push_back(std::move(directive));
}

// Takes the escape character at the end away, blanks after it as well. Two of them are no continuation.
bool DockerfileLines::ends_in_escape(std::string_view& line) const {
  std::string_view end = line;
  while (end.ends_with(' ') || end.ends_with('\t')) end.remove_suffix(1);
  if (!end.ends_with(escape_)) return false;
  end.remove_suffix(1);
  if (end.ends_with(escape_)) return false;
  line = end;
  return true;
}

bool DockerfileLines::next(LogicalLine& line) {
  while (auto first = physical()) {
    std::string_view text = trim_left(first->text);
    Place place{first->line, 1 + static_cast<int>(first->text.size() - text.size())};
    read_directive(text, place);
    if (text.starts_with('#')) {
      comments.push_back({std::string(text.substr(1)), place});
      continue;
    }
    bool goes_on = ends_in_escape(text);
    if (!goes_on && text.empty()) continue;
    line.clear(first->line);
    line.add(text, place);
    while (goes_on) {
      auto more = physical();
      if (!more) break;
      std::string_view trimmed = trim_left(more->text);
      if (trimmed.empty() || trimmed.starts_with('#')) continue;
      std::string_view rest = more->text;
      goes_on = ends_in_escape(rest);
      line.add(rest, {more->line, 1});
    }
    if (!trim(line.text()).empty()) return true;
  }
  return false;
}

std::string DockerfileLines::heredoc(const std::string& name, bool chomp, Place opened) {
  std::string content;
  while (auto line = physical()) {
    std::string_view end = line->text;
    std::string_view whole = line->whole;
    while (chomp && end.starts_with('\t')) end.remove_prefix(1);
    while (chomp && whole.starts_with('\t')) whole.remove_prefix(1);
    if (end == name) return content;
    content += whole;
  }
  refuse_at(*file_, opened, fmt::format("the heredoc has no end: no line is '{}' alone", name));
}

}  // namespace kiln
