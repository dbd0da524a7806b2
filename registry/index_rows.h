// Rows of the index, each with what proves it. Reading one throws DamagedDatabase when it is not what was
// written.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "registry/database.h"
#include "registry/image_record.h"
#include "registry/row_sum.h"
#include "registry/snapshot_content.h"

namespace kiln {

struct ImageRow {
  static constexpr const char* kColumns =
      "id, external, lost, bits, application, compilers, measured, record, checksum";
  std::string id;
  bool external = false;
  bool lost = false;  // its manifest is not in the blob store, or no record of it is left
  std::string bits;
  std::string application;  // in lower case
  std::string compilers;    // words_text()
  std::string measured;     // RowSum of the measurements of its bits, "" for none
  std::string record;

  static ImageRow of(const ImageRecord& image, std::string record);  // without `measured`
  static ImageRow unknown(std::string id);                           // no record of it is left
  static ImageRow from(const Statement& row);
  std::string checksum() const;
};

struct MeasurementRow {
  static constexpr const char* kColumns = "image, number, bits, record, checksum";
  std::string image;
  std::int64_t number = 0;
  std::string bits;
  std::string record;

  static MeasurementRow from(const Statement& row);
  std::string checksum() const;
};

struct SnapshotRow {
  static constexpr const char* kColumns = "number, created, note, images, root, changes, checksum";
  std::int64_t number = 0;
  std::string created;
  std::string note;
  std::int64_t images = 0;
  RowSum root;
  std::int64_t changes = 0;  // tags in the sidecars since the last one in full

  static SnapshotRow from(const Statement& row);
  std::string checksum() const;
};

struct TagRow {
  static constexpr const char* kColumns =
      "application, repository, tag, image, image_row, stale, failing, retired, matrices, first, checksum";
  std::string application;
  TagName name;
  Tagged tagged;
  std::string image_row;  // checksum of the image's row
  std::int64_t first = 0;

  static TagRow from(const Statement& row);
  std::string checksum() const;
};

struct PastRow {
  static constexpr const char* kColumns =
      "repository, tag, first, last, image, stale, failing, retired, matrices, checksum";
  TagName name;
  std::int64_t first = 0;
  std::int64_t last = 0;
  Tagged tagged;

  static PastRow from(const Statement& row);
  std::string checksum() const;
};

struct ApplicationRow {
  static constexpr const char* kColumns = "application, images, compilers, sum, checksum";
  std::string application;
  std::int64_t images = 0;
  std::map<std::string, std::int64_t> compilers;  // tags that have it
  RowSum sum;

  static ApplicationRow from(const Statement& row);
  std::string compilers_text() const;
  std::string checksum() const;
};

struct TotalRow {
  static constexpr const char* kColumns = "name, count, sum, checksum";
  std::string name;
  std::int64_t count = 0;
  RowSum sum;

  static TotalRow from(const Statement& row);
  std::string checksum() const;
};

struct CurrentRow {
  static constexpr const char* kColumns = "snapshot, newest, images, root, applications, folders, checksum";
  std::int64_t snapshot = 0;  // 0 before the first; negative: that one was current and is lost
  std::int64_t newest = 0;
  std::int64_t images = 0;
  RowSum root;
  RowSum applications;
  std::string folders;

  static CurrentRow from(const Statement& row);
  std::string checksum() const;
};

}  // namespace kiln
