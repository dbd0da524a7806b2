// Rows of the index as programs read them: the command line, the library and the server print these.
#pragma once

#include <vector>

#include "factory/base/json.h"
#include "registry/index/index.h"

namespace kiln {

// `kiln index list --format json`.
Json entry_json(const IndexEntry& entry);
Json entries_json(const std::vector<IndexEntry>& entries);
// `kiln index snapshots --format json`, newest first.
Json snapshots_json(const std::vector<Snapshot>& snapshots);

}  // namespace kiln
