// An index in memory-backed files.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "index/samples.h"
#include "registry/index/index.h"

namespace kiln::testing {

// As another program would, which keeps no sums.
inline void change_database(const fs::path& state, const char* statements) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((state / "index.db").c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, statements, nullptr, nullptr, nullptr), SQLITE_OK)
      << statements << ": " << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

// The first column of the first row; -1 for none.
inline std::int64_t number_in(const fs::path& state, const char* query) {
  sqlite3* handle = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::int64_t number = -1;
  EXPECT_EQ(sqlite3_open((state / "index.db").c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_prepare_v2(handle, query, -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
  if (sqlite3_step(statement) == SQLITE_ROW) number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(handle);
  return number;
}

class IndexTest : public ::testing::Test {
 protected:
  ImageRecord image(const std::string& tag, const std::string& content) {
    return stored_image(store, tag, content);
  }
  Index open(Index::Mode mode = Index::Mode::write) { return Index::open(folder.path(), mode); }
  void sql(const char* statements) { change_database(folder.path(), statements); }

  MemoryFolder folder;
  BlobStore store{folder.path() / "store"};
};

}  // namespace kiln::testing
