// A recipe with everything that its checks need: the component, the text it was read from, all files of its
// folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/lint/finding.h"
#include "factory/lint/unit.h"
#include "factory/recipe/fact_sources.h"
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
std::map<std::string, ScriptRole> places_of(const Recipe& recipe);

// Whether a fact, a version or a range of them, is met by a version. A fact that is neither says nothing:
// true.
bool fact_admits(const std::string& fact, const std::string& version);

void check_recipe(const RecipeSource& recipe, Report& report);  // all of a recipe, its files included
void check_recipe_parameters(const RecipeSource& recipe, Report& report);  // KL090, KL091
void check_recipe_test(const RecipeSource& recipe, Report& report);        // KL040, KL041

// The facts of recipes about their versions, with the kind and source of each: for `kiln lint --facts` and
// docs/.
struct RecipeFacts {
  std::string component;  // "base/cuda"
  std::vector<Fact> facts;
  std::vector<FactSource> sources;
};

// Of each recipe.json; those without a fact are left out. Throws Error(input) as read_recipe does.
std::vector<RecipeFacts> facts_of_recipes(const std::vector<fs::path>& files, const FileSystem& from,
                                          const std::vector<fs::path>& roots);

// A line for each entry of `sources`, and for the facts that none speaks of.
struct FactLine {
  std::string component;
  std::string what;  // "*/driver, */cuda"
  std::size_t facts = 0;
  std::string known;  // "read"
  std::string from;
};
std::vector<FactLine> fact_lines(const std::vector<RecipeFacts>& recipes);

// "428 facts: 310 read, 90 seen, 28 not known".
std::string facts_in_short(const std::vector<RecipeFacts>& recipes);

std::string facts_as_markdown(const std::vector<RecipeFacts>& recipes);
std::string facts_as_json(const std::vector<RecipeFacts>& recipes);  // each fact separately

}  // namespace kiln::lint
