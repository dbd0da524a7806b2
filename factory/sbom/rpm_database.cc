#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>
#include <memory>

#include "factory/base/error.h"
#include "factory/sbom/databases.h"

namespace kiln::sbom {
namespace {

constexpr int kMostBlob = 256 << 20;  // bytes of one header
// Virtual machine steps for one database: 100 000 packages take less than a tenth.
constexpr int kStepsBetweenChecks = 100'000;
constexpr int kMostChecks = 1'000;

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

[[noreturn]] void bad(sqlite3* database, const char* doing) {
  throw Error(ExitCode::input,
              fmt::format("rpmdb.sqlite is damaged: {}: {}", doing, sqlite3_errmsg(database)));
}

int check_steps(void* checks) { return ++*static_cast<int*>(checks) > kMostChecks ? 1 : 0; }

// Nothing in the file may be believed: no triggers, views or functions of its schema are run.
void harden(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMostBlob);
  sqlite3_exec(database, "PRAGMA cell_size_check=ON; PRAGMA query_only=ON", nullptr, nullptr, nullptr);
}

}  // namespace

std::vector<Package> read_rpm_database(std::string_view bytes) {
  constexpr std::size_t kHeader = 100;
  if (bytes.size() < kHeader || !bytes.starts_with("SQLite format 3"))
    throw Error(ExitCode::input, "rpmdb.sqlite is no SQLite database");
  // Freed by SQLite, also where deserialising fails.
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  if (copy == nullptr) throw Error(ExitCode::store, "out of memory");
  std::memcpy(copy, bytes.data(), bytes.size());
  // A database in memory cannot be in WAL mode; without the log's file the bytes mean the same.
  if (copy[18] == 2) copy[18] = 1;
  if (copy[19] == 2) copy[19] = 1;
  sqlite3* opened = nullptr;
  int status = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE, nullptr);
  std::unique_ptr<sqlite3, Close> database(opened);
  if (status != SQLITE_OK) {
    sqlite3_free(copy);
    bad(opened, "opening");
  }
  auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(opened, "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    bad(opened, "opening");
  harden(opened);
  int checks = 0;
  sqlite3_progress_handler(opened, kStepsBetweenChecks, check_steps, &checks);
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(opened, "SELECT blob FROM Packages", -1, &prepared, nullptr) != SQLITE_OK)
    bad(opened, "reading Packages");
  std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
  std::vector<Package> packages;
  while ((status = sqlite3_step(prepared)) == SQLITE_ROW) {
    const auto* blob = static_cast<const char*>(sqlite3_column_blob(prepared, 0));
    int length = sqlite3_column_bytes(prepared, 0);
    if (blob == nullptr || length < 0)
      throw Error(ExitCode::input, "rpmdb.sqlite: a package without a header");
    Package package = read_rpm_header({blob, static_cast<std::size_t>(length)});
    if (packages.size() == kMostPackages)
      throw Error(ExitCode::input, fmt::format("more than {} packages", kMostPackages));
    // The signing keys that rpm keeps beside its packages.
    if (package.name != "gpg-pubkey") packages.push_back(std::move(package));
  }
  if (status != SQLITE_DONE) bad(opened, "reading Packages");
  return packages;
}

}  // namespace kiln::sbom
