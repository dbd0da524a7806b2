// Opening the index, whatever state it was left in, and making it again from the sidecars.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>

#include "registry/durable_file.h"
#include "registry/index.h"
#include "registry/index_state.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

using Sidecar = BlobStore::Sidecar;

// Only one process may set the database aside: the second would take the first one's new one for the damaged
// one.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& file)
      : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) fail_with_errno(errno, "open", file);
    while (::flock(descriptor_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      int failed = errno;
      ::close(descriptor_);
      fail_with_errno(failed, "lock", file);
    }
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// Throws DamagedDatabase.
std::unique_ptr<IndexState> open_checked(const fs::path& folder) {
  auto state = std::make_unique<IndexState>(folder, Database::Access::write);
  state->create_tables();
  state->check_format();
  state->check_content();
  return state;
}

// Keeps the damaged file, and its journal with it, for whoever wants to look.
std::string set_aside(const fs::path& folder) {
  fs::path file = folder / "index.db";
  fs::path kept;
  for (int number = 1; kept.empty() || fs::exists(kept); ++number)
    kept = folder / fmt::format("index.db.bad-{}", number);
  for (const char* ending : {"-journal", "-wal", "-shm", ""}) {
    std::error_code error;
    fs::rename(file.string() + ending, kept.string() + ending, error);
    if (error && error != std::errc::no_such_file_or_directory)
      fail_with_errno(error.value(), "set aside", file);
  }
  return kept.filename().string();
}

std::unique_ptr<IndexState> start_afresh(const fs::path& folder) {
  std::string kept = set_aside(folder);
  auto state = open_checked(folder);
  state->set_aside = kept;
  return state;
}

std::unique_ptr<IndexState> open_for_writing(const fs::path& folder) {
  make_durable_folder(folder);
  try {
    return open_checked(folder);
  } catch (const DamagedDatabase&) {
  }
  FolderLock lock(folder / "index.lock");
  try {
    return open_checked(folder);  // another process has put it right meanwhile
  } catch (const DamagedDatabase&) {
  }
  return start_afresh(folder);
}

std::unique_ptr<IndexState> open_for_reading(const fs::path& folder) {
  if (!fs::exists(folder / "index.db")) {
    throw Error(ExitCode::store, fmt::format("there is no index in {}", folder.string()),
                "`kiln publish` makes one; or name another folder with --state");
  }
  auto state = std::make_unique<IndexState>(folder, Database::Access::read);
  state->check_format();
  return state;
}

// A sidecar and what its name says. Calls `adopt` with the text; notes the name when that fails on the
// content.
template <typename Adopt>
void read_each(const BlobStore& store, Sidecar kind, RecoveryReport& report, Adopt adopt) {
  for (const auto& name : store.sidecars(kind)) {
    auto text = store.read_sidecar(kind, name);
    if (!text) continue;
    try {
      adopt(name, *text);
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) throw;
      report.unreadable.push_back(name + ".json");
    }
  }
}

