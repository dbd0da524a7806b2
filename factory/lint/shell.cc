#include "lint/shell.h"

#include <algorithm>
#include <array>

namespace kiln::lint {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_operator(char c) { return c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '\n'; }
bool ends_word(char c) { return is_blank(c) || is_operator(c) || c == '<' || c == '>'; }

// Reserved words that a command may follow at once.
bool is_lead_in(std::string_view word) {
  static constexpr std::array<std::string_view, 10> kWords = {"if",    "then", "else", "elif", "while",
                                                              "until", "do",   "!",    "fi",   "done"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

class ShellReader {
 public:
  ShellReader(std::string_view text, Span span, ShellDialect dialect)
      : text_(text), at_(span.begin), end_(span.end), dialect_(dialect) {}

  ShellText read() {
    while (at_ < end_) {
      list('\0');
      if (at_ < end_) ++at_;  // a closing sign that nothing opened
    }
    std::stable_sort(out_.commands.begin(), out_.commands.end(),
                     [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < end_ ? text_[at_ + ahead] : '\0'; }

  // Blanks and line continuations; in a Dockerfile, comment lines of a continued instruction as well.
  void skip_blanks() {
    for (;;) {
      if (is_blank(peek()) && at_ < end_) {
        ++at_;
      } else if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 2 : 3;
        if (dialect_ == ShellDialect::dockerfile) skip_comment_lines();
      } else {
        return;
      }
    }
  }

  void skip_comment_lines() {
    for (;;) {
      std::size_t start = at_;
      while (is_blank(peek()) && at_ < end_) ++at_;
      if (peek() != '#') {
        at_ = start;
        return;
      }
      comment();
      if (peek() == '\n') ++at_;
    }
  }

  void comment() {
    std::size_t start = at_;
    while (at_ < end_ && text_[at_] != '\n') ++at_;
    out_.comments.push_back({std::string(text_.substr(start + 1, at_ - start - 1)), start});
  }

  // Commands until `close` (")", "}", "`") or the end. Leaves `close` unread.
  void list(char close) {
    std::string before;
    ShellCommand command = fresh(before);
    for (;;) {
      skip_blanks();
      if (at_ >= end_) return finish(command, "");
      char c = peek();
      if (close != '\0' && c == close && (close != '}' || command.words.empty())) return finish(command, "");
      if (c == '#') {
        comment();
      } else if (c == '(') {
        open_parenthesis(command);
      } else if (c == ')') {  // the end of a case pattern, or of nothing
        ++at_;
        command = fresh("\n");
      } else if (is_operator(c)) {
        std::string sign = take_operator();
        finish(command, sign);
        command = fresh(sign);
      } else if (c == '<' || c == '>') {
        redirect(command);
      } else {
        take_word(command, close);
      }
    }
  }

  ShellCommand fresh(const std::string& before) {
    ShellCommand command;
    command.before = before;
    command.depth = depth_;
    command.in_substitution = substitutions_ > 0;
    if (before != "|") ++pipelines_;
    command.pipeline = pipelines_;
    return command;
  }

  void finish(ShellCommand& command, const std::string& after) {
    if (command.words.empty() && command.redirects.empty()) return;
    command.after = after;
    const auto& words = command.words;
    command.span = words.empty() ? command.redirects.front().target.span
                                 : Span{words.front().span.begin, words.back().span.end};
    for (const ShellRedirect& redirect : command.redirects)
      if (!redirect.sign.starts_with("<<"))
        command.span.end = std::max(command.span.end, redirect.target.span.end);
    out_.commands.push_back(std::move(command));
  }

  std::string take_operator() {
    char c = text_[at_++];
    std::string sign(1, c);
    if ((c == '&' || c == '|' || c == ';') && peek() == c) sign += text_[at_++];
    if (sign == ";;") sign = "\n";
    if (c == '\n') here_documents();
    return sign;
  }

  // `name()`, or a subshell.
  void open_parenthesis(ShellCommand& command) {
    ++at_;
    if (command.words.size() == 1) {
      skip_blanks();
      if (peek() == ')') {
        ++at_;
        out_.functions.push_back(command.words.front().text);
        command = fresh("\n");
        return;
      }
    }
    nested(')', false);
    command = fresh(command.before);
  }

  void nested(char close, bool substitution) {
    if (depth_ == kMostNested) {  // nobody wrote this by hand
      at_ = end_;
      return;
    }
    ++depth_;
    substitutions_ += substitution ? 1 : 0;
    list(close);
    substitutions_ -= substitution ? 1 : 0;
    --depth_;
    if (at_ < end_ && text_[at_] == close) ++at_;
  }

  void take_word(ShellCommand& command, char close) {
    if (command.words.empty() && peek() == '{' && (ends_word(peek(1)) || at_ + 1 >= end_)) {
      ++at_;
      nested('}', false);
      command = fresh(command.before);
      return;
    }
    ShellWord word = read_word(close);
    if (word.span.end == word.span.begin) {  // a sign that begins no word, such as a lone "`"
      ++at_;
      return;
    }
    bool digits = !word.quoted && word.text.find_first_not_of("0123456789") == std::string::npos;
    if (digits && (peek() == '<' || peek() == '>')) return;  // the number of a descriptor
    bool first = command.words.empty() && !word.quoted;
    out_.compound |= first && (word.text == "if" || word.text == "for" || word.text == "while" ||
                               word.text == "until" || word.text == "case");
    if (first && is_lead_in(word.text)) {
      command = fresh(command.before);
      return;
    }
    command.words.push_back(std::move(word));
  }

  void redirect(ShellCommand& command) {
    std::size_t start = at_;
    while (peek() == '<' || peek() == '>' || peek() == '&' || peek() == '|') ++at_;
    ShellRedirect redirect;
    redirect.sign = std::string(text_.substr(start, at_ - start));
    if (redirect.sign == "<" && peek() == '(') {  // bash's <( … )
      ++at_;
      nested(')', true);
      command.words.push_back({std::string(text_.substr(start, at_ - start)), {start, at_}, false});
      return;
    }
    bool strip = redirect.sign == "<<" && peek() == '-';
    if (strip) ++at_;
    skip_blanks();
    redirect.target = read_word('\0');
    command.redirects.push_back(redirect);
    if (redirect.sign == "<<") waiting_.push_back({redirect.target.text, strip});
  }

  void here_documents() {
    for (const auto& [delimiter, strip] : waiting_) {
      while (at_ < end_) {
        std::size_t stop = std::min(text_.find('\n', at_), end_);
        std::string_view line = text_.substr(at_, stop - at_);
        at_ = std::min(stop + 1, end_);
        while (strip && line.starts_with('\t')) line.remove_prefix(1);
        if (line == delimiter) break;
      }
    }
    waiting_.clear();
  }

  ShellWord read_word(char close) {
    ShellWord word;
    word.span.begin = at_;
    while (at_ < end_ && !ends_word(text_[at_])) {
      char c = text_[at_];
      if (close == '`' && c == '`') break;
      if (c == '\'') {
        single_quotes(word);
      } else if (c == '"') {
        double_quotes(word);
      } else if (c == '\\') {
        if (peek(1) == '\n') {
          at_ += 2;
        } else {
          if (at_ + 1 < end_) word.text += text_[at_ + 1];
          at_ = std::min(at_ + 2, end_);
          word.quoted = true;
        }
      } else if (c == '$' || c == '`') {
        expansion(word);
      } else {
        word.text += c;
        ++at_;
      }
    }
    word.span.end = at_;
    return word;
  }

  void single_quotes(ShellWord& word) {
    std::size_t stop = std::min(text_.find('\'', at_ + 1), end_);
    word.text += text_.substr(at_ + 1, stop - at_ - 1);
    word.quoted = true;
    at_ = std::min(stop + 1, end_);
  }

  void double_quotes(ShellWord& word) {
    word.quoted = true;
    ++at_;
    while (at_ < end_ && text_[at_] != '"') {
      char c = text_[at_];
      if (c == '\\' && at_ + 1 < end_) {
        if (text_[at_ + 1] != '\n') word.text += text_[at_ + 1];
        at_ += 2;
      } else if (c == '$' || c == '`') {
        expansion(word);
      } else {
        word.text += c;
        ++at_;
      }
    }
    if (at_ < end_) ++at_;
  }

  // `$x`, `${x…}`, `$(…)`, `$((…))`, `…`: kept as written; commands inside are read too.
  void expansion(ShellWord& word) {
    std::size_t start = at_;
    if (text_[at_] == '`') {
      ++at_;
      nested('`', true);
    } else if (peek(1) == '(' && peek(2) == '(') {
      std::size_t stop = text_.find("))", at_);
      at_ = stop == std::string_view::npos ? end_ : std::min(stop + 2, end_);
    } else if (peek(1) == '(') {
      at_ += 2;
      nested(')', true);
    } else if (peek(1) == '{') {
      braces();
    } else {
      ++at_;
    }
    word.text += text_.substr(start, at_ - start);
  }

  void braces() {
    int open = 0;
    for (; at_ < end_; ++at_) {
      char c = text_[at_];
      if (c == '\\') ++at_;
      if (c == '{') ++open;
      if (c == '}' && --open == 0) break;
    }
    at_ = std::min(at_ + 1, end_);
  }

  static constexpr int kMostNested = 100;

  struct HereDocument {
    std::string delimiter;
    bool strip;
  };

  std::string_view text_;
  std::size_t at_;
  std::size_t end_;
  ShellDialect dialect_;
  ShellText out_;
  std::vector<HereDocument> waiting_;
  int depth_ = 0;
  int substitutions_ = 0;
  int pipelines_ = 0;
};

}  // namespace

ShellText read_shell(std::string_view text, Span span, ShellDialect dialect) {
  return ShellReader(text.substr(0, span.end), span, dialect).read();
}

}  // namespace kiln::lint
