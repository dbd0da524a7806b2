#include "registry/index/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "factory/record/image_blobs.h"
#include "registry/index/index_mended.h"
#include "registry/index/index_reading.h"
#include "registry/index/next_snapshot.h"

namespace kiln {
namespace {

using Sidecar = BlobStore::Sidecar;

// A name that is to point at an image.
struct Move {
  TagName name;
  const ImageRecord* image;
  Digest identity;
  std::string record;
};

// An index row must never name an image whose bytes are not all in the store.
void check_complete(const BlobStore& store, const ImageRecord& image) {
  if (auto damaged = first_damage(blobs_of(image, store)))
    throw damage_error(image, *damaged).while_doing("publishing " + image.name());
}

// What a publication does to the names of the current snapshot.
struct Change {
  std::vector<Move> moves;
  std::vector<std::string> failed_tags{};
  std::vector<FailingImage> failing{};
  std::vector<std::string> pruned{};
  std::string matrix{};  // "": nobody's
  std::string created;
  std::string note;
};

void add_matrix(std::vector<std::string>& matrices, const std::string& matrix) {
  auto at = std::ranges::lower_bound(matrices, matrix);
  if (!matrix.empty() && (at == matrices.end() || *at != matrix)) matrices.insert(at, matrix);
}

std::optional<TagName> tag_name_of(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return TagName(name.substr(0, colon), name.substr(colon + 1));
}

std::vector<TagChange> changes_of(IndexState& state, const Change& change) {
  TagEdits edits(state);
  for (const std::string& name : change.failed_tags)
    if (auto at = tag_name_of(name))
      if (auto& tagged = edits.at(*at)) tagged->stale = true;
  // Bits may have several names, and manifests.
  for (const FailingImage& image : change.failing) {
    for (const TagRow& tag : state.tags_of_bits(image.key)) {
      auto& tagged = edits.at(tag.name);
      tagged->failing = true;
      tagged->stale = false;
    }
  }
  for (const std::string& name : change.pruned) {
    auto at = tag_name_of(name);
    if (!at || !edits.at(*at)) continue;
    std::erase(edits.at(*at)->matrices, change.matrix);
    if (edits.at(*at)->matrices.empty()) edits.at(*at).reset();
  }
  const RetiredReasons retired(state);
  for (const Move& move : change.moves) {
    auto& tagged = edits.at(move.name);
    if (!tagged) tagged.emplace();
    tagged->retired = retired.of(move.image->bits());
    tagged->image = move.identity.hex();
    tagged->stale = tagged->failing = false;
    add_matrix(tagged->matrices, change.matrix);
  }
  return edits.changes();
}

bool changes_anything(IndexState& state, const Change& change) {
  Transaction transaction(state.database, Database::Access::read);
  const CurrentRow current = state.current_row();
  if (current.snapshot < 0 || state.is_behind(current)) return true;
  if (!changes_of(state, change).empty()) return true;
  return std::ranges::any_of(
      change.moves, [&](const Move& move) { return state.record(move.identity.hex()) != move.record; });
}

// The current snapshot, which is held no longer.
std::int64_t released(IndexState& state) {
  if (!current_by_sidecar(state.store).held) return state.current();
  IndexChange step(state);
  const CurrentRow current = step.writer().current();
  if (current.snapshot > 0) state.write_current_sidecar(current.snapshot, current.root, false);
  step.commit();
  return current.snapshot;
}

// Those of the names that lie in the current snapshot and whose bits were retired are so there as well.
std::vector<TagChange> retire_again(IndexState& state, const Retirements& retired) {
  TagEdits edits(state);
  for (const auto& [bits, reason] : retired)
    for (const TagRow& tag : state.tags_of_bits(bits))
      if (tag.tagged.retired.empty()) edits.at(tag.name)->retired = reason;
  return edits.changes();
}

// Sidecars first, so that a kill before the commit loses nothing.
std::int64_t commit(IndexState& state, const Change& change) {
  const BlobStore& store = state.writable_store();
  if (!changes_anything(state, change)) return released(state);
  const std::string folders = folder_marks(store);
  for (const auto& move : change.moves) {
    if (!move.image->external()) check_complete(store, *move.image);
    store.write_record(move.identity, move.record);
  }
  IndexChange step(state);
  step.writer().knows_folders(folders);
  const std::vector<TagChange> changes = changes_of(state, change);
  for (const auto& move : change.moves) step.writer().put_image(*move.image, move.record);
  const std::int64_t number = make_snapshot(step.writer(), changes, change.created, change.note, false);
  step.commit();
  return number;
}

Move move_of(const ImageRecord& image, TagName name) {
  return {std::move(name), &image, image.identity(), to_json(image).dump()};
}

}  // namespace

std::int64_t Index::publish(const std::vector<ImageRecord>& images,
                            const std::vector<std::string>& failed_tags, const std::string& created,
                            const std::string& matrix, const PublishMarks& marks) {
  Change change{{}, failed_tags, marks.failing, marks.pruned, matrix, created, matrix};
  for (const FailingImage& image : marks.failing) change.failed_tags.push_back(image.name);
  for (const auto& image : images) {
    if (image.external() || image.repository.empty() || image.tag.empty()) {
      throw Error(
          ExitCode::store,
          fmt::format("cannot publish '{}': it needs a manifest, a repository and a tag", image.name()));
    }
    change.moves.push_back(move_of(image, {image.repository, image.tag}));
  }
  return mended([&] { return commit(*state_, change); });
}

namespace {

// Mappings of images that kiln did not build, on their way into the index.
using Record = std::pair<Digest, std::string>;

constexpr std::size_t kWriters = 32;
constexpr std::size_t kRecordsAtOnce = 1024;

void stop_if_told() {
  if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
}

// Each waits for the disk three times, and those that wait together are done together.
void write_together(const std::vector<Record>& records, const BlobStore& store) {
  stop_if_told();
  std::vector<std::future<void>> writers;
  for (std::size_t first = 0; first < std::min(kWriters, records.size()); ++first)
    writers.push_back(std::async(std::launch::async, [&records, &store, first] {
      for (std::size_t i = first; i < records.size(); i += kWriters)
        store.write_record(records[i].first, records[i].second);
    }));
  for (std::future<void>& writer : writers) writer.get();
}

// They become rows as they come, so that no more than names and digests of them is kept; their sidecars are
// written when the last has come, as one of them may be wrong.
class MappingImport {
 public:
  explicit MappingImport(IndexWriter& writer);
  void add(const ImageRecord& mapping);  // throws Error(store) for what is no mapping
  std::size_t mappings() const { return taken_.size(); }
  // The number of the snapshot with all that was taken, of the current one where nothing is new. Throws
  // Error(input) when that would be too large, Error(store).
  std::int64_t finish(const std::string& created);

