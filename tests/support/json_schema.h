// A JSON Schema validator (draft 2020-12) for the keywords that kiln's own schemas use; it refuses to run any
// other.
#pragma once

#include <string>
#include <vector>

#include "factory/base/json.h"

namespace kiln::testing {

// What is wrong with `value`, one line each ("/methods/distro: unknown key 'scrpt'"); empty when it is valid.
// Throws std::invalid_argument for a keyword that is not implemented here, so that no check is skipped in
// silence.
std::vector<std::string> schema_violations(const Json& schema, const Json& value);

}  // namespace kiln::testing
