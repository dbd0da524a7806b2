// A command that calls pip, also through `uv` and `python -m`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "factory/lint/unit.h"
#include "factory/source/pip_words.h"

namespace kiln::lint {

struct PipCall {
  Call call;
  PipWords words;
  std::vector<PipPackage> packages;  // named on the command line
};

// nullopt for every other command.
std::optional<PipCall> pip_call(const ShellCommand& command);

// True when the script defines a function `pip` that adds this option to every call.
bool wrapped_with(const ScriptUnit& unit, std::string_view option);

}  // namespace kiln::lint
