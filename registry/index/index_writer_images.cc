// Images and measurements on their way in.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "registry/index/image_parts.h"
#include "registry/index/index_writer.h"

namespace kiln {

void IndexWriter::replace_image(const ImageRow& row) {
  const auto old = state_.image(row.id);
  const std::string checksum = row.checksum();
  if (old && old->checksum() == checksum) return;
  std::vector<TagRow> tags = state_.tags_of_image(row.id);
  for (const TagRow& tag : tags) detach(tag);
  state_.database
      .lend(
          "INSERT INTO images VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (id) DO "
          "UPDATE"
          " SET external = ?2, lost = ?3, bits = ?4, application = ?5, compilers = ?6, measured = ?7,"
          " choice = ?8, place = ?9, record = ?10, checksum = ?11")
      ->with(row.id, row.external, row.lost, row.bits, row.application, row.compilers, row.measured,
             row.choice, row.place, row.record, checksum)
      .run();
  count("images", old ? old->checksum() : "", checksum);
  // Not found again: the index over its id is damaged, and its tags would take it for lost.
  if (!state_.image(row.id)) throw DamagedDatabase("the index is damaged: an image is not where it was put");
  for (TagRow& tag : tags) attach(std::move(tag));
}

void IndexWriter::put_image(const ImageRecord& image, const std::string& record) {
  ImageRow row = ImageRow::of(image, record);
  row.choice = profile(choice_part(image));
  row.place = profile(place_part(image));
  const auto old = state_.image(row.id);
  if (!old || old->bits != row.bits) rebind_measurements(row);
  RowSum measured;
  const std::vector<MeasurementRow> measurements = state_.measurements_of(row.bits);
  for (const MeasurementRow& measurement : measurements) measured.add(measurement.checksum());
  if (!measurements.empty()) row.measured = measured.text();
  replace_image(row);
  if (old && old->bits != row.bits) remeasure(old->bits);
}

std::int64_t IndexWriter::profile(const ImageRecord& part) {
  const std::string text = to_json(part).dump();
  if (const std::int64_t number = state_.profile_number(text); number != 0) return number;
  const ProfileRow row{state_.database.integer("SELECT coalesce(max(number), 0) FROM profiles") + 1, text};
  state_.database.lend("INSERT INTO profiles VALUES (?1, ?2, ?3, ?4)")
      ->with(row.number, ProfileRow::id_of(text), row.text, row.checksum())
      .run();
  count("profiles", "", row.checksum());
  return row.number;
}

void IndexWriter::set_lost(const std::string& id, bool lost) {
  auto row = state_.image(id);
  if (!row) return;
  row->lost = lost;
  replace_image(*row);
}

void IndexWriter::erase_image(const std::string& id) {
  const auto row = state_.image(id);
  if (!row) return;
  state_.database.lend("DELETE FROM images WHERE id = ?1")->with(id).run();
  count("images", row->checksum(), "");
}

// Measurements that do not say which bits they are of are of those of their image, as soon as it is known.
void IndexWriter::rebind_measurements(const ImageRow& image) {
  std::vector<MeasurementRow> rows;
  {
    LentStatement statement = state_.database.lend(
        fmt::format("SELECT {} FROM measurements WHERE image = ?1", MeasurementRow::kColumns));
    statement->with(image.id);
    while (statement->step()) rows.push_back(MeasurementRow::from(*statement));
  }
  bool changed = false;
  for (MeasurementRow& row : rows) {
    const bool named = !measurement_from_json(parse_own(row.record, "index.db").root()).key.empty();
    if (named || row.bits == image.bits) continue;
    row.bits = image.bits;
    put_measurement_row(row);
    changed = true;
  }
  if (changed) remeasure(image.bits);
}

void IndexWriter::put_measurement_row(const MeasurementRow& row) {
  std::string old;
  {
    LentStatement before = state_.database.lend(fmt::format(
        "SELECT {} FROM measurements WHERE image = ?1 AND number = ?2", MeasurementRow::kColumns));
    if (before->with(row.image, row.number).step()) old = MeasurementRow::from(*before).checksum();
  }
  state_.database
      .lend(
          "INSERT INTO measurements VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (image, number) DO UPDATE SET"
          " bits = ?3, record = ?4, checksum = ?5")
      ->with(row.image, row.number, row.bits, row.record, row.checksum())
      .run();
  count("measurements", old, row.checksum());
}

void IndexWriter::put_measurement(const std::string& image, std::int64_t number, const std::string& record) {
  std::string bits = measurement_from_json(parse_own(record, "index.db").root()).key;
  if (bits.empty()) {
    const auto row = state_.image(image);
    bits = row && !row->bits.empty() ? row->bits : image;
  }
  put_measurement_row({image, number, bits, record});
  remeasure(bits);
}

void IndexWriter::remeasure(const std::string& bits) {
  RowSum sum;
  const std::vector<MeasurementRow> measurements = state_.measurements_of(bits);
  for (const MeasurementRow& row : measurements) sum.add(row.checksum());
  std::vector<ImageRow> images;
  {
    LentStatement statement =
        state_.database.lend(fmt::format("SELECT {} FROM images WHERE bits = ?1", ImageRow::kColumns));
    statement->with(bits);
    while (statement->step()) images.push_back(ImageRow::from(*statement));
  }
  for (ImageRow& image : images) {
    image.measured = measurements.empty() ? "" : sum.text();
    replace_image(image);
  }
}

}  // namespace kiln
