// The inside of Index, shared by index.cc (publishing, reading) and recovery.cc (opening, rebuilding).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "registry/database.h"
#include "registry/index.h"

namespace kiln {

// A snapshot in full: its sidecar, its row and its tags are made from this.
struct SnapshotContent {
  struct Tagged {
    std::string image;  // images.id
    bool stale = false;
    bool failing = false;
    std::string retired{};                // the reason
    std::vector<std::string> matrices{};  // sorted
    bool operator==(const Tagged&) const = default;
  };
  using Name = std::pair<std::string, std::string>;  // repository, tag
  std::int64_t number = 0;
  std::string created;
  std::string note;
  std::map<Name, Tagged> tags;

  std::string text() const;  // the sidecar
  static SnapshotContent parse(const std::string& text, const std::string& file);
};

// The database, and the sidecars that it is made from. What a sidecar proves counts, whether or not its row
// is there yet: a power cut can take back a transaction, and another process may be about to commit it.
struct IndexState {
  std::filesystem::path folder;
  Database::Access access;
  BlobStore store;
  Database database;
  RecoveryReport found;  // by opening it; the next recover() reports it

  // `file`: of the database, in `folder`.
  IndexState(std::filesystem::path state, Database::Access how, const char* file = "index.db");
  const BlobStore& writable_store() const;  // Error(store) for readers

  // The snapshot that readers see: 0 before the first, negative when that one was current and is lost.
  std::int64_t current();
  std::int64_t current_row();
  std::int64_t newest_snapshot();                                // by the rows; also when it is lost
  std::optional<SnapshotContent> snapshot(std::int64_t number);  // verified; of its row, else of its sidecar
  std::optional<SnapshotContent> snapshot_row(std::int64_t number);  // verified
  // Verified; nullopt when nothing is known of the image, or it is lost.
  std::optional<std::string> record(const std::string& image);
  void insert_image(const ImageRecord& image, const std::string& record);
  void insert_snapshot(const SnapshotContent& content);
  void insert_measurement(const std::string& image, std::int64_t number, const std::string& record);
  void set_current(std::int64_t number);
  void write_current_sidecar(std::int64_t number);

  void create_tables();     // when the file is empty
  void bring_up_to_date();  // a file of an earlier format, in one transaction
  void check_format();      // DamagedDatabase; Error(store) when it is newer than this program
  void check_content();     // DamagedDatabase: pages, checksums
};

// Bytes of a snapshot's sidecar: a million names.
inline constexpr std::size_t kMostSnapshot = 256u << 20;

// What snapshots/current.json proves; 0 when there is none.
std::int64_t current_by_sidecar(const BlobStore& store);
std::string checksum_of(const std::string& key, const std::string& text);
// Throws DamagedDatabase naming the row when they differ.
void check_checksum(const std::string& key, const std::string& text, const std::string& checksum);
std::string image_row(const std::string& id, bool external);
std::string measurement_row(const std::string& image, std::int64_t number);
JsonDocument parse_own(const std::string& text,
                       const std::string& file);  // limits for what kiln itself wrote

}  // namespace kiln
