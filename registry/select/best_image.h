// The winner of a selection out of the rows of the index: profiles are judged, each once, and of the records
// only those are read that decide.
#pragma once

#include <optional>

#include "registry/index/index_reading.h"
#include "registry/select/select.h"

namespace kiln {

// The winner that select_image() finds in the current snapshot, reading and proving no more than decides.
// nullopt: none qualifies, or the rows do not have the current snapshot; Index::entries_of() tells. Throws as
// select_image() does.
std::optional<IndexEntry> best_image(const Index& index, const ImageQuery& query, const Host& host,
                                     const Microarchitectures& cpus);
// The same, inside a reading transaction of the caller.
std::optional<RawEntry> best_image(IndexState& state, const ImageQuery& query, const Host& host,
                                   const Microarchitectures& cpus);

}  // namespace kiln
