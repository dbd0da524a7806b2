// The inside of Index: the database as readers see it, every row verified, and its sidecars.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "registry/index/index.h"
#include "registry/index/index_rows.h"

namespace kiln {

// The database, and the sidecars that it is made from. A sidecar counts, whether or not its row exists yet: a
// power cut can take back a transaction, and another process may be about to commit it.
struct IndexState {
  std::filesystem::path folder;
  Database::Access access;
  BlobStore store;
  Database database;
  RecoveryReport found;  // by opening it; the next recover() reports it

  // `file`: of the database, in `folder`.
  IndexState(std::filesystem::path state, Database::Access how, const char* file = "index.db");
  // An empty database in memory, for readers of a file in an earlier format.
  struct InMemory {};
  IndexState(std::filesystem::path state, InMemory);
  const BlobStore& writable_store() const;  // Error(store) for readers

  // Each throws DamagedDatabase when a row is not what was written.
  CurrentRow current_row();
  std::optional<SnapshotRow> snapshot_row(std::int64_t number);
  std::vector<SnapshotRow> snapshot_rows();  // newest first; proven to be all
  std::optional<ImageRow> image(const std::string& id);
  std::optional<TagRow> tag(const TagName& name);  // of the current snapshot
  std::vector<TagRow> tags_of_image(const std::string& image);
  std::vector<TagRow> tags_of_bits(const std::string& bits);  // of images that are not lost
  std::vector<MeasurementRow> measurements_of(const std::string& bits);

  // Proven to be all of them.
  std::vector<ApplicationRow> applications(const CurrentRow& current);
  std::vector<ChoiceRow> choices_of(const ApplicationRow& application);
  std::vector<TagRow> tags_of(const ChoiceRow& choice);
  std::vector<TagRow> tags_of(const ApplicationRow& application);
  TagMap live_tags();  // by the rows: those of the current snapshot

  std::optional<ProfileRow> profile(std::int64_t number);
  std::int64_t profile_number(const std::string& text);  // 0 when it has no row

  // The row of a tag's image; made from its sidecar, where that is what the tag was proven with. Throws
  // DamagedDatabase.
  ImageRow image_of(const TagRow& tag);
  std::optional<ImageRow> image_by_sidecar(const std::string& id);  // without `choice` and `place`
  // nullopt when nothing is known of the image, or it is lost.
  std::optional<std::string> record(const std::string& image);
  // The snapshot that readers see: 0 before the first, negative when that one was current and is lost.
  std::int64_t current();
  // A sidecar proves another snapshot to be the current one. Throws DamagedDatabase when it proves other tags
  // for the same.
  bool is_behind(const CurrentRow& row);
  std::optional<SnapshotContent> snapshot(std::int64_t number);          // of its row, else of sidecars
  std::optional<SnapshotContent> snapshot_by_rows(std::int64_t number);  // proven by its root
  // `held`: as CurrentSidecar has it; nullopt leaves that as it is.
  void write_current_sidecar(std::int64_t number, const RowSum& root, std::optional<bool> held = {});

  void create_tables();  // when the file is empty
  // DamagedDatabase; Error(store) when it is newer than this program. Returns the format.
  std::int64_t check_format();
  void check_content();  // DamagedDatabase: every page, row and sum
};

inline constexpr std::int64_t kIndexFormat = 4;  // of schema.sql
// The tables and the rows that an empty index has; inside a writing transaction of the caller.
void make_tables(Database& database);

// The contents of snapshots/current.json; number 0 if the file is missing.
struct CurrentSidecar {
  std::int64_t number = 0;
  std::optional<RowSum> root;  // none: of an earlier format
  bool held = false;           // an administrator has gone back to it: nights publish nothing
};
CurrentSidecar current_by_sidecar(const BlobStore& store);
// The snapshots' own sidecars, without current.json and retired.json, by number.
std::vector<std::int64_t> snapshot_sidecars(const BlobStore& store);
std::optional<SnapshotSidecar> snapshot_sidecar(const BlobStore& store, std::int64_t number);
// Times and sizes of the folders of the sidecars: they change with every sidecar that is new.
std::string folder_marks(const BlobStore& store);

}  // namespace kiln
