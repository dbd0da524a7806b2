// Shell text as simple commands with places: enough of POSIX's "Shell Command Language" (XCU 2) to see what a
// script runs, not what it computes. Text that no shell would take is read as far as it goes: shellcheck is
// there for syntax.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/source/shell_tokens.h"

namespace kiln {

struct ShellRedirect {
  std::string sign;   // ">", ">>", "<", "<<", "<<-", …
  ShellToken target;  // of a heredoc: its delimiter
};

// A simple command, or what stands where one could (`for x in a b`, `case $x in`).
struct ShellCommand {
  std::vector<ShellToken> words;  // assignments in front included
  std::vector<ShellRedirect> redirects;
  Span span;
  std::string lead;              // the reserved word in front of it: "then", "do", "!", …; "" without
  std::string before;            // the operator in front of it: "", ";", "&&", "||", "|", "&", "\n"
  std::string after;             // and behind it
  int pipeline = 0;              // commands of one pipeline have the same number
  int depth = 0;                 // of ( … ), { … } and $( … ) around it
  bool in_substitution = false;  // inside $( … ) or ` … `
};

struct ShellText {
  std::vector<ShellCommand> commands;  // in the order of their first byte
  std::vector<ShellComment> comments;
  std::vector<std::string> functions;  // names defined here
  bool compound = false;               // has if, for, while, until or case
};

// REQUIRES: the span lies inside `text`. Offsets in the answer are of `text`.
ShellText read_shell(std::string_view text, Span span, ShellDialect dialect = ShellDialect::script);
ShellText read_shell(std::string_view script);

}  // namespace kiln
