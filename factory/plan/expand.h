// expand: Matrix → ImageRequest. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/matrix.h"
#include "plan/recipe.h"

namespace kiln {

// What was asked: one combination of the axes.
struct ImageRequest {
  std::string id;      // stable: made of the values in a fixed order of the axes, whatever the file's order
  AxisValues axes;     // version ranges replaced by versions
  SourceLocation where;
};

// A combination that is not wanted, and why.
struct ExcludedCell {
  AxisValues axes;
  std::string reason;  // "exclude at matrix/demo.json:12:5", or the constraint's reason
  SourceLocation where;
};

struct Expansion {
  std::vector<ImageRequest> requests;   // in the order of the axes as written, first axis slowest
  std::vector<ExcludedCell> excluded;
  std::vector<std::string> warnings;    // an exclude that matches nothing, …
};

inline constexpr std::uint64_t kMaxCells = 100'000;

// Order: product of the axes → exclude → include → constraints. Throws Error(input): too many cells, two cells
// with one id.
Expansion expand(const Matrix& matrix, const RecipeBook& recipes);

// The id of a cell: the values in a fixed order of the axes, `none` left out, odd characters replaced by `_`.
std::string cell_id(const AxisValues& axes);

// True when the cell matches: a glob over the id, or `axis=value` (glob; an axis that the cell lacks is `none`).
bool matches_pattern(const ImageRequest& request, const std::string& pattern);

}  // namespace kiln
