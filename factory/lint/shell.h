// Shell text as simple commands with places: enough of POSIX's "Shell Command Language" (XCU 2) to see what a
// script runs, not what it computes. Quotes are removed and expansions kept as written; nothing is expanded.
// Text that no shell would take is read as far as it goes: shellcheck is there for syntax.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/source.h"

namespace kiln::lint {

struct ShellWord {
  std::string text;  // without quotes: "$KILN_PREFIX/bin/pip" is $KILN_PREFIX/bin/pip
  Span span;         // with quotes
  bool quoted = false;
};

struct ShellRedirect {
  std::string sign;  // ">", ">>", "<", "<<", …
  ShellWord target;  // of a here-document: its body
};

// A simple command, or what stands where one could (`for x in a b`, `case $x in`).
struct ShellCommand {
  std::vector<ShellWord> words;  // assignments in front included
  std::vector<ShellRedirect> redirects;
  Span span;
  std::string before;            // the operator in front of it: "", ";", "&&", "||", "|", "&", "\n"
  std::string after;             // and behind it
  int pipeline = 0;              // commands of one pipeline have the same number
  int depth = 0;                 // of ( … ), { … } and $( … ) around it
  bool in_substitution = false;  // inside $( … ) or ` … `
};

struct ShellComment {
  std::string text;  // without "#"
  std::size_t offset = 0;
};

struct ShellText {
  std::vector<ShellCommand> commands;  // in the order of their first byte
  std::vector<ShellComment> comments;
  std::vector<std::string> functions;  // names defined here
  bool compound = false;               // has if, for, while, until or case
};

// `dockerfile`: comment lines inside a continued instruction do not end it.
enum class ShellDialect { script, dockerfile };

// REQUIRES: the span lies inside `text`. Offsets in the answer are of `text`.
ShellText read_shell(std::string_view text, Span span, ShellDialect dialect = ShellDialect::script);

// What a command calls, seen through `sudo`, `env`, `exec`, `command`, `time`, `nice` and `python -m pip`.
struct Call {
  std::string program;  // the last part of its path: "pip"; "" when there is none (an assignment)
  const ShellWord* word = nullptr;
  std::vector<const ShellWord*> arguments;
  bool sudo = false;

  bool has(std::string_view argument) const;         // as a whole word
  bool has_prefix(std::string_view argument) const;  // a word that starts with it
  const ShellWord* find(std::string_view argument) const;
  // The first argument that is no option; `with_value` are options that take the next word.
  const ShellWord* subcommand(const std::vector<std::string_view>& with_value = {}) const;
};
Call call_of(const ShellCommand& command);

// NAME of a word `NAME=value`, "" for other words.
std::string_view assigned_name(const ShellWord& word);

}  // namespace kiln::lint
