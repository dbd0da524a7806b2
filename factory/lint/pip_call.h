// A call of `pip install`, taken apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lint/unit.h"

namespace kiln::lint {

struct PipCall {
  Call call;
  const ShellWord* install = nullptr;  // the word "install"
  std::vector<Requirement> packages;   // named on the command line
  std::vector<std::string> files;      // behind -r, as written
  std::string index;                   // of --index-url and the like, "" = the default
  bool hashes = false;                 // --require-hashes
  bool no_index = false;               // only what is given
};

// nullopt for every other command.
std::optional<PipCall> pip_call(const ShellCommand& command);

// True when the script defines a function `pip` that adds this option to every call.
bool wrapped_with(const ScriptUnit& unit, std::string_view option);

}  // namespace kiln::lint
