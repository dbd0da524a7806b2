#include "factory/cli/cell_options.h"

#include <cstdio>
#include <set>

#include "factory/cli/print.h"
#include "factory/cli/usage.h"

namespace kiln {

void add_cell_options(CLI::App& command, CellOptions& options) {
  command.add_option("-f,--file", options.matrix, "matrix file")
      ->required()
      ->type_name("FILE")
      ->envname("KILN_FILE");
  command
      .add_option("cells", options.cells,
                  "cells (default: all): a glob over the id or tag, or axis=value, such as 'compiler=*xla*'; "
                  "patterns of one axis are alternatives, and every axis must match")
      ->type_name("CELL");
  repeatable(
      command.add_option("--only", options.only, "a cell pattern, like the arguments; may be repeated")
          ->type_name("CELL"));
  repeatable(
      command
          .add_option("--exclude", options.exclude, "leave out the cells that match this; may be repeated")
          ->type_name("CELL"));
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
