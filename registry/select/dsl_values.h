// Values as MODAK's documents write them: numbers and flags may be strings, null counts as absent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/json_numbers.h"

namespace kiln {

std::optional<JsonNode> present(const JsonNode& object, std::string_view key);  // nullopt: absent or null
// A string in lower case, a number as it is in `numbers` where it is, or a boolean.
std::string scalar_text(const JsonNode& node, const WrittenNumbers& numbers);
// The same of a choice; a list of components is joined by '+'. Throws Error(input) for a word that says yes
// or no and is no boolean.
std::string choice_text(const JsonNode& node, const WrittenNumbers& numbers);
std::vector<std::string> chosen_components(const std::string& value);  // of a choice: "a+b" is two
bool flag(const JsonNode& node);                                       // a boolean, "true" or "false"
// One of `allowed` or "", in lower case; the error names them and the nearest.
std::string word_of(const JsonNode& node, const std::vector<std::string>& allowed, std::string_view what);

}  // namespace kiln
