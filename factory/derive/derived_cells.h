// Derived images as cells of their matrix: every command over the matrix has them, the night as well.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/derive/derivation.h"
#include "factory/recipe/matrix.h"
#include "factory/recipe/recipe.h"
#include "factory/state/state.h"

namespace kiln {

// Adds the cells of the derivations of this matrix, a group each, and the recipes of their applications. A
// derivation whose recipes are missing is passed over, and so is a parent that the matrix no longer has;
// `tell` gets a line for each. Throws Error(input) for what expand() refuses in the matrix.
void add_derived_cells(Matrix& matrix, RecipeBook& recipes, const std::vector<Derivation>& derivations,
                       const StatePaths& state, const FileSystem& files,
                       const std::function<void(const std::string&)>& tell);

// The axes of a derived image's cell.
AxisValues derived_axes(const AxisValues& parent, const std::string& name);

}  // namespace kiln
