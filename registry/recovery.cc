#include "registry/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "registry/index.h"

namespace kiln {
namespace {

using Sidecar = BlobStore::Sidecar;

std::string name_of_measurement(const std::string& image, std::int64_t number) {
  return fmt::format("{}-{}", image, number);
}

// Calls `adopt` with each sidecar that proves itself. One that was written by us and says something else than
// its name is as good as none.
void read_each(const BlobStore& store, Sidecar kind,
               const std::function<void(const std::string& name, const std::string& text)>& adopt) {
  for (const auto& name : store.sidecars(kind)) {
    try {
      if (auto text = store.read_sidecar(kind, name)) adopt(name, *text);
    } catch (const DamagedDatabase&) {
      throw;
    } catch (const Error& error) {
      if (error.code() != ExitCode::input && error.code() != ExitCode::store) throw;
    }
  }
}

void adopt_images(IndexState& state, RecoveryReport& report) {
  Statement row = state.database.prepare("SELECT record FROM images WHERE id = ?1");
  read_each(state.store, Sidecar::record, [&](const std::string& name, const std::string& text) {
    bool known = row.with(name).step();
    if (known && row.text(0) == text) return;
    JsonDocument document = parse_own(text, name + ".json");
    ImageRecord image = image_record_from_json(document.root());
    if (image.identity().hex() != name) document.root().fail("the record of another image is in this file");
    state.insert_image(image, text);
    if (!known) ++report.adopted;
  });
}

// `<64 hex>-<n>`
std::int64_t measurement_number(const std::string& name, const JsonNode& node) {
  std::int64_t number = 0;
  if (name.size() > 65) std::from_chars(name.data() + 65, name.data() + name.size(), number);
  if (number < 1 || name_of_measurement(measurement_from_json(node).image.hex(), number) != name)
    node.fail("the measurement of another image is in this file");
  return number;
}

void adopt_measurements(IndexState& state, RecoveryReport& report) {
  Statement row = state.database.prepare("SELECT 1 FROM measurements WHERE image = ?1 AND number = ?2");
  read_each(state.store, Sidecar::measurement, [&](const std::string& name, const std::string& text) {
    JsonDocument document = parse_own(text, name + ".json");
    std::int64_t number = measurement_number(name, document.root());
    std::string image = name.substr(0, 64);
    if (row.with(image, number).step()) return;
    state.insert_measurement(image, number, text);
    ++report.adopted;
  });
}

void adopt_snapshots(IndexState& state, RecoveryReport& report) {
  read_each(state.store, Sidecar::snapshot, [&](const std::string& name, const std::string& text) {
    if (name == "current") return;
    SnapshotContent content = SnapshotContent::parse(text, name + ".json");
    if (std::to_string(content.number) != name || state.snapshot_row(content.number)) return;
    state.insert_snapshot(content);
    ++report.adopted;
  });
}

// Gives `write` each text whose sidecar is not there, or does not prove itself.
void write_missing(const BlobStore& store, Sidecar kind, Statement& rows,
                   const std::function<std::pair<std::string, std::string>(Statement&)>& name_and_text,
                   RecoveryReport& report) {
  while (rows.step()) {
    auto [name, text] = name_and_text(rows);
    if (store.read_sidecar(kind, name)) continue;
    store.write_sidecar(kind, name, text);
    ++report.rewritten;
  }
}

void write_missing_sidecars(IndexState& state, RecoveryReport& report) {
  const BlobStore& store = state.writable_store();
  Statement images = state.database.prepare("SELECT id, record FROM images");
  write_missing(
      store, Sidecar::record, images, [](Statement& row) { return std::pair(row.text(0), row.text(1)); },
      report);
  Statement measured = state.database.prepare("SELECT image, number, record FROM measurements");
  write_missing(
      store, Sidecar::measurement, measured,
      [](Statement& row) { return std::pair(name_of_measurement(row.text(0), row.integer(1)), row.text(2)); },
      report);
  Statement snapshots = state.database.prepare("SELECT number FROM snapshots");
  write_missing(
      store, Sidecar::snapshot, snapshots,
      [&](Statement& row) {
        return std::pair(std::to_string(row.integer(0)), state.snapshot_row(row.integer(0))->text());
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
void settle_current(IndexState& state, RecoveryReport& report) {
  std::int64_t wanted = current_by_sidecar(state.store);
  if (wanted == 0) wanted = std::abs(state.current_row());
  if (wanted == 0) wanted = state.database.integer("SELECT max(number) FROM snapshots");
  std::int64_t number = wanted;
  if (wanted != 0 && !state.snapshot_row(wanted)) {
    Statement before = state.database.prepare("SELECT max(number) FROM snapshots WHERE number < ?1");
    std::int64_t newest = before.with(wanted).step() ? before.integer(0) : 0;
    number = newest > 0 ? newest : -wanted;
    report.lost.push_back(
        newest > 0 ? fmt::format("snapshot {}, the current one: snapshot {} stands in for it", wanted, newest)
                   : fmt::format("snapshot {}, the current one, and all before it", wanted));
  }
  if (number != state.current_row()) state.set_current(number);
  if (number > 0 && current_by_sidecar(state.store) != number) state.write_current_sidecar(number);
}

void mark_lost(IndexState& state, RecoveryReport& report) {
  Statement rows =
      state.database.prepare("SELECT id, lost, record FROM images WHERE NOT external ORDER BY id");
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
  Statement update = state.database.prepare("UPDATE images SET lost = ?2 WHERE id = ?1");
  for (const auto& [image, gone] : changes) update.with(image, gone).run();
}

void name_tags_without_record(IndexState& state, RecoveryReport& report) {
  Statement tags = state.database.prepare(
      "SELECT repository, tag, image FROM tags WHERE snapshot = (SELECT snapshot FROM current)"
      " AND image NOT IN (SELECT id FROM images) ORDER BY repository, tag");
  while (tags.step())
    report.lost.push_back(fmt::format("{}{}{}: no record of sha256:{} is left", tags.text(0),
                                      tags.text(0).empty() ? "" : ":", tags.text(1), tags.text(2)));
}

}  // namespace

void adopt_sidecars(IndexState& state, RecoveryReport& report) {
  adopt_images(state, report);
  adopt_measurements(state, report);
  adopt_snapshots(state, report);
}

void adopt_rows(IndexState& old, IndexState& state, RecoveryReport& report) {
  Statement known = state.database.prepare("SELECT 1 FROM images WHERE id = ?1");
  Statement images = old.database.prepare("SELECT id FROM images");
  while (images.step()) {
    std::string id = images.text(0);
    if (known.with(id).step()) continue;
    auto text = old.record(id);
    if (!text) continue;
    state.insert_image(image_record_from_json(parse_own(*text, "index.db").root()), *text);
    ++report.adopted;
  }
  Statement taken = state.database.prepare("SELECT 1 FROM measurements WHERE image = ?1 AND number = ?2");
  Statement measured = old.database.prepare("SELECT image, number, record, checksum FROM measurements");
  while (measured.step()) {
    std::string image = measured.text(0);
    std::int64_t number = measured.integer(1);
    check_checksum(measurement_row(image, number), measured.text(2), measured.text(3));
    if (taken.with(image, number).step()) continue;
    state.insert_measurement(image, number, measured.text(2));
    ++report.adopted;
  }
  Statement snapshots = old.database.prepare("SELECT number FROM snapshots");
  while (snapshots.step()) {
    auto content = old.snapshot_row(snapshots.integer(0));
    if (!content || state.snapshot_row(content->number)) continue;
    state.insert_snapshot(*content);
    ++report.adopted;
  }
  if (state.current_row() == 0) state.set_current(old.current_row());
}

void settle(IndexState& state, RecoveryReport& report) {
  write_missing_sidecars(state, report);
  settle_current(state, report);
  name_unreadable(state.store, report);
  mark_lost(state, report);
  name_tags_without_record(state, report);
}

bool behind_sidecars(IndexState& state) {
  auto rows = [&](const char* table) {
    return static_cast<std::size_t>(state.database.integer(fmt::format("SELECT count(*) FROM {}", table)));
  };
  std::int64_t current = current_by_sidecar(state.store);
  std::size_t snapshots = state.store.sidecars(Sidecar::snapshot).size() - (current == 0 ? 0 : 1);
  return state.store.sidecars(Sidecar::record).size() > rows("images") ||
         state.store.sidecars(Sidecar::measurement).size() > rows("measurements") ||
         snapshots > rows("snapshots") || (current != 0 && current != state.current_row());
}

void reconcile(IndexState& state, RecoveryReport& report) {
  Transaction transaction(state.database, Database::Access::write);
  adopt_sidecars(state, report);
  settle(state, report);
  transaction.commit();
}

RecoveryReport Index::recover() {
  std::size_t temporaries = state_->writable_store().drop_dead_temporaries();
  RecoveryReport report;
  try {
    reconcile(*state_, report);
  } catch (const DamagedDatabase&) {
    std::filesystem::path folder = state_->folder;
    state_.reset();
    state_ = reconcile_or_make_again(folder);
    report = {};
    std::swap(report, state_->found);
  }
  const RecoveryReport opening = std::exchange(state_->found, {});
  report.adopted += opening.adopted;
  report.rewritten += opening.rewritten;
  if (report.set_aside.empty()) report.set_aside = opening.set_aside;
  report.temporaries = temporaries;
  return report;
}

}  // namespace kiln
