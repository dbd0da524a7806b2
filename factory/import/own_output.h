// Files that kiln generated itself: their recipes are there already. Used by the import only; pure.
#pragma once

#include <optional>
#include <string>

#include "factory/import/import.h"

namespace kiln {

// What a Dockerfile or definition file of kiln's, in either form (`kiln generate`, --inline), says that it
// was generated from; nothing for any other file, and for one whose first line or labels somebody took away.
std::optional<OwnOutput> read_own_output(const std::string& path, const std::string& text);

// "the recipes are base/debian, framework/pytorch: …", for people.
std::string where_recipes_are(const std::set<std::string>& recipes);

}  // namespace kiln
