#include "registry/index/next_snapshot.h"

#include <fmt/format.h>

#include "registry/index/recovery.h"

namespace kiln {

std::optional<Tagged>& TagEdits::at(const TagName& name) {
  auto [found, is_new] = edits_.try_emplace(name);
  if (is_new)
    if (auto row = state_.tag(name)) found->second = {row->tagged, row->tagged};
  return found->second.after;
}

std::vector<TagChange> TagEdits::changes() const {
  std::vector<TagChange> changes;
  for (const auto& [name, edit] : edits_)
    if (edit.before != edit.after) changes.push_back({name, edit.before, edit.after});
  return changes;
}

IndexChange::IndexChange(IndexState& state)
    : transaction_(state.database, Database::Access::write), writer_(state) {
  if (!state.is_behind(writer_.current())) return;
  RecoveryReport unsaid;
  adopt_sidecars(writer_, unsaid);
  settle(writer_, unsaid);
}

void IndexChange::commit() {
  writer_.finish();
  transaction_.commit();
}

namespace {

// What changed against the parent, until that is as much as all tags are since the last one in full: so
// the sidecars grow with the changes, and few are read to make a snapshot again.
bool is_due_in_full(IndexWriter& writer, std::size_t changes, std::int64_t images) {
  const auto parent = writer.state().snapshot_row(writer.current().snapshot);
  return !parent || parent->changes + static_cast<std::int64_t>(changes) >= images;
}

SnapshotSidecar sidecar_of(IndexWriter& writer, const std::vector<TagChange>& changes) {
  SnapshotSidecar sidecar;
  sidecar.number = writer.current().newest + 1;
  sidecar.before = sidecar.root = writer.current().root;
  std::int64_t images = writer.current().images;
  for (const auto& [name, before, after] : changes) {
    if (before) sidecar.root.subtract(tag_checksum(name, *before));
    if (after) sidecar.root.add(tag_checksum(name, *after));
    images += (after ? 1 : 0) - (before ? 1 : 0);
  }
  const bool full = is_due_in_full(writer, changes.size(), images);
  if (full) sidecar.tags = writer.state().live_tags();
  if (!full) sidecar.parent = writer.current().snapshot;
  for (const auto& [name, before, after] : changes) {
    if (after)
      sidecar.tags[name] = *after;
    else if (full)
      sidecar.tags.erase(name);
    else
      sidecar.gone.push_back(name);
  }
  return sidecar;
}

}  // namespace

std::int64_t make_snapshot(IndexWriter& writer, const std::vector<TagChange>& changes,
                           const std::string& created, const std::string& note, std::optional<bool> held) {
  writer.expect_new(changes);
  SnapshotSidecar sidecar = sidecar_of(writer, changes);
  sidecar.created = created;
  sidecar.note = note;
  const std::string text = sidecar.text();
  if (text.size() > kMostSnapshot)
    throw Error(ExitCode::input,
                fmt::format("a snapshot of {} bytes, the limit is {}", text.size(), kMostSnapshot),
                "shorter codes, or fewer mappings");
  IndexState& state = writer.state();
  state.writable_store().write_sidecar(BlobStore::Sidecar::snapshot, std::to_string(sidecar.number), text);
  state.write_current_sidecar(sidecar.number, sidecar.root, held);
  writer.append(sidecar, changes);
  writer.make_current(sidecar.number);
  return sidecar.number;
}

}  // namespace kiln
