
#include "factory/collect/roots.h"

#include <gtest/gtest.h>

#include "support/memory_folder.h"

namespace kiln {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kToday = 1'795'000'000;

// Snapshot n is `ages[n - 1]` days old.
std::vector<Snapshot> aged(const std::vector<int>& ages, std::int64_t current) {
  std::vector<Snapshot> snapshots;
  for (std::size_t i = 0; i < ages.size(); ++i)
    snapshots.push_back({static_cast<std::int64_t>(i + 1), rfc3339(kToday - ages[i] * kDay), "", 1,
                         static_cast<std::int64_t>(i + 1) == current});
  return snapshots;
}

Retention keep(int days, int newest, std::vector<std::string> names = {}) {
  Retention retention;
  retention.keep_for = std::chrono::seconds(days * kDay);
  retention.keep_snapshots = newest;
  retention.keep = std::move(names);
  return retention;
}

using Kept = std::map<std::int64_t, std::string>;

TEST(Retention, EachReasonKeeps) {
  const auto snapshots = aged({90, 80, 70, 40, 20, 10}, 2);
  EXPECT_EQ(kept_snapshots(snapshots, keep(30, 1), kToday),
            (Kept{{2, "current"}, {5, "younger than 30d"}, {6, "one of the newest 1"}}));
  EXPECT_EQ(
      kept_snapshots(snapshots, keep(0, 2, {"3", "pytorch:*"}), kToday),
      (Kept{{2, "current"}, {3, "kept by name"}, {5, "one of the newest 2"}, {6, "one of the newest 2"}}));
}

TEST(Retention, TheDefaultsKeepAMonthAndTen) {
  std::vector<int> ages;
  for (int day = 40; day >= 0; --day) ages.push_back(day);
  EXPECT_EQ(kept_snapshots(aged(ages, 41), Retention{}, kToday).size(), 30u);
  for (int& age : ages) age += 100;
  EXPECT_EQ(kept_snapshots(aged(ages, 41), Retention{}, kToday).size(), 10u);
}

TEST(Retention, WhatHasNoDateIsYoung) {
  std::vector<Snapshot> snapshots = aged({90, 1}, 2);
  snapshots.front().created = "last week";
  EXPECT_TRUE(kept_snapshots(snapshots, keep(30, 1), kToday).contains(1));
  EXPECT_TRUE(kept_snapshots({}, keep(30, 1), kToday).empty());
}

TEST(Retention, ImagesAreKeptByNameKeyAndDigest) {
  ImageRecord image;
  image.repository = "pytorch";
  image.tag = "2.6.0-pip";
  image.immutable_tag = "2.6.0-pip-75869f925a83";
  image.key = std::string(64, '7');
  image.manifest = Digest::of("manifest");
  for (const std::string& word : {std::string("pytorch:*"), std::string("pytorch:2.6.0-pip"),
                                  std::string("pytorch:2.6.0-pip-75869f925a83"), image.key,
                                  image.manifest.text(), image.manifest.hex()})
    EXPECT_TRUE(is_kept_by_name(image, keep(0, 1, {word}))) << word;
  for (const char* word : {"pytorch", "2.6.0-pip", "12", "sha256:*"})
    EXPECT_FALSE(is_kept_by_name(image, keep(0, 1, {word}))) << word;
}

TEST(HexNames, WhateverStandsAround) {
  const std::string one(64, 'a');
  const std::string two(64, '0');
  HexNames names;
  names.add("sha256:" + one + "," + two + "\n" + std::string(63, 'b') + " " + std::string(65, 'c') + " " +
            std::string(64, 'D'));
  EXPECT_TRUE(names.contains(one));
  EXPECT_TRUE(names.contains(two));
  EXPECT_EQ(names.all().size(), 2u);
  EXPECT_FALSE(names.contains(""));
  EXPECT_FALSE(names.contains(std::string(64, 'x')));
}

TEST(HexNames, OfAFileWhereverAPieceEnds) {
  const testing::MemoryFolder folder;
  const std::string one(64, 'a');
  for (const std::size_t before :
       {0u, 1u << 20, (1u << 20) - 1, (1u << 20) - 63, (1u << 20) - 64, (3u << 20) - 7}) {
    testing::write_bytes(folder.path() / "file", std::string(before, '\n') + one);
    HexNames names;
    names.add_file(folder.path() / "file");
    EXPECT_TRUE(names.contains(one)) << before;
  }
  HexNames names;
  testing::write_bytes(folder.path() / "file", std::string((1u << 20) + 30, 'b') + "\n" + one + "0");
  names.add_file(folder.path() / "file");
  EXPECT_TRUE(names.all().empty()) << "longer runs are no names";
  EXPECT_THROW(names.add_file(folder.path() / "none"), Error);
}

}  // namespace
}  // namespace kiln
