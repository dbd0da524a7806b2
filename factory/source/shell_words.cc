// Words: quotes, backslashes and expansions.
#include <algorithm>
#include <array>
#include <iterator>

#include "factory/base/text.h"
#include "factory/source/shell_tokenizer.h"

namespace kiln::shell {
namespace {

// What ends a run of plain characters in a word.
constexpr auto kSpecial = [] {
  std::array<bool, 256> special{};
  for (char c : std::string_view(" \t\r\n&|;<>()\\'\"$`")) special[static_cast<unsigned char>(c)] = true;
  return special;
}();

// Of $( … ), ` … ` and ${ … } in each other. Nobody writes more by hand, and each is a call.
constexpr int kMostNested = 100;

bool ends_word(char c) { return is_blank(c) || c == '\n' || is_operator(c); }
bool is_name_byte(char c) { return is_letter_or_digit(c) || c == '_'; }

}  // namespace

ShellToken Tokenizer::read_word(char close) {
  OpenWord open{{}, at_};
  ShellToken& token = open.token;
  token.span.begin = at_;
  if (peek() == '<' || peek() == '>') {  // bash's <( … )
    token.text = text_.substr(at_, 2);
    std::size_t inside = at_ += 2;
    substitution(token, ')');
    token.text += text_.substr(inside, at_ - inside);
  }
  while (!done() && !ends_word(peek()) && !(close == '`' && peek() == '`')) {
    char c = peek();
    if (skip_continuation(open)) continue;
    if (c == '\\') {
      escaped(token);
    } else if (c == '\'') {
      single_quoted(token);
    } else if (c == '"') {
      double_quoted(open);
    } else if (c == '$' || c == '`') {
      expansion(token, false);
    } else {
      std::size_t end = at_ + 1;
      while (end < text_.size() && !kSpecial[static_cast<unsigned char>(text_[end])]) ++end;
      token.text += text_.substr(at_, end - at_);
      at_ = end;
    }
  }
  token.span.end = at_;
  token.raw += text_.substr(open.raw_until, at_ - open.raw_until);
  return std::move(open.token);
}

bool Tokenizer::skip_continuation(OpenWord& word) {
  std::size_t size = continuation();
  if (size == 0) return false;
  word.token.raw += text_.substr(word.raw_until, at_ - word.raw_until);
  word.raw_until = at_ += size;
  return true;
}

void Tokenizer::escaped(ShellToken& token) {
  token.quoted = true;
  if (at_ + 1 < text_.size()) token.text += text_[at_ + 1];
  at_ = std::min(at_ + 2, text_.size());
}

void Tokenizer::single_quoted(ShellToken& token) {
  token.quoted = true;
  std::size_t end = text_.find('\'', at_ + 1);
  complete_ = complete_ && end != std::string_view::npos;
  end = std::min(end, text_.size());
  token.text += text_.substr(at_ + 1, end - at_ - 1);
  at_ = std::min(end + 1, text_.size());
}

void Tokenizer::double_quoted(OpenWord& word) {
  ShellToken& token = word.token;
  token.quoted = true;
  ++at_;
  while (!done() && peek() != '"') {
    char c = peek();
    if (skip_continuation(word)) continue;
    if (c == '$' || c == '`') {
      expansion(token, true);
    } else if (c == '\\' && at_ + 1 < text_.size() &&
               std::string_view("$`\"\\").find(peek(1)) != std::string_view::npos) {
      escaped(token);
    } else {
      token.text += c;
      ++at_;
    }
  }
  complete_ = complete_ && !done();
  if (!done()) ++at_;
}

// `$x`, `${x…}`, `$(…)`, `$((…))`, `…`: kept as written; what commands inside say is read too.
void Tokenizer::expansion(ShellToken& token, bool in_quotes) {
  std::size_t start = at_;
  char next = peek(1);
  if (peek() == '`') {
    ++at_;
    substitution(token, '`');
  } else if (next == '(' && !(peek(2) == '(' && arithmetic())) {
    at_ += 2;
    substitution(token, ')');
  } else if (next == '{') {
    at_ += 2;
    braces(token, in_quotes);
  } else if (next != '(') {
    bool name = is_name_byte(next) && !is_digit(next);
    at_ += 1;
    if (name) {
      while (is_name_byte(peek())) ++at_;
    } else if (next != '\0' && contains("@*#?-$!0123456789", next)) {
      ++at_;
    } else {  // a dollar sign alone
      token.text += '$';
      return;
    }
  }
  token.literal = false;
  token.text += text_.substr(start, at_ - start);
}

// Past "$((…))"; false, and nowhere, when it is a subshell inside of "$(…)".
bool Tokenizer::arithmetic() {
  int open = 0;
  for (std::size_t at = at_ + 1; at < text_.size(); ++at) {
    char c = text_[at];
    if (c == '\\') ++at;
    if (c == '(') ++open;
    if (c != ')' || --open > 1) continue;
    if (open == 1 && (at + 1 >= text_.size() || text_[at + 1] != ')')) return false;
    at_ = at + 2;
    return true;
  }
  complete_ = false;
  at_ = text_.size();
  return true;
}

bool Tokenizer::too_deep() {
  if (depth_ < kMostNested) return false;
  complete_ = false;
  at_ = text_.size();
  return true;
}

// The rest of `${…}`, "}" included.
void Tokenizer::braces(ShellToken& token, bool in_quotes) {
  if (too_deep()) return;
  ++depth_;
  OpenWord word;  // its text is of no use: the whole is kept as written
  ShellToken& inner = word.token;
  while (!done() && peek() != '}') {
    char c = peek();
    if (c == '\\') {
      at_ = std::min(at_ + 2, text_.size());
    } else if (c == '\'' && !in_quotes) {
      single_quoted(inner);
    } else if (c == '"') {
      double_quoted(word);
    } else if (c == '$' || c == '`') {
      expansion(inner, in_quotes);
    } else {
      ++at_;
    }
  }
  --depth_;
  complete_ = complete_ && !done();
  if (!done()) ++at_;
  std::move(inner.substitutions.begin(), inner.substitutions.end(), std::back_inserter(token.substitutions));
}

// What stands up to `close`, which is read too.
void Tokenizer::substitution(ShellToken& token, char close) {
  token.literal = false;
  if (too_deep()) return;
  ++depth_;
  Level level;
  level.close = close;
  read(level);
  --depth_;
  complete_ = complete_ && !done();
  if (!done()) ++at_;
  token.substitutions.push_back(std::move(level.out));
}

}  // namespace kiln::shell
