// MODAK's container_mappings (hand-made: this code is that image) → external image records.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "registry/image_record.h"

namespace kiln {

// One object, or an array of them; of several with one code the last counts. `compilers`: as for read_dsl; a
// selector such as "xla": true becomes a component of kind compiler. Throws Error(input).
std::vector<ImageRecord> read_mappings(const JsonDocument& document,
                                       const std::vector<std::string>& compilers);

}  // namespace kiln
