// Where control groups for commands can be made. The files of version 2 are a folder here; those of version 1
// are the machine's where it lets us.
#include "factory/os/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "factory/base/effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class CgroupFolder : public ::testing::Test {
 protected:
  std::optional<CgroupPath> find(std::string_view own) const {
    return find_cgroup_path(own, root.path(), 77);
  }
  void group(const std::string& path, const std::string& processes, const std::string& controllers,
             const std::string& given = "") const {
    root.write(path + "cgroup.procs", processes);
    root.write(path + "cgroup.controllers", controllers);
    root.write(path + "cgroup.subtree_control", given);
    root.write(path + "cgroup.type", "domain\n");
  }
  std::string text(const std::string& file) const {
    return RealFileSystem().read(root / file).value_or("(none)");
  }
  testing::TemporaryFolder root;
};

TEST_F(CgroupFolder, ADelegatedGroupOfVersion2IsMadeReadyByMovingItsProcesses) {
  group("user.slice/kiln.service/", "76\n77\n", "cpu memory pids\n");
  const auto place = find("0::/user.slice/kiln.service\n");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->version, 2);
  EXPECT_EQ(place->folder, root / "user.slice/kiln.service");
  EXPECT_FALSE(place->is_ready);
  root.write("user.slice/kiln.service/kiln/cgroup.procs", "");
  EXPECT_TRUE(make_ready(*place));
  EXPECT_EQ(text("user.slice/kiln.service/kiln/cgroup.procs").substr(0, 2), "77") << "each is written";
  EXPECT_EQ(text("user.slice/kiln.service/cgroup.subtree_control").substr(0, 7), "+memory");
}

TEST_F(CgroupFolder, OnceMovedTheGroupAboveIsThePlace) {
  group("a/", "", "memory\n", "memory\n");
  group("a/kiln/", "77\n", "memory\n");
  const auto place = find("0::/a/kiln\n");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->folder, root / "a");
  EXPECT_TRUE(place->is_ready);
}

TEST_F(CgroupFolder, WithoutTheMemoryControllerVersion2IsNoPlace) {
  group("a/", "77\n", "cpu pids hugetlb\n");
  EXPECT_FALSE(find("0::/a\n"));
  EXPECT_FALSE(find("0::/b\n")) << "no such group";
  group("c/", "99\n", "memory\n");
  EXPECT_FALSE(find("0::/c\n")) << "another's group of that name";
}

TEST_F(CgroupFolder, Version1IsTakenWhereMemoryIsBoundToIt) {
  group("unified/", "77\n", "hugetlb\n");
  root.write("memory/job/cgroup.procs", "77\n");
  root.write("memory/job/memory.limit_in_bytes", "1\n");
  const auto place = find("9:name=systemd:/\n4:memory:/job\n0::/\n");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->version, 1);
  EXPECT_EQ(place->folder, root / "memory/job");
}

TEST_F(CgroupFolder, AContainerSeesItsGroupAtTheRoot) {
  root.write("memory/cgroup.procs", "77\n");
  root.write("memory/memory.limit_in_bytes", "1\n");
  const auto place = find("4:memory:/docker/123\n");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->folder, root / "memory");
}

TEST_F(CgroupFolder, WhatTheKernelRefusesIsNoGroup) {
  EXPECT_FALSE(MemoryCgroup::make({2, root.path(), true}, 0)) << "a plain folder has no cgroup.procs";
  EXPECT_FALSE(MemoryCgroup::make({1, root / "missing", true}, 0));
}

TEST(MemoryCgroupHere, GoesWithItsOwnerAndAfterItsDeath) {
  const auto place = find_cgroup_path();
  if (!place || place->version != 1) GTEST_SKIP() << "no control groups of version 1 here";
  const auto groups = [&] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(place->folder))
      count += entry.path().filename().string().starts_with("kiln-step-");
    return count;
  };
  {
    const auto first = MemoryCgroup::make(*place, 64 << 20);
    ASSERT_TRUE(first);
  }
  const std::size_t before = groups();
  const std::filesystem::path dead = place->folder / "kiln-step-dead";
  std::filesystem::create_directory(dead);
  {
    auto one = MemoryCgroup::make(*place, 64 << 20);
    ASSERT_TRUE(one);
    EXPECT_FALSE(std::filesystem::exists(dead));
    auto two = MemoryCgroup::make(*place, 0);
    ASSERT_TRUE(two);
    EXPECT_EQ(groups(), before + 2) << "one that is used is not removed";
    EXPECT_FALSE(one->has_processes());
    EXPECT_EQ(one->kills(), 0u);
  }
  EXPECT_EQ(groups(), before);
}

}  // namespace
}  // namespace kiln
