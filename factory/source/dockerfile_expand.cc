// Quotes, escapes and variables of a Dockerfile's words (BuildKit's shell/lex.go).
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/source/dockerfile.h"

namespace kiln {
namespace {

constexpr int kMaxNesting = 32;  // ${a:-${b:-…}}

// Whether a pattern of *, ? and \c matches all of `text` (BuildKit knows no others).
bool fits(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in = 0;
  std::size_t star = std::string_view::npos;  // behind the last * that was seen
  std::size_t kept = 0;                       // where what it takes ends
  while (at < text.size()) {
    const bool escaped = in + 1 < pattern.size() && pattern[in] == '\\';
    const std::size_t letter = in + (escaped ? 1 : 0);
    if (in < pattern.size() && !escaped && pattern[in] == '*') {
      star = ++in;
      kept = at;
    } else if (letter < pattern.size() && (pattern[letter] == text[at] || (!escaped && pattern[in] == '?'))) {
      in = letter + 1;
      ++at;
    } else if (star != std::string_view::npos) {
      in = star;
      at = ++kept;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && pattern[in] == '*') ++in;
  return in == pattern.size();
}

class Expander {
 public:
  Expander(std::string_view word, const DockerVariables& variables, char escape, const std::string& file,
           Position place)
      : word_(word), variables_(variables), escape_(escape), file_(file), place_(place) {}

  std::string run() { return until(0); }
  std::string run_heredoc();

 private:
  std::string until(char stop, bool keep_escapes = false);
  std::string single_quoted();
  std::string double_quoted();
  std::string variable();
  std::string braced();
  std::string substituted(const std::string& name, bool empty_is_unset, char form);
  std::string trimmed_value(const std::string& name);
  std::string value_for_pattern(const std::string& name);
  std::string replaced_value(const std::string& name);
  std::string name();
  bool done() const { return at_ >= word_.size(); }
  char peek() const { return done() ? '\0' : word_[at_]; }
  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    refuse_at(file_, place_, std::move(message), std::move(hint));
  }

  std::string_view word_;
  const DockerVariables& variables_;
  char escape_;
  const std::string& file_;
  Position place_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// Quotes are text in a heredoc, and an escape is one in front of "$" and itself.
std::string Expander::run_heredoc() {
  std::string out;
  while (!done()) {
    if (peek() == '$') {
      out += variable();
      continue;
    }
    const bool escaped =
        peek() == escape_ && at_ + 1 < word_.size() && (word_[at_ + 1] == '$' || word_[at_ + 1] == escape_);
    if (escaped) ++at_;
    out += word_[at_++];
  }
  return out;
}

std::string Expander::until(char stop, bool keep_escapes) {
  std::string out;
  while (!done()) {
    char c = peek();
    if (stop != 0 && (c == stop || (stop == '/' && c == '}'))) return out;
    if (c == '\'') {
      out += single_quoted();
    } else if (c == '"') {
      out += double_quoted();
    } else if (c == '$') {
      out += variable();
    } else if (c == escape_) {
      if (keep_escapes) out += c;
      ++at_;  // at the very end it is dropped
      if (!done()) out += word_[at_++];
    } else {
      out += c;
      ++at_;
    }
  }
  if (stop != 0) fail("'${' without its '}'");
  return out;
}

std::string Expander::single_quoted() {
  std::size_t end = word_.find('\'', ++at_);
  if (end == std::string_view::npos) fail("a single quote is not closed");
  std::string out(word_.substr(at_, end - at_));
  at_ = end + 1;
  return out;
}

std::string Expander::double_quoted() {
  std::string out;
  for (++at_; !done();) {
    char c = peek();
    if (c == '"') {
      ++at_;
      return out;
    }
    if (c == '$') {
      out += variable();
      continue;
    }
    ++at_;
    if (c == escape_ && !done() && (peek() == '"' || peek() == '$' || peek() == escape_)) c = word_[at_++];
    out += c;
  }
  fail("a double quote is not closed");
}

std::string Expander::variable() {
  ++at_;
  if (peek() == '{') return braced();
  std::string wanted = name();
  return wanted.empty() ? "$" : variables_(wanted).value_or("");
}

std::string Expander::name() {
  std::size_t start = at_;
  if (is_digit(peek())) {
    while (is_digit(peek())) ++at_;
  } else if (!done() && contains("@*#?-$!", peek())) {
    ++at_;
  } else {
    while (is_letter_or_digit(peek()) || peek() == '_') ++at_;
  }
  return std::string(word_.substr(start, at_ - start));
}

std::string Expander::braced() {
  if (++depth_ > kMaxNesting) fail("variables are nested more than 32 levels deep");
  ++at_;
  std::string wanted = name();
  if (wanted.empty()) fail("'${' without a name");
  std::string out;
  if (peek() == '}') {
    out = variables_(wanted).value_or("");
  } else if (peek() == '#' || peek() == '%') {
    out = trimmed_value(wanted);
  } else if (peek() == '/') {
    out = replaced_value(wanted);
  } else {
    bool colon = peek() == ':';
    if (colon) ++at_;
    char form = peek();
    if (!contains("-+?", form) || done())
      fail(fmt::format("kiln does not know this form of ${{{}…}}", wanted),
           "known are ${x} and the forms :- :+ :? - + ? # ## % %% / //");
    ++at_;
    out = substituted(wanted, colon, form);
  }
  if (peek() != '}' || done()) fail("'${' without its '}'");
  ++at_;
  --depth_;
  return out;
}

std::string Expander::substituted(const std::string& wanted, bool empty_is_unset, char form) {
  std::string word = until('}');
  std::optional<std::string> value = variables_(wanted);
  bool set = value && !(empty_is_unset && value->empty());
  if (form == '+') return set ? word : "";
  if (form == '?' && !set) fail(fmt::format("{}: {}", wanted, word.empty() ? "is not set" : word));
  return set ? *value : word;
}

// Matching takes the square of the length, and the texts are a stranger's.
std::string Expander::value_for_pattern(const std::string& wanted) {
  constexpr std::size_t kLongest = 1024;
  std::string value = variables_(wanted).value_or("");
  if (value.size() > kLongest)
    fail(fmt::format("the value of {} has over {} bytes: too many for a pattern", wanted, kLongest));
  return value;
}

// ${x#pattern}, ${x##pattern}, ${x%pattern} and ${x%%pattern}.
std::string Expander::trimmed_value(const std::string& wanted) {
  const char side = word_[at_++];
  const bool longest = peek() == side;
  if (longest) ++at_;
  const std::string pattern = until('}', true);
  std::string value = value_for_pattern(wanted);
  for (std::size_t i = 0; i <= value.size(); ++i) {
    const std::size_t size = longest ? value.size() - i : i;
    const std::string_view all = value;
    const std::string_view part = side == '#' ? all.substr(0, size) : all.substr(all.size() - size);
    if (fits(part, pattern))
      return std::string(side == '#' ? all.substr(size) : all.substr(0, all.size() - size));
  }
  return value;
}

// ${x/pattern/word} and ${x//pattern/word}: the longest match at each place.
std::string Expander::replaced_value(const std::string& wanted) {
  ++at_;
  const bool everywhere = peek() == '/';
  if (everywhere) ++at_;
  const std::string pattern = until('/', true);
  std::string word;
  if (peek() == '/') {
    ++at_;
    word = until('}');
  }
  const std::string value = value_for_pattern(wanted);
  std::string out;
  bool replaced = false;
  for (std::size_t from = 0; from < value.size();) {
    std::size_t size = pattern.empty() || (replaced && !everywhere) ? 0 : value.size() - from;
    while (size > 0 && !fits(std::string_view(value).substr(from, size), pattern)) --size;
    replaced = replaced || size > 0;
    out += size > 0 ? word : value.substr(from, 1);
    from += std::max<std::size_t>(size, 1);
  }
  return out;
}

}  // namespace

std::string expand_docker_heredoc(std::string_view text, const DockerVariables& variables, char escape,
                                  const std::string& file, Position place) {
  return Expander(text, variables, escape, file, place).run_heredoc();
}

std::string expand_docker_word(std::string_view word, const DockerVariables& variables, char escape,
                               const std::string& file, Position place) {
  if (word.find_first_of("'\"$") == std::string_view::npos && !contains(word, escape))
    return std::string(word);
  return Expander(word, variables, escape, file, place).run();
}

}  // namespace kiln
