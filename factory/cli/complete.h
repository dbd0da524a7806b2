// `kiln __complete WORDS…`: what the shells' completions ask. Not for people.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "factory/cli/invocation.h"

namespace kiln {

// Prints a line `none`, `files` or `folders` (the shell completes these itself), then lines of word, tab,
// description. `words`: from the one after `kiln` up to the one at the cursor. Files that cannot be read give
// no words, and no message: the user is still typing.
void print_completions(const CLI::App& app, std::vector<std::string> words, Invocation& invocation);

}  // namespace kiln
