#include "registry/index/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "factory/base/text.h"
#include "factory/record/image_blobs.h"
#include "registry/index/index_mended.h"
#include "registry/index/index_reading.h"
#include "registry/index/mapping_import.h"
#include "registry/index/retirements.h"

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
  auto at = std::lower_bound(matrices.begin(), matrices.end(), matrix);
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
  return std::any_of(change.moves.begin(), change.moves.end(),
                     [&](const Move& move) { return state.record(move.identity.hex()) != move.record; });
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

Index::Imported Index::import_mappings(const std::function<void(const TakeMapping& take)>& give,
                                       const std::string& created) {
  bool began = false;
  return mended([&] {
    if (std::exchange(began, true))  // what came from a pipe does not come twice
      throw Error(ExitCode::store, "the index was damaged and has been made again; nothing is imported",
                  "import them once more");
    state_->writable_store();
    IndexChange step(*state_);
    MappingImport import(step.writer());
    give([&](const ImageRecord& mapping) { import.take(mapping); });
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

namespace {

// Of the row that a measurement replaces: the same speed of the same session, before its last round or before
// runs were discarded. Old ones have no session; a withdrawal of one has its time. 0: there is none.
std::int64_t number_of_same(IndexState& state, const Measurement& measurement) {
  if (measurement.session.empty() && !measurement.withdrawn) return 0;
  auto mark = [](const Measurement& one) {
    return std::tuple(one.workload, one.unit, one.host.model, one.host.cores, one.session,
                      one.session.empty() ? one.taken : "");
  };
  Statement rows = state.database.prepare("SELECT number, record FROM measurements WHERE image = ?1");
  rows.with(measurement.image.hex());
  while (rows.step())
    if (mark(measurement_from_json(parse_own(rows.text(1), "index.db").root())) == mark(measurement))
      return rows.integer(0);
  return 0;
}

}  // namespace

void Index::record(const Measurement& measurement) {
  std::string written;  // its sidecar: made again, the index has taken it in
  mended([&] {
    if (!written.empty()) return;
    const BlobStore& store = state_->writable_store();
    const std::string image = measurement.image.hex();
    IndexChange step(*state_);
    std::int64_t number = number_of_same(*state_, measurement);
    if (number == 0) {
      Statement last = state_->database.prepare("SELECT max(number) FROM measurements WHERE image = ?1");
      number = (last.with(image).step() ? last.integer(0) : 0) + 1;
      // One that a killed process left is another.
      while (store.read_sidecar(Sidecar::measurement, fmt::format("{}-{}", image, number))) ++number;
    }
    const std::string text = to_json(measurement).dump();
    written = fmt::format("{}-{}", image, number);
    store.write_sidecar(Sidecar::measurement, written, text);
    step.writer().put_measurement(image, number, text);
    step.commit();
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
                             fmt::format("snapshot {}, without what was retired since", snapshot), is_held);
    step.commit();
    return number;
  });
}

bool Index::held() const { return current_by_sidecar(state_->store).held; }

void Index::release() {
  mended([&] { released(*state_); });
}

}  // namespace kiln
