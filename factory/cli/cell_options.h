// -f and the patterns that choose cells: what every command over a matrix has.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/invocation.h"
#include "plan/cell_choice.h"

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

// match_cells with these patterns; its warnings go to stderr. Throws as match_cells does.
CellChoice choose_cells(const BuildPlan& plan, const CellOptions& options, const Invocation& invocation);

}  // namespace kiln
