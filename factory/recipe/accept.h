// "accept" of a recipe. Used by the reader of recipes only.
#pragma once

#include "factory/base/json.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// Reads "accept" of the document `root` into `recipe`. REQUIRES: its versions and methods are read. Throws
// Error(input), also for a pattern that names no file in particular.
void read_accept(const JsonNode& root, Recipe& recipe);

}  // namespace kiln
