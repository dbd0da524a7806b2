// The reader of shell_tokens(): levels of commands here and in shell_tokens.cc, words in shell_words.cc. Used
// by these two only.
#pragma once

#include <string_view>
#include <vector>

#include "factory/base/text.h"
#include "factory/source/shell.h"

namespace kiln::shell {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_operator(char c) { return contains("&|;<>()", c); }

struct OpenHeredoc {
  std::string name;
  bool chomp;  // "<<-"
};

// How far a `case WORD in PATTERN) … ;; esac` is read.
struct OpenCase {
  enum class Part { word, in, first_pattern, pattern, commands };
  Part part = Part::word;
  int parentheses = 0;  // open around it
};

// A word whose end is not reached yet.
struct OpenWord {
  ShellToken token;
  std::size_t raw_until = 0;  // how far token.raw holds the text
};

// The text between the signs of one substitution, or the whole script.
struct Level {
  char close = '\0';  // ")" or "`"
  int parentheses = 0;
  bool command_may_start = true;
  std::string_view redirection;  // the next word is its target
  std::vector<OpenCase> cases;
  ShellTokens out;

  bool in_pattern() const {
    return !cases.empty() && (cases.back().part == OpenCase::Part::first_pattern ||
                              cases.back().part == OpenCase::Part::pattern);
  }
};

class Tokenizer {
 public:
  Tokenizer(std::string_view text, Span span, ShellDialect dialect)
      : text_(text.substr(0, span.end)), at_(span.begin), dialect_(dialect) {}
  ShellTokens run();

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool done() const { return at_ >= text_.size(); }
  std::size_t continuation() const;
  void skip_blanks();
  void skip_comment_lines();
  void comment();
  void read(Level& level);
  void operation(Level& level, std::size_t start);
  void parenthesis(Level& level, ShellToken& token);
  void line_end(Level& level);
  void skip_heredocs();
  void word(Level& level);
  ShellToken read_word(char close);
  void place(Level& level, ShellToken token);
  void place_in_case(Level& level, ShellToken& token);
  bool skip_continuation(OpenWord& word);
  void escaped(ShellToken& token);
  void single_quoted(ShellToken& token);
  void double_quoted(OpenWord& word);
  void expansion(ShellToken& token, bool in_quotes);
  void braces(ShellToken& token, bool in_quotes);
  bool arithmetic();
  void substitution(ShellToken& token, char close);
  bool too_deep();

  std::string_view text_;
  std::size_t at_;
  ShellDialect dialect_;
  std::vector<ShellComment> comments_;
  std::vector<OpenHeredoc> heredocs_;
  bool complete_ = true;
  int depth_ = 0;
};

}  // namespace kiln::shell
