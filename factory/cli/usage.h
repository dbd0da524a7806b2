// What is wrong with a command line, in kiln's words.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "factory/base/error.h"

namespace kiln {

// What the parser found, named as the user wrote it, with the nearest right word as hint. `app` has just
// refused to parse.
Error usage_error(const CLI::App& app, const CLI::ParseError& problem);

// Throws Error(usage) for a word that stands where a command should: help was asked for, and the help of what
// is above would hide the mistake. `app` has just found --help.
void refuse_unknown_command(const CLI::App& app);

// Throws Error(usage) naming both options when both were given on this command: one of them would be passed
// over in silence. `why` may be empty.
void refuse_together(const CLI::App& command, const std::string& one, const std::string& other,
                     const std::string& why = "");

// For a command below one that has options of its own: it does `act`, and throws Error(usage) when an option
// of the command above was given, as in `kiln sif -o x.sif list y.sif`.
void call_alone(CLI::App& command, std::function<void()> act);

}  // namespace kiln
