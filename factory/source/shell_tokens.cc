#include <algorithm>

#include "factory/base/reading.h"
#include "factory/source/shell_tokenizer.h"

namespace kiln {
namespace shell {
namespace {

constexpr std::string_view kOperators[] = {"<<<", "<<-", "&&", "||", ";;", "<<", ">>", "<&", ">&",
                                           "<>",  ">|",  "&",  "|",  ";",  "<",  ">",  "(",  ")"};

}  // namespace

ShellTokens Tokenizer::run() {
  Level level;
  level.out.tokens.reserve((text_.size() - at_) / 12 + 4);
  read(level);
  level.out.comments = std::move(comments_);
  level.out.complete = complete_ && heredocs_.empty();
  return std::move(level.out);
}

// Bytes of the line continuation here, 0 when there is none.
std::size_t Tokenizer::continuation() const {
  if (peek() != '\\') return 0;
  if (peek(1) == '\n') return 2;
  return dialect_ == ShellDialect::dockerfile && peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
}

void Tokenizer::skip_blanks() {
  while (!done()) {
    if (is_blank(peek())) {
      ++at_;
    } else if (std::size_t size = continuation(); size > 0) {
      at_ += size;
      if (dialect_ == ShellDialect::dockerfile) skip_comment_lines();
    } else {
      return;
    }
  }
}

void Tokenizer::skip_comment_lines() {
  for (;;) {
    std::size_t start = at_;
    while (is_blank(peek())) ++at_;
    if (peek() != '#') {
      at_ = start;
      return;
    }
    comment();
    if (peek() == '\n') ++at_;
  }
}

void Tokenizer::comment() {
  std::size_t end = std::min(text_.find('\n', at_), text_.size());
  comments_.push_back({std::string(text_.substr(at_ + 1, end - at_ - 1)), at_});
  at_ = end;
}

// Up to the sign that closes the level, which is left unread, or the end.
void Tokenizer::read(Level& level) {
  for (;;) {
    skip_blanks();
    if (done()) return;
    char c = peek();
    bool closes = c == level.close && (c == '`' || (level.parentheses == 0 && !level.in_pattern()));
    if (closes) return;
    if (c == '\n') {
      line_end(level);
    } else if (c == '#') {
      comment();
    } else if (is_operator(c) && !((c == '<' || c == '>') && peek(1) == '(')) {
      operation(level, at_);
    } else {
      word(level);
    }
  }
}

// `start`: where the number of the descriptor stands, else at_.
void Tokenizer::operation(Level& level, std::size_t start) {
  ShellToken token;
  token.kind = ShellToken::Kind::operation;
  for (std::string_view one : kOperators) {
    if (!text_.substr(at_).starts_with(one)) continue;
    token.text = one;
    level.redirection = one.find_first_of("<>") == std::string_view::npos ? "" : one;
    break;
  }
  at_ += token.text.size();
  token.raw = text_.substr(start, at_ - start);
  token.span = {start, at_};
  if (level.redirection.empty()) {
    level.command_may_start = true;
    parenthesis(level, token);
  }
  level.out.tokens.push_back(std::move(token));
}

// Counts parentheses, and knows those of case patterns from the others.
void Tokenizer::parenthesis(Level& level, ShellToken& token) {
  if (level.in_pattern()) {
    token.kind = ShellToken::Kind::pattern;
    level.cases.back().part = token.text == ")" ? OpenCase::Part::commands : OpenCase::Part::pattern;
    return;
  }
  if (token.text == "(") ++level.parentheses;
  if (token.text == ")" && level.parentheses > 0) {
    --level.parentheses;
    while (!level.cases.empty() && level.cases.back().parentheses > level.parentheses) level.cases.pop_back();
  }
  if (token.text == ";;" && !level.cases.empty()) level.cases.back().part = OpenCase::Part::first_pattern;
}

void Tokenizer::line_end(Level& level) {
  ShellToken token;
  token.kind = ShellToken::Kind::line_end;
  token.text = token.raw = "\n";
  token.span = {at_, at_ + 1};
  level.out.tokens.push_back(std::move(token));
  level.command_may_start = true;
  level.redirection = "";
  ++at_;
  skip_heredocs();
}

void Tokenizer::skip_heredocs() {
  for (const OpenHeredoc& open : heredocs_) {
    bool found = false;
    while (!done() && !found) {
      std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      while (open.chomp && line.starts_with('\t')) line.remove_prefix(1);
      found = line == open.name;
    }
    complete_ = complete_ && found;
  }
  heredocs_.clear();
}

void Tokenizer::word(Level& level) {
  std::size_t start = at_;
  ShellToken token = read_word(level.close);
  if (at_ == start) {  // a sign that begins no word
    ++at_;
    return;
  }
  bool digits = !token.quoted && token.text.find_first_not_of("0123456789") == std::string::npos;
  if (digits && (peek() == '<' || peek() == '>') && peek(1) != '(') return operation(level, start);
  place(level, std::move(token));
}

// What the word is where it stands.
void Tokenizer::place(Level& level, ShellToken token) {
  if (!level.redirection.empty()) {
    if (level.redirection == "<<" || level.redirection == "<<-")
      heredocs_.push_back({token.text, level.redirection == "<<-"});
    level.redirection = "";
  } else {
    place_in_case(level, token);
    level.command_may_start = level.command_may_start && (is_lead_in(token) || token.raw == "{");
  }
  level.out.tokens.push_back(std::move(token));
}

void Tokenizer::place_in_case(Level& level, ShellToken& token) {
  using Part = OpenCase::Part;
  if (level.command_may_start && !level.in_pattern() && token.raw == "case")
    return level.cases.push_back({Part::word, level.parentheses});
  if (level.cases.empty()) return;
  OpenCase& open = level.cases.back();
  bool may_end = open.part == Part::first_pattern || (open.part == Part::commands && level.command_may_start);
  if (may_end && token.raw == "esac") {
    level.cases.pop_back();
  } else if (open.part == Part::word) {
    open.part = Part::in;
  } else if (open.part == Part::in) {
    open.part = token.raw == "in" ? Part::first_pattern : Part::commands;
  } else if (level.in_pattern()) {
    open.part = Part::pattern;
    token.kind = ShellToken::Kind::pattern;
  }
}

}  // namespace shell

ShellTokens shell_tokens(std::string_view text, Span span, ShellDialect dialect) {
  return shell::Tokenizer(text, span, dialect).run();
}

ShellTokens shell_tokens(std::string_view script) { return shell_tokens(script, {0, script.size()}); }

bool is_lead_in(const ShellToken& word) {
  return is_one_of(word.raw, "if then else elif while until do ! fi done");
}

std::string_view assigned_name(std::string_view word) {
  std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return "";
  std::string_view name = word.substr(0, equals);
  if (name.ends_with('+')) name.remove_suffix(1);
  return is_variable_name(name) ? name : "";
}

}  // namespace kiln
