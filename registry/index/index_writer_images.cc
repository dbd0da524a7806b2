// Images and measurements on their way in.

#include <nlohmann/json.hpp>

#include "registry/index/image_profiles.h"
#include "registry/index/index_writer.h"
#include "registry/index/kept_speed.h"

namespace kiln {

void IndexWriter::replace_image(const ImageRow& row) {
  const auto old = state_.image(row.id);
  const std::string checksum = row.checksum();
  if (old && old->checksum() == checksum) return;
  std::vector<TagRow> tags = state_.tags_of_image(row.id);
  for (const TagRow& tag : tags) detach(tag);
  put_row(state_.database, row, "INSERT OR REPLACE");
  count("images", old ? old->checksum() : "", checksum);
  // Not found again: the index over its id is damaged, and its tags would take it for lost.
  if (!state_.image(row.id)) throw DamagedDatabase("the index is damaged: an image is not where it was put");
  for (TagRow& tag : tags) attach(std::move(tag));
}

void IndexWriter::put_image(const ImageRecord& image, const std::string& record) {
  ImageRow row = ImageRow::of(image, record);
  row.choice = profile(choice_profile(image));
  row.place = profile(host_profile(image));
  const auto old = state_.image(row.id);
  if (!old || old->bits != row.bits) rebind_measurements(row);
  row.measured = measured_text(state_.measurements_of(row.bits));
  replace_image(row);
  if (old && old->bits != row.bits) remeasure(old->bits);
}

std::int64_t IndexWriter::profile(const ImageRecord& part) {
  const std::string text = to_json(part).dump();
  if (const std::int64_t number = state_.profile_number(text); number != 0) return number;
  const ProfileRow row{state_.database.integer("SELECT coalesce(max(number), 0) FROM profiles") + 1,
                       ProfileRow::id_of(text), text};
  put_row(state_.database, row);
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
  bool changed = false;
  for (MeasurementRow& row :
       all_rows<MeasurementRow>(state_.database, "measurements WHERE image = ?1", image.id)) {
    const bool named = !key_of(kept_speed_from_json(parse_own(row.record, "index.db").root())).empty();
    if (named || row.bits == image.bits) continue;
    row.bits = image.bits;
    put_measurement_row(row);
    changed = true;
  }
  if (changed) remeasure(image.bits);
}

void IndexWriter::put_measurement_row(const MeasurementRow& row) {
  const auto old = first_row<MeasurementRow>(state_.database, "measurements WHERE image = ?1 AND number = ?2",
                                             row.image, row.number);
  put_row(state_.database, row, "INSERT OR REPLACE");
  count("measurements", old ? old->checksum() : "", row.checksum());
}

void IndexWriter::put_measurement(const std::string& image, std::int64_t number, const std::string& record) {
  std::string bits = key_of(kept_speed_from_json(parse_own(record, "index.db").root()));
  if (bits.empty()) {
    const auto row = state_.image(image);
    bits = row && !row->bits.empty() ? row->bits : image;
  }
  put_measurement_row({image, number, bits, record});
  remeasure(bits);
}

void IndexWriter::remeasure(const std::string& bits) {
  const std::string measured = measured_text(state_.measurements_of(bits));
  for (ImageRow& image : all_rows<ImageRow>(state_.database, "images WHERE bits = ?1", bits)) {
    image.measured = measured;
    replace_image(image);
  }
}

}  // namespace kiln
