// Values as MODAK's documents write them: numbers and flags may be strings, null counts as absent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

std::optional<JsonNode> present(const JsonNode& object, std::string_view key);  // nullopt: absent or null
std::string scalar_text(const JsonNode& node);  // string (lower-cased), number or boolean
// The same of a choice. Throws Error(input) for a word that says yes or no and is no boolean.
std::string choice_text(const JsonNode& node);
bool flag(const JsonNode& node);  // a boolean, "true" or "false"
// One of `allowed` or "", in lower case; the error names them and the nearest.
std::string word_of(const JsonNode& node, const std::vector<std::string>& allowed, std::string_view what);

}  // namespace kiln
