// Bringing rows and sidecars together. Used by the index alone.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "registry/index/index_writer.h"
#include "registry/index/old_rows.h"

namespace kiln {

// The database in `folder`, verified; made again from the sidecars, and from what the old one still proves,
// where it is missing or damaged: `found` says so. Throws Error(store).
std::unique_ptr<IndexState> open_or_make_again(const std::filesystem::path& folder);

// recover() of a database in which opening sees no damage, but reading all of it does.
std::unique_ptr<IndexState> reconcile_or_make_again(const std::filesystem::path& folder);

// All of recover() that is one transaction. Throws DamagedDatabase.
void reconcile(IndexState& state, RecoveryReport& report);

// Each in a transaction of the caller. Sidecars that prove themselves become rows; rows of `old` that prove
// themselves become rows of `state` where it has none; then sidecars are made again from rows, and what is
// missing all the same is named.
void adopt_sidecars(IndexWriter& writer, RecoveryReport& report);
void adopt_rows(OldRows& old, IndexWriter& writer, RecoveryReport& report);
void settle(IndexWriter& writer, RecoveryReport& report);

// A writer was killed between its sidecars and its transaction, or the database is an old copy.
bool behind_sidecars(IndexState& state);

}  // namespace kiln
