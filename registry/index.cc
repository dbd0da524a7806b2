#include "registry/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "registry/image_blobs.h"
#include "registry/index_state.h"

namespace kiln {
namespace {

using Sidecar = BlobStore::Sidecar;

// A name that is to point at an image.
struct Move {
  SnapshotContent::Name name;
  const ImageRecord* image;
  Digest identity;
  std::string record;
};

[[noreturn]] void no_snapshot(std::int64_t number, std::int64_t newest) {
  throw Error(ExitCode::no_match, fmt::format("there is no snapshot {}", number),
              newest == 0 ? "nothing was published yet"
                          : fmt::format("the newest is {}; `kiln index snapshots` shows them", newest));
}

// An index row must never name an image whose bytes are not all in the store.
void check_complete(const BlobStore& store, const ImageRecord& image) {
  if (auto damaged = first_damage(blobs_of(image, store)))
    throw damage_error(image, *damaged).while_doing("publishing " + image.name());
}

[[noreturn]] void fail_lost(std::int64_t number) {
  throw Error(ExitCode::store, fmt::format("snapshot {}, the current one, is lost", number),
              "`kiln publish` makes a new one of what is built");
}

// What a publication begins with: nothing where the current snapshot is lost.
SnapshotContent current_content(IndexState& state) {
  std::int64_t number = state.current();
  if (number <= 0) return {};
  auto content = state.snapshot(number);
  if (!content) throw DamagedDatabase(fmt::format("the index is damaged: no snapshot {}", number));
  return *std::move(content);
}

void apply(const std::vector<Move>& moves, const std::vector<std::string>& failed_tags,
           SnapshotContent& content) {
  for (const auto& name : failed_tags) {
    auto colon = name.find(':');
    if (colon == std::string::npos) continue;
    auto found = content.tags.find({name.substr(0, colon), name.substr(colon + 1)});
    if (found != content.tags.end()) found->second.stale = true;
  }
  for (const auto& move : moves) content.tags[move.name] = {move.identity.hex(), false};
}

bool changes_anything(IndexState& state, const std::vector<Move>& moves,
                      const std::vector<std::string>& failed_tags) {
  Transaction transaction(state.database, Database::Access::read);
  if (state.current() < 0) return true;
  SnapshotContent now = current_content(state);
  SnapshotContent then = now;
  apply(moves, failed_tags, then);
  if (then.tags != now.tags) return true;
  for (const auto& move : moves) {
    if (state.record(move.identity.hex()) != move.record) return true;
  }
  return false;
}

// Sidecars first, so that a kill before the commit loses nothing; the snapshot's inside the transaction, so
// that its number is ours.
std::int64_t commit(IndexState& state, const std::vector<Move>& moves,
                    const std::vector<std::string>& failed_tags, const std::string& created,
                    const std::string& note) {
  const BlobStore& store = state.writable_store();
  if (!changes_anything(state, moves, failed_tags)) return state.current();
  for (const auto& move : moves) {
    if (!move.image->external()) check_complete(store, *move.image);
    store.write_record(move.identity, move.record);
  }
  Transaction transaction(state.database, Database::Access::write);
  SnapshotContent content = current_content(state);
  apply(moves, failed_tags, content);
  content.number = state.newest_snapshot() + 1;
  content.created = created;
  content.note = note;
  store.write_sidecar(Sidecar::snapshot, std::to_string(content.number), content.text());
  state.write_current_sidecar(content.number);
  for (const auto& move : moves) state.insert_image(*move.image, move.record);
  state.insert_snapshot(content);
  state.set_current(content.number);
  transaction.commit();
  return content.number;
}

Move move_of(const ImageRecord& image, SnapshotContent::Name name) {
  return {std::move(name), &image, image.identity(), to_json(image).dump()};
}

std::vector<Measurement> measurements_of(Statement& rows, const std::string& image) {
  std::vector<Measurement> result;
  rows.with(image);
  while (rows.step()) {
    std::string text = rows.text(1);
    check_checksum(measurement_row(image, rows.integer(0)), text, rows.text(2));
    result.push_back(measurement_from_json(parse_own(text, "index.db").root()));
  }
  return result;
}

}  // namespace

Index::Index(std::unique_ptr<IndexState> state) : state_(std::move(state)) {}
Index::Index(Index&&) noexcept = default;
Index& Index::operator=(Index&&) noexcept = default;
Index::~Index() = default;

std::int64_t Index::publish(const std::vector<ImageRecord>& images,
                            const std::vector<std::string>& failed_tags, const std::string& created,
                            const std::string& note) {
  std::vector<Move> moves;
  for (const auto& image : images) {
    if (image.external() || image.repository.empty() || image.tag.empty()) {
      throw Error(
          ExitCode::store,
          fmt::format("cannot publish '{}': it needs a manifest, a repository and a tag", image.name()));
    }
    moves.push_back(move_of(image, {image.repository, image.tag}));
  }
  return commit(*state_, moves, failed_tags, created, note);
}

std::int64_t Index::import_mappings(const std::vector<ImageRecord>& mappings, const std::string& created) {
  std::vector<Move> moves;
  for (const auto& mapping : mappings) {
    if (!mapping.external() || mapping.reference.empty() || mapping.code.empty()) {
      throw Error(ExitCode::store,
                  fmt::format("cannot import '{}': it needs a reference and a code, and no manifest",
                              mapping.name()));
    }
    moves.push_back(move_of(mapping, {"", mapping.code}));
  }
  return commit(*state_, moves, {}, created,
                fmt::format("{} imported mapping{}", moves.size(), moves.size() == 1 ? "" : "s"));
}

void Index::record(const Measurement& measurement) {
  const BlobStore& store = state_->writable_store();
  std::string image = measurement.image.hex();
  std::string text = to_json(measurement).dump();
  Transaction transaction(state_->database, Database::Access::write);
  Statement last = state_->database.prepare("SELECT max(number) FROM measurements WHERE image = ?1");
  std::int64_t number = (last.with(image).step() ? last.integer(0) : 0) + 1;
  store.write_sidecar(Sidecar::measurement, fmt::format("{}-{}", image, number), text);
  state_->insert_measurement(image, number, text);
  transaction.commit();
}

std::vector<IndexEntry> Index::entries(std::optional<std::int64_t> snapshot) const {
  Transaction transaction(state_->database,
                          Database::Access::read);  // one state of the index for all statements
  SnapshotContent content;
  if (snapshot) {
    auto found = state_->snapshot(*snapshot);
    if (!found) no_snapshot(*snapshot, state_->newest_snapshot());
    content = *std::move(found);
  } else {
    if (std::int64_t number = state_->current(); number < 0) fail_lost(-number);
    content = current_content(*state_);
  }
  Statement measurements = state_->database.prepare(
      "SELECT number, record, checksum FROM measurements WHERE image = ?1 ORDER BY number");
  std::vector<IndexEntry> result;
  for (const auto& [name, tagged] : content.tags) {
    auto text = state_->record(tagged.image);
    if (!text) continue;
    IndexEntry entry{image_record_from_json(parse_own(*text, "index.db").root()), tagged.stale, {}};
    if (!entry.image.external()) {
      // The record knows the last tag that the image got; this snapshot may know it by another.
      std::tie(entry.image.repository, entry.image.tag) = name;
      entry.measurements = measurements_of(measurements, tagged.image);
    }
    result.push_back(std::move(entry));
  }
  return result;
}

std::vector<Snapshot> Index::snapshots() const {
  Transaction transaction(state_->database, Database::Access::read);
  std::int64_t now = state_->current();
  Statement rows = state_->database.prepare(
      "SELECT number, created, note, (SELECT count(*) FROM tags WHERE snapshot = number) FROM snapshots "
      "ORDER BY number DESC");
  std::vector<Snapshot> result;
  while (rows.step()) {
    std::int64_t number = rows.integer(0);
    result.push_back(
        {number, rows.text(1), rows.text(2), static_cast<std::size_t>(rows.integer(3)), number == now});
  }
  bool behind =
      now > 0 && std::none_of(result.begin(), result.end(), [](const Snapshot& one) { return one.current; });
  if (behind) {
    SnapshotContent content = current_content(*state_);
    result.insert(result.begin(), {now, content.created, content.note, content.tags.size(), true});
  }
  return result;
}

std::int64_t Index::current() const { return std::max<std::int64_t>(0, state_->current()); }

void Index::rollback(std::int64_t snapshot) {
  Transaction transaction(state_->database, Database::Access::write);
  if (!state_->snapshot(snapshot)) no_snapshot(snapshot, state_->newest_snapshot());
  state_->write_current_sidecar(snapshot);
  state_->set_current(snapshot);
  transaction.commit();
}

}  // namespace kiln