 private:
  struct Taken {
    Digest identity;
    std::string bits;
    bool is_new = false;  // its row was made here
  };
  std::vector<TagChange> changes();
  void drop_replaced();
  void write_sidecars();

  IndexWriter& writer_;
  IndexState& state_;
  std::unordered_map<std::string, Taken> taken_;  // by code
  std::set<std::string> replaced_;                // rows of ours whose code another mapping has now
};

MappingImport::MappingImport(IndexWriter& writer) : writer_(writer), state_(writer.state()) {}

void MappingImport::add(const ImageRecord& mapping) {
  stop_if_told();
  if (!mapping.external() || mapping.reference.empty() || mapping.code.empty())
    throw Error(
        ExitCode::store,
        fmt::format("cannot import '{}': it needs a reference and a code, and no manifest", mapping.name()));
  const std::string record = to_json(mapping).dump();
  Taken taken{mapping.identity(), mapping.bits(), false};
  const bool known = state_.record(taken.identity.hex()) == record;
  if (!known) writer_.put_image(mapping, record);
  taken.is_new = !known || replaced_.erase(taken.identity.hex()) > 0;
  auto [at, first] = taken_.try_emplace(mapping.code, taken);
  if (first) return;
  const Taken before = std::exchange(at->second, taken);
  if (before.identity == taken.identity)
    at->second.is_new = before.is_new;
  else if (before.is_new)
    replaced_.insert(before.identity.hex());
}

std::int64_t MappingImport::finish(const std::string& created) {
  const std::vector<TagChange> changed = changes();
  drop_replaced();
  const bool is_new = std::ranges::any_of(taken_, [](const auto& one) { return one.second.is_new; });
  const std::int64_t current = writer_.current().snapshot;
  if (!is_new && changed.empty() && current >= 0) return current;
  write_sidecars();
  return make_snapshot(writer_, changed, created, counted(taken_.size(), "imported mapping"));
}

std::vector<TagChange> MappingImport::changes() {
  TagEdits edits(state_);
  const RetiredReasons retired(state_);
  for (const auto& [code, taken] : taken_) {
    std::optional<Tagged>& tagged = edits.at({"", code});
    if (!tagged) tagged.emplace();
    tagged->image = taken.identity.hex();
    tagged->stale = false;
    tagged->retired = retired.of(taken.bits);
  }
  return edits.changes();
}

void MappingImport::write_sidecars() {
  const BlobStore& store = state_.writable_store();
  std::vector<Record> records;
  for (const auto& [code, taken] : taken_) {
    if (taken.is_new) records.emplace_back(taken.identity, *state_.record(taken.identity.hex()));
    if (records.size() < kRecordsAtOnce) continue;
    write_together(records, store);
    records.clear();
  }
  write_together(records, store);
}

void MappingImport::drop_replaced() {
  for (const std::string& identity : replaced_) writer_.erase_image(identity);
}

}  // namespace

Index::Imported Index::import_mappings(const std::function<void(const AddMapping& add)>& give,
                                       const std::string& created) {
  bool began = false;
  return mended([&] {
    if (std::exchange(began, true))  // what came from a pipe does not come twice
      throw Error(ExitCode::store, "the index was damaged and has been made again; nothing is imported",
                  "import them once more");
    state_->writable_store();
    IndexChange step(*state_);
    MappingImport import(step.writer());
    give([&](const ImageRecord& mapping) { import.add(mapping); });
    const Imported done{import.finish(created), import.mappings()};
    step.commit();
    return done;
  });
}

std::int64_t Index::retire(const std::vector<Digest>& identities, const std::string& reason,
                           const std::string& created) {
  return mended([&] {
    state_->writable_store();
    IndexChange step(*state_);
    TagEdits edits(*state_);
    Retirements retired = all_retirements(*state_);
    for (const Digest& identity : identities) {
      for (const TagRow& tag : state_->tags_of_image(identity.hex())) edits.at(tag.name)->retired = reason;
      const auto image = state_->image(identity.hex());
      if (!image || image->bits.empty()) continue;
      if (reason.empty())
        retired.erase(image->bits);
      else
        retired[image->bits] = reason;
    }
    write_retirements(*state_, retired);
    const std::vector<TagChange> changes = edits.changes();
    if (changes.empty()) return step.writer().current().snapshot;
    const std::string note = reason.empty() ? "not retired any more" : "retired: " + reason;
    const std::int64_t number = make_snapshot(step.writer(), changes, created, note);
    step.commit();
    return number;
  });
}

std::int64_t Index::rollback(std::int64_t snapshot, const std::string& created) {
  return mended([&] {
    state_->writable_store();
    IndexChange step(*state_);
    const auto row = state_->snapshot_row(snapshot);
    const std::int64_t newest = step.writer().current().newest;
    if (!row) no_snapshot(snapshot, newest);
    const Retirements retired = all_retirements(*state_);
    if (!retired.empty()) write_retirements(*state_, retired);
    step.writer().make_current(snapshot);
    const std::vector<TagChange> changes = retire_again(*state_, retired);
    const bool is_held = snapshot != newest;
    std::int64_t number = snapshot;
    if (changes.empty())
      state_->write_current_sidecar(snapshot, row->root, is_held);
    else
      number = make_snapshot(step.writer(), changes, created.empty() ? row->created : created,
                             fmt::format("snapshot {}, without the images retired since", snapshot), is_held);
    step.commit();
    return number;
  });
}

bool Index::held() const { return current_by_sidecar(state_->store).held; }

void Index::release() {
  mended([&] { released(*state_); });
}

}  // namespace kiln
