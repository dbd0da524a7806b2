// Rows of the index, each with what proves it. Reading one throws DamagedDatabase when it is not what was
// written. A row's fields are the columns of its table, in their order and before the checksum.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "factory/record/image_record.h"
#include "registry/index/database.h"
#include "registry/index/snapshot_content.h"

namespace kiln {

struct ImageRow {
  static constexpr const char* kTable = "images";
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
  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.id, row.external, row.lost, row.bits, row.application, row.compilers, row.measured,
                    row.choice, row.place, row.record);
  }
  std::string checksum() const;
  std::string shown() const { return "image " + id; }
};

struct MeasurementRow {
  static constexpr const char* kTable = "measurements";
  static constexpr const char* kColumns = "image, number, bits, record, checksum";
  std::string image;
  std::int64_t number = 0;
  std::string bits;
  std::string record;

  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.image, row.number, row.bits, row.record);
  }
  std::string checksum() const;
  std::string shown() const { return fmt::format("measurement {} of image {}", number, image); }
};

// A part of a record (image_profiles.h), which many images may have.
struct ProfileRow {
  static constexpr const char* kTable = "profiles";
  static constexpr const char* kColumns = "number, id, text, checksum";
  std::int64_t number = 0;
  std::string id;  // id_of(text)
  std::string text;

  static std::string id_of(const std::string& text);
  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.number, row.id, row.text);
  }
  std::string checksum() const;
  std::string shown() const { return fmt::format("profile {}", number); }
};

struct SnapshotRow {
  static constexpr const char* kTable = "snapshots";
  static constexpr const char* kColumns = "number, created, note, images, root, changes, checksum";
  std::int64_t number = 0;
  std::string created;
  std::string note;
  std::int64_t images = 0;
  RowSum root;
  std::int64_t changes = 0;  // tags in the sidecars since the last one in full

  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.number, row.created, row.note, row.images, row.root, row.changes);
  }
  std::string checksum() const;
  std::string shown() const { return fmt::format("snapshot {}", number); }
};

struct TagRow {
  static constexpr const char* kTable = "tags";
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
  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.application, row.choice, row.name.first, row.name.second, row.tagged.image,
                    row.image_row, row.place, row.measured, row.lost, row.tagged.stale, row.tagged.failing,
                    row.tagged.retired, row.tagged.matrices, row.first);
  }
  std::string checksum() const;
  std::string shown() const;
};

struct PastRow {
  static constexpr const char* kTable = "past";
  static constexpr const char* kColumns =
      "repository, tag, first, last, image, stale, failing, retired, matrices, checksum";
  TagName name;
  std::int64_t first = 0;
  std::int64_t last = 0;
  Tagged tagged;

  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.name.first, row.name.second, row.first, row.last, row.tagged.image, row.tagged.stale,
                    row.tagged.failing, row.tagged.retired, row.tagged.matrices);
  }
  std::string checksum() const;
  std::string shown() const;
};

// Tags of one application that are chosen by the same.
struct ChoiceRow {
  static constexpr const char* kTable = "choices";
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

  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.application, row.choice, row.version, row.compilers, row.optimised, row.external,
                    row.images, row.measured, row.sum);
  }
  std::string checksum() const;
  std::string shown() const { return fmt::format("choice {} of application {}", choice, application); }
};

struct ApplicationRow {
  static constexpr const char* kTable = "applications";
  static constexpr const char* kColumns = "application, images, compilers, sum, checksum";
  std::string application;
  std::int64_t images = 0;
  std::map<std::string, std::int64_t> compilers;  // tags that have it
  RowSum sum;                                     // of its choices

  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.application, row.images, row.compilers, row.sum);
  }
  std::string checksum() const;
  std::string shown() const { return "application " + application; }
};

struct TotalRow {
  static constexpr const char* kTable = "totals";
  static constexpr const char* kColumns = "name, count, sum, checksum";
  std::string name;
  std::int64_t count = 0;
  RowSum sum;

  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.name, row.count, row.sum);
  }
  std::string checksum() const;
  std::string shown() const { return "the total of " + name; }
};

