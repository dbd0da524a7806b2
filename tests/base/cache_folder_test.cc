#include "factory/base/cache_folder.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

class CacheFolderTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder;
  RealFileSystem files;
  CacheFolder cache{folder / "cache", "1", files};
};

TEST_F(CacheFolderTest, GivesTheSameBytesUnderTheSameNameOnly) {
  EXPECT_EQ(cache.find("name"), std::nullopt);
  for (const std::string bytes : {"", "text", "a\nb\n"}) {
    cache.keep("name", bytes);
    const std::string text = *files.read(cache.path("name"));
    EXPECT_EQ(cache.find("name"), bytes);
    files.write(cache.path("other"), text);
    EXPECT_EQ(cache.find("other"), std::nullopt);
    auto damaged_by = [&](const std::string& damaged) {
      files.write(cache.path("name"), damaged);
      return cache.find("name");
    };
    EXPECT_EQ(damaged_by(text + "x"), std::nullopt);
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string damaged = text;
      damaged[at] ^= 1;
      EXPECT_EQ(damaged_by(damaged), std::nullopt) << at;
      EXPECT_EQ(damaged_by(text.substr(0, at)), std::nullopt) << at;
    }
  }
}

// The end of the name and the beginning of the bytes cannot be moved against each other.
TEST_F(CacheFolderTest, KeepsNameAndBytesApart) {
  cache.keep("ab", "c");
  const std::string text = *files.read(cache.path("ab"));
  files.write(cache.path("a"), text.substr(0, text.find('\n') + 1) + "bc");
  EXPECT_EQ(cache.find("a"), std::nullopt);
}

TEST_F(CacheFolderTest, IsEmptyForAnotherVersion) {
  cache.keep("name", "bytes");
  EXPECT_EQ(CacheFolder(folder / "cache", "2", files).find("name"), std::nullopt);
  EXPECT_EQ(CacheFolder(folder / "cache", "1", files).find("name"), "bytes");
}

TEST_F(CacheFolderTest, WhatCannotBeReadIsAbsent) {
  files.make_directories(cache.path("name"));
  EXPECT_EQ(cache.find("name"), std::nullopt);
}

}  // namespace
}  // namespace kiln
