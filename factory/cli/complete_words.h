// What may stand at the cursor of a command line: found in the command line's own definitions, so that no
// shell needs a list of its own. Used by `kiln __complete`, which the scripts of `kiln completion` call.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

enum class PathKind { none, files, folders };  // the shell completes these by itself

struct Completion {
  PathKind paths = PathKind::none;
  std::vector<std::pair<std::string, std::string>> words;  // word, description ("" where there is none)
};

// Values that depend on files. `label` is the option's (CELL, IMAGE, WORKLOAD), `given` the options
// of the line so far by long name, their last values. A word must start with `current` to be taken.
using DynamicValues = std::function<std::vector<std::pair<std::string, std::string>>(
    const std::string& label, const std::map<std::string, std::string>& given, const std::string& current)>;

// `before`: the words between `kiln` and the one at the cursor, which is `current` (may be empty). For
// `--name=value` the words have the prefix `--name=`.
Completion complete_words(const CLI::App& app, const std::vector<std::string>& before,
                          const std::string& current, const DynamicValues& dynamic);

}  // namespace kiln
