#include "factory/cli/options.h"

#include <set>

#include "factory/app/building.h"
#include "factory/cli/print.h"

namespace kiln {

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                      const char* type, const std::string& text) {
  return add_value(command, name, values, type, text)->expected(1)->allow_extra_args(false)->take_all();
}

std::pair<std::string, std::string> assignment(const std::string& text, std::string_view form,
                                               std::string_view example) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(ExitCode::usage, fmt::format("'{}' is not {}", text, form),
                fmt::format("for example {}", example));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_format_option(CLI::App& command, std::string& format) {
  add_choice(command, "--format", format, {"table", "json"}, "table or json");
}

CLI::Option* add_matrix_option(CLI::App& command, std::string& matrix, const std::string& text) {
  return add_value(command, "-f,--file", matrix, "FILE", text)->required()->envname("KILN_FILE");
}

void add_jobs_option(CLI::App& command, int& jobs, const std::string& what) {
  add_number(command, "-j,--jobs", jobs, "N",
             what + " at a time (default: $KILN_JOBS, else the site file's, else half the processors + 1)", 1,
             kMostJobs);
}

CLI::Option* add_snapshot_option(CLI::App& command, std::int64_t& snapshot, const std::string& text) {
  return add_value(command, "--snapshot", snapshot, "N", text);
}

std::optional<std::int64_t> snapshot_of(std::int64_t asked) {
  return asked > 0 ? std::optional(asked) : std::nullopt;
}

void add_wait_option(CLI::App& command, GlobalOptions& options) {
  command.add_flag("--wait", options.wait, "wait while another kiln works in the state folder");
}

void add_lock_options(CLI::App& command, GlobalOptions& options) {
  add_value(command, "--lockfile", options.lockfile, "LOCK",
            "lockfile (default: FILE with .lock.json, if it exists)");
  command.add_flag("--locked", options.locked, "refuse to go beyond the lockfile (exit 7)");
}

CLI::App* add_below(CLI::App& parent, const char* name, const char* text, const char* example) {
  CLI::App* command = parent.add_subcommand(name, text);
  command->fallthrough();
  command->footer(example);
  return command;
}

void add_cell_options(CLI::App& command, CellOptions& options) {
  add_matrix_option(command, options.matrix);
  add_value(command, "cells", options.cells, "CELL",
            "cells (default: all): a glob over the id or tag, or axis=value, such as 'compiler=*xla*'; "
            "patterns of one axis are alternatives, and every axis must match");
  add_list(command, "--only", options.only, "CELL", "a cell pattern, like the arguments; may be repeated");
  add_list(command, "--exclude", options.exclude, "CELL",
           "leave out the cells that match this; may be repeated");
}

ExitCode tell_broken(const Resolution& cells, const ChosenCells& chosen) {
  std::set<std::string> told;
  for (std::uint32_t number : chosen.broken)
    if (std::string line = cells.broken(number).why.format(); told.insert(line).second) tell(line);
  if (chosen.broken.empty()) return ExitCode::ok;
  return chosen.images.empty() ? ExitCode::input : ExitCode::images_failed;
}

ChosenCells choose_whole_cells(const Resolution& cells, const CellOptions& options, Invocation& invocation) {
  ChosenCells chosen = choose_cells(cells, options, invocation);
  if (chosen.images.empty() && !chosen.broken.empty()) throw cells.broken(chosen.broken.front()).why;
  invocation.exit_code = tell_broken(cells, chosen);
  return chosen;
}

CellPatterns CellOptions::patterns() const {
  CellPatterns patterns{cells, exclude};
  patterns.only.insert(patterns.only.end(), only.begin(), only.end());
  return patterns;
}

}  // namespace kiln
