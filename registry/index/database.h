// SQLite, as little of it as the index needs. Only index_state, index and recovery include this; sqlite3.h
// stays in database.cc.
//
// Rollback journal, synchronous=EXTRA (FULL does not sync the folder after the journal
// is unlinked: a power cut would bring it back and take the last commit with it), no WAL (unsafe on NFS and
// Lustre, and the 3.40 of Debian 12 can lose data with it), foreign keys, DEFENSIVE, trusted_schema=OFF, five
// seconds of patience with other writers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "factory/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kiln {

// The file is no index, or a broken one. A process that may write sets it aside and rebuilds.
class DamagedDatabase : public Error {
 public:
  explicit DamagedDatabase(const std::string& message);
};

// The file is in the middle of a commit, and its reader may not take that back (a read-only mount): either
// another machine is writing, whose lock does not show here, or it was killed when it wrote.
class UnfinishedCommit : public Error {
 public:
  explicit UnfinishedCommit(const std::string& file);
};

class Statement {
 public:
  ~Statement();
  Statement(Statement&& other) noexcept : statement_(other.statement_) { other.statement_ = nullptr; }
  Statement& operator=(Statement&&) = delete;

  // Starts over with these values for ?1, ?2, …
  template <typename... Values>
  Statement& with(const Values&... values) {
    reset();
    int position = 0;
    (bind(++position, values), ...);
    return *this;
  }
  bool step();  // true: there is a row
  void run() {
    while (step()) {
    }
  }
  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  friend class Database;
  friend class LentStatement;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  void reset();
  void bind(int position, std::int64_t value);
  void bind(int position, bool value) { bind(position, static_cast<std::int64_t>(value)); }
  void bind(int position, const std::string& value);
  sqlite3_stmt* statement_;
};

// A statement that is kept for the next time, and holds no lock until then.
class LentStatement {
 public:
  explicit LentStatement(Statement& statement) : statement_(&statement) {}
  ~LentStatement() { statement_->reset(); }
  LentStatement(const LentStatement&) = delete;
  LentStatement& operator=(const LentStatement&) = delete;
  Statement* operator->() const { return statement_; }
  const Statement& operator*() const { return *statement_; }

 private:
  Statement* statement_;
};

class Database {
 public:
  enum class Access { read, write };
  Database(const std::filesystem::path& file, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql);  // one or several statements without results
  Statement prepare(std::string_view sql);
  // Prepared once. REQUIRES: what was lent for this text before has been given back.
  LentStatement lend(const std::string& sql);
  std::int64_t integer(std::string_view sql);  // first column of the first row
  std::string text(std::string_view sql);

 private:
  sqlite3* handle_ = nullptr;
  std::map<std::string, Statement> kept_;
};

// Rolled back unless committed. A writing one has the write lock from the start, so that it never fails
// halfway with "busy".
class Transaction {
 public:
  Transaction(Database& database, Database::Access access);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database* database_;
};

}  // namespace kiln
