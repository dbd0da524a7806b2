#include "factory/run/record_times.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

void set_time(const std::filesystem::path& file, std::int64_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

std::int64_t time_of(const std::filesystem::path& file) {
  struct stat status {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0);
  return status.st_mtim.tv_sec;
}

TEST(RecordTimes, BeforeNinjasTimeAreRenewed) {
  const testing::TemporaryFolder folder;
  const StatePaths state(folder.path());
  constexpr std::int64_t k1901 = -2147483648, k2020 = 1577836800;
  for (const char* name : {"steps/a.json", "tests/a.json", "built/a.json", "plans/a.json", "steps/b.json"})
    set_time(folder.write(name, ""), k1901);
  set_time(folder / "steps/b.json", 0);
  set_time(folder.write("steps/c.json", ""), k2020);
  EXPECT_EQ(renew_record_times(state), 4u);
  for (const char* name : {"steps/a.json", "tests/a.json", "built/a.json", "steps/b.json"})
    EXPECT_GT(time_of(folder / name), k2020) << name;
  EXPECT_EQ(time_of(folder / "steps/c.json"), k2020);
  EXPECT_EQ(time_of(folder / "plans/a.json"), k1901) << "ninja does not look at it";
  EXPECT_EQ(renew_record_times(state), 0u);
  EXPECT_EQ(renew_record_times(StatePaths(folder / "absent")), 0u);
}

}  // namespace
}  // namespace kiln