void adopt_images(IndexState& state, RecoveryReport& report) {
  Statement row = state.database.prepare("SELECT record FROM images WHERE id = ?1");
  read_each(*state.store, Sidecar::record, report, [&](const std::string& name, const std::string& text) {
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
  if (number < 1 || fmt::format("{}-{}", measurement_from_json(node).image.hex(), number) != name) {
    node.fail("the measurement of another image is in this file");
  }
  return number;
}

void adopt_measurements(IndexState& state, RecoveryReport& report) {
  Statement row = state.database.prepare("SELECT 1 FROM measurements WHERE image = ?1 AND number = ?2");
  read_each(*state.store, Sidecar::measurement, report,
            [&](const std::string& name, const std::string& text) {
              JsonDocument document = parse_own(text, name + ".json");
              std::int64_t number = measurement_number(name, document.root());
              std::string image = name.substr(0, 64);
              if (row.with(image, number).step()) return;
              state.insert_measurement(image, number, text);
              ++report.adopted;
            });
}

void adopt_snapshots(IndexState& state, RecoveryReport& report) {
  read_each(*state.store, Sidecar::snapshot, report, [&](const std::string& name, const std::string& text) {
    if (name == "current") return;
    SnapshotContent content = SnapshotContent::parse(text, name + ".json");
    if (state.snapshot(content.number)) return;
    state.insert_snapshot(content);
    ++report.adopted;
  });
}

std::int64_t current_by_sidecar(const BlobStore& store) {
  auto text = store.read_sidecar(Sidecar::snapshot, "current");
  if (!text) return 0;
  try {
    return parse_own(*text, "current.json").root().at("number").integer(1, INT64_MAX);
  } catch (const Error&) {
    return 0;
  }
}

// The sidecar is written before every commit: where the two differ, the sidecar is the newer.
void adopt_current(IndexState& state) {
  std::int64_t number = current_by_sidecar(*state.store);
  if (number == 0 || !state.snapshot(number)) number = state.current();
  if (number == 0 || !state.snapshot(number))
    number = state.database.integer("SELECT max(number) FROM snapshots");
  if (number != state.current()) state.set_current(number);
}

std::size_t mark_lost(IndexState& state) {
  std::size_t lost = 0;
  Statement rows = state.database.prepare("SELECT id, lost FROM images WHERE NOT external ORDER BY id");
  std::vector<std::pair<std::string, bool>> changes;
  while (rows.step()) {
    bool gone = !state.store->has(Digest::from_hex(rows.text(0)));
    if (gone) ++lost;
    if (gone != (rows.integer(1) != 0)) changes.emplace_back(rows.text(0), gone);
  }
  Statement update = state.database.prepare("UPDATE images SET lost = ?2 WHERE id = ?1");
  for (const auto& [image, gone] : changes) update.with(image, gone).run();
  return lost;
}

RecoveryReport reconcile(IndexState& state) {
  RecoveryReport report;
  report.set_aside = state.set_aside;
  Transaction transaction(state.database, Database::Access::write);
  adopt_images(state, report);
  adopt_measurements(state, report);
  adopt_snapshots(state, report);
  adopt_current(state);
  report.lost = mark_lost(state);
  transaction.commit();
  return report;
}

std::pair<std::unique_ptr<IndexState>, RecoveryReport> rebuild(fs::path folder) {
  FolderLock lock(folder / "index.lock");
  try {
    auto state = open_checked(folder);  // another process may have rebuilt it meanwhile
    RecoveryReport report = reconcile(*state);
    return {std::move(state), std::move(report)};
  } catch (const DamagedDatabase&) {
  }
  auto state = start_afresh(folder);
  RecoveryReport report = reconcile(*state);
  return {std::move(state), std::move(report)};
}

}  // namespace

bool IndexState::behind_sidecars() {
  const BlobStore& sidecars = writable_store();
  auto rows = [&](const char* table) {
    return static_cast<std::size_t>(database.integer(fmt::format("SELECT count(*) FROM {}", table)));
  };
  std::int64_t current_number = current_by_sidecar(sidecars);
  std::size_t snapshots = sidecars.sidecars(Sidecar::snapshot).size() - (current_number == 0 ? 0 : 1);
  return sidecars.sidecars(Sidecar::record).size() > rows("images") ||
         sidecars.sidecars(Sidecar::measurement).size() > rows("measurements") ||
         snapshots > rows("snapshots") || (current_number != 0 && current_number != current());
}

Index Index::open(const fs::path& state, Mode mode) {
  if (mode == Mode::read) return Index(open_for_reading(state));
  Index index(open_for_writing(state));
  if (index.state_->behind_sidecars()) index.recover();
  return index;
}

RecoveryReport Index::recover() {
  std::size_t temporaries = state_->writable_store().drop_dead_temporaries();
  RecoveryReport report;
  try {
    report = reconcile(*state_);
  } catch (const DamagedDatabase&) {
    // Damage in an old snapshot shows only here: opening does not read them all.
    std::tie(state_, report) = rebuild(state_->folder);
  }
  report.temporaries = temporaries;
  return report;
}

}  // namespace kiln
