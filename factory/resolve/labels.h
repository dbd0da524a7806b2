// The labels of an image in two halves. Used by resolve only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/recipe/recipe.h"
#include "factory/resolve/resolve.h"

namespace kiln {

using Labels = std::map<std::string, std::string>;

// Those that have nothing to do with the target. `optimise`: the axis, "" for none; `optimised`: of the
// image.
Labels component_labels(const std::vector<ComponentUse>& components, bool optimised,
                        const std::string& optimise, const RecipeBook& recipes);

// Those of one cell: its target, `key` and `cell` (its id), the key of the image below its applications ("" =
// none), and the flags.
void add_cell_labels(Labels& labels, const Target& target, std::string key, std::string cell,
                     std::string parent, const std::vector<const FlagOrigin*>& flags);

// What the second half of a record's name is the hash of. `labels`: all of them, as JSON.
std::string naming_text(const std::string& labels, const std::string& repository, const std::string& tag);

}  // namespace kiln
