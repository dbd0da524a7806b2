// What recipes say of their versions, how each is known and from where: for `kiln lint --facts` and docs/.
#pragma once

#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/recipe/fact_sources.h"

namespace kiln::lint {

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
std::string facts_as_json(const std::vector<RecipeFacts>& recipes);  // each fact by itself

}  // namespace kiln::lint
