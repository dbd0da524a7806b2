// Opening the index, whatever state it was left in. A database that has to be made again is made beside the
// old one, in index.db.new, and renamed: readers see a damaged index or a whole one, never an empty one.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <vector>

#include "factory/base/durable_file.h"
#include "factory/os/file_lock.h"
#include "registry/index/index_mended.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr const char* kDatabase = "index.db";
constexpr const char* kNew = "index.db.new";
constexpr const char* kLock = "index.lock";
constexpr std::array kCompanions = {"-journal", "-wal", "-shm"};  // SQLite's, beside a database

void rename_if_there(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error && error != std::errc::no_such_file_or_directory) fail_with_errno(error.value(), "rename", from);
}

void remove_new(const fs::path& folder) {
  fs::remove(folder / kNew);
  for (const char* ending : kCompanions) fs::remove((folder / kNew).string() + ending);
}

// Keeps the damaged file, and its journal with it, for whoever wants to look. A second name is enough where
// the file system has them: index.db stays until the new one takes its place.
std::string set_aside(const fs::path& folder) {
  fs::path file = folder / kDatabase;
  if (!fs::exists(fs::symlink_status(file))) return "";
  fs::path kept;
  for (int number = 1; kept.empty() || fs::exists(kept); ++number)
    kept = folder / fmt::format("{}.bad-{}", kDatabase, number);
  std::error_code no_links;
  fs::create_hard_link(file, kept, no_links);
  if (no_links) rename_if_there(file, kept);
  // A journal of the old file must not be played into the new one.
  for (const char* ending : kCompanions) rename_if_there(file.string() + ending, kept.string() + ending);
  return kept.filename().string();
}

// What the old database still proves goes into the new one where the sidecars do not.
void salvage(const fs::path& folder, IndexWriter& made, RecoveryReport& report) {
  if (!fs::is_regular_file(folder / kDatabase)) return;
  try {
    IndexState old(folder, Database::Access::read);
    OldRows rows(old, old.check_format(), false);
    adopt_rows(rows, made, report);
  } catch (const DamagedDatabase&) {
    // What could be read of it has been taken over.
  } catch (const Error& error) {
    if (error.code() != ExitCode::store) throw;  // such as: of a newer kiln
  }
}

// From an index of an earlier format; strict: what is damaged is rebuilt from the sidecars instead.
void take_over(IndexState& old, std::int64_t format, IndexState& made) {
  IndexWriter writer(made);
  OldRows rows(old, format, true);
  RecoveryReport report;
  adopt_rows(rows, writer, report);
  writer.make_current(writer.current().snapshot);
  writer.finish();
}

// The file as it was, for whoever goes back to the earlier kiln.
void keep_copy(std::ifstream& database, const fs::path& copy) {
  DurableFile file(copy.parent_path() / "store" / "tmp");
  std::vector<char> buffer(1 << 20);
  while (database.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || database.gcount() > 0)
    file.write(buffer.data(), static_cast<std::size_t>(database.gcount()));
  if (database.bad()) throw Error(ExitCode::store, copy.string() + ": the index cannot be read");
  file.publish(copy);
}

// The last first: tables of formats 1 and 2 refer to earlier ones.
void drop_tables(Database& database) {
  std::vector<std::string> tables;
  {
    Statement rows =
        database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid DESC");
    while (rows.step()) tables.push_back(rows.text(0));
  }
  for (const std::string& table : tables) database.run(fmt::format("DROP TABLE \"{}\"", table));
}

// All in one transaction: killed within, it is of the earlier format still.
void migrate(IndexState& state) {
  // Closed when the transaction is over: closing a file drops the locks that SQLite has on it (POSIX).
  std::ifstream database(state.folder / kDatabase, std::ios::binary);
  Transaction transaction(state.database, Database::Access::write);
  const std::int64_t format = state.check_format();
  if (format == kIndexFormat) return;  // another process was first
  const std::string copy = fmt::format("{}.v{}.bak", kDatabase, format);
  keep_copy(database, state.folder / copy);
  drop_tables(state.database);
  make_tables(state.database);
  IndexState old(state.folder, Database::Access::read, copy.c_str());
  take_over(old, format, state);
  transaction.commit();
}

// Throws DamagedDatabase.
std::unique_ptr<IndexState> open_of_any_format(const fs::path& folder) {
  auto state = std::make_unique<IndexState>(folder, Database::Access::write);
  if (state->check_format() < kIndexFormat) migrate(*state);
  state->current_row();
  return state;
}

