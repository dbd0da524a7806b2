// The words and operators of a POSIX shell script (Shell Command Language, 2.3 Token Recognition): enough to
// read back what kiln renders, and to see what a legacy script installs. It never fails: what is left open
// ends with the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct ShellToken {
  enum class Kind { word, operation, line_end };
  Kind kind = Kind::word;
  std::string text;     // a literal word without its quotes, else as written; an operator: "&&"
  std::string raw;      // as written, but for line continuations
  bool literal = true;  // no variable, command substitution or backquote in it (globs are not looked at)
  std::size_t offset = 0;
};

struct ShellTokens {
  std::vector<ShellToken> tokens;
  bool complete = true;  // no quote, substitution or heredoc is left open
};

// Comments are left out, and so are the bodies of heredocs.
ShellTokens shell_tokens(std::string_view script);

// A simple command: the words between operators, with the redirections left out.
struct ShellCommand {
  std::vector<ShellToken> words;
  std::size_t offset = 0;
};
std::vector<ShellCommand> shell_commands(const ShellTokens& tokens);

}  // namespace kiln
