// Members of documents that kiln wrote. A member that is absent is empty, 0 or false. Each function throws
// Error(input) with the place of a member of another kind.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/json.h"
#include "factory/base/version.h"

namespace kiln {

Digest digest_in(const JsonNode& node);
Version version_in(const JsonNode& node);

std::string text_at(const JsonNode& node, std::string_view key);
Digest digest_at(const JsonNode& node, std::string_view key);
bool flag_at(const JsonNode& node, std::string_view key);
std::vector<std::string> strings_at(const JsonNode& node, std::string_view key);
std::map<std::string, std::string> map_at(const JsonNode& node, std::string_view key);
std::uint64_t count_at(const JsonNode& node, std::string_view key);
int small_count_at(const JsonNode& node, std::string_view key);

}  // namespace kiln
