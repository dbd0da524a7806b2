#include "registry/index/index_state.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace kiln {
namespace {

constexpr std::int64_t kApplicationId = 0x6b696c6e;  // "kiln", for file(1)
constexpr const char* kSchema =
#include "schema.sql.inc"
    ;

using Sidecar = BlobStore::Sidecar;

// All of them, whose checksums are `expected` in sum: reading a row has proven its last column.
template <typename Row, typename... Values>
std::vector<Row> summed_rows(Database& database, const RowSum& expected, const std::string& application,
                             std::string_view rest, const Values&... values) {
  constexpr std::string_view kColumns = Row::kColumns;
  const auto last = static_cast<int>(std::ranges::count(kColumns, ','));
  LentStatement statement = database.lend(select_rows<Row>(rest));
  statement->with(values...);
  std::vector<Row> rows;
  RowSum sum;
  while (statement->step()) {
    rows.push_back(row_of<Row>(*statement));
    sum.add(statement->text(last));
  }
  if (sum != expected)
    throw DamagedDatabase(fmt::format(
        "the index is damaged: the images of application '{}' are not those that were written", application));
  return rows;
}

void apply_to(const SnapshotSidecar& sidecar, TagMap& tags) {
  for (const TagName& name : sidecar.gone) tags.erase(name);
  for (const auto& [name, tagged] : sidecar.tags) tags[name] = tagged;
}

// Sidecars that follow each other down to one in full, or to a snapshot that has its row.
std::optional<SnapshotContent> snapshot_by_sidecars(IndexState& state, std::int64_t number) {
  std::vector<SnapshotSidecar> chain;
  std::optional<SnapshotContent> content;
  for (std::int64_t next = number; !content;) {
    auto sidecar = snapshot_sidecar(state.store, next);
    if (!sidecar) return std::nullopt;
    next = sidecar->parent;
    chain.push_back(*std::move(sidecar));
    if (next == 0) content.emplace();
    if (next != 0) content = state.snapshot_by_rows(next);
  }
  for (auto sidecar = chain.rbegin(); sidecar != chain.rend(); ++sidecar) apply_to(*sidecar, content->tags);
  const SnapshotSidecar& last = chain.front();
  if (root_of(content->tags) != last.root) return std::nullopt;
  return SnapshotContent{last.number, last.created, last.note, std::move(content->tags)};
}

[[noreturn]] void fail_table(const std::string& what) {
  throw DamagedDatabase(fmt::format("the index is damaged: {} are not those that were written", what));
}

template <typename Row>
void check_table(Database& database) {
  RowSum sum;
  Statement rows = database.prepare(select_rows<Row>(Row::kTable));
  while (rows.step()) sum.add(row_of<Row>(rows).checksum());
  const auto total = first_row<TotalRow>(database, "totals WHERE name = ?1", std::string(Row::kTable));
  if (!total || total->sum != sum) fail_table(Row::kTable);
}

}  // namespace

IndexState::IndexState(std::filesystem::path state, Database::Access how, const char* file)
    : folder(std::move(state)),
      access(how),
      store(how == Database::Access::write ? BlobStore(folder / "store")
                                           : BlobStore::reading(folder / "store")),
      database(folder / file, how) {}

IndexState::IndexState(std::filesystem::path state, InMemory)
    : folder(std::move(state)),
      access(Database::Access::read),
      store(BlobStore::reading(folder / "store")),
      database(":memory:", Database::Access::write) {
  Transaction transaction(database, Database::Access::write);
  make_tables(database);
  transaction.commit();
}

const BlobStore& IndexState::writable_store() const {
  if (access != Database::Access::write)
    throw Error(ExitCode::store, (folder / "index.db").string() + " was opened for reading only");
  return store;
}

CurrentRow IndexState::current_row() {
  auto row = first_row<CurrentRow>(database, "current");
  if (!row) throw DamagedDatabase("the index is damaged: no file says which snapshot is current");
  return *std::move(row);
}

std::optional<SnapshotRow> IndexState::snapshot_row(std::int64_t number) {
  return first_row<SnapshotRow>(database, "snapshots WHERE number = ?1", number);
}

std::vector<SnapshotRow> IndexState::snapshot_rows() {
  std::vector<SnapshotRow> rows = all_rows<SnapshotRow>(database, "snapshots ORDER BY number DESC");
  const auto total = first_row<TotalRow>(database, "totals WHERE name = 'snapshots'");
  if (!total || total->sum != sum_of(rows))
    throw DamagedDatabase("the index is damaged: a snapshot is missing");
  return rows;
}

std::optional<ImageRow> IndexState::image(const std::string& id) {
  return first_row<ImageRow>(database, "images WHERE id = ?1", id);
}

std::optional<TagRow> IndexState::tag(const TagName& name) {
  return first_row<TagRow>(database, "tags WHERE repository = ?1 AND tag = ?2", name.first, name.second);
}

std::vector<TagRow> IndexState::tags_of_image(const std::string& image) {
  return all_rows<TagRow>(database, "tags WHERE image = ?1", image);
}

