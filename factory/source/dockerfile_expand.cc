// Quotes, escapes and variables of a Dockerfile's words (BuildKit's shell/lex.go).
#include <fmt/format.h>

#include "factory/base/text.h"
#include "factory/source/dockerfile.h"

namespace kiln {
namespace {

constexpr int kMaxNesting = 32;  // ${a:-${b:-…}}

class Expander {
 public:
  Expander(std::string_view word, const DockerVariables& variables, char escape, const std::string& file,
           Place place)
      : word_(word), variables_(variables), escape_(escape), file_(file), place_(place) {}

  std::string run() { return until(0); }

 private:
  std::string until(char stop);
  std::string single_quoted();
  std::string double_quoted();
  std::string variable();
  std::string braced();
  std::string substituted(const std::string& name, bool empty_is_unset, char form);
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
  Place place_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::string Expander::until(char stop) {
  std::string out;
  while (!done()) {
    char c = peek();
    if (stop != 0 && c == stop) return out;
    if (c == '\'') {
      out += single_quoted();
    } else if (c == '"') {
      out += double_quoted();
    } else if (c == '$') {
      out += variable();
    } else if (c == escape_) {
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
  if (end == std::string_view::npos) fail("an open single quote");
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
  fail("an open double quote");
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
  } else if (!done() && std::string_view("@*#?-$!").find(peek()) != std::string_view::npos) {
    ++at_;
  } else {
    while (is_letter_or_digit(peek()) || peek() == '_') ++at_;
  }
  return std::string(word_.substr(start, at_ - start));
}

std::string Expander::braced() {
  if (++depth_ > kMaxNesting) fail("variables are nested too deep");
  ++at_;
  std::string wanted = name();
  if (wanted.empty()) fail("'${' without a name");
  std::string out;
  if (peek() == '}') {
    out = variables_(wanted).value_or("");
  } else {
    bool colon = peek() == ':';
    if (colon) ++at_;
    char form = peek();
    if (std::string_view("-+?").find(form) == std::string_view::npos || done())
      fail(fmt::format("the form of ${{{}…}} is not known", wanted),
           "known are ${x}, ${x:-word}, ${x:+word} and ${x:?word}");
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

}  // namespace

std::string expand_docker_word(std::string_view word, const DockerVariables& variables, char escape,
                               const std::string& file, Place place) {
  if (word.find_first_of("'\"$") == std::string_view::npos && word.find(escape) == std::string_view::npos)
    return std::string(word);
  return Expander(word, variables, escape, file, place).run();
}

}  // namespace kiln
