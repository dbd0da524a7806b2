#include "registry/index/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr int kBusyMilliseconds = 5'000;

[[noreturn]] void fail(sqlite3* handle, int code) {
  const char* name = handle == nullptr ? nullptr : sqlite3_db_filename(handle, "main");
  std::string file = name == nullptr ? "the index" : name;
  std::string reason = handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ExitCode::locked,
                  fmt::format("{}: another process has been writing for more than {} s", file,
                              kBusyMilliseconds / 1000),
                  "try again when it is done");
    case SQLITE_FULL:
      throw Error(ExitCode::store, fmt::format("no space left for {}", file),
                  "free space there, or choose another state folder with --state");
    case SQLITE_READONLY:
      if (code == SQLITE_READONLY_ROLLBACK) throw UnfinishedCommit(file);
      if (code == SQLITE_READONLY_DBMOVED)
        throw Error(ExitCode::locked, file + " was replaced while it was open", "try again");
      // Writable for the system and read-only for SQLite: a damaged header.
      if (name != nullptr && ::access(name, W_OK) == 0)
        throw DamagedDatabase(fmt::format("{}: {}", file, reason));
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT:  // what stands in the way was not found when it was looked for
    case SQLITE_ERROR:       // our statements are constants: one that fails met a foreign or broken schema
      throw DamagedDatabase(fmt::format("{} is damaged: {}", file, reason));
    default:
      break;
  }
  throw Error(ExitCode::store, fmt::format("{}: {}", file, reason));
}

void check(sqlite3* handle, int code) {
  if (code != SQLITE_OK) fail(handle, code);
}

}  // namespace

DamagedDatabase::DamagedDatabase(const std::string& message)
    : Error(ExitCode::store, message, "run `kiln index recover`: it is rebuilt from the sidecars in store/") {
}

UnfinishedCommit::UnfinishedCommit(const std::string& file)
    : Error(ExitCode::store, file + " is in the middle of a commit, and this mount is read-only",
            "if no process writes it any more, run `kiln index list` on a machine that may write it: that "
            "takes the commit back") {}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Statement::bind(int position, std::int64_t value) {
  check(sqlite3_db_handle(statement_), sqlite3_bind_int64(statement_, position, value));
}

void Statement::bind(int position, const std::string& value) {
  check(sqlite3_db_handle(statement_),
        sqlite3_bind_text64(statement_, position, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

bool Statement::step() {
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  fail(sqlite3_db_handle(statement_), code);
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  std::string value = text == nullptr ? "" : std::string(reinterpret_cast<const char*>(text), size);
  // Nothing else was ever written, and JSON cannot hold it.
  if (first_not_utf8(value) != std::string::npos)
    throw DamagedDatabase("the index is damaged: a text in it is not UTF-8");
  return value;
}

Database::Database(const std::filesystem::path& file, Access access) {
  // A reader opens for writing too, where it may: only so can it roll back what a killed writer left.
  // query_only keeps it a reader.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (access == Access::write) flags |= SQLITE_OPEN_CREATE;
  int code = sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr);
  try {
    std::error_code unknown;
    if (code != SQLITE_OK && std::filesystem::is_directory(file, unknown))
      throw DamagedDatabase(file.string() + " is a folder");
    check(handle_, code);
    sqlite3_busy_timeout(handle_, kBusyMilliseconds);
    check(handle_, sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr));
    check(handle_, sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr));
    run("PRAGMA foreign_keys = ON; PRAGMA synchronous = EXTRA; PRAGMA cell_size_check = ON; PRAGMA mmap_size "
        "= 0");
    if (access == Access::read) run("PRAGMA query_only = ON");
    if (text("PRAGMA journal_mode") == "wal")
      throw DamagedDatabase(file.string() + " is in WAL mode, which kiln never sets");
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() {
  kept_.clear();
  sqlite3_close(handle_);
}

void Database::run(const std::string& sql) {
  check(handle_, sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr));
}

Statement Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  check(handle_, sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr));
  return Statement(statement);
}

LentStatement Database::lend(const std::string& sql) {
  auto found = kept_.find(sql);
  if (found == kept_.end()) found = kept_.emplace(sql, prepare(sql)).first;
  return LentStatement(found->second);
}

std::int64_t Database::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.text(0) : "";
}

Transaction::Transaction(Database& database, Database::Access access) : database_(&database) {
  database.run(access == Database::Access::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (database_ == nullptr) return;
  try {
    database_->run("ROLLBACK");
  } catch (const Error&) {
    // SQLite has rolled back by itself already.
  }
}

void Transaction::commit() {
  database_->run("COMMIT");
  database_ = nullptr;
}

}  // namespace kiln
