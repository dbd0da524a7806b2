// Old snapshots go, and the images that only they had. What stays proves itself as before: by its rows, and
// by sidecars that build on none that went.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "registry/index/index_mended.h"
#include "registry/index/index_reading.h"
#include "registry/index/next_snapshot.h"

namespace kiln {
namespace {

using Numbers = std::set<std::int64_t>;
using Names = std::set<std::string>;

void add_names(const SnapshotContent& content, SnapshotNames& names) {
  for (const auto& [name, tagged] : content.tags) {
    names.images.insert(tagged.image);
    names.matrices.insert(tagged.matrices.begin(), tagged.matrices.end());
  }
}

SnapshotNames names_of(IndexState& state, const Numbers& snapshots) {
  SnapshotNames names;
  for (const std::int64_t number : snapshots) {
    const auto content = state.snapshot(number);
    if (!content) no_snapshot(number, state.current_row().newest);
    add_names(*content, names);
  }
  return names;
}

// Of rows and of sidecars: a kill may have left the one without the other.
Forgotten found_beside(IndexState& state, const Numbers& snapshots, const Names& images) {
  Names all;
  Statement rows = state.database.prepare("SELECT id FROM images");
  while (rows.step()) all.insert(rows.text(0));
  for (std::string& name : state.store.sidecars(BlobStore::Sidecar::record)) all.insert(std::move(name));
  Numbers numbers;
  for (const SnapshotRow& row : state.snapshot_rows()) numbers.insert(row.number);
  for (const std::int64_t number : snapshot_sidecars(state.store)) numbers.insert(number);
  const Names named = names_of(state, snapshots).images;
  Forgotten gone;
  std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(gone.snapshots),
               [&](std::int64_t number) { return !snapshots.contains(number); });
  std::copy_if(all.begin(), all.end(), std::back_inserter(gone.images),
               [&](const std::string& id) { return !named.contains(id) && !images.contains(id); });
  return gone;
}

// Those whose sidecar tells only what changed against one that goes.
Numbers built_on_others(IndexState& state, const Numbers& snapshots) {
  Numbers found;
  for (const std::int64_t number : snapshots) {
    const auto sidecar = snapshot_sidecar(state.store, number);
    if (sidecar && sidecar->parent != 0 && !snapshots.contains(sidecar->parent)) found.insert(number);
  }
  return found;
}

void write_in_full(IndexState& state, std::int64_t number) {
  const auto content = state.snapshot_by_rows(number);
  if (!content) throw DamagedDatabase(fmt::format("the index is damaged: no snapshot {}", number));
  state.writable_store().write_sidecar(BlobStore::Sidecar::snapshot, std::to_string(number),
                                       SnapshotSidecar::in_full(*content).text());
}

void remove_sidecar(const BlobStore& store, const char* folder, const std::string& name) {
  std::error_code problem;
  const std::filesystem::path file = store.root() / folder / (name + ".json");
  std::filesystem::remove(file, problem);
  if (problem) fail_with_errno(problem.value(), "remove", file);
}

// The newest first: one that is left after a kill never builds on one that is gone.
void remove_sidecars(const BlobStore& store, const Forgotten& gone) {
  for (auto number = gone.snapshots.rbegin(); number != gone.snapshots.rend(); ++number)
    remove_sidecar(store, "snapshots", std::to_string(*number));
  sync_folder(store.root() / "snapshots");
  for (const std::string& image : gone.images) remove_sidecar(store, "records", image);
  sync_folder(store.root() / "records");
}

}  // namespace

void IndexWriter::keep_snapshots(const std::set<std::int64_t>& numbers,
                                 const std::set<std::int64_t>& in_full) {
  std::vector<SnapshotRow> rows = state_.snapshot_rows();
  std::ranges::reverse(rows);
  std::int64_t before = 0;  // SnapshotRow::changes of the row before, as it was
  std::int64_t now = 0;     // and as it is
  for (SnapshotRow& row : rows) {
    const std::string old = row.checksum();
    const std::int64_t own = row.changes == 0 ? 0 : row.changes - before;
    before = row.changes;
    now = row.changes == 0 || in_full.contains(row.number) ? 0 : now + own;
    row.changes = now;
    if (numbers.contains(row.number) && row.checksum() == old) continue;
    state_.database.lend("DELETE FROM snapshots WHERE number = ?1")->with(row.number).run();
    count("snapshots", old, "");
    if (numbers.contains(row.number)) put_snapshot(row);
  }
  for (const PastRow& row : all_rows<PastRow>(state_.database, "past")) {
    const auto first = numbers.lower_bound(row.first);
    if (first == numbers.end() || *first > row.last) erase_past(row);
  }
}

// The greatest number stays: it is not used again.
void IndexWriter::drop_unused_profiles() {
  for (const ProfileRow& row : all_rows<ProfileRow>(state_.database,
                                                    "profiles WHERE number < (SELECT max(number) FROM "
                                                    "profiles) AND number NOT IN (SELECT choice FROM images "
                                                    "UNION SELECT place FROM images)")) {
    state_.database.lend("DELETE FROM profiles WHERE number = ?1")->with(row.number).run();
    count("profiles", row.checksum(), "");
  }
}

SnapshotNames Index::names_in(const std::set<std::int64_t>& snapshots) const {
  return mended([&] {
    Transaction transaction(state_->database, Database::Access::read);
    return names_of(*state_, snapshots);
  });
}

Forgotten Index::forgettable(const std::set<std::int64_t>& snapshots,
                             const std::set<std::string>& images) const {
  return mended([&] {
    Transaction transaction(state_->database, Database::Access::read);
    return found_beside(*state_, snapshots, images);
  });
}

Forgotten Index::forget(const std::set<std::int64_t>& snapshots, const std::set<std::string>& images) {
  return mended([&] {
    const BlobStore& store = state_->writable_store();
    Forgotten gone;
    {
      IndexChange step(*state_);
      gone = found_beside(*state_, snapshots, images);
      if (gone.snapshots.empty() && gone.images.empty()) return gone;
      const Numbers in_full = built_on_others(*state_, snapshots);
      for (const std::int64_t number : in_full) write_in_full(*state_, number);
      step.writer().keep_snapshots(snapshots, in_full);
      for (const std::string& image : gone.images) step.writer().erase_image(image);
      step.writer().drop_unused_profiles();
      step.commit();
    }
    remove_sidecars(store, gone);
    return gone;
  });
}

}  // namespace kiln
