#include "factory/os/plain_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

struct stat status_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status;
}

TEST(PlainFolder, HandsNoSetGroupIdBitDown) {
  const testing::TemporaryFolder folder;
  const fs::path shared = folder / "shared";
  fs::create_directory(shared);
  ASSERT_EQ(::chmod(shared.c_str(), 02775), 0);
  EXPECT_TRUE(hands_down(shared));
  make_plain_folder(shared / "a/plain");
  EXPECT_TRUE(hands_down(shared / "a")) << "the folders above are the site's";
  EXPECT_FALSE(hands_down(shared / "a/plain"));
  fs::create_directories(shared / "a/plain/b/c");
  EXPECT_EQ(status_of(shared / "a/plain/b/c").st_mode & 07000, 0u);
  EXPECT_EQ(status_of(shared).st_mode & 07777, 02775u);
}

TEST(PlainFolder, HandsNoGroupDown) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a folder to another group";
  const testing::TemporaryFolder folder;
  fs::create_directory(folder / "of");
  ASSERT_EQ(::chown((folder / "of").c_str(), static_cast<uid_t>(-1), 4711), 0);
  EXPECT_TRUE(hands_down(folder / "of")) << "on a file system that is mounted with grpid";
  make_plain_folder(folder / "of");
  EXPECT_FALSE(hands_down(folder / "of"));
  EXPECT_EQ(status_of(folder / "of").st_gid, ::getegid());
}

TEST(PlainFolder, HandsNoDefaultAclDown) {
  const testing::TemporaryFolder folder;
  fs::create_directory(folder / "of");
  // Version 2, then entries of tag, permissions and id (linux/posix_acl_xattr.h): u::rwx, g::rwx, o::---.
  constexpr unsigned char kAcl[] = {2, 0, 0,   0,   1,   0,   7,    0, 255, 255, 255, 255, 4,   0,
                                    7, 0, 255, 255, 255, 255, 0x20, 0, 0,   0,   255, 255, 255, 255};
  if (::setxattr((folder / "of").c_str(), "system.posix_acl_default", kAcl, sizeof kAcl, 0) != 0)
    GTEST_SKIP() << "this file system has no ACLs";
  EXPECT_TRUE(hands_down(folder / "of"));
  fs::create_directory(folder / "of/before");
  EXPECT_EQ(status_of(folder / "of/before").st_mode & 0777, 0770u) << "whatever the umask is";
  make_plain_folder(folder / "of");
  EXPECT_FALSE(hands_down(folder / "of"));
  fs::create_directory(folder / "of/after");
  EXPECT_FALSE(hands_down(folder / "of/after"));
}

TEST(PlainFolder, LeavesAPlainOneAsItIs) {
  const testing::TemporaryFolder folder;
  EXPECT_FALSE(hands_down(folder / "absent"));
  make_plain_folder(folder / "a");
  ASSERT_EQ(::chmod((folder / "a").c_str(), 0700), 0);
  const auto before = status_of(folder / "a").st_ctim.tv_nsec;
  make_plain_folder(folder / "a");
  EXPECT_EQ(status_of(folder / "a").st_mode & 07777, 0700u);
  EXPECT_EQ(status_of(folder / "a").st_ctim.tv_nsec, before);
}

}  // namespace
}  // namespace kiln
