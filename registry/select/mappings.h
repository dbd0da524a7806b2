// MODAK's container_mappings (hand-made: this code is that image) → external image records, and back.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/json_rows.h"
#include "factory/record/image_record.h"

namespace kiln {

// `compilers`: as for read_dsl; a selector such as "xla": true becomes a component of kind compiler.
// `numbers`: of the mapping's text. Throws Error(input).
ImageRecord read_mapping(const JsonNode& node, const std::vector<std::string>& compilers,
                         const WrittenNumbers& numbers = {});

// The mapping that reads as this external image.
Json mapping_json(const ImageRecord& external);

// Gives `take` the mappings of a file, one object or an array of them, one after the other. Throws as
// read_json_rows does.
void read_mappings(const std::filesystem::path& file, const std::vector<std::string>& compilers,
                   const std::function<void(const ImageRecord& mapping)>& take);

}  // namespace kiln
