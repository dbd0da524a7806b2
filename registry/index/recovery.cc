#include "registry/index/recovery.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "factory/base/text.h"
#include "registry/index/kept_speed.h"
#include "registry/index/next_snapshot.h"
#include "registry/index/site_documents.h"

namespace kiln {
namespace {

using Sidecar = BlobStore::Sidecar;

std::string name_of_measurement(const std::string& image, std::int64_t number) {
  return fmt::format("{}-{}", image, number);
}

// Runs `adopt` on a sidecar, which is left out if it does not prove itself. Damage to the database is not the
// sidecar's.
template <typename Adopt>
void unless_damaged(const Adopt& adopt) {
  try {
    adopt();
  } catch (const DamagedDatabase&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ExitCode::input && error.code() != ExitCode::store) throw;
  }
}

// Calls `adopt` with each sidecar that proves itself. One that was written by us and says something else than
// its name is as good as none.
void read_each(const BlobStore& store, Sidecar kind,
               const std::function<void(const std::string& name, const std::string& text)>& adopt) {
  for (const auto& name : store.sidecars(kind))
    unless_damaged([&] {
      if (auto text = store.read_sidecar(kind, name)) adopt(name, *text);
    });
}

void adopt_images(IndexWriter& writer, RecoveryReport& report) {
  read_each(writer.state().store, Sidecar::record, [&](const std::string& name, const std::string& text) {
    const auto row = writer.state().image(name);
    const bool known = row && !row->record.empty();
    if (known && row->record == text) return;
    JsonDocument document = parse_own(text, name + ".json");
    ImageRecord image = image_record_from_json(document.root());
    if (image.identity().hex() != name) document.root().fail("the record of another image is in this file");
    writer.put_image(image, text);
    if (!known) ++report.adopted;
  });
}

// `<64 hex>-<n>`
std::int64_t measurement_number(const std::string& name, const JsonNode& node) {
  std::int64_t number = 0;
  if (name.size() > 65) std::from_chars(name.data() + 65, name.data() + name.size(), number);
  if (number < 1 || name_of_measurement(image_of(kept_speed_from_json(node)).hex(), number) != name)
    node.fail("the measurement of another image is in this file");
  return number;
}

std::optional<std::string> measurement_text(IndexState& state, const std::string& image,
                                            std::int64_t number) {
  LentStatement row = state.database.lend("SELECT record FROM measurements WHERE image = ?1 AND number = ?2");
  return row->with(image, number).step() ? std::optional(row->text(0)) : std::nullopt;
}

void adopt_measurements(IndexWriter& writer, RecoveryReport& report) {
  read_each(writer.state().store, Sidecar::measurement,
            [&](const std::string& name, const std::string& text) {
              JsonDocument document = parse_own(text, name + ".json");
              std::int64_t number = measurement_number(name, document.root());
              std::string image = name.substr(0, 64);
              const auto known = measurement_text(writer.state(), image, number);
              if (known == text) return;  // else a kill came between a later round's sidecar and its row
              writer.put_measurement(image, number, text);
              if (!known) ++report.adopted;
            });
}

// What a sidecar makes of the tags that are live, where they are those of its parent.
std::vector<TagChange> changes_by(const SnapshotSidecar& sidecar, IndexState& state) {
  TagEdits edits(state);
  for (const TagName& name : sidecar.gone) edits.at(name).reset();
  for (const auto& [name, tagged] : sidecar.tags) edits.at(name) = tagged;
  return edits.changes();
}

// One that is not there yet, in whatever order they come.
void add_snapshot(IndexWriter& writer, const SnapshotContent& content, const SnapshotSidecar& head) {
  if (content.number > writer.current().newest)
    writer.append(head, changes_between(writer.state().live_tags(), content.tags));
  else
    writer.insert(content);
}

void adopt_snapshots(IndexWriter& writer, RecoveryReport& report) {
  IndexState& state = writer.state();
  for (const std::int64_t number : snapshot_sidecars(state.store)) {
    if (state.snapshot_row(number)) continue;
    unless_damaged([&] {
      const auto sidecar = snapshot_sidecar(state.store, number);
      if (!sidecar) return;
      const bool follows = sidecar->parent != 0 && sidecar->parent == writer.live() &&
                           sidecar->before == writer.current().root && number > writer.current().newest;
      if (follows) {
        writer.append(*sidecar, changes_by(*sidecar, state));
        if (writer.current().root != sidecar->root)
          throw DamagedDatabase(fmt::format("snapshot {} has another root than its sidecar", number));
      } else if (const auto content = state.snapshot(number)) {
        add_snapshot(writer, *content, *sidecar);
      } else {
        return;
      }
      ++report.adopted;
    });
  }
}

// Writes those again whose sidecar is not there, or does not prove itself.
void write_missing(const BlobStore& store, Sidecar kind, Statement& rows,
                   const std::function<std::string(Statement&)>& name_of,
                   const std::function<std::string(Statement&)>& text_of, RecoveryReport& report) {
  while (rows.step()) {
    const std::string name = name_of(rows);
    if (store.read_sidecar(kind, name)) continue;
    store.write_sidecar(kind, name, text_of(rows));
    ++report.rewritten;
  }
}

void write_missing_sidecars(IndexState& state, RecoveryReport& report) {
  const BlobStore& store = state.writable_store();
  Statement images = state.database.prepare("SELECT id, record FROM images WHERE bits <> ''");
  write_missing(
      store, Sidecar::record, images, [](Statement& row) { return row.text(0); },
      [](Statement& row) { return row.text(1); }, report);
  report.rewritten += mend_site_documents(store);
  Statement measured = state.database.prepare("SELECT image, number, record FROM measurements");
  write_missing(
      store, Sidecar::measurement, measured,
      [](Statement& row) { return name_of_measurement(row.text(0), row.integer(1)); },
      [](Statement& row) { return row.text(2); }, report);
  Statement snapshots = state.database.prepare("SELECT number FROM snapshots");
  write_missing(
      store, Sidecar::snapshot, snapshots, [](Statement& row) { return std::to_string(row.integer(0)); },
      [&](Statement& row) {
        return SnapshotSidecar::in_full(*state.snapshot_by_rows(row.integer(0))).text();
      },
      report);
}

void name_unreadable(const BlobStore& store, RecoveryReport& report) {
  for (auto [kind, folder] :
       {std::pair(Sidecar::record, "records"), std::pair(Sidecar::measurement, "measurements"),
        std::pair(Sidecar::snapshot, "snapshots")}) {
    std::set<std::string> good;
    read_each(store, kind, [&, kind = kind](const std::string& name, const std::string& text) {
      JsonDocument document = parse_own(text, name + ".json");
      if (kind == Sidecar::record) image_record_from_json(document.root());
      if (kind == Sidecar::measurement) measurement_number(name, document.root());
      good.insert(name);
    });
    for (const std::string& name : store.sidecars(kind))
      if (!good.contains(name)) report.unreadable.push_back(fmt::format("{}/{}.json", folder, name));
  }
}

// The sidecar's word, else the row's; where that snapshot is not there, the newest before it. One that comes
// after it was rolled back from. Negative: it is lost, and nothing can stand in for it.
void settle_current(IndexWriter& writer, RecoveryReport& report) {
  IndexState& state = writer.state();
  std::int64_t wanted = current_by_sidecar(state.store).number;
  if (wanted == 0) wanted = std::abs(writer.current().snapshot);
  const bool is_guessed = wanted == 0;
  if (is_guessed) wanted = state.database.integer("SELECT max(number) FROM snapshots");
  if (is_guessed && wanted != 0 && state.database.integer("SELECT count(*) FROM snapshots") > 1)
    report.lost.push_back(
        fmt::format("which snapshot is the current one: kiln uses snapshot {}, the newest", wanted));
  std::int64_t number = wanted;
  if (wanted != 0 && !state.snapshot_row(wanted)) {
    Statement before = state.database.prepare("SELECT max(number) FROM snapshots WHERE number < ?1");
    std::int64_t newest = before.with(wanted).step() ? before.integer(0) : 0;
    number = newest > 0 ? newest : -wanted;
    report.lost.push_back(
        newest > 0
            ? fmt::format("snapshot {}, the current one: kiln uses snapshot {} instead", wanted, newest)
            : fmt::format("snapshot {}, the current one, and all before it", wanted));
  }
  writer.make_current(number);
  // Nor are the numbers used again of those that tell only what changed against one that is lost.
  const std::vector<std::int64_t> numbers = snapshot_sidecars(state.store);
  if (!numbers.empty()) writer.reserve(numbers.back());
  const CurrentSidecar sidecar = current_by_sidecar(state.store);
  if (number <= 0 || (sidecar.number == number && sidecar.root == writer.current().root)) return;
  state.write_current_sidecar(number, writer.current().root);
  if (sidecar.number == 0) ++report.rewritten;
}

void mark_lost(IndexWriter& writer, RecoveryReport& report) {
  IndexState& state = writer.state();
  Statement rows = state.database.prepare(
      "SELECT id, lost, record FROM images WHERE NOT external AND bits <> '' ORDER BY id");
  std::vector<std::pair<std::string, bool>> changes;
  while (rows.step()) {
    std::string id = rows.text(0);
    bool gone = !state.store.has(Digest::from_hex(id));
    if (gone) {
      ImageRecord image = image_record_from_json(parse_own(rows.text(2), "index.db").root());
      report.lost.push_back(fmt::format("{}: its manifest sha256:{} is not in the store", image.name(), id));
    }
    if (gone != (rows.integer(1) != 0)) changes.emplace_back(id, gone);
  }
  for (const auto& [image, gone] : changes) writer.set_lost(image, gone);
}

void name_tags_without_record(IndexState& state, RecoveryReport& report) {
  Statement tags = state.database.prepare(
      "SELECT repository, tag, image FROM tags WHERE image IN (SELECT id FROM images WHERE bits = '')"
      " ORDER BY repository, tag");
  while (tags.step())
    report.lost.push_back(fmt::format("{}{}{}: no record of sha256:{} is left", tags.text(0),
                                      tags.text(0).empty() ? "" : ":", tags.text(1), tags.text(2)));
}

}  // namespace

