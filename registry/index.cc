#include "registry/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "registry/image_blobs.h"
#include "registry/mapping_import.h"

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

auto find_tag(SnapshotContent& content, const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return content.tags.end();
  return content.tags.find({name.substr(0, colon), name.substr(colon + 1)});
}

// Bits may have several names, and manifests.
void mark_failing(IndexState& state, const std::vector<FailingImage>& failing, SnapshotContent& content) {
  if (failing.empty()) return;
  std::set<std::string> keys;
  for (const FailingImage& image : failing) keys.insert(image.key);
  for (auto& [name, tagged] : content.tags) {
    auto text = state.record(tagged.image);
    if (!text) continue;
    const ImageRecord image = image_record_from_json(parse_own(*text, "index.db").root());
    if (image.external() || !keys.contains(image.key)) continue;
    tagged.failing = true;
    tagged.stale = false;
  }
}

void apply(IndexState& state, const Change& change, SnapshotContent& content) {
  const std::map<std::string, std::string> retired = retired_bits(state, content);
  for (const std::string& name : change.failed_tags)
    if (auto found = find_tag(content, name); found != content.tags.end()) found->second.stale = true;
  mark_failing(state, change.failing, content);
  for (const std::string& name : change.pruned) {
    auto found = find_tag(content, name);
    if (found == content.tags.end()) continue;
    std::erase(found->second.matrices, change.matrix);
    if (found->second.matrices.empty()) content.tags.erase(found);
  }
  for (const Move& move : change.moves) {
    SnapshotContent::Tagged& tagged = content.tags[move.name];
    auto reason = retired.find(move.image->external() ? move.identity.hex() : move.image->key);
    tagged.retired = reason == retired.end() ? "" : reason->second;
    tagged.image = move.identity.hex();
    tagged.stale = tagged.failing = false;
    add_matrix(tagged.matrices, change.matrix);
  }
}

bool changes_anything(IndexState& state, const Change& change) {
  Transaction transaction(state.database, Database::Access::read);
  if (state.current() < 0) return true;
  SnapshotContent now = current_content(state);
  SnapshotContent then = now;
  apply(state, change, then);
  if (then.tags != now.tags) return true;
  for (const auto& move : change.moves) {
    if (state.record(move.identity.hex()) != move.record) return true;
  }
  return false;
}

// Sidecars first, so that a kill before the commit loses nothing.
std::int64_t commit(IndexState& state, const Change& change) {
  const BlobStore& store = state.writable_store();
  if (!changes_anything(state, change)) return state.current();
  for (const auto& move : change.moves) {
    if (!move.image->external()) check_complete(store, *move.image);
    store.write_record(move.identity, move.record);
  }
  Transaction transaction(state.database, Database::Access::write);
  SnapshotContent content = current_content(state);
  apply(state, change, content);
  for (const auto& move : change.moves) state.insert_image(*move.image, move.record);
  const std::int64_t number = make_current(state, std::move(content), change.created, change.note);
  transaction.commit();
  return number;
}

Move move_of(const ImageRecord& image, SnapshotContent::Name name) {
  return {std::move(name), &image, image.identity(), to_json(image).dump()};
}

// Every measurement that was taken, by the bits that it is of: the plan key, or where nobody wrote it down
// the manifest's hex digits.
class MeasuredBits {
 public:
  explicit MeasuredBits(IndexState& state) : state_(&state) {
    Statement rows = state.database.prepare("SELECT image, number, record, checksum FROM measurements");
    while (rows.step()) {
      const std::string text = rows.text(2);
      check_checksum(measurement_row(rows.text(0), rows.integer(1)), text, rows.text(3));
      Measurement measurement = measurement_from_json(parse_own(text, "index.db").root());
      const std::string bits = measurement.key.empty() ? bits_of(rows.text(0)) : measurement.key;
      by_bits_[bits].push_back(std::move(measurement));
    }
    for (auto& [bits, measurements] : by_bits_)
      std::stable_sort(measurements.begin(), measurements.end(),
                       [](const Measurement& a, const Measurement& b) { return a.taken < b.taken; });
  }

  std::vector<Measurement> of(const ImageRecord& image) const {
    auto found = by_bits_.find(image.key.empty() ? image.manifest.hex() : image.key);
    return found == by_bits_.end() ? std::vector<Measurement>{} : found->second;
  }

 private:
  // Of an image that may be in no snapshot any more.
  std::string bits_of(const std::string& id) {
    auto [found, is_new] = bits_.try_emplace(id, id);
    auto record = is_new ? state_->record(id) : std::nullopt;
    if (!record) return found->second;
    const std::string key = image_record_from_json(parse_own(*record, "index.db").root()).key;
    if (!key.empty()) found->second = key;
    return found->second;
  }

  IndexState* state_;
  std::map<std::string, std::string> bits_;  // by image
  std::map<std::string, std::vector<Measurement>> by_bits_;
};

}  // namespace

Index::Index(std::unique_ptr<IndexState> state) : state_(std::move(state)) {}
Index::Index(Index&&) noexcept = default;
Index& Index::operator=(Index&&) noexcept = default;
Index::~Index() = default;

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
  return commit(*state_, change);
}

Index::Imported Index::import_mappings(const std::function<void(const TakeMapping& take)>& give,
                                       const std::string& created) {
  state_->writable_store();
  Transaction transaction(state_->database, Database::Access::write);
  MappingImport import(*state_);
  give([&](const ImageRecord& mapping) { import.take(mapping); });
  const Imported done{import.finish(created), import.mappings()};
  transaction.commit();
  return done;
}

std::int64_t Index::retire(const std::vector<Digest>& identities, const std::string& reason,
                           const std::string& created) {
  state_->writable_store();
  Transaction transaction(state_->database, Database::Access::write);
  SnapshotContent content = current_content(*state_);
  std::size_t changed = 0;
  for (auto& [name, tagged] : content.tags) {
    auto same = [&image = tagged.image](const Digest& identity) { return identity.hex() == image; };
    if (tagged.retired == reason || std::none_of(identities.begin(), identities.end(), same)) continue;
    tagged.retired = reason;
    ++changed;
  }
  if (changed == 0) return state_->current();
  const std::string note = reason.empty() ? "not retired any more" : "retired: " + reason;
  const std::int64_t number = make_current(*state_, std::move(content), created, note);
  transaction.commit();
  return number;
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
  const MeasuredBits measured(*state_);
  std::vector<IndexEntry> result;
  for (const auto& [name, tagged] : content.tags) {
    auto text = state_->record(tagged.image);
    if (!text) continue;
    IndexEntry entry{image_record_from_json(parse_own(*text, "index.db").root()),
                     tagged.stale,
                     {},
                     tagged.failing,
                     tagged.retired,
                     tagged.matrices};
    if (!entry.image.external()) {
      // The record knows the last tag that the image got; this snapshot may know it by another.
      std::tie(entry.image.repository, entry.image.tag) = name;
      entry.measurements = measured.of(entry.image);
    }
    result.push_back(std::move(entry));
  }
  return result;
}

std::vector<std::string> Index::compilers() const {
  Transaction transaction(state_->database, Database::Access::read);
  std::set<std::string> names;
  for (const auto& [name, tagged] : current_content(*state_).tags) {
    auto text = state_->record(tagged.image);
    if (!text) continue;
    for (const ComponentRecord& component :
         image_record_from_json(parse_own(*text, "index.db").root()).components)
      if (component.kind == "compiler") names.insert(component.name);
  }
  return {names.begin(), names.end()};
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