std::vector<TagRow> IndexState::tags_of_bits(const std::string& bits) {
  std::vector<TagRow> tags;
  for (const ImageRow& row : all_rows<ImageRow>(database, "images WHERE bits = ?1 AND lost = 0", bits))
    for (TagRow& tag : tags_of_image(row.id)) tags.push_back(std::move(tag));
  return tags;
}

std::vector<MeasurementRow> IndexState::measurements_of(const std::string& bits) {
  return all_rows<MeasurementRow>(database, "measurements WHERE bits = ?1 ORDER BY image, number", bits);
}

std::vector<ApplicationRow> IndexState::applications(const CurrentRow& current) {
  std::vector<ApplicationRow> rows = all_rows<ApplicationRow>(database, "applications ORDER BY application");
  if (sum_of(rows) != current.applications)
    throw DamagedDatabase("the index is damaged: its applications are not those that were written");
  return rows;
}

std::vector<ChoiceRow> IndexState::choices_of(const ApplicationRow& application) {
  return summed_rows<ChoiceRow>(database, application.sum, application.application,
                                "choices WHERE application = ?1 ORDER BY choice", application.application);
}

std::vector<TagRow> IndexState::tags_of(const ChoiceRow& choice) {
  return summed_rows<TagRow>(database, choice.sum, choice.application,
                             "tags WHERE application = ?1 AND choice = ?2 ORDER BY repository, tag",
                             choice.application, choice.choice);
}

std::vector<TagRow> IndexState::tags_of(const ApplicationRow& application) {
  std::vector<TagRow> all;
  all.reserve(static_cast<std::size_t>(std::max<std::int64_t>(0, application.images)));
  for (const ChoiceRow& choice : choices_of(application))
    for (TagRow& tag : tags_of(choice)) all.push_back(std::move(tag));
  return all;
}

std::optional<ProfileRow> IndexState::profile(std::int64_t number) {
  return first_row<ProfileRow>(database, "profiles WHERE number = ?1", number);
}

std::int64_t IndexState::profile_number(const std::string& text) {
  auto row = first_row<ProfileRow>(database, "profiles WHERE id = ?1", ProfileRow::id_of(text));
  if (row && row->text != text)
    throw DamagedDatabase("the index is damaged: a profile is not what was written");
  return row ? row->number : 0;
}

TagMap IndexState::live_tags() {
  TagMap tags;
  for (TagRow& row : all_rows<TagRow>(database, "tags"))
    tags.emplace(std::move(row.name), std::move(row.tagged));
  return tags;
}

ImageRow IndexState::image_of(const TagRow& tag) {
  const std::string& id = tag.tagged.image;
  try {
    LentStatement row = database.lend(select_rows<ImageRow>("images WHERE id = ?1 AND checksum = ?2"));
    if (row->with(id, tag.image_row).step()) return row_of<ImageRow>(*row);
  } catch (const DamagedDatabase&) {
    // Its sidecar may be whole.
  }
  if (auto row = image_by_sidecar(id)) {
    row->choice = tag.choice;
    row->place = tag.place;
    if (row->checksum() == tag.image_row) return *std::move(row);
  }
  throw DamagedDatabase(fmt::format("the index is damaged: image {} is not what was written", id));
}

std::optional<ImageRow> IndexState::image_by_sidecar(const std::string& id) {
  const auto text = store.read_sidecar(Sidecar::record, id);
  if (!text) return std::nullopt;
  ImageRow row = ImageRow::of(image_record_from_json(parse_own(*text, "index.db").root()), *text);
  row.measured = measured_text(measurements_of(row.bits));
  return row;
}

std::optional<std::string> IndexState::record(const std::string& id) {
  auto row = image(id);
  if (!row) return store.read_sidecar(Sidecar::record, id);
  return row->lost ? std::nullopt : std::optional(std::move(row->record));
}

// The sidecar is written before every commit: where the two differ, the sidecar is the newer.
std::int64_t IndexState::current() {
  const CurrentRow row = current_row();
  return is_behind(row) ? current_by_sidecar(store).number : row.snapshot;
}

bool IndexState::is_behind(const CurrentRow& row) {
  const CurrentSidecar proven = current_by_sidecar(store);
  if (proven.number == 0) return false;
  if (proven.number != row.snapshot) return snapshot(proven.number).has_value();
  if (proven.root && *proven.root != row.root)
    throw DamagedDatabase("the index is damaged: its tags are not those of snapshots/current.json");
  return false;
}

std::optional<SnapshotContent> IndexState::snapshot_by_rows(std::int64_t number) {
  auto row = snapshot_row(number);
  if (!row) return std::nullopt;
  SnapshotContent content{number, row->created, row->note, {}};
  for (TagRow& tag : all_rows<TagRow>(database, "tags WHERE first <= ?1", number))
    content.tags.emplace(std::move(tag.name), std::move(tag.tagged));
  for (PastRow& tag : all_rows<PastRow>(database, "past WHERE first <= ?1 AND last >= ?1", number))
    content.tags.emplace(std::move(tag.name), std::move(tag.tagged));
  if (root_of(content.tags) != row->root)
    throw DamagedDatabase(fmt::format("the index is damaged: snapshot {} is not what was written", number));
  return content;
}

