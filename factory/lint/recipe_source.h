// A recipe with everything that its checks need: the component, the text it was read from, all files of its
// folder.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/lint/finding.h"
#include "factory/lint/unit.h"
#include "factory/recipe/recipe.h"

namespace kiln::lint {

struct RecipeSource {
  Recipe component;
  SourceFile json;
  JsonDocument document;
  std::map<std::string, SourceFile> files;  // every named file, by the path under which scripts find it
  std::vector<std::string> unnamed;         // the other files of the folder
};

// Throws Error(input) as read_recipe does.
RecipeSource read_recipe_source(const fs::path& file, const FileSystem& files,
                                const std::vector<fs::path>& roots);

// Where the files of a recipe run; a file that several methods use has several places, and the first of
// image, build, host and test counts.
std::map<std::string, ScriptPlace> places_of(const Recipe& recipe);

// Whether a fact, a version or a range of them, is met by a version. A fact that is neither says nothing:
// true.
bool fact_admits(const std::string& fact, const std::string& version);

void check_recipe(const RecipeSource& recipe, Report& report);  // all of a recipe, its files included
void check_recipe_parameters(const RecipeSource& recipe, Report& report);  // KL090, KL091
void check_recipe_test(const RecipeSource& recipe, Report& report);        // KL040, KL041
void check_epoch(const RecipeSource& recipe, Report& report);              // KL096

}  // namespace kiln::lint
