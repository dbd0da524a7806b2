#include "registry/index/next_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/base/text.h"
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

namespace {

constexpr const char* kRetired = "retired";
constexpr std::int64_t kStill = std::numeric_limits<std::int64_t>::max();  // of a tag of the current snapshot

// What is said of bits by the newest snapshot that has them.
class LastWords {
 public:
  explicit LastWords(IndexState& state) : state_(state) {}

  void add(const Tagged& tagged, std::int64_t last) {
    const auto row = state_.image(tagged.image);
    if (!row || row->bits.empty()) return;
    auto [found, is_new] = said_.try_emplace(row->bits, last, tagged.retired);
    const bool is_later = last > found->second.first;
    if (is_later || (last == found->second.first && !tagged.retired.empty()))
      found->second = {last, tagged.retired};
  }

  Retirements retired() const {
    Retirements retired;
    for (const auto& [bits, said] : said_)
      if (!said.second.empty()) retired[bits] = said.second;
    return retired;
  }

 private:
  IndexState& state_;
  std::map<std::string, std::pair<std::int64_t, std::string>> said_;  // the last snapshot, and the reason
};

bool has_retired(IndexState& state) {
  for (const char* table : {"tags", "past"})
    if (state.database.lend(fmt::format("SELECT 1 FROM {} WHERE retired <> '' LIMIT 1", table))->step())
      return true;
  return false;
}

Retirements retired_by_history(IndexState& state) {
  if (!has_retired(state)) return {};
  LastWords words(state);
  for (const auto& [name, tagged] : state.live_tags()) words.add(tagged, kStill);
  for (const PastRow& row : all_rows<PastRow>(state.database, "past")) words.add(row.tagged, row.last);
  return words.retired();
}

std::optional<Retirements> written_retirements(const BlobStore& store) {
  const auto text = store.read_sidecar(BlobStore::Sidecar::snapshot, kRetired);
  if (!text) return std::nullopt;
  Retirements found;
  const JsonDocument document = parse_own(*text, "retired.json");
  for (const auto& [bits, reason] : document.root().at(kRetired).members()) found[bits] = reason.string();
  return found;
}

}  // namespace

Retirements all_retirements(IndexState& state) {
  auto written = written_retirements(state.store);
  return written ? *std::move(written) : retired_by_history(state);
}

RetiredReasons::RetiredReasons(IndexState& state)
    : state_(state), written_(written_retirements(state.store)) {}

std::string RetiredReasons::of(const std::string& bits) const {
  if (written_) return value_or(*written_, bits);
  std::vector<TagRow> tags = state_.tags_of_bits(bits);
  std::erase_if(tags, [](const TagRow& tag) { return tag.tagged.retired.empty(); });
  const auto first = std::ranges::min_element(tags, {}, &TagRow::name);
  return first == tags.end() ? "" : first->tagged.retired;
}

void write_retirements(IndexState& state, const Retirements& retirements) {
  Json list = Json::object();
  for (const auto& [bits, reason] : retirements) list[bits] = reason;
  const std::string text = Json{{kRetired, std::move(list)}}.dump();
  const BlobStore& store = state.writable_store();
  if (store.read_sidecar(BlobStore::Sidecar::snapshot, kRetired) != text)
    store.write_sidecar(BlobStore::Sidecar::snapshot, kRetired, text);
}

}  // namespace kiln
