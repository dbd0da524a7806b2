// The current snapshot in memory, for a program that asks often: docs/query.md, "Library".
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "registry/index/index.h"
#include "registry/select/snapshot_table.h"

namespace kiln {

// What tells one state of the index's file from another without reading it: a new snapshot changes it. It is
// not opened for that: closing a second descriptor of a file drops the locks that SQLite has on it (POSIX).
struct IndexIdentity {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t changed_ns = 0;
  auto operator<=>(const IndexIdentity&) const = default;
};

// All 0 when there is no index.
IndexIdentity identity_of_index(const std::filesystem::path& state);

// Answers as best_image() does. A question by rows takes some 2 ms among 10,000 images of its application,
// one in memory some microseconds, and reading all images as long as one question by rows for each twenty of
// them. So a program that asks seldom reads rows, and one that has asked that often reads all. Threads may
// ask at once; while one reads, the others go on by rows.
class ResidentSnapshot {
 public:
  explicit ResidentSnapshot(const Microarchitectures& cpus) : cpus_(&cpus) {}
  // nullopt: none qualifies. `file`: the identity of the index before it was opened for this question.
  std::optional<IndexEntry> best(const Index& index, const IndexIdentity& file, const ImageQuery& query,
                                 const Host& host);

 private:
  struct Resident {
    Resident(const IndexIdentity& of, SnapshotTable all) : file(of), images(std::move(all)) {}
    IndexIdentity file;
    SnapshotTable images;
    std::map<std::string, TableSelector> hosts;  // by their descriptions; "": an unknown one
  };
  struct Found {
    std::optional<SnapshotTable::Image> image{};
    bool none_qualifies = false;  // neither: the snapshot of this file is not in memory
  };
  Found find(const IndexIdentity& file, const ImageQuery& query, const Host& host);
  // Counts a question. True: this thread is to read the snapshot.
  bool is_due(const Index& index, const IndexIdentity& file);
  void read(const Index& index, const IndexIdentity& file);
  TableSelector& selector_for(const Host& host);

  const Microarchitectures* cpus_;
  std::mutex lock_;  // of all below
  IndexIdentity counted_;
  std::size_t questions_ = 0, enough_ = 0;  // about counted_
  bool is_reading_ = false;
  std::unique_ptr<Resident> resident_;
};

}  // namespace kiln
