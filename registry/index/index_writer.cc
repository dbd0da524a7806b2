#include "registry/index/index_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "registry/index/image_profiles.h"
#include "registry/index/kept_speed.h"

namespace kiln {

IndexWriter::IndexWriter(IndexState& state)
    : state_(state), current_(state.current_row()), live_(std::max<std::int64_t>(0, current_.snapshot)) {
  stored_folders_ = current_.folders;
  knows_folders(folder_marks(state_.store));
  for (TotalRow& row : all_rows<TotalRow>(state_.database, "totals"))
    totals_.emplace(row.name, std::move(row));
  if (totals_.size() != 5) throw DamagedDatabase("the index is damaged: a total is missing");
}

std::int64_t IndexWriter::images() const {
  return totals_.at("images").count - state_.database.integer("SELECT count(*) FROM images WHERE bits = ''");
}

std::int64_t IndexWriter::measurements() const { return totals_.at("measurements").count; }
std::int64_t IndexWriter::snapshots() const { return totals_.at("snapshots").count; }

void IndexWriter::count(const char* total, const std::string& removed, const std::string& added) {
  auto found = totals_.find(total);
  if (found == totals_.end()) throw DamagedDatabase("the index is damaged: a total is missing");
  if (!removed.empty()) {
    found->second.sum.subtract(removed);
    --found->second.count;
  }
  if (!added.empty()) {
    found->second.sum.add(added);
    ++found->second.count;
  }
}

// --- tags

IndexWriter::Application& IndexWriter::application(const std::string& name) {
  auto [found, is_new] = applications_.try_emplace(name);
  Application& application = found->second;
  if (!is_new) return application;
  application.row.application = name;
  if (auto row = first_row<ApplicationRow>(state_.database, "applications WHERE application = ?1", name))
    application = {*row, row->checksum()};
  return application;
}

IndexWriter::Choice& IndexWriter::choice(const TagRow& tag) {
  auto [found, is_new] = choices_.try_emplace({tag.application, tag.choice});
  Choice& choice = found->second;
  if (!is_new) return choice;
  if (auto row = first_row<ChoiceRow>(state_.database, "choices WHERE application = ?1 AND choice = ?2",
                                      tag.application, tag.choice)) {
    choice = {*row, row->checksum()};
    return choice;
  }
  choice.row.application = tag.application;
  choice.row.choice = tag.choice;
  const auto profile = state_.profile(tag.choice);
  if (!profile) return choice;  // of images without a record
  const ImageRecord part = image_record_from_json(parse_own(profile->text, "index.db").root());
  choice.row.version = part.version.text();
  choice.row.compilers = ImageRow::of(part, "").compilers;
  choice.row.optimised = part.optimised;
  choice.row.external = part.external();
  return choice;
}

void IndexWriter::count_in_application(const TagRow& tag, int sign) {
  ChoiceRow& chosen = choice(tag).row;
  const std::string checksum = tag.checksum();
  if (sign > 0) chosen.sum.add(checksum);
  if (sign < 0) chosen.sum.subtract(checksum);
  chosen.images += sign;
  if (tag.measured) chosen.measured += sign;
  ApplicationRow& row = application(tag.application).row;
  row.images += sign;
  current_.images += sign;
  const auto image = state_.image(tag.tagged.image);
  if (!image || image->lost) return;
  for (const std::string& compiler : words_from(image->compilers)) {
    std::int64_t& uses = row.compilers[compiler];
    uses += sign;
    if (uses <= 0) row.compilers.erase(compiler);
  }
}

void IndexWriter::attach(TagRow tag) {
  auto image = state_.image(tag.tagged.image);
  if (!image) {
    if (state_.store.read_record(Digest::from_hex(tag.tagged.image)))
      throw DamagedDatabase("the index is damaged: an image that it had was not found");
    replace_image(ImageRow::unknown(tag.tagged.image));
    image = state_.image(tag.tagged.image);
  }
  tag.describe(*image);
  put_row(state_.database, tag);
  count_in_application(tag, 1);
}

void IndexWriter::detach(const TagRow& tag) {
  state_.database
      .lend("DELETE FROM tags WHERE application = ?1 AND choice = ?2 AND repository = ?3 AND tag = ?4")
      ->with(tag.application, tag.choice, tag.name.first, tag.name.second)
      .run();
  count_in_application(tag, -1);
}

// From the snapshot `first` on, which is newer than all there are.
void IndexWriter::set_tag(const TagChange& change, std::int64_t first) {
  if (change.before) {
    const auto row = state_.tag(change.name);
    if (!row || row->tagged != *change.before)
      throw DamagedDatabase("the index is damaged: a tag that it had is missing");
    detach(*row);
    current_.root.subtract(tag_checksum(change.name, *change.before));
    if (row->first <= current_.newest) put_past({change.name, row->first, current_.newest, *change.before});
  }
  if (!change.after) return;
  TagRow tag;
  tag.name = change.name;
  tag.tagged = *change.after;
  tag.first = first;
  attach(std::move(tag));
  current_.root.add(tag_checksum(change.name, *change.after));
}

void IndexWriter::put_past(const PastRow& row) {
  put_row(state_.database, row);
  count("past", "", row.checksum());
}

void IndexWriter::erase_past(const PastRow& row) {
  state_.database.lend("DELETE FROM past WHERE repository = ?1 AND tag = ?2 AND first = ?3")
      ->with(row.name.first, row.name.second, row.first)
      .run();
  count("past", row.checksum(), "");
}

// --- snapshots

void IndexWriter::expect_new(const std::vector<TagChange>& changes) {
  std::set<TagName> names;
  Json tags = Json::array();
  for (const TagChange& change : changes) {
    if (change.before || !names.insert(change.name).second) continue;
    tags.push_back(change.name.second);
  }
  if (names.empty()) return;
  // `first` is not in tags_name: SQLite reads the rows, which NOT INDEXED does not ask for.
  LentStatement rows = state_.database.lend(
      "SELECT repository, tag FROM tags WHERE +tag IN (SELECT value FROM json_each(?1)) AND first >= 0");
  rows->with(tags.dump());
  while (rows->step())
    if (names.contains({rows->text(0), rows->text(1)}))
      throw DamagedDatabase("the index is damaged: a tag that it has was not found");
}

void IndexWriter::put_snapshot(const SnapshotRow& row) {
  put_row(state_.database, row);
  count("snapshots", "", row.checksum());
}

std::int64_t IndexWriter::changes_since_full(const SnapshotSidecar& head, std::size_t changes) {
  if (head.parent == 0) return 0;
  const auto parent = state_.snapshot_row(head.parent);
  return (parent ? parent->changes : 0) + static_cast<std::int64_t>(changes);
}

void IndexWriter::append(const SnapshotSidecar& head, const std::vector<TagChange>& changes) {
  for (const TagChange& change : changes) set_tag(change, head.number);
  current_.newest = head.number;
  live_ = head.number;
  put_snapshot({head.number, head.created, head.note, current_.images, current_.root,
                changes_since_full(head, changes.size())});
}

// What `name` is at `number`, which no snapshot has: what was said of it for all numbers around is split.
void IndexWriter::cover(const TagName& name, const Tagged* tagged, std::int64_t number) {
  for (const PastRow& row : all_rows<PastRow>(
           state_.database, "past WHERE repository = ?1 AND tag = ?2 AND first <= ?3 AND last >= ?3",
           name.first, name.second, number)) {
    if (tagged != nullptr && row.tagged == *tagged) return;
    erase_past(row);
    if (row.first < number) put_past({name, row.first, number - 1, row.tagged});
    if (row.last > number) put_past({name, number + 1, row.last, row.tagged});
  }
  if (auto row = state_.tag(name); row && row->first <= number) {
    if (tagged != nullptr && row->tagged == *tagged) return;
    detach(*row);
    if (row->first < number) put_past({name, row->first, number - 1, row->tagged});
    row->first = number + 1;
    attach(*std::move(row));
  }
  if (tagged != nullptr) put_past({name, number, number, *tagged});
}

void IndexWriter::insert(const SnapshotContent& content) {
  std::map<TagName, const Tagged*> names;
  for (const auto& [name, tagged] : content.tags) names.emplace(name, &tagged);
  LentStatement rows = state_.database.lend(
      "SELECT repository, tag FROM tags WHERE first <= ?1"
      " UNION SELECT repository, tag FROM past WHERE first <= ?1 AND last >= ?1");
  rows->with(content.number);
  while (rows->step()) names.try_emplace({rows->text(0), rows->text(1)}, nullptr);
  for (const auto& [name, tagged] : names) cover(name, tagged, content.number);
  put_snapshot({content.number, content.created, content.note, static_cast<std::int64_t>(content.tags.size()),
                root_of(content.tags), 0});
}

void IndexWriter::make_current(std::int64_t number) {
  const std::int64_t wanted = std::max<std::int64_t>(0, number);
  if (wanted != live_) {
    TagMap then;
    if (wanted > 0) {
      auto content = state_.snapshot_by_rows(wanted);
      if (!content) throw DamagedDatabase(fmt::format("the index is damaged: no snapshot {}", wanted));
      then = std::move(content->tags);
    }
    for (const TagChange& change : changes_between(state_.live_tags(), then))
      set_tag(change, current_.newest + 1);
    live_ = wanted;
  }
  current_.snapshot = number;
  current_.newest = std::max(current_.newest, std::abs(number));
}

// --- the end

void IndexWriter::knows_folders(const std::string& marks) { folders_known_ = marks == stored_folders_; }

void IndexWriter::write_choices() {
  for (auto& [name, choice] : choices_) {
    const ChoiceRow& row = choice.row;
    const std::string checksum = row.checksum();
    if (choice.stored == checksum) continue;
    RowSum& sum = application(row.application).row.sum;
    if (!choice.stored.empty()) sum.subtract(choice.stored);
    choice.stored.clear();
    state_.database.lend("DELETE FROM choices WHERE application = ?1 AND choice = ?2")
        ->with(row.application, row.choice)
        .run();
    if (row.images == 0) continue;
    put_row(state_.database, row);
    sum.add(checksum);
    choice.stored = checksum;
  }
}

void IndexWriter::write_applications() {
  for (auto& [name, application] : applications_) {
    const std::string checksum = application.row.checksum();
    if (application.stored == checksum) continue;
    if (!application.stored.empty()) current_.applications.subtract(application.stored);
    application.stored.clear();
    state_.database.lend("DELETE FROM applications WHERE application = ?1")->with(name).run();
    if (application.row.images == 0) continue;
    put_row(state_.database, application.row);
    current_.applications.add(checksum);
    application.stored = checksum;
  }
}

void IndexWriter::finish() {
  if (live_ != std::max<std::int64_t>(0, current_.snapshot)) make_current(current_.snapshot);
  write_choices();
  write_applications();
  for (const auto& [name, total] : totals_) put_row(state_.database, total, "INSERT OR REPLACE");
  if (folders_known_) current_.folders = folder_marks(state_.store);
  write_current();
}

void IndexWriter::write_current() {
  state_.database
      .lend(
          "UPDATE current SET snapshot = ?1, newest = ?2, images = ?3, root = ?4, applications = ?5,"
          " folders = ?6, checksum = ?7")
      ->with(current_.snapshot, current_.newest, current_.images, current_.root.text(),
             current_.applications.text(), current_.folders, current_.checksum())
      .run();
}

// Images and measurements on their way in.

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
