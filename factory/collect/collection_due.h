// Whether a night may leave the collection out, because the state folder is as the last collection left it.
// Skipping is always safe: what nothing needs stays a little longer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "factory/site/site.h"
#include "factory/state/entry_stamp.h"
#include "factory/state/state.h"

namespace kiln {

// A digest of the entries of the state folder (name, inode, size, time of the last change) and of what is to
// be kept. Not of what each night writes: its lock, lease, reserve and reports, the
// origins of recipes and the metrics. What changes two folders deep is not seen.
std::string state_stamp(const StatePaths& state, const Retention& retention);

// Seconds after which things may have become old enough to go, although nothing changed: a week, or the
// shortest age of `retention` if that is less.
std::int64_t longest_wait(const Retention& retention);

// `last`: the state folder as the last collection left it (StatePaths::collected()); nullopt if none is
// known.
bool is_collection_due(const std::optional<KeptStamp>& last, const std::string& stamp,
                       const Retention& retention, std::int64_t now);

}  // namespace kiln
