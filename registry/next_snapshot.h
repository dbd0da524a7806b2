// What a snapshot is made from, and how it becomes the current one: what publishing, retiring and importing
// share.
#pragma once

#include <map>
#include <string>

#include "registry/index_state.h"

namespace kiln {

// What a publication begins with: nothing where the current snapshot is lost. Throws DamagedDatabase.
SnapshotContent current_content(IndexState& state);

// Why bits were withdrawn, by plan key, of a mapping by its identity: they stay so under whatever labels and
// names they come again.
std::map<std::string, std::string> retired_bits(IndexState& state, const SnapshotContent& content);

// Makes what `content` says the current snapshot, its sidecar first: inside the caller's transaction, so that
// its number is ours. Returns the number.
std::int64_t make_current(IndexState& state, SnapshotContent content, const std::string& created,
                          const std::string& note);

}  // namespace kiln
