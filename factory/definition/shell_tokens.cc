#include "definition/shell_tokens.h"

#include <array>
#include <cctype>

namespace kiln {
namespace {

constexpr std::string_view kOperators[] = {"<<<", "<<-", "&&", "||", ";;", "<<", ">>", "<&", ">&",
                                           "<>",  ">|",  "&",  "|",  ";",  "<",  ">",  "(",  ")"};

// What ends a run of plain characters in a word.
constexpr auto kSpecial = [] {
  std::array<bool, 256> special{};
  for (char c : std::string_view(" \t\r\n&|;<>()\\'\"$`")) special[static_cast<unsigned char>(c)] = true;
  return special;
}();

struct OpenHeredoc {
  std::string name;
  bool chomp;
};

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view script) : text_(script) {}
  ShellTokens run();

 private:
  void word();
  bool operation();
  void line_end();
  void skip_heredocs();
  void single_quoted(ShellToken& token);
  void double_quoted(ShellToken& token);
  void substitution(ShellToken& token);
  void escaped(ShellToken& token);
  std::size_t past_pair(std::size_t at, char open, char close) const;
  bool ends_word(char c) const { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || is_operator(c); }
  static bool is_operator(char c) { return std::string_view("&|;<>()").find(c) != std::string_view::npos; }
  bool at_continuation() const { return text_.substr(at_, 2) == "\\\n"; }

  std::string_view text_;
  std::size_t at_ = 0;
  ShellTokens out_;
  std::vector<OpenHeredoc> heredocs_;
  int wants_name_ = 0;  // 1 after "<<", 2 after "<<-"
};

ShellTokens Tokenizer::run() {
  out_.tokens.reserve(text_.size() / 12 + 4);
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (at_continuation()) {
      at_ += 2;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '\n') {
      line_end();
    } else if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (!operation()) {
      word();
    }
  }
  if (!heredocs_.empty()) out_.complete = false;
  return std::move(out_);
}

bool Tokenizer::operation() {
  if (!is_operator(text_[at_])) return false;
  for (std::string_view one : kOperators) {
    if (text_.substr(at_, one.size()) != one) continue;
    out_.tokens.push_back({ShellToken::Kind::operation, std::string(one), std::string(one), true, at_});
    at_ += one.size();
    wants_name_ = one == "<<" ? 1 : one == "<<-" ? 2 : 0;
    return true;
  }
  return false;
}

void Tokenizer::line_end() {
  out_.tokens.push_back({ShellToken::Kind::line_end, "\n", "\n", true, at_});
  ++at_;
  wants_name_ = 0;
  skip_heredocs();
}

void Tokenizer::skip_heredocs() {
  for (const OpenHeredoc& open : heredocs_) {
    bool found = false;
    while (at_ < text_.size() && !found) {
      std::size_t end = text_.find('\n', at_);
      std::string_view line =
          text_.substr(at_, end == std::string_view::npos ? std::string_view::npos : end - at_);
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
      while (open.chomp && line.starts_with('\t')) line.remove_prefix(1);
      found = line == open.name;
    }
    if (!found) out_.complete = false;
  }
  heredocs_.clear();
}

void Tokenizer::word() {
  ShellToken token;
  token.offset = at_;
  while (at_ < text_.size() && !ends_word(text_[at_])) {
    char c = text_[at_];
    if (at_continuation()) {
      at_ += 2;
    } else if (c == '\\') {
      escaped(token);
    } else if (c == '\'') {
      single_quoted(token);
    } else if (c == '"') {
      double_quoted(token);
    } else if (c == '$' || c == '`') {
      substitution(token);
    } else {
      std::size_t end = at_ + 1;
      while (end < text_.size() && !kSpecial[static_cast<unsigned char>(text_[end])]) ++end;
      token.text += text_.substr(at_, end - at_);
      token.raw += text_.substr(at_, end - at_);
      at_ = end;
    }
  }
  if (!token.literal) token.text = token.raw;
  if (wants_name_ != 0) heredocs_.push_back({token.text, wants_name_ == 2});
  wants_name_ = 0;
  out_.tokens.push_back(std::move(token));
}

