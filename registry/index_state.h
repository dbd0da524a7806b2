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

struct IndexState {
  std::filesystem::path folder;
  std::optional<BlobStore> store;  // none for readers: it makes folders
  Database database;
  std::string set_aside;  // by this open

  IndexState(std::filesystem::path state, Database::Access access);
  const BlobStore& writable_store() const;  // Error(store) for readers

  std::int64_t current();
  std::optional<SnapshotContent> snapshot(std::int64_t number);  // verified
  std::optional<std::string> record(
      const std::string& image);  // verified; nullopt when there is no row or the image is lost
  void insert_image(const ImageRecord& image, const std::string& record);
  void insert_snapshot(const SnapshotContent& content);
  void insert_measurement(const std::string& image, std::int64_t number, const std::string& record);
  void set_current(std::int64_t number);
  void write_current_sidecar(std::int64_t number);

  void create_tables();    // when the file is empty
  void check_format();     // DamagedDatabase; Error(store) when it is newer than this program
  void check_content();    // DamagedDatabase: pages, checksums
  bool behind_sidecars();  // a writer was killed between its sidecars and its transaction, or the file is an
                           // old copy
};

std::string checksum_of(const std::string& key, const std::string& text);
// Throws DamagedDatabase naming the row when they differ.
void check_checksum(const std::string& key, const std::string& text, const std::string& checksum);
std::string image_row(const std::string& id, bool external);
std::string measurement_row(const std::string& image, std::int64_t number);
JsonDocument parse_own(const std::string& text,
                       const std::string& file);  // limits for what kiln itself wrote

}  // namespace kiln
