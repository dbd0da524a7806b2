// Which cells of a plan a command is about: patterns as people write them on the command line. Pure.
#pragma once

#include <cstdint>
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

// What patterns are held against. An excluded cell has no tag and no reference.
struct CellNames {
  std::string id;
  std::string tag;
  std::string reference;  // repository:tag
  AxisValues axes;
};

// The cells of a matrix, wherever they are kept. Both kinds are numbered from 0, in cell order.
class CellList {
 public:
  virtual ~CellList() = default;
  virtual const std::string& name() const = 0;  // of the matrix
  virtual std::size_t images() const = 0;
  virtual CellNames image(std::size_t number) = 0;
  virtual std::size_t excluded() const = 0;
  virtual ExcludedCell excluded_cell(std::size_t number) = 0;
};

// Numbers in a CellList.
struct ChosenCells {
  std::vector<std::uint32_t> images;
  std::vector<std::uint32_t> excluded;  // those that the patterns ask for
  std::vector<std::string> warnings;    // an exclude that matches nothing
};

// Throws Error(usage) for an axis that no cell has and no matrix may have; Error(no_match) when a pattern of
// `only` matches no cell, or nothing is left.
ChosenCells match_cells(CellList& cells, const CellPatterns& patterns);

// The same in a whole plan: views into it, which it outlives.
struct CellChoice {
  std::vector<const PlannedImage*> images;
  std::vector<const ExcludedCell*> excluded;
  std::vector<std::string> warnings;

  std::vector<std::string> ids() const;
};

CellChoice match_cells(const BuildPlan& plan, const CellPatterns& patterns);

}  // namespace kiln
