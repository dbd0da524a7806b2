// The SAX pass in front of nlohmann::json: builds the DOM, enforces the limits, remembers where everything
// was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/json.h"

namespace kiln {

// Where a value stands, and the key in front of it (0 when it is an array's item). Counted from 1, columns in
// bytes.
struct JsonPlace {
  int line = 0;
  int column = 0;
  int key_line = 0;
  int key_column = 0;
  std::size_t order = 0;  // of appearance in the text
};

using JsonPlaces = std::unordered_map<std::string, JsonPlace>;  // by JSON pointer

// Throws Error(input). `places` is filled for every value.
Json scan_json(std::string_view text, const std::string& file, const JsonLimits& limits, JsonPlaces& places);

}  // namespace kiln
