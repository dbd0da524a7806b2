// Which keys each object of kiln's input files may hold, in one table (keys.json): the readers refuse every
// other key, and a test holds the JSON Schemas to it. Objects are named "<schema>" or
// "<schema>/<definition>", as in schema/*.schema.json.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

using KeyTable = std::map<std::string, std::vector<std::string>, std::less<>>;
const KeyTable& key_table();

// REQUIRES: `object` is in the table.
const std::vector<std::string>& keys_of(std::string_view object);

}  // namespace kiln
