// Parts of a recipe that need neither its folder nor its other parts. Used by the reader of recipes only;
// every read_… throws Error(input).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "factory/base/json.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// A word of small letters, digits and _ that is no kind.
std::string read_role(const JsonNode& node);
ComponentVersion read_version_facts(const std::string& version, const JsonNode& node);
Optimise read_optimise(const JsonNode& node);
// "framework/tensorflow", or with a range "toolchain/python@3.12".
Companion read_companion(const JsonNode& node);
std::vector<Upstream> read_upstream(const JsonNode& node);  // one, or an array
// Names of secrets, sorted.
std::vector<std::string> read_secrets(const JsonNode& node);
// Names of caches, sorted, into a method that is read but for them.
void read_cache(const JsonNode& method, Method& read);
std::map<std::string, EnvironmentValue> read_environment(const JsonNode& node);
OwnLimits read_limits(const JsonNode& node);
// Refuses the script `path` that `node` names when /bin/sh cannot read `bytes`: empty, a NUL, CR LF.
void check_script(const JsonNode& node, const std::string& path, std::string_view bytes);

// "accept" of a recipe. Used by the reader of recipes only.

// Reads "accept" of the document `root` into `recipe`. REQUIRES: its versions and methods are read. Throws
// Error(input), also for a pattern that names no file in particular.
void read_accept(const JsonNode& root, Recipe& recipe);

}  // namespace kiln
