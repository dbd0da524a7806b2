// Which cells of a plan a command is about: patterns as people write them on the command line. Pure.
#pragma once

#include <string>
#include <vector>

#include "plan/build_plan.h"

namespace kiln {

// A pattern is a glob over the cell's id or tag (`pytorch-2.6*`, `pytorch:2.6.0-*`), or `axis=value`, where
// the value is a glob and an axis that a cell lacks is `none`. It takes whole values: `compiler=xla` is not
// `xla+tvm`.
struct CellPatterns {
  std::vector<std::string> only;     // of one axis: any of them; of different axes: all; names are one "axis"
  std::vector<std::string> exclude;  // what any of them matches is left out
};

// Views into the plan, which outlives them.
struct CellChoice {
  std::vector<const PlannedImage*> images;    // in cell order
  std::vector<const ExcludedCell*> excluded;  // those of the plan's that the patterns ask for
  std::vector<std::string> warnings;          // an exclude that matches nothing

  std::vector<std::string> ids() const;
};

// Throws Error(usage) for an axis that no cell has and no matrix may have; Error(no_match) when a pattern of
// `only` matches no cell, or nothing is left.
CellChoice match_cells(const BuildPlan& plan, const CellPatterns& patterns);

}  // namespace kiln
