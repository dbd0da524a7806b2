#include "factory/os/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

TEST(KeepToProcessors, IsOfThisThreadAndWhatItStarts) {
  const unsigned all = usable_processors();
  unsigned kept = 0, below = 0;
  std::thread other([&] {
    keep_to_processors(1);
    kept = usable_processors();
    std::thread child([&] { below = usable_processors(); });
    child.join();
    keep_to_processors(all + 1);  // no more than it has
    EXPECT_EQ(usable_processors(), 1u);
  });
  other.join();
  EXPECT_EQ(kept, 1u);
  EXPECT_EQ(below, 1u);
  EXPECT_EQ(usable_processors(), all) << "the other threads go where they went";
}

TEST(Processors, OnlyThoseThatThisProcessMayRunOnCount) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(usable_processors(), static_cast<unsigned>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_processors(), 1u);
  ::sched_setaffinity(0, sizeof before, &before);
}

TEST(MemoryOfCgroups, IsTheLeastOfTheGroupAndThoseAboveIt) {
  const testing::TemporaryFolder root;
  root.write("slurm/job_7/memory.max", "8589934592\n");
  root.write("slurm/job_7/step_0/memory.max", "max\n");
  root.write("slurm/memory.max", "max\n");
  root.write("memory/slurm/job_8/memory.limit_in_bytes", "4294967296\n");
  root.write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("unified/user/memory.max", "2147483648\n");
  auto limit = [&](std::string_view cgroups) { return memory_of_cgroups(cgroups, root.path()); };
  EXPECT_EQ(limit("0::/slurm/job_7/step_0\n"), 8589934592u);
  EXPECT_EQ(limit("5:cpuset:/\n4:memory:/slurm/job_8\n0::/\n"), 4294967296u);
  EXPECT_EQ(limit("4:memory:/\n"), 9223372036854771712u) << "of the first version: none";
  EXPECT_EQ(limit("0::/user\n"), 2147483648u);
  EXPECT_EQ(limit("0::/slurm\n"), std::nullopt);
  EXPECT_EQ(limit("0::/../../slurm/job_7\n"), 8589934592u);
  EXPECT_EQ(limit("nonsense\n\n:/"), std::nullopt);
}

}  // namespace
}  // namespace kiln