void adopt_sidecars(IndexWriter& writer, RecoveryReport& report) {
  adopt_images(writer, report);
  adopt_measurements(writer, report);
  adopt_snapshots(writer, report);
}

void adopt_rows(OldRows& old, IndexWriter& writer, RecoveryReport& report) {
  IndexState& state = writer.state();
  old.each_image([&](const std::string& id, bool lost, const std::string& record) {
    const auto known = state.image(id);
    if (known && !known->record.empty()) return;
    writer.put_image(image_record_from_json(parse_own(record, "index.db").root()), record);
    if (lost) writer.set_lost(id, true);
    ++report.adopted;
  });
  old.each_measurement([&](const std::string& image, std::int64_t number, const std::string& record) {
    if (measurement_text(state, image, number)) return;
    writer.put_measurement(image, number, record);
    ++report.adopted;
  });
  for (const std::int64_t number : old.snapshots()) {
    if (number < 1 || state.snapshot_row(number)) continue;
    const auto content = old.snapshot(number);
    if (!content) continue;
    add_snapshot(writer, *content, SnapshotSidecar::in_full(*content));
    ++report.adopted;
  }
  if (writer.current().snapshot == 0) writer.point_to(old.current());
}

void settle(IndexWriter& writer, RecoveryReport& report) {
  write_missing_sidecars(writer.state(), report);
  settle_current(writer, report);
  name_unreadable(writer.state().store, report);
  mark_lost(writer, report);
  name_tags_without_record(writer.state(), report);
  writer.saw_folders();
}