// The table has one row, and one more column before these.
struct CurrentRow {
  static constexpr const char* kTable = "current";
  static constexpr const char* kColumns = "snapshot, newest, images, root, applications, folders, checksum";
  std::int64_t snapshot = 0;  // 0 before the first; negative: that one was current and is lost
  std::int64_t newest = 0;
  std::int64_t images = 0;
  RowSum root;
  RowSum applications;
  std::string folders;

  template <typename Row>
  static auto fields(Row& row) {
    return std::tie(row.snapshot, row.newest, row.images, row.root, row.applications, row.folders);
  }
  std::string checksum() const;
  std::string shown() const { return "which snapshot is current"; }
};

// A field as its column has it.
inline std::int64_t column_of(std::int64_t field) { return field; }
inline bool column_of(bool field) { return field; }
inline const std::string& column_of(const std::string& field) { return field; }
inline std::string column_of(const RowSum& field) { return field.text(); }
inline std::string column_of(const std::vector<std::string>& field) { return words_text(field); }
std::string column_of(const std::map<std::string, std::int64_t>& field);  // JSON, "" for none

// The field of a column.
inline void read_column(const Statement& row, int column, std::int64_t& field) {
  field = row.integer(column);
}
inline void read_column(const Statement& row, int column, bool& field) { field = row.integer(column) != 0; }
inline void read_column(const Statement& row, int column, std::string& field) { field = row.text(column); }
inline void read_column(const Statement& row, int column, RowSum& field) {
  field = RowSum::parse(row.text(column));
}
inline void read_column(const Statement& row, int column, std::vector<std::string>& field) {
  field = words_from(row.text(column));
}
void read_column(const Statement& row, int column, std::map<std::string, std::int64_t>& field);

[[noreturn]] void fail_row(const std::string& shown);  // throws DamagedDatabase

// The row of a statement that selects Row::kColumns.
template <typename Row>
Row row_of(const Statement& statement) {
  Row row;
  int column = 0;
  std::apply([&](auto&... fields) { (read_column(statement, column++, fields), ...); }, Row::fields(row));
  if (row.checksum() != statement.text(column)) fail_row(row.shown());
  return row;
}

// `rest`: what follows FROM, the table first.
template <typename Row>
std::string select_rows(std::string_view rest) {
  return fmt::format("SELECT {} FROM {}", Row::kColumns, rest);
}

// The first row; nullopt when there is none.
template <typename Row, typename... Values>
std::optional<Row> first_row(Database& database, std::string_view rest, const Values&... values) {
  LentStatement statement = database.lend(select_rows<Row>(rest));
  return statement->with(values...).step() ? std::optional(row_of<Row>(*statement)) : std::nullopt;
}

template <typename Row, typename... Values>
std::vector<Row> all_rows(Database& database, std::string_view rest, const Values&... values) {
  LentStatement statement = database.lend(select_rows<Row>(rest));
  statement->with(values...);
  std::vector<Row> rows;
  while (statement->step()) rows.push_back(row_of<Row>(*statement));
  return rows;
}

// Checksums of rows added up.
template <typename Row>
RowSum sum_of(const std::vector<Row>& rows) {
  RowSum sum;
  for (const Row& row : rows) sum.add(row.checksum());
  return sum;
}
// ImageRow::measured of bits that have these measurements.
inline std::string measured_text(const std::vector<MeasurementRow>& rows) {
  return rows.empty() ? "" : sum_of(rows).text();
}

// `how`: "INSERT" throws DamagedDatabase if a row has the same unique columns, which was not found when it
// was looked for; "INSERT OR REPLACE" takes its place.
template <typename Row>
void put_row(Database& database, const Row& row, std::string_view how = "INSERT") {
  std::apply(
      [&](const auto&... fields) {
        std::string marks;
        for (std::size_t i = 0; i <= sizeof...(fields); ++i) marks += i == 0 ? "?" : ", ?";
        database.lend(fmt::format("{} INTO {} VALUES ({})", how, Row::kTable, marks))
            ->with(column_of(fields)..., row.checksum())
            .run();
      },
      Row::fields(row));
}

}  // namespace kiln
