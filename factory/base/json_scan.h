// The SAX pass before nlohmann::json: builds the DOM, enforces the limits, and returns positions on request.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

// Position of a value, and of the key before it (0 for an array's item). Counted from 1, columns in bytes.
struct JsonPlace {
  int line = 0;
  int column = 0;
  int key_line = 0;
  int key_column = 0;
};

using JsonPlaces = std::unordered_map<std::string, JsonPlace>;  // by JSON pointer

// The members of an object in the order of the text; by the address of nlohmann's object, which neither a
// move nor a growing array changes. The map omits objects whose keys are already sorted.
using JsonOrders = std::unordered_map<const void*, std::vector<const Json*>>;

struct ScannedJson {
  Json value;
  JsonOrders orders;
};

// The JSON pointer of a member (RFC 6901). `parent`: the object's.
std::string pointer_to(const std::string& parent, std::string_view key);

// Throws Error(input).
ScannedJson scan_json(std::string_view text, const std::string& file, const JsonLimits& limits);

// Of every value of a text that scan_json has accepted. A second pass, as places cost more than all else and
// only messages name them.
JsonPlaces json_places(std::string_view text, const std::string& file, const JsonLimits& limits);

}  // namespace kiln
