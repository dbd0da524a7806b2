#include "factory/source/dockerfile_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json.h"
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

void LogicalLine::add(std::string_view text, Position place) {
  pieces_.push_back({text_.size(), place});
  text_ += text;
  last_line = place.line;
}

Position LogicalLine::place_of(std::size_t offset) const {
  if (pieces_.empty()) return {last_line, 1};
  auto after = std::ranges::upper_bound(pieces_, offset, {}, &Piece::offset);
  const Piece& piece = after == pieces_.begin() ? *after : *std::prev(after);
  return {piece.place.line, piece.place.column + static_cast<int>(offset - piece.offset)};
}

std::vector<std::pair<std::size_t, Position>> LogicalLine::pieces_from(std::size_t offset) const {
  std::vector<std::pair<std::size_t, Position>> out = {{0, place_of(offset)}};
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
void DockerfileLines::read_directive(std::string_view trimmed, Position place) {
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
      refuse_at(*file_, place, fmt::format("the directive '{}' occurs twice", directive.name));
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
    Position place{first->line, 1 + static_cast<int>(first->text.size() - text.size())};
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

std::string DockerfileLines::heredoc(const std::string& name, bool chomp, Position opened) {
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

namespace {

constexpr int kMaxDepth = 64;  // nlohmann's destructor recurses

bool nests_deeper(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      if (depth > kMaxDepth) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<RawWord> quoted_words(std::string_view text, char escape) {
  std::vector<RawWord> words;
  for (std::size_t at = 0; at < text.size();) {
    if (std::size_t space = space_at(text, at)) {
      at += space;
      continue;
    }
    RawWord word{"", at};
    bool quoted = false;
    char quote = 0;
    while (at < text.size() && (quote != 0 || space_at(text, at) == 0)) {
      char c = text[at];
      if (c == escape && quote != '\'') {
        if (at + 1 == text.size()) {  // at the very end it is dropped
          ++at;
          break;
        }
        word.text += text.substr(at, 2);
        at += 2;
        continue;
      }
      if (c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
        quoted = true;
      }
      word.text += c;
      ++at;
    }
    if (quoted || !word.text.empty()) words.push_back(std::move(word));
  }
  return words;
}

std::vector<RawWord> plain_words(std::string_view text) {
  std::vector<RawWord> words;
  for (std::size_t at = 0; at < text.size();) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    std::size_t start = at;
    while (at < text.size() && !is_blank(text[at])) ++at;
    words.push_back({std::string(text.substr(start, at - start)), start});
  }
  return words;
}

std::vector<RawWord> flag_words(std::string_view text, std::size_t& rest) {
  std::vector<RawWord> words;
  rest = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (space_at(text, at) == 1) {
      ++at;
      continue;
    }
    rest = at;
    if (!text.substr(at).starts_with("--")) return words;
    RawWord word{"", at};
    char quote = 0;
    for (; at < text.size() && (quote != 0 || space_at(text, at) != 1); ++at) {
      char c = text[at];
      if (c == '\\' && at + 1 < text.size()) {
        word.text += text[++at];
      } else if (c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
      } else {
        word.text += c;
      }
    }
    rest = at;
    if (word.text == "--") return words;
    words.push_back(std::move(word));
  }
  rest = text.size();
  return words;
}

std::optional<std::vector<std::string>> exec_form(std::string_view text, bool& not_strings) {
  not_strings = false;
  std::string_view array = trim(text);
  if (!array.starts_with('[') || nests_deeper(array)) return std::nullopt;
  Json json = Json::parse(array.begin(), array.end(), nullptr, false);
  if (!json.is_array()) return std::nullopt;
  std::vector<std::string> words;
  for (const Json& item : json) {
    if (!item.is_string()) {
      not_strings = true;
      return std::nullopt;
    }
    words.push_back(item.get<std::string>());
  }
  return words;
}

namespace {

// Past a quoted part that begins at `at`; the end of the text when it is not closed.
std::size_t past_quote(std::string_view text, std::size_t at) {
  char quote = text[at++];
  for (; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == quote) {
      return at + 1;
    }
  }
  return text.size();
}

// `^(\d*)<<(-?)\s*WORD` at the start of a word.
std::optional<HeredocMark> mark_at(std::string_view text, std::size_t& at) {
  std::size_t i = at;
  while (i < text.size() && is_digit(text[i])) ++i;
  if (text.substr(i, 2) != "<<" || text.substr(i, 3) == "<<<") return std::nullopt;
  HeredocMark mark;
  mark.offset = at;
  i += 2;
  if (i < text.size() && text[i] == '-') {
    mark.chomp = true;
    ++i;
  }
  while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
  while (i < text.size() && space_at(text, i) == 0) {
    char c = text[i];
    if (c == '\'' || c == '"') {
      std::size_t end = past_quote(text, i);
      bool closed = end > i + 1 && text[end - 1] == c;
      mark.name += text.substr(i + 1, end - i - (closed ? 2 : 1));
      mark.expand = false;
      i = end;
      continue;
    }
    if (c == '<') return std::nullopt;
    if (c == '\\' && i + 1 < text.size()) {
      mark.expand = false;
      c = text[++i];
    }
    mark.name += c;
    ++i;
  }
  if (mark.name.empty()) return std::nullopt;
  at = i;
  return mark;
}

}  // namespace

std::vector<HeredocMark> heredoc_marks(std::string_view text) {
  std::vector<HeredocMark> marks;
  if (!contains(text, "<<")) return marks;
  for (std::size_t at = 0; at < text.size();) {
    bool starts_word = at == 0 || space_at(text, at - 1) == 1;
    if (starts_word) {
      if (auto mark = mark_at(text, at)) {
        marks.push_back(std::move(*mark));
        continue;
      }
    }
    if (text[at] == '\'' || text[at] == '"') {
      at = past_quote(text, at);
    } else if (text[at] == '\\') {
      at += 2;
    } else {
      ++at;
    }
  }
  return marks;
}

}  // namespace kiln
