// An index in memory-backed files.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "registry/index.h"
#include "samples.h"

namespace kiln::testing {

class IndexTest : public ::testing::Test {
 protected:
  ImageRecord image(const std::string& tag, const std::string& content) {
    return stored_image(store, tag, content);
  }
  Index open(Index::Mode mode = Index::Mode::write) { return Index::open(folder.path(), mode); }
  void sql(const char* statement) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open((folder.path() / "index.db").c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, statement, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  MemoryFolder folder;
  BlobStore store{folder.path() / "store"};
};

}  // namespace kiln::testing