// Counting them all takes long: only where something was written to their folders that no transaction knows.
bool behind_sidecars(IndexState& state) {
  const CurrentRow current = state.current_row();
  if (state.is_behind(current)) return true;
  const std::string folders = folder_marks(state.store);
  if (current.folders == folders) return false;
  Transaction transaction(state.database, Database::Access::write);
  IndexWriter writer(state);
  auto more = [&](Sidecar kind, std::int64_t rows) {
    return static_cast<std::int64_t>(state.store.sidecars(kind).size()) > rows;
  };
  if (more(Sidecar::record, writer.images()) || more(Sidecar::measurement, writer.measurements()) ||
      static_cast<std::int64_t>(snapshot_sidecars(state.store).size()) > writer.snapshots())
    return true;
  writer.knows_folders(folders);
  writer.saw_folders();
  writer.finish();
  transaction.commit();
  return false;
}

void reconcile(IndexState& state, RecoveryReport& report) {
  Transaction transaction(state.database, Database::Access::write);
  IndexWriter writer(state);
  adopt_sidecars(writer, report);
  settle(writer, report);
  writer.finish();
  transaction.commit();
}

RecoveryReport Index::recover() {
  std::size_t temporaries = state_->writable_store().drop_dead_temporaries();
  RecoveryReport report;
  try {
    state_->check_content();
    reconcile(*state_, report);
  } catch (const DamagedDatabase&) {
    std::filesystem::path folder = state_->folder;
    state_.reset();
    state_ = reconcile_or_make_again(folder);
    report = {};
    std::swap(report, state_->found);
  }
  RecoveryReport opening = std::exchange(state_->found, {});
  // What opening found lost, it has put something else in the place of: it is not found again.
  std::erase_if(opening.lost, [&](const std::string& what) { return contains(report.lost, what); });
  report.lost.insert(report.lost.begin(), opening.lost.begin(), opening.lost.end());
  report.adopted += opening.adopted;
  report.rewritten += opening.rewritten;
  if (report.set_aside.empty()) report.set_aside = opening.set_aside;
  report.temporaries = temporaries;
  return report;
}

}  // namespace kiln
