#include "factory/night/night_files.h"

#include <gtest/gtest.h>

#include "night/night_values.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::night_image;
using testing::night_report;

class NightFilesTest : public ::testing::Test {
 protected:
  void write(std::int64_t number) {
    folder_.write(night_report(number, {night_image("a", Verdict::built)}), "<html>", "<xml>");
  }
  std::vector<std::int64_t> numbers(std::size_t most = 100) const {
    std::vector<std::int64_t> numbers;
    folder_.each_report([&](const NightReport& report) {
      numbers.push_back(report.number);
      return numbers.size() < most;
    });
    return numbers;
  }

  testing::TemporaryFolder root_;
  RealFileSystem files_;
  NightFolder folder_{StatePaths(root_.path()), "demo", files_};
};

TEST_F(NightFilesTest, CountsFromOne) {
  EXPECT_EQ(folder_.begin(100, "me").number, 1);
  write(1);
  EXPECT_EQ(folder_.begin(200, "me").number, 2);
  EXPECT_EQ(numbers(), std::vector<std::int64_t>{1});
  EXPECT_EQ(root_.read("nights/demo/latest/report.html"), "<html>");
}

TEST_F(NightFilesTest, WhatLaterNightsKeepIsTheSameWithItsReportAndWithout) {
  NightReport report =
      night_report(1, {night_image("a", Verdict::built), night_image("b", Verdict::failed)}, NightState::red);
  report.images[0].seconds = 12.5;
  report.images[0].speeds = {{"mnist, ms/step, on zen4", 80}};
  report.every = 3600;
  folder_.write(report, "<html>", "<xml>");
  auto kept = [&] {
    std::vector<std::string> all;
    folder_.each_past([&](const PastNight& past) {
      all.push_back(to_json(past).dump());
      return true;
    });
    return all;
  };
  const std::vector<std::string> all = kept();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0], to_json(past_of(report)).dump());
  for (const char* damaged : {"", "{", R"({"format": 2})"}) {
    root_.write("nights/demo/1/past.json", damaged);
    EXPECT_EQ(kept(), all) << damaged;
  }
  fs::remove(root_ / "nights/demo/1/past.json");
  EXPECT_EQ(kept(), all);
  folder_.write(report, "<html>", "<xml>");
  std::string edited = root_.read("nights/demo/1/night.json");
  edited.replace(edited.find("2023-"), 5, "2020-");
  root_.write("nights/demo/1/night.json", edited);
  EXPECT_NE(kept(), all) << "the report has the last word";
  fs::remove(root_ / "nights/demo/1/night.json");
  EXPECT_TRUE(kept().empty()) << "without its report there was no such night";
}

TEST_F(NightFilesTest, ANightThatWasKilledKeepsItsNumber) {
  folder_.begin(1'700'000'000, "process 12 on nid001");
  const auto killed = folder_.begun();
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->number, 1);
  EXPECT_EQ(killed->started, 1'700'000'000);
  EXPECT_EQ(killed->by, "process 12 on nid001");
  EXPECT_EQ(folder_.begin(200, "me").number, 2);
  write(2);
  EXPECT_FALSE(folder_.begun());
  EXPECT_EQ(numbers(), std::vector<std::int64_t>{2});
}

TEST_F(NightFilesTest, ANightThatWasKilledBehindItsReportHasEnded) {
  folder_.begin(100, "me");
  const std::string running = root_.read("nights/demo/running.json");
  write(1);
  root_.write("nights/demo/running.json", running);
  EXPECT_FALSE(folder_.begun());
  EXPECT_EQ(folder_.begin(200, "me").number, 2);
}

TEST_F(NightFilesTest, WhatAKilledNightLeftHalfWrittenGoes) {
  write(1);
  root_.write("nights/demo/.running.json.12.0.tmp", "{");
  root_.write("nights/demo/2/.junit.xml.12.1.tmp", "<");
  root_.write("nights/demo/2/report.html", "<html>");
  EXPECT_EQ(folder_.begin(200, "me").number, 3);
  EXPECT_FALSE(fs::exists(root_ / "nights/demo/.running.json.12.0.tmp"));
  EXPECT_FALSE(fs::exists(root_ / "nights/demo/2/.junit.xml.12.1.tmp"));
  EXPECT_TRUE(fs::exists(root_ / "nights/demo/2/report.html"));
}

TEST_F(NightFilesTest, TheNewestAreReadFirst) {
  for (int i = 1; i <= 12; ++i) write(i);
  EXPECT_EQ(numbers(3), (std::vector<std::int64_t>{12, 11, 10}));
  folder_.keep_only(2);
  EXPECT_EQ(numbers(), (std::vector<std::int64_t>{12, 11}));
  EXPECT_EQ(folder_.begin(1, "me").number, 13);
}

TEST_F(NightFilesTest, ADamagedReportIsNamedAndLeftOut) {
  write(1);
  write(2);
  root_.write("nights/demo/1/night.json", "{\"format\": 1, ");
  std::vector<std::string> damaged;
  std::vector<std::int64_t> read;
  folder_.each_report(
      [&](const NightReport& report) {
        read.push_back(report.number);
        return true;
      },
      &damaged);
  EXPECT_EQ(read, std::vector<std::int64_t>{2});
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_NE(damaged[0].find("nights/demo/1/night.json"), std::string::npos);
}

TEST_F(NightFilesTest, NobodyHasCountedSoFar) {
  write(1);
  for (const char* name : {"9223372036854775807", "99999999999999999999", "-3", "0", "7x", "+8"})
    root_.write(std::string("nights/demo/") + name + "/night.json", "{}");
  EXPECT_EQ(folder_.begin(100, "me").number, 2);
}

TEST_F(NightFilesTest, WhatWasToldIsKept) {
  EXPECT_EQ(folder_.told().state, "");
  folder_.write(SentNotice{"red", {"a", "b"}, std::nullopt, 0});
  EXPECT_EQ(folder_.told().failing, (std::vector<std::string>{"a", "b"}));
  root_.write("nights/demo/told.json", "#");
  EXPECT_EQ(folder_.told().state, "");
}

}  // namespace
}  // namespace kiln
