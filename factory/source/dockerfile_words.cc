#include "factory/source/dockerfile_words.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {
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
  if (text.find("<<") == std::string_view::npos) return marks;
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
