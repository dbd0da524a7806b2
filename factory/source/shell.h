// Shell text as simple commands with places: enough of POSIX's "Shell Command Language" (XCU 2) to see what a
// script runs, not what it computes. Text that no shell would accept is read as far as possible; shellcheck
// checks syntax.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/source/source_file.h"

namespace kiln {

// The words and operators of a POSIX shell script (Shell Command Language, 2.3 Token Recognition). It never
// fails: what is left open ends with the text. Nothing is expanded.

struct ShellTokens;

struct ShellToken {
  enum class Kind {
    word,
    operation,  // of control or redirection: "&&", ">>"
    line_end,
    pattern,  // a word or sign between `in` or `;;` and the `)` of a case
  };
  Kind kind = Kind::word;
  std::string text;     // without quotes, expansions as written: "$P/bin/pip" is $P/bin/pip
  std::string raw;      // as written, but for line continuations; "2>" is one operator with text ">"
  Span span;            // with quotes
  bool literal = true;  // no expansion in it (globs are not looked at)
  bool quoted = false;  // a quote or backslash is in it
  std::vector<ShellTokens> substitutions;  // the contents of its $( … ) and ` … `
};

struct ShellComment {
  std::string text;  // without "#"
  std::size_t offset = 0;
};

struct ShellTokens {
  std::vector<ShellToken> tokens;      // without comments and the bodies of heredocs
  std::vector<ShellComment> comments;  // those of substitutions included, in which this is empty
  bool complete = true;                // no quote, substitution or heredoc is left open
};

// `dockerfile`: comment lines inside a continued instruction do not end it.
enum class ShellDialect { script, dockerfile };

// REQUIRES: the span lies inside `text`. Offsets in the answer are of `text`.
ShellTokens shell_tokens(std::string_view text, Span span, ShellDialect dialect = ShellDialect::script);
ShellTokens shell_tokens(std::string_view script);

// Whether commands follow this reserved word at once: if, then, else, elif, while, until, do, !, fi, done.
bool is_lead_in(const ShellToken& word);

// NAME of a word `NAME=value` or `NAME+=value`, "" for other words.
std::string_view assigned_name(std::string_view word);

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
  std::string after;             // and after it
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
