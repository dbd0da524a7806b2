// Proposed changes of a matrix file, as a JSON patch (RFC 6902). Each operation has a "reason", which other
// programs ignore as the RFC says. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/resolve/resolve.h"

namespace kiln {

struct PatchedCell {
  ImageRequest request;
  std::string reason;
};

// Includes the cells in the matrix with this text, in its first group; those that an include of it has
// already, word for word, are left out. Throws Error(input) for a text that is no matrix.
Json include_patch(std::string_view text, const std::string& file, const std::vector<PatchedCell>& cells);

// Excludes the cells from the group that has them, and removes the include entry of a cell that has one.
// Cells of other files, which this one includes, are left out. Throws as include_patch().
Json exclude_patch(std::string_view text, const std::string& file, const std::vector<PatchedCell>& cells);

}  // namespace kiln
