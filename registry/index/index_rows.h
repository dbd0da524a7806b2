// Rows of the index, each with what proves it. Reading one throws DamagedDatabase when it is not what was
// written.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "factory/record/image_record.h"
#include "registry/index/database.h"
#include "registry/index/row_sum.h"
#include "registry/index/snapshot_content.h"

namespace kiln {

struct ImageRow {
  static constexpr const char* kColumns =
      "id, external, lost, bits, application, compilers, measured, choice, place, record, checksum";
  std::string id;
  bool external = false;
  bool lost = false;  // its manifest is not in the blob store, or no record of it is left
  std::string bits;
  std::string application;  // in lower case
  std::string compilers;    // words_text()
  std::string measured;     // RowSum of the measurements of its bits, "" for none
  std::int64_t choice = 0;  // numbers of profiles; 0 without a record
  std::int64_t place = 0;
  std::string record;

  static ImageRow of(const ImageRecord& image, std::string record);  // without `measured`, `choice`, `place`
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

// A part of a record (image_parts.h), which many images may have.
struct ProfileRow {
  static constexpr const char* kColumns = "number, id, text, checksum";
  std::int64_t number = 0;
  std::string text;

  static ProfileRow from(const Statement& row);
  static std::string id_of(const std::string& text);
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
      "application, choice, repository, tag, image, image_row, place, measured, lost, stale, failing, "
      "retired, matrices, first, checksum";
  std::string application;
  std::int64_t choice = 0;  // as of its image, and so the next four
  TagName name;
  Tagged tagged;
  std::string image_row;  // checksum of the image's row
  std::int64_t place = 0;
  bool measured = false;
  bool lost = false;
  std::int64_t first = 0;

  void describe(const ImageRow& image);

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

// Tags of one application that are chosen by the same.
struct ChoiceRow {
  static constexpr const char* kColumns =
      "application, choice, version, compilers, optimised, external, images, measured, sum, checksum";
  std::string application;
  std::int64_t choice = 0;  // number of its profile, whose words the next four are
  std::string version;
  std::string compilers;  // words_text()
  bool optimised = false;
  bool external = false;
  std::int64_t images = 0;
  std::int64_t measured = 0;  // of the images
  RowSum sum;                 // of the tags

  static ChoiceRow from(const Statement& row);
  std::string checksum() const;
};

struct ApplicationRow {
  static constexpr const char* kColumns = "application, images, compilers, sum, checksum";
  std::string application;
  std::int64_t images = 0;
  std::map<std::string, std::int64_t> compilers;  // tags that have it
  RowSum sum;                                     // of its choices

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
