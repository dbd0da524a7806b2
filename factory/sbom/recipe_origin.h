// What a plan does not hold of its recipes, since it changes no bit of an image: licences, homepages, and the
// commit that the recipes are of. `kiln build` keeps it beside the plan for the steps that package images.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/recipe/recipe.h"

namespace kiln::sbom {

struct RecipeFacts {
  std::string licenses;  // SPDX expression
  std::string homepage;
};

// A git work tree that recipes come from.
struct RecipeRepository {
  std::string uri;        // git+https://…; "" where there is no remote
  std::string commit;     // hex digits
  bool modified = false;  // recipes differ from the commit
  bool operator==(const RecipeRepository&) const = default;
};

struct RecipeOrigin {
  std::map<std::string, RecipeFacts> components;  // by "framework/pytorch"
  std::vector<RecipeRepository> repositories;     // in the order of the recipe roots, each once
};

// Asks git, where there is one, about each folder of recipes. `environment`: of the git process.
RecipeOrigin find_origin(const RecipeBook& recipes, CommandRunner& runner,
                         const std::map<std::string, std::string>& environment);

Json to_json(const RecipeOrigin& origin);
RecipeOrigin recipe_origin_from_json(const JsonNode& node);

}  // namespace kiln::sbom
