// The command line's own definitions in words, for help, manual pages, completions and errors.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app);  // in order; hidden ones left out
std::string full_name(const CLI::App& command);                    // "kiln index list"
// The commands below `app` under the titles of their groups, in order. One group without a title: the program
// gives none.
std::vector<std::pair<std::string, std::vector<const CLI::App*>>> grouped_commands(const CLI::App& app);
std::vector<const CLI::Option*> options_of(const CLI::App& command);  // with a dash; hidden ones left out
std::vector<const CLI::Option*> positionals_of(const CLI::App& command);

bool takes_value(const CLI::Option& option);
bool takes_many(const CLI::Option& option);
std::vector<std::string> choices_of(const CLI::Option& option);  // {"table", "json"}; empty: anything
std::string value_label(const CLI::Option& option);              // "FILE", "FORMAT", "N"
std::string names_of(const CLI::Option& option);                 // "-f, --file", "CELL"
// The description with its choices, default, environment variable and "required".
std::string description_of(const CLI::Option& option);
std::string usage_of(const CLI::App& command);  // "kiln plan -f FILE [OPTIONS] [CELL…]"

using Explanations = std::vector<std::pair<std::string, std::string>>;
const Explanations& exit_codes();         // "0", "done, or nothing to do"
const Explanations& environment_names();  // "KILN_STATE", "as --state"

// Lines of at most `width` bytes, all but the first indented.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width);

// The command's footer: examples, a line each, then notes after an empty line.
struct Footer {
  std::string examples;
  std::string notes;
};
Footer footer_of(const CLI::App& command);

// Help in kiln's form: one sentence, usage, arguments, options, commands, examples, notes.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace kiln
