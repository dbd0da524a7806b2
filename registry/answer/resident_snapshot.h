// Images of the current snapshot in memory, for a program that asks often: docs/query.md, "Library".
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

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

// Answers as best_image() does. That reads rows: milliseconds with thousands of images. So it answers a
// program's first 32 questions about an application; then what its images are chosen by is read, and later
// questions are answered in memory. Of an image that was chosen, the whole entry is kept as well. Threads may
// ask at once; while one reads an application, the others go on by rows.
class ResidentSnapshot {
 public:
  explicit ResidentSnapshot(const Microarchitectures& cpus) : cpus_(&cpus) {}
  // nullptr: none qualifies. `file`: the identity of the index before it was opened for this question.
  std::shared_ptr<const IndexEntry> best(const Index& index, const IndexIdentity& file,
                                         const ImageQuery& query, const Host& host);

 private:
  struct Images {
    explicit Images(TableImages images) : table(std::move(images)) {}
    SnapshotTable table;
    std::unordered_map<std::size_t, std::shared_ptr<const IndexEntry>> chosen;  // by the image's number
    std::deque<std::pair<Host, TableSelector>> hosts;
  };
  struct Application {
    std::size_t questions = 0;
    bool is_reading = false;
    bool is_by_rows = false;  // for good: its images could not be read
    std::unique_ptr<Images> images;
  };
  struct Found {
    std::shared_ptr<const IndexEntry> entry{};    // of an image that was chosen before
    std::optional<SnapshotTable::Image> image{};  // of one that was not
    std::size_t number = 0;                       // of this image
    bool none_qualifies = false;                  // neither: the application's images are not in memory
  };
  // Counts a question. True: this thread is to read the images of the application.
  bool is_due(const Index& index, const IndexIdentity& file, const std::string& application);
  void read(const Index& index, const IndexIdentity& file, const std::string& application);
  Found find(const IndexIdentity& file, const std::string& application, const ImageQuery& query,
             const Host& host);
  void keep(const IndexIdentity& file, const std::string& application, std::size_t number,
            const std::shared_ptr<const IndexEntry>& entry);
  TableSelector& selector_for(const Host& host, Images& images) const;

  const Microarchitectures* cpus_;
  std::mutex lock_;  // of all below
  IndexIdentity file_;
  std::map<std::string, Application> applications_;  // of file_, by their names in lower case
};

}  // namespace kiln
