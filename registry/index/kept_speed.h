// A record of the table `measurements`: a speed, or a setting that `kiln tune` measured.
#pragma once

#include <string>
#include <variant>

#include "factory/record/image_record.h"
#include "factory/record/tuned_record.h"

namespace kiln {

using KeptSpeed = std::variant<Measurement, TunedRecord>;

// Throws Error(input) with the place of what is wrong.
KeptSpeed kept_speed_from_json(const JsonNode& node);
const Digest& image_of(const KeptSpeed& speed);     // the manifest that was run
const std::string& key_of(const KeptSpeed& speed);  // of its bits; "" in old measurements

}  // namespace kiln
