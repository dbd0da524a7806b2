// Globs over names: `*` any run of characters, `?` any one. No classes, no escapes; time is O(pattern ×
// text).
#pragma once

#include <string_view>

namespace kiln {

bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace kiln
