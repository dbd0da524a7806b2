// Which Dockerfile and which definition file are the two forms of one image, by their names and folders
// alone. docs/import.md has the rules. Used by the import only; pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/import/import.h"

namespace kiln {

// One of them is "" where an image has one form only.
struct TwinPair {
  std::string docker;
  std::string definition;
  bool only = false;  // they are the only two of their place, and say nothing of each other
};

struct TwinPairs {
  std::vector<TwinPair> pairs;    // every path once; by folder and name
  std::vector<ImportNote> notes;  // ambiguous twins
};

TwinPairs pair_twins(const std::vector<std::string>& paths);

// Files that kiln generated itself: their recipes are there already. Used by the import only; pure.

// The origin that a generated Dockerfile or definition file states, in either form (`kiln generate`,
// --inline); nothing for any other file, and for one without its first line or labels.
std::optional<OwnOutput> read_own_output(const std::string& path, const std::string& text);

// "the recipes are base/debian, framework/pytorch: …", for people.
std::string where_recipes_are(const std::set<std::string>& recipes);

}  // namespace kiln
