// A matrix with its recipes, read and planned: what the commands over a matrix begin with, and which recipes
// those are.
#pragma once

#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/plan/build_plan.h"
#include "factory/recipe/matrix.h"
#include "factory/recipe/recipe.h"
#include "factory/recipe/target.h"
#include "factory/site/site.h"

namespace kiln {

struct Catalogue {
  RecipeBook recipes;
  BuildPlan plan;
  std::vector<Error>
      faults{};  // of recipes and targets, but for those that broken cells have as their reason
};

// Broken recipes and targets whose errors no broken cell has as its reason.
std::vector<Error> faults_beside(const Resolution& resolution, const RecipeBook& recipes,
                                 const TargetBook& targets);

// The folders `named` if there are any, else the nearest one: next to the matrix, next to its folder
// (`recipes/` and `matrix/`), here, or in `shared`, the folder of an installed kiln. Throws Error(input) for
// a named folder that is missing, Error(usage) if it finds no folder.
std::vector<fs::path> recipe_roots(const std::vector<std::string>& named, const fs::path& matrix,
                                   const fs::path& shared, const FileSystem& files);

// `roots`, and the folders where these matrices have recipes if they have any.
std::vector<fs::path> with_recipes_beside(std::vector<fs::path> roots,
                                          const std::vector<std::string>& matrices);

// Whether kiln reads its own recipes as well: the matrix, a recipe, or the command (`workloads`) names a
// component that the book lacks.
bool needs_own_recipes(const RecipeBook& recipes, const Matrix& matrix,
                       const std::vector<std::string>& workloads);

// Options of the command line that replace those of the site file.
struct SiteWishes {
  std::string engine, partition, mirror;  // "" = the site file's
  bool no_cache = false;
  bool offline = false;
};
// Throws Error(usage) for a build from no mirror.
Site with_wishes(Site site, const SiteWishes& wishes);

}  // namespace kiln