// REQUIRES: the caller holds index.lock: a second process would take the new database for the damaged one.
std::unique_ptr<IndexState> make_again(const fs::path& folder) {
  remove_new(folder);
  RecoveryReport report;
  {
    IndexState made(folder, Database::Access::write, kNew);
    made.create_tables();
    Transaction transaction(made.database, Database::Access::write);
    IndexWriter writer(made);
    adopt_sidecars(writer, report);
    salvage(folder, writer, report);
    settle(writer, report);
    if (writer.images() > 0 && writer.snapshots() == 0 && writer.current().snapshot == 0)
      report.lost.emplace_back("every snapshot: `kiln publish` makes a new one of the built images");
    writer.finish();
    transaction.commit();
  }
  report.set_aside = set_aside(folder);
  rename_if_there(folder / kNew, folder / kDatabase);
  sync_folder(folder);
  auto state = open_of_any_format(folder);
  state->found = std::move(report);
  return state;
}

FileLock lock_of(const fs::path& folder) { return FileLock::acquire(folder / kLock); }

// Null when it is missing or damaged.
std::unique_ptr<IndexState> open_whole(const fs::path& folder) {
  try {
    if (fs::is_regular_file(folder / kDatabase)) return open_of_any_format(folder);
  } catch (const DamagedDatabase&) {
  }
  return nullptr;
}

std::unique_ptr<IndexState> read_as_it_is(const fs::path& folder) {
  if (!fs::exists(folder / kDatabase)) {
    bool published = current_by_sidecar(BlobStore::reading(folder / "store")).number != 0;
    throw Error(ExitCode::store, fmt::format("there is no index in {}", folder.string()),
                published ? "its sidecars are there: `kiln index recover` makes it again from them"
                          : "`kiln publish` makes one; or name another folder with --state");
  }
  auto state = std::make_unique<IndexState>(folder, Database::Access::read);
  const std::int64_t format = state->check_format();
  if (format == kIndexFormat) return state;
  // Who only reads an earlier format does not change it.
  auto read = std::make_unique<IndexState>(folder, IndexState::InMemory{});
  Transaction from(state->database, Database::Access::read);
  Transaction to(read->database, Database::Access::write);
  take_over(*state, format, *read);
  to.commit();
  return read;
}

}  // namespace

UnseenWriter::UnseenWriter(fs::path folder)
    : folder_(std::move(folder)), end_(std::chrono::steady_clock::now() + kUnseenWriterPatience) {
  std::error_code absent;
  seen_ = fs::last_write_time(folder_ / kDatabase, absent);
}

bool UnseenWriter::may_be_at_work() {
  if (std::chrono::steady_clock::now() >= end_) return false;
  std::error_code absent;
  const fs::file_time_type now = fs::last_write_time(folder_ / kDatabase, absent);
  const bool changed = now != seen_;
  seen_ = now;
  return changed || fs::exists((folder_ / kDatabase).string() + "-journal", absent);
}

std::unique_ptr<IndexState> open_for_reading(const fs::path& folder) {
  return beside_unseen_writers(
      folder, [] {}, [&] { return read_as_it_is(folder); });
}

// The database in `folder`, verified; made again from the sidecars, and from what the old one still proves,
// where it is missing or damaged: `found` says so. Throws Error(store).
static std::unique_ptr<IndexState> open_or_make_again(const fs::path& folder) {
  make_durable_folder(folder);
  if (auto state = open_whole(folder)) return state;
  FileLock lock = lock_of(folder);
  if (auto state = open_whole(folder)) return state;  // another process has put it right meanwhile
  return make_again(folder);
}

std::unique_ptr<IndexState> reconcile_or_make_again(const fs::path& folder) {
  FileLock lock = lock_of(folder);
  try {
    if (auto state = open_whole(folder)) {  // another process may have made it again meanwhile
      state->check_content();
      reconcile(*state, state->found);
      return state;
    }
  } catch (const DamagedDatabase&) {
  }
  return make_again(folder);
}

Index Index::open(const fs::path& state, Mode mode) {
  if (mode == Mode::read) return Index(open_for_reading(state));
  Index index(open_or_make_again(state));
  index.mended([&] {
    if (behind_sidecars(*index.state_)) index.state_->found = index.recover();
  });
  return index;
}

}  // namespace kiln
