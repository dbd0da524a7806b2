// A network of one's own, from a JSON file (docs/formats/files.md). Pure.
#pragma once

#include "factory/base/json.h"
#include "registry/scaling/network.h"

namespace kiln {

// Without "seconds", the layers' times are 0: --seconds or --times gives them. Throws Error(input).
Network read_network(const JsonNode& node);

}  // namespace kiln
