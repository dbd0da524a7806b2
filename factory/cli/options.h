// The options of the commands, each kind written in one place: what it is called, what it takes, how the help
// shows it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/cli/invocation.h"
#include "factory/plan/cell_patterns.h"

namespace kiln {

// `type`: the word that the help has for the value, such as FILE.
template <typename Value>
CLI::Option* add_value(CLI::App& command, const std::string& name, Value& value, const char* type,
                       const std::string& text) {
  return command.add_option(name, value, text)->type_name(type);
}

// A number from `least` to `most`. The help shows the value as the default unless it is out of the range.
template <typename Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& value, const char* type,
                        const std::string& text, std::int64_t least, std::int64_t most) {
  CLI::Option* option = add_value(command, name, value, type, text)->check(CLI::Range(least, most));
  const auto now = static_cast<std::int64_t>(value);
  return now < least || now > most ? option : option->capture_default_str();
}

// One of `choices`; the help shows the value as the default unless it is empty.
template <typename Choices = std::initializer_list<const char*>>
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        const Choices& choices, const std::string& text) {
  const std::vector<std::string> all(choices.begin(), choices.end());
  CLI::Option* option = command.add_option(name, value, text)->check(CLI::IsMember(all));
  return value.empty() ? option : option->capture_default_str();
}

// Takes one value each time: `--only A --only B`. CLI11 would otherwise take all following words, also
// arguments.
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                      const char* type, const std::string& text);

// "framework=pytorch" → both sides of the first '='. Throws Error(usage) without an '=' and a left side.
// `form`: "FEATURE=VALUE", `example`: what the hint shows.
std::pair<std::string, std::string> assignment(const std::string& text, std::string_view form,
                                               std::string_view example);

// Options that several commands have.
void add_format_option(CLI::App& command, std::string& format);  // --format: table or json
CLI::Option* add_matrix_option(CLI::App& command, std::string& matrix,
                               const std::string& text = "matrix file");
void add_jobs_option(CLI::App& command, int& jobs, const std::string& what = "steps");
CLI::Option* add_snapshot_option(CLI::App& command, std::int64_t& snapshot,
                                 const std::string& text = "snapshot by number (default: the current one)");
std::optional<std::int64_t> snapshot_of(std::int64_t asked);  // nullopt: the current one
// For commands that lock the state folder.
void add_wait_option(CLI::App& command, GlobalOptions& options);
// For commands that plan a matrix.
void add_lock_options(CLI::App& command, GlobalOptions& options);

// Adds a command to `parent`, with its help and its examples. It also accepts the global options after its
// name.
CLI::App* add_below(CLI::App& parent, const char* name, const char* text, const char* example);

// Throws Error(usage) naming both options when both were given on this command: one of them would be passed
// over in silence. `why` may be empty.
void refuse_together(const CLI::App& command, const std::string& one, const std::string& other,
                     const std::string& why = "");

// For a subcommand of a command that has options: runs `act`, and throws Error(usage) if an option of the
// command above was given, as in `kiln sif -o x.sif list y.sif`.
void call_alone(CLI::App& command, std::function<void()> act);

// -f and the patterns that choose cells: what every command over a matrix has.
struct CellOptions {
  std::string matrix;
  std::vector<std::string> cells;  // arguments
  std::vector<std::string> only;   // the same as an option
  std::vector<std::string> exclude;

  bool every_cell() const { return cells.empty() && only.empty() && exclude.empty(); }
  CellPatterns patterns() const;
};

// Adds -f, --only, --exclude and the arguments. `options` outlives the command.
void add_cell_options(CLI::App& command, CellOptions& options);

// match_cells with these patterns; its warnings go to stderr. Throws as match_cells does. `cells`: an
// Expansion, a Resolution or a BuildPlan.
template <typename Cells>
ChosenCells choose_cells(const Cells& cells, const CellOptions& options, const Invocation& invocation) {
  ChosenCells chosen = match_cells(cells, options.patterns());
  for (const std::string& warning : chosen.warnings) invocation.note("warning: " + warning);
  return chosen;
}

// Says on stderr what is wrong with the chosen cells that are broken, each error once. The exit code for it:
// input when nothing else is chosen, else images_failed; ok when none is broken.
ExitCode tell_broken(const Resolution& cells, const ChosenCells& chosen);

// choose_cells() for commands that need images: tell_broken() for the others. Throws the first error when no
// image is chosen.
ChosenCells choose_whole_cells(const Resolution& cells, const CellOptions& options, Invocation& invocation);

}  // namespace kiln