std::optional<SnapshotContent> IndexState::snapshot(std::int64_t number) {
  if (number < 1) return std::nullopt;
  if (auto content = snapshot_by_rows(number)) return content;
  return snapshot_by_sidecars(*this, number);
}

void IndexState::write_current_sidecar(std::int64_t number, const RowSum& root, std::optional<bool> held) {
  Json content = {{"number", number}, {"root", root.text()}};
  if (held.value_or(current_by_sidecar(store).held)) content["held"] = true;
  writable_store().write_sidecar(Sidecar::snapshot, "current", content.dump());
}

void make_tables(Database& database) {
  database.run(kSchema);
  database.run(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kIndexFormat));
  for (const char* name : {"images", "measurements", "past", "profiles", "snapshots"})
    put_row(database, TotalRow{name, 0, {}});
  const CurrentRow row;
  database.prepare("INSERT INTO current VALUES (1, 0, 0, 0, ?1, ?2, '', ?3)")
      .with(row.root.text(), row.applications.text(), row.checksum())
      .run();
}

void IndexState::create_tables() {
  auto is_empty = [&] {
    return database.integer("PRAGMA user_version") == 0 && database.integer("PRAGMA application_id") == 0 &&
           database.integer("SELECT count(*) FROM sqlite_master") == 0;
  };
  if (!is_empty()) return;
  Transaction transaction(database, Database::Access::write);
  if (is_empty()) make_tables(database);  // no other process was first
  transaction.commit();
}

std::int64_t IndexState::check_format() {
  std::int64_t version = database.integer("PRAGMA user_version");
  std::string file = (folder / "index.db").string();
  if (database.integer("PRAGMA application_id") != kApplicationId)
    throw DamagedDatabase(file + " is not an index of kiln");
  if (version > kIndexFormat) {
    throw Error(
        ExitCode::store,
        fmt::format("{} has format {}, this kiln knows formats up to {}", file, version, kIndexFormat),
        "use the newer kiln that wrote it");
  }
  if (version < 1) throw DamagedDatabase(fmt::format("{} has format {}, which never was", file, version));
  return version;
}

// Every page, row and sum, for programs that repair an index: readers and publishers do not need all of it.
void IndexState::check_content() {
  Transaction transaction(database, Database::Access::read);
  std::string verdict = database.text("PRAGMA integrity_check(1)");
  if (verdict != "ok")
    throw DamagedDatabase(fmt::format("{} is damaged: {}", (folder / "index.db").string(), verdict));
  check_table<ImageRow>(database);
  check_table<MeasurementRow>(database);
  check_table<PastRow>(database);
  check_table<ProfileRow>(database);
  check_table<SnapshotRow>(database);
  const CurrentRow current = current_row();
  is_behind(current);
  RowSum root;
  for (const ApplicationRow& application : applications(current)) {
    for (const TagRow& tag : tags_of(application)) {
      const auto image = this->image(tag.tagged.image);
      if (!image || image->checksum() != tag.image_row) fail_table("images");
      root.add(tag_checksum(tag.name, tag.tagged));
    }
  }
  if (root != current.root) fail_table("tags");
  if (current.snapshot <= 0) return;
  const auto snapshot = snapshot_row(current.snapshot);
  if (!snapshot || snapshot->root != root) fail_table("tags");
}

CurrentSidecar current_by_sidecar(const BlobStore& store) {
  auto text = store.read_sidecar(Sidecar::snapshot, "current");
  if (!text) return {};
  const JsonDocument document = parse_own(*text, "current.json");
  CurrentSidecar current{document.root().at("number").integer(1, INT64_MAX), {}};
  if (auto root = document.root().find("root")) current.root = RowSum::parse(root->string());
  if (auto held = document.root().find("held")) current.held = held->boolean();
  return current;
}

std::vector<std::int64_t> snapshot_sidecars(const BlobStore& store) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : store.sidecars(Sidecar::snapshot)) {
    std::int64_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number > 0 && std::to_string(number) == name) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::optional<SnapshotSidecar> snapshot_sidecar(const BlobStore& store, std::int64_t number) {
  const std::string name = std::to_string(number);
  auto text = store.read_sidecar(Sidecar::snapshot, name);
  if (!text) return std::nullopt;
  SnapshotSidecar sidecar = SnapshotSidecar::parse(*text, name + ".json");
  return sidecar.number == number ? std::optional(std::move(sidecar)) : std::nullopt;
}

std::string folder_marks(const BlobStore& store) {
  std::string marks;
  for (const char* folder : {"records", "measurements", "snapshots"}) {
    struct stat status {};
    if (::stat((store.root() / folder).c_str(), &status) != 0) continue;
    marks += fmt::format("{}{}.{:09}:{}", marks.empty() ? "" : " ", status.st_mtim.tv_sec,
                         status.st_mtim.tv_nsec, status.st_size);
  }
  return marks;
}

}  // namespace kiln
