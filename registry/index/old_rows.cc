#include <fmt/format.h>

#include "registry/index/recovery.h"

namespace kiln {
namespace {

// As formats 1 and 2 had it.
void check_format_2(const std::string& row, const std::string& text, const std::string& checksum) {
  if (Digest::of(row + "\n" + text).hex() != checksum)
    throw DamagedDatabase(fmt::format("the index is damaged: {} is not what was written", row));
}

// As format 3 had it, before there were profiles.
void check_format_3(const Statement& row) {
  const std::string id = row.text(0);
  const std::string checksum =
      row_checksum("images", {id, row.integer(1) != 0 ? "1" : "0", row.integer(2) != 0 ? "1" : "0",
                              row.text(5), row.text(6), row.text(7), row.text(8), row.text(3)});
  if (checksum != row.text(4))
    throw DamagedDatabase(fmt::format("the index is damaged: image {} is not what was written", id));
}

const char* images_of_format(std::int64_t format) {
  return format < 3
             ? "SELECT id, external, lost, record, checksum FROM images"
             : "SELECT id, external, lost, record, checksum, bits, application, compilers, measured FROM"
               " images WHERE bits <> ''";
}

}  // namespace

// Whether `read` came to its end.
template <typename Read>
bool OldRows::without_checksum(Read read) {
  try {
    read();
    return true;
  } catch (const DamagedDatabase&) {
    if (strict_) throw;
    return false;
  }
}

void OldRows::each_image(
    const std::function<void(const std::string& id, bool lost, const std::string& record)>& use) {
  Statement rows = state_.database.prepare(
      format_ < kIndexFormat ? images_of_format(format_) : select_rows<ImageRow>("images WHERE bits <> ''"));
  while (rows.step()) {
    ImageRow row;
    const bool whole = without_checksum([&] {
      if (format_ == kIndexFormat) {
        row = row_of<ImageRow>(rows);
        return;
      }
      row.id = rows.text(0);
      row.lost = rows.integer(2) != 0;
      row.record = rows.text(3);
      if (format_ == 3)
        check_format_3(rows);
      else
        check_format_2((rows.integer(1) != 0 ? "external image " : "image ") + row.id, row.record,
                       rows.text(4));
    });
    if (whole) use(row.id, row.lost, row.record);
  }
}

void OldRows::each_measurement(const std::function<void(const std::string& image, std::int64_t number,
                                                        const std::string& record)>& use) {
  Statement rows =
      state_.database.prepare(format_ < 3 ? "SELECT image, number, record, checksum FROM measurements"
                                          : select_rows<MeasurementRow>("measurements"));
  while (rows.step()) {
    MeasurementRow row;
    const bool whole = without_checksum([&] {
      if (format_ >= 3) {
        row = row_of<MeasurementRow>(rows);
        return;
      }
      row = {rows.text(0), rows.integer(1), "", rows.text(2)};
      check_format_2(fmt::format("measurement {} of image {}", row.number, row.image), row.record,
                     rows.text(3));
    });
    if (whole) use(row.image, row.number, row.record);
  }
}

std::vector<std::int64_t> OldRows::snapshots() {
  std::vector<std::int64_t> numbers;
  Statement rows = state_.database.prepare("SELECT number FROM snapshots ORDER BY number");
  while (rows.step()) numbers.push_back(rows.integer(0));
  return numbers;
}

SnapshotContent OldRows::snapshot_of_format_2(std::int64_t number) {
  Statement row = state_.database.prepare("SELECT created, note, checksum FROM snapshots WHERE number = ?1");
  if (!row.with(number).step()) throw DamagedDatabase("the index is damaged: a snapshot is missing");
  SnapshotContent content{number, row.text(0), row.text(1), {}};
  Statement tags = state_.database.prepare(
      fmt::format("SELECT repository, tag, image, stale, {} FROM tags WHERE snapshot = ?1",
                  format_ == 1 ? "0, '', ''" : "failing, retired, matrices"));
  tags.with(number);
  while (tags.step())
    content.tags[{tags.text(0), tags.text(1)}] = {tags.text(2), tags.integer(3) != 0, tags.integer(4) != 0,
                                                  tags.text(5), words_from(tags.text(6))};
  check_format_2(fmt::format("snapshot {}", number), text_of_format_2(content), row.text(2));
  return content;
}

SnapshotContent OldRows::snapshot_of_format_3(std::int64_t number) {
  const auto row = state_.snapshot_row(number);
  if (!row) throw DamagedDatabase("the index is damaged: a snapshot is missing");
  SnapshotContent content{number, row->created, row->note, {}};
  Statement tags = state_.database.prepare(
      "SELECT repository, tag, image, stale, failing, retired, matrices FROM tags WHERE first <= ?1 UNION ALL"
      " SELECT repository, tag, image, stale, failing, retired, matrices FROM past"
      " WHERE first <= ?1 AND last >= ?1");
  tags.with(number);
  while (tags.step())
    content.tags[{tags.text(0), tags.text(1)}] = {tags.text(2), tags.integer(3) != 0, tags.integer(4) != 0,
                                                  tags.text(5), words_from(tags.text(6))};
  if (root_of(content.tags) != row->root)
    throw DamagedDatabase(fmt::format("the index is damaged: snapshot {} is not what was written", number));
  return content;
}

std::optional<SnapshotContent> OldRows::snapshot(std::int64_t number) {
  std::optional<SnapshotContent> content;
  without_checksum([&] {
    content = format_ < 3    ? snapshot_of_format_2(number)
              : format_ == 3 ? snapshot_of_format_3(number)
                             : state_.snapshot_by_rows(number);
  });
  return content;
}

std::int64_t OldRows::current() {
  std::int64_t number = 0;
  without_checksum([&] {
    number =
        format_ < 3 ? state_.database.integer("SELECT snapshot FROM current") : state_.current_row().snapshot;
  });
  return number;
}

}  // namespace kiln
