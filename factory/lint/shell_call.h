// What a simple command calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/source/shell.h"

namespace kiln::lint {

// The program behind `sudo`, `env`, `exec`, `command`, `time`, `nice` and `python -m pip`.
struct Call {
  std::string program;  // the last part of its path: "pip"; "" when there is none (an assignment)
  const ShellToken* word = nullptr;
  std::vector<const ShellToken*> arguments;
  bool sudo = false;

  bool has(std::string_view argument) const;         // as a whole word
  bool has_prefix(std::string_view argument) const;  // a word that starts with it
  const ShellToken* find(std::string_view argument) const;
  // The first argument that is no option; `with_value` are options that take the next word.
  const ShellToken* subcommand(const std::vector<std::string_view>& with_value = {}) const;
};
Call call_of(const ShellCommand& command);

}  // namespace kiln::lint
