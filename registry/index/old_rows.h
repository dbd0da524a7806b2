// What a database holds, row by row, whatever its format: for migration, and to save what a damaged one still
// proves.
//
// Formats 1 and 2 had all tags of each snapshot; the row of a snapshot had the checksum of its sidecar, that
// of an image or a measurement the one of its record. Format 1 had tags without `failing`, `retired` and
// `matrices`. Format 3 had no profiles, and tags without what they say of their image.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/index/index_state.h"

namespace kiln {

class OldRows {
 public:
  // What does not prove itself is left out, or (strict) throws DamagedDatabase.
  OldRows(IndexState& state, std::int64_t format, bool strict)
      : state_(state), format_(format), strict_(strict) {}
  void each_image(
      const std::function<void(const std::string& id, bool lost, const std::string& record)>& take);
  void each_measurement(const std::function<void(const std::string& image, std::int64_t number,
                                                 const std::string& record)>& take);
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

}  // namespace kiln