void Tokenizer::escaped(ShellToken& token) {
  std::string_view pair = text_.substr(at_, 2);
  token.raw += pair;
  if (pair.size() == 2) token.text += pair[1];
  at_ += pair.size();
}

void Tokenizer::single_quoted(ShellToken& token) {
  std::size_t end = text_.find('\'', at_ + 1);
  if (end == std::string_view::npos) {
    out_.complete = false;
    end = text_.size();
  }
  token.text += text_.substr(at_ + 1, end - at_ - 1);
  token.raw += text_.substr(at_, end + 1 - at_);
  at_ = end == text_.size() ? end : end + 1;
}

void Tokenizer::double_quoted(ShellToken& token) {
  token.raw += text_[at_++];
  while (at_ < text_.size() && text_[at_] != '"') {
    char c = text_[at_];
    if (at_continuation()) {
      at_ += 2;
    } else if (c == '$' || c == '`') {
      substitution(token);
    } else if (c == '\\' && at_ + 1 < text_.size() &&
               std::string_view("$`\"\\").find(text_[at_ + 1]) != std::string_view::npos) {
      escaped(token);
    } else {
      token.text += c;
      token.raw += c;
      ++at_;
    }
  }
  if (at_ == text_.size()) {
    out_.complete = false;
    return;
  }
  token.raw += text_[at_++];
}

void Tokenizer::substitution(ShellToken& token) {
  std::size_t end = at_ + 1;
  char next = end < text_.size() ? text_[end] : '\0';
  if (text_[at_] == '`') {
    while (end < text_.size() && text_[end] != '`') end += text_[end] == '\\' ? 2 : 1;
    ++end;
  } else if (next == '(') {
    end = past_pair(end, '(', ')');
  } else if (next == '{') {
    end = past_pair(end, '{', '}');
  } else if (std::isalpha(static_cast<unsigned char>(next)) != 0 || next == '_') {
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
  } else if (next != '\0' && std::string_view("@*#?-$!0123456789").find(next) != std::string_view::npos) {
    ++end;
  } else {  // a dollar sign alone
    token.text += '$';
    token.raw += '$';
    ++at_;
    return;
  }
  if (end > text_.size()) {
    out_.complete = false;
    end = text_.size();
  }
  token.literal = false;
  token.raw += text_.substr(at_, end - at_);
  at_ = end;
}

// Past the `close` of the `open` at `at`; beyond the end when there is none. Quotes inside are respected.
std::size_t Tokenizer::past_pair(std::size_t at, char open, char close) const {
  int depth = 0;
  char quote = 0;
  for (; at < text_.size(); ++at) {
    char c = text_[at];
    if (c == '\\' && quote != '\'') {
      ++at;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == open) {
      ++depth;
    } else if (c == close && --depth == 0) {
      return at + 1;
    }
  }
  return text_.size() + 1;
}

bool is_redirection(const std::string& text) { return text.find_first_of("<>") != std::string::npos; }

}  // namespace

ShellTokens shell_tokens(std::string_view script) { return Tokenizer(script).run(); }

std::vector<ShellCommand> shell_commands(const ShellTokens& tokens) {
  std::vector<ShellCommand> commands;
  ShellCommand open;
  bool target = false;  // the next word is where a redirection goes
  auto close = [&] {
    if (!open.words.empty()) commands.push_back(std::move(open));
    open = {};
    target = false;
  };
  for (const ShellToken& token : tokens.tokens) {
    if (token.kind == ShellToken::Kind::word) {
      if (open.words.empty()) open.offset = token.offset;
      if (!target) open.words.push_back(token);
      target = false;
    } else if (token.kind == ShellToken::Kind::operation && is_redirection(token.text)) {
      target = true;
    } else {
      close();
    }
  }
  close();
  return commands;
}

}  // namespace kiln
