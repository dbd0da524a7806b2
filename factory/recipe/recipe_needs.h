// Statements of a recipe about other components, and their conditions. Used by the readers and by resolve
// only.
#pragma once

#include <vector>

#include "factory/base/json.h"
#include "factory/recipe/recipe.h"
#include "factory/recipe/target.h"

namespace kiln {

// A range over the recipe's own versions. Throws Error(input) when it holds for none of them.
VersionRange read_own_range(const JsonNode& node, const std::vector<ComponentVersion>& own);

// {"version": ">=2.1", "target": "*nvidia*"}, at least one of the two. Throws Error(input).
When read_when(const JsonNode& node, const std::vector<ComponentVersion>& own);
// Of a file: "with": "toolchain/python@3.12" as well. Throws Error(input).
When read_file_when(const JsonNode& node, const std::vector<ComponentVersion>& own);

// An array of needs, none of them said twice. Throws Error(input).
std::vector<Need> read_needs(const JsonNode& node, const std::vector<ComponentVersion>& own);

// True when this version of the component, built for this target, is meant. `with` is not looked at.
bool holds(const When& when, const Version& own, const Target& target);

// One need as resolve sees it: one of `options` must be met, in order of preference. A plain need has one
// option. Points into the recipe.
struct OpenNeed {
  const Need* need = nullptr;
  std::vector<const Need*> options;
};

// The needs that hold for this version and target. Where no option of an `any` holds, nothing is needed.
std::vector<OpenNeed> needs_that_hold(const std::vector<Need>& needs, const Version& own,
                                      const Target& target);

// "toolchain python >=3.11", for messages.
std::string describe(const Need& need);

}  // namespace kiln
