// What a matrix names and a book of recipes lacks.
#pragma once

#include "factory/recipe/matrix.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// Whether the matrix, or a recipe of the book, names a component that is not in the book.
bool names_unknown(const RecipeBook& recipes, const Matrix& matrix);

}  // namespace kiln
