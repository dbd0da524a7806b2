// Errors of a command line, in kiln's words.
#pragma once

#include <CLI/CLI.hpp>

#include "factory/base/error.h"

namespace kiln {

// The parser's error, with the word as the user wrote it, and the nearest right word as hint. `app` has just
// refused to parse.
Error usage_error(const CLI::App& app, const CLI::ParseError& problem);

// Throws Error(usage) for a word in the place of a command: with --help, the help of the command above would
// hide the mistake. `app` has just found --help.
void refuse_unknown_command(const CLI::App& app);

}  // namespace kiln
