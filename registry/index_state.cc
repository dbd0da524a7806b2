#include "registry/index_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/json_put.h"

namespace kiln {
namespace {

constexpr std::int64_t kApplicationId = 0x6b696c6e;  // "kiln", for file(1)
constexpr std::int64_t kVersion = 2;                 // of schema.sql
// From the format before: tags did not know who published them, nor that they fail or are retired.
constexpr const char* kFromVersion1 =
    "ALTER TABLE tags ADD COLUMN failing INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE tags ADD COLUMN retired TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE tags ADD COLUMN matrices TEXT NOT NULL DEFAULT '';"
    "PRAGMA user_version = 2";
constexpr const char* kSchema =
#include "schema.sql.inc"
    ;

std::string snapshot_key(std::int64_t number) { return fmt::format("snapshot {}", number); }

// As in a row; "" for none.
std::string matrices_text(const std::vector<std::string>& matrices) {
  return matrices.empty() ? "" : Json(matrices).dump();
}

// No checksum stands between this and a flipped bit: what cannot be read is damage.
std::vector<std::string> matrices_from(const std::string& text) {
  if (text.empty()) return {};
  try {
    return parse_own(text, "index.db").root().strings();
  } catch (const Error&) {
    throw DamagedDatabase("the index is damaged: the matrices of a tag cannot be read");
  }
}

}  // namespace

std::string checksum_of(const std::string& key, const std::string& text) {
  return Digest::of(key + "\n" + text).hex();
}

void check_checksum(const std::string& key, const std::string& text, const std::string& checksum) {
  if (checksum_of(key, text) != checksum) {
    throw DamagedDatabase(fmt::format("the index is damaged: {} is not what was written", key));
  }
}

std::string image_row(const std::string& id, bool external) {
  return fmt::format("{} {}", external ? "external image" : "image", id);
}

std::string measurement_row(const std::string& image, std::int64_t number) {
  return fmt::format("measurement {} of image {}", number, image);
}

JsonDocument parse_own(const std::string& text, const std::string& file) {
  JsonLimits limits;
  limits.bytes = kMostSnapshot;
  limits.members = 10'000'000;
  return JsonDocument::parse(text, file, limits);
}

// As Json::dump() would write the whole, without keeping it.
std::string SnapshotContent::text() const {
  const std::string head = Json{{"number", number}, {"created", created}, {"note", note}}.dump();
  std::string text = head.substr(0, head.size() - 1) + ",\"tags\":[";
  for (const auto& [name, tagged] : tags) {
    Json tag{
        {"repository", name.first}, {"tag", name.second}, {"image", tagged.image}, {"stale", tagged.stale}};
    if (tagged.failing) tag["failing"] = true;
    put(tag, "retired", tagged.retired);
    put(tag, "matrices", tagged.matrices);
    text += tag.dump() + ",";
  }
  if (!tags.empty()) text.pop_back();
  return text + "]}";
}

SnapshotContent SnapshotContent::parse(const std::string& text, const std::string& file) {
  JsonDocument document = parse_own(text, file);
  JsonNode root = document.root();
  root.allow_only({"number", "created", "note", "tags"});
  SnapshotContent content{
      root.at("number").integer(1, INT64_MAX), root.at("created").string(), root.at("note").string(), {}};
  for (const auto& tag : root.at("tags").items()) {
    tag.allow_only({"repository", "tag", "image", "stale", "failing", "retired", "matrices"});
    SnapshotContent::Tagged tagged{Digest::from_hex(tag.at("image").string()).hex(),
                                   tag.at("stale").boolean()};
    if (auto failing = tag.find("failing")) tagged.failing = failing->boolean();
    if (auto retired = tag.find("retired")) tagged.retired = retired->string();
    if (auto matrices = tag.find("matrices")) tagged.matrices = matrices->strings();
    content.tags[{tag.at("repository").string(), tag.at("tag").string()}] = std::move(tagged);
  }
  return content;
}

IndexState::IndexState(std::filesystem::path state, Database::Access how, const char* file)
    : folder(std::move(state)),
      access(how),
      store(how == Database::Access::write ? BlobStore(folder / "store")
                                           : BlobStore::reading(folder / "store")),
      database(folder / file, how) {}

const BlobStore& IndexState::writable_store() const {
  if (access != Database::Access::write)
    throw Error(ExitCode::store, (folder / "index.db").string() + " was opened for reading only");
  return store;
}

std::int64_t current_by_sidecar(const BlobStore& store) {
  auto text = store.read_sidecar(BlobStore::Sidecar::snapshot, "current");
  return text ? parse_own(*text, "current.json").root().at("number").integer(1, INT64_MAX) : 0;
}

std::int64_t IndexState::current_row() { return database.integer("SELECT snapshot FROM current"); }

// The sidecar is written before every commit: where the two differ, the sidecar is the newer.
std::int64_t IndexState::current() {
  std::int64_t row = current_row();
  std::int64_t proven = current_by_sidecar(store);
  return proven != 0 && proven != row && snapshot(proven) ? proven : row;
}

std::int64_t IndexState::newest_snapshot() {
  return std::max(database.integer("SELECT max(number) FROM snapshots"), std::abs(current_row()));
}

std::optional<SnapshotContent> IndexState::snapshot_row(std::int64_t number) {
  Statement row = database.prepare("SELECT created, note, checksum FROM snapshots WHERE number = ?1");
  if (!row.with(number).step()) return std::nullopt;
  SnapshotContent content{number, row.text(0), row.text(1), {}};
  // Whoever only reads a file of the format before does not change it.
  const bool first_format = database.integer("PRAGMA user_version") < 2;
  Statement tags =
      database.prepare(fmt::format("SELECT repository, tag, image, stale, {} FROM tags WHERE snapshot = ?1",
                                   first_format ? "0, '', ''" : "failing, retired, matrices"));
  tags.with(number);
  while (tags.step())
    content.tags[{tags.text(0), tags.text(1)}] = {tags.text(2), tags.integer(3) != 0, tags.integer(4) != 0,
                                                  tags.text(5), matrices_from(tags.text(6))};
  check_checksum(snapshot_key(number), content.text(), row.text(2));
  return content;
}

std::optional<SnapshotContent> IndexState::snapshot(std::int64_t number) {
  if (number < 1) return std::nullopt;
  if (auto content = snapshot_row(number)) return content;
  std::string name = std::to_string(number);
  auto text = store.read_sidecar(BlobStore::Sidecar::snapshot, name);
  return text ? std::optional(SnapshotContent::parse(*text, name + ".json")) : std::nullopt;
}

std::optional<std::string> IndexState::record(const std::string& image) {
  Statement row = database.prepare("SELECT record, checksum, external, lost FROM images WHERE id = ?1");
  if (!row.with(image).step()) return store.read_sidecar(BlobStore::Sidecar::record, image);
  if (row.integer(3) != 0) return std::nullopt;
  std::string text = row.text(0);
  check_checksum(image_row(image, row.integer(2) != 0), text, row.text(1));
  return text;
}

void IndexState::insert_image(const ImageRecord& image, const std::string& text) {
  std::string id = image.identity().hex();
  database
      .prepare(
          "INSERT INTO images (id, external, record, checksum) VALUES (?1, ?2, ?3, ?4)"
          " ON CONFLICT (id) DO UPDATE SET record = ?3, checksum = ?4, lost = 0")
      .with(id, image.external(), text, checksum_of(image_row(id, image.external()), text))
      .run();
}

void IndexState::insert_snapshot(const SnapshotContent& content) {
  database.prepare("INSERT INTO snapshots VALUES (?1, ?2, ?3, ?4)")
      .with(content.number, content.created, content.note,
            checksum_of(snapshot_key(content.number), content.text()))
      .run();
  Statement insert = database.prepare("INSERT INTO tags VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
  for (const auto& [name, tagged] : content.tags) {
    insert
        .with(content.number, name.first, name.second, tagged.image, tagged.stale, tagged.failing,
              tagged.retired, matrices_text(tagged.matrices))
        .run();
  }
}

void IndexState::insert_measurement(const std::string& image, std::int64_t number, const std::string& text) {
  database.prepare("INSERT INTO measurements VALUES (?1, ?2, ?3, ?4)")
      .with(image, number, text, checksum_of(measurement_row(image, number), text))
      .run();
}

void IndexState::set_current(std::int64_t number) {
  database.prepare("UPDATE current SET snapshot = ?1").with(number).run();
}

void IndexState::write_current_sidecar(std::int64_t number) {
  writable_store().write_sidecar(BlobStore::Sidecar::snapshot, "current", Json{{"number", number}}.dump());
}

void IndexState::create_tables() {
  auto is_empty = [&] {
    return database.integer("PRAGMA user_version") == 0 && database.integer("PRAGMA application_id") == 0 &&
           database.integer("SELECT count(*) FROM sqlite_master") == 0;
  };
  if (!is_empty()) return;
  Transaction transaction(database, Database::Access::write);
  if (is_empty()) {  // no other process was first
    database.run(kSchema);
    database.run(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kVersion));
  }
  transaction.commit();
}

void IndexState::bring_up_to_date() {
  if (database.integer("PRAGMA user_version") != 1) return;
  Transaction transaction(database, Database::Access::write);
  if (database.integer("PRAGMA user_version") == 1) database.run(kFromVersion1);
  transaction.commit();
}

void IndexState::check_format() {
  std::int64_t version = database.integer("PRAGMA user_version");
  std::string file = (folder / "index.db").string();
  if (database.integer("PRAGMA application_id") != kApplicationId)
    throw DamagedDatabase(file + " is not an index of kiln");
  if (version > kVersion) {
    throw Error(ExitCode::store,
                fmt::format("{} has format {}, this kiln knows formats up to {}", file, version, kVersion),
                "use the newer kiln that wrote it");
  }
  if (version < 1) throw DamagedDatabase(fmt::format("{} has format {}, which never was", file, version));
}

void IndexState::check_content() {
  std::string verdict = database.text("PRAGMA quick_check(1)");
  if (verdict != "ok")
    throw DamagedDatabase(fmt::format("{} is damaged: {}", (folder / "index.db").string(), verdict));
  Statement image = database.prepare("SELECT id, external, record, checksum FROM images");
  while (image.step())
    check_checksum(image_row(image.text(0), image.integer(1) != 0), image.text(2), image.text(3));
  Statement measured = database.prepare("SELECT image, number, record, checksum FROM measurements");
  while (measured.step()) {
    check_checksum(measurement_row(measured.text(0), measured.integer(1)), measured.text(2),
                   measured.text(3));
  }
  std::int64_t number = current_row();
  if (number > 0 && !snapshot_row(number))
    throw DamagedDatabase(fmt::format("the index is damaged: no snapshot {}", number));
}

}  // namespace kiln
