#include <gtest/gtest.h>

#include "factory/collect/collect.h"
#include "support/memory_folder.h"

namespace kiln {
namespace {

constexpr std::int64_t kOneDay = 24 * 3600;

TEST(CollectionIsDue, IfTheStateChangedOrAWeekWentBy) {
  const Retention month;
  const KeptStamp last{"as it was", 100 * kOneDay};
  EXPECT_TRUE(is_collection_due({}, "as it was", month, 100 * kOneDay)) << "none is known";
  EXPECT_FALSE(is_collection_due(last, "as it was", month, 101 * kOneDay));
  EXPECT_FALSE(is_collection_due(last, "as it was", month, 107 * kOneDay - 1));
  EXPECT_TRUE(is_collection_due(last, "as it was", month, 107 * kOneDay)) << "things became old";
  EXPECT_TRUE(is_collection_due(last, "changed", month, 101 * kOneDay));
  EXPECT_TRUE(is_collection_due(last, "as it was", month, 100 * kOneDay - 1)) << "the clock went back";
}

TEST(CollectionIsDue, WithinTheShortestAge) {
  Retention day;
  day.keep_steps_for = std::chrono::hours(24);
  EXPECT_EQ(longest_wait(day), kOneDay);
  EXPECT_TRUE(is_collection_due(KeptStamp{"same", 0}, "same", day, kOneDay));
  day.keep_for = std::chrono::seconds(0);
  EXPECT_EQ(longest_wait(day), 0);
  EXPECT_TRUE(is_collection_due(KeptStamp{"same", 5}, "same", day, 5)) << "nothing is too young";
}

class StateStamp : public ::testing::Test {
 protected:
  std::string stamp() const { return state_stamp(state_, retention_); }
  void write(const std::string& name, const std::string& text) { files_.write(folder_.path() / name, text); }

  // The kernel stamps all that happens within a tick of its clock with one time.
  void later(const std::string& name) {
    fs::last_write_time(folder_.path() / name,
                        fs::last_write_time(folder_.path() / name) + std::chrono::seconds(++seconds_));
  }

  int seconds_ = 0;
  testing::MemoryFolder folder_;
  RealFileSystem files_;
  StatePaths state_{folder_.path()};
  Retention retention_;
};

TEST_F(StateStamp, FollowsRecordsTheIndexAndWhatIsKept) {
  std::string before = stamp();
  const auto changes = [&](const char* what, auto change) {
    change();
    const std::string after = stamp();
    EXPECT_NE(after, before) << what;
    before = after;
  };
  changes("an index", [&] { write("index.db", "1"); });
  changes("another index", [&] {
    write("index.db", "2");
    later("index.db");
  });
  changes("a folder", [&] { files_.make_directories(folder_.path() / "built"); });
  changes("a record", [&] {
    write("built/hello.json", "{}");
    later("built");
  });
  changes("a record less", [&] {
    fs::remove(folder_.path() / "built/hello.json");
    later("built");
  });
  changes("ages", [&] { retention_.keep_for /= 2; });
  changes("a name", [&] { retention_.keep = {"pytorch:*"}; });
}

TEST_F(StateStamp, LeavesOutWhatEachNightWrites) {
  write("index.db", "1");
  const std::string before = stamp();
  for (const char* name : {"lock", "nights/all/1", "origins/all.json", "kiln.prom", "nights.lease"}) {
    files_.make_directories((folder_.path() / name).parent_path());
    write(name, "x");
  }
  keep_stamp({before, 7}, state_.collected(), files_);
  EXPECT_EQ(stamp(), before);
}

TEST_F(StateStamp, IsKeptWithTheTime) {
  EXPECT_FALSE(read_stamp(state_.collected(), files_));
  keep_stamp({"abc", 7}, state_.collected(), files_);
  const auto last = read_stamp(state_.collected(), files_);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->stamp, "abc");
  EXPECT_EQ(last->at, 7);
  for (const char* damaged :
       {"", "{", "{\"stamp\": \"abc\"}", "{\"stamp\": 5, \"at\": 7}", "{\"stamp\": \"abc\", \"at\": -7}"}) {
    write("collected.json", damaged);
    EXPECT_FALSE(read_stamp(state_.collected(), files_)) << damaged;
  }
}

}  // namespace
}  // namespace kiln
