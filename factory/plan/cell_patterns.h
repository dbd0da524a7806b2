// Which cells of a plan a command is about: patterns as people write them on the command line. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "factory/plan/build_plan.h"

namespace kiln {

// A pattern is a glob over the cell's id or tag (`pytorch-2.6*`, `pytorch:2.6.0-*`), or `axis=value`, where
// the value is a glob and an axis that a cell lacks is `none`. It takes whole values: `compiler=xla` is not
// `xla+tvm`.
struct CellPatterns {
  std::vector<std::string> only;     // of one axis: any of them; of different axes: all; names are one "axis"
  std::vector<std::string> exclude;  // cells that match any of them are left out
  bool empty() const { return only.empty() && exclude.empty(); }
};

// Numbers of a plan or resolution, or of an expansion alone, where every cell counts as an image.
struct ChosenCells {
  ImageNumbers images;
  std::vector<std::uint32_t> excluded;  // those that the patterns ask for
  std::vector<std::uint32_t> broken;    // chosen as images are, and none: a recipe or target is wrong
  std::vector<std::string> warnings;    // an exclude that matches nothing
};

// Without patterns all cells are chosen. Throws Error(usage) for an axis that no cell has and no matrix may
// have; Error(no_match) when a pattern of `only` matches no cell, or nothing is left.
ChosenCells match_cells(const Resolution& resolution, const CellPatterns& patterns);
inline ChosenCells match_cells(const BuildPlan& plan, const CellPatterns& patterns) {
  return match_cells(plan.resolution(), patterns);
}
// The same before anything is resolved: cells have no tag yet.
ChosenCells match_cells(const Expansion& expansion, const CellPatterns& patterns);

}  // namespace kiln
