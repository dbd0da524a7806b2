// Bringing rows and sidecars together. Used by the index alone.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "registry/index/index_state.h"
#include "registry/index/index_writer.h"

namespace kiln {

// Reads a database row by row, in any format: for migration, and to save the intact rows of a damaged one.
//
// Formats 1 and 2 had all tags of each snapshot; the row of a snapshot had the checksum of its sidecar, that
// of an image or a measurement the one of its record. Format 1 had tags without `failing`, `retired` and
// `matrices`. Format 3 had no profiles, and tags without what they say of their image.
class OldRows {
 public:
  // Rows that fail verification are left out, or (strict) throw DamagedDatabase.
  OldRows(IndexState& state, std::int64_t format, bool strict)
      : state_(state), format_(format), strict_(strict) {}
  void each_image(
      const std::function<void(const std::string& id, bool lost, const std::string& record)>& use);
  void each_measurement(const std::function<void(const std::string& image, std::int64_t number,
                                                 const std::string& record)>& use);
  std::vector<std::int64_t> snapshots();  // their numbers
  std::optional<SnapshotContent> snapshot(std::int64_t number);
  std::int64_t current();  // as in CurrentRow::snapshot

 private:
  template <typename Read>
  bool without_checksum(Read read);
  SnapshotContent snapshot_of_format_2(std::int64_t number);
  SnapshotContent snapshot_of_format_3(std::int64_t number);  // proven by its root

  IndexState& state_;
  std::int64_t format_;
  bool strict_;
};

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
