// The winner of a selection out of the rows of the index: profiles are judged, each once, and of the records
// only those are read that decide.
#pragma once

#include <optional>

#include "registry/index_reading.h"
#include "registry/select.h"

namespace kiln {

// As Index::best(), inside one reading transaction.
std::optional<RawEntry> best_image(IndexState& state, const ImageQuery& query, const Host& host,
                                   const Microarchitectures& cpus);

}  // namespace kiln
