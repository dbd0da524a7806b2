// -f and the patterns that choose cells: what every command over a matrix has.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "factory/cli/invocation.h"
#include "factory/plan/cell_patterns.h"

namespace kiln {

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

// choose_cells() for who needs images: tell_broken() of the others. Throws the first error when no image is
// chosen.
ChosenCells choose_whole_cells(const Resolution& cells, const CellOptions& options, Invocation& invocation);

}  // namespace kiln
