#include "factory/derive/folder_archive.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "factory/base/error.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

std::string refusal(const std::filesystem::path& folder) {
  try {
    folder_archive(folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.format();
  }
  return "";
}

TEST(FolderArchive, DependsOnNamesAndContentsOnly) {
  const TemporaryFolder one, other;
  for (const TemporaryFolder* folder : {&one, &other}) {
    folder->write("b/deep/file", "words");
    folder->write("a", "program");
    std::filesystem::create_symlink("b/deep", *folder / "link");
  }
  other.write(".git/index", "junk");
  other.write("b/__pycache__/x.pyc", "junk");
  std::filesystem::last_write_time(other / "a", std::filesystem::file_time_type{});
  std::filesystem::permissions(other / "a", std::filesystem::perms::owner_read);
  EXPECT_EQ(folder_archive(one.path()), folder_archive(other.path()));
  std::filesystem::permissions(other / "a", std::filesystem::perms::owner_all);
  EXPECT_NE(folder_archive(one.path()), folder_archive(other.path()));
}

TEST(FolderArchive, RefusesWhatNoImageNeeds) {
  const TemporaryFolder folder;
  EXPECT_NE(refusal(folder / "missing").find("there is no such folder"), std::string::npos);
  EXPECT_NE(refusal(folder.path()).find("the folder is empty"), std::string::npos);
  folder.write("file", "x");
  EXPECT_NE(refusal(folder / "file").find("there is no such folder"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(folder.path()).find("pipe: error: is neither"), std::string::npos);
}

TEST(FolderArchive, LeavesOutTheFolderThatItIsTold) {
  const TemporaryFolder with, without;
  for (const TemporaryFolder* folder : {&with, &without}) folder->write("train.py", "x");
  with.write(".kiln/index.db", "x");
  ASSERT_EQ(::mkfifo((with / ".kiln/events").c_str(), 0600), 0);
  EXPECT_EQ(folder_archive(with.path(), with / "./.kiln"), folder_archive(without.path(), "elsewhere"));
}

TEST(FolderArchive, RefusesTheNamesOfWhiteouts) {
  const TemporaryFolder folder;
  folder.write("a/.wh.b", "x");
  EXPECT_NE(refusal(folder.path()).find("a/.wh.b: error: cannot be kept in an image"), std::string::npos);
}

// The size is known before anything of the file is read: a sparse file takes no memory.
TEST(FolderArchive, RefusesMoreThanItsLimit) {
  const TemporaryFolder folder;
  const auto file = folder.write("data", "x");
  std::filesystem::resize_file(file, kMostArchive + 1);
  EXPECT_NE(refusal(folder.path()).find("more than 64 MiB"), std::string::npos);
}

}  // namespace
}  // namespace kiln::testing
