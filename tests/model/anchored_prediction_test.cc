#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "registry/model/anchors.h"

namespace kiln::testing {
namespace {

constexpr std::size_t kLeast = 5;

SpeedRecord step_of(int network, const std::string& host, const std::string& version, double seconds) {
  SpeedRecord record;
  record.image = "pytorch " + version;
  record.host = host;
  record.workload = fmt::format("net{:02}", network);
  record.seconds = seconds;
  record.amounts = {{"operations", 1e9 * (1 + network)}, {"batch", 1}};
  record.words = {{"host", host}, {"version", "pytorch " + version}};
  return record;
}

// Networks `from` to `end` of a series, each `times` as long as on the host "old".
class AnchoredPredictionTest : public ::testing::Test {
 protected:
  void add(const std::string& host, const std::string& version, int from, int end, double times) {
    for (int network = from; network < end; ++network)
      records.push_back(step_of(network, host, version, times * 0.01 * (1 + network)));
  }
  static SpeedRecord question(int network, const std::string& host) {
    SpeedRecord asked = step_of(network, host, "", 0);
    asked.words.erase("version");
    return asked;
  }

  std::vector<SpeedRecord> records;
};

TEST_F(AnchoredPredictionTest, TheRatioOfTheAnchorsIsThatOfTheOther) {
  add("old", "2.4", 0, 20, 1);
  add("new", "2.4", 0, 8, 3);
  const auto found = predict_with_anchors(records, question(15, "new"), kLeast);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->seconds, 3 * 0.16, 1e-9);
  EXPECT_NEAR(found->elsewhere, 0.16, 1e-9);
  EXPECT_EQ(found->anchors, 8u);
  EXPECT_EQ(found->host, "new");
  EXPECT_EQ(found->other_host, "old");
  EXPECT_NEAR(found->low, found->seconds, 1e-9) << "the anchors are exact";
}

TEST_F(AnchoredPredictionTest, AnchorsThatDifferGiveAnInterval) {
  add("old", "2.4", 0, 20, 1);
  add("new", "2.4", 0, 10, 3);
  for (SpeedRecord& record : records)
    if (record.host == "new" && record.workload.back() % 2 == 0) record.seconds *= 1.3;
  const auto found = predict_with_anchors(records, question(15, "new"), kLeast);
  ASSERT_TRUE(found);
  EXPECT_LT(found->low, 3 * 0.16);
  EXPECT_GT(found->high, 3 * 1.3 * 0.16);
  EXPECT_LT(found->high / found->low, 2);
}

TEST_F(AnchoredPredictionTest, AnotherImageOfTheHostCountsBeforeAnotherHost) {
  add("old", "2.4", 0, 20, 1);
  add("new", "2.3", 0, 20, 2);
  add("new", "2.4", 0, 6, 3);
  SpeedRecord asked = question(15, "new");
  EXPECT_FALSE(predict_with_anchors(records, asked, kLeast)) << "of which of two versions?";
  asked.words["version"] = "pytorch 2.4";
  const auto found = predict_with_anchors(records, asked, kLeast);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->seconds, 0.48, 1e-9);
}

// Runs have no word for their host, and hosts of one microarchitecture have the same words.
// Two other hosts have the same words; the anchors say which of them is like the new one.
TEST_F(AnchoredPredictionTest, OfEqualHostsThatWhichTheAnchorsAreLike) {
  add("first", "2.4", 0, 20, 1);
  for (SpeedRecord& record : records)
    if (record.workload.back() % 2 == 0) record.seconds *= 2;
  add("like", "2.4", 0, 20, 2);
  add("new", "2.4", 0, 8, 3);
  const auto found = predict_with_anchors(records, question(15, "new"), kLeast);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->other_host, "like");
  EXPECT_NEAR(found->seconds, 0.48, 1e-9);
}

TEST_F(AnchoredPredictionTest, AHostOfRunsIsKnownByItsName) {
  add("old", "2.4", 0, 20, 1);
  add("new", "2.4", 0, 8, 3);
  for (SpeedRecord& record : records) record.words = {{"microarchitecture", "zen3"}};
  SpeedRecord asked = question(15, "new");
  asked.words = {{"microarchitecture", "zen3"}};
  const auto found = predict_with_anchors(records, asked, kLeast);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->host, "new");
  asked.host = "third";
  EXPECT_FALSE(predict_with_anchors(records, asked, kLeast)) << "nothing was measured there";
  asked.host = "";
  EXPECT_FALSE(predict_with_anchors(records, asked, kLeast)) << "of which host?";
}

TEST_F(AnchoredPredictionTest, NothingWithoutEnoughAnchorsOrTheWorkload) {
  add("old", "2.4", 0, 20, 1);
  add("new", "2.4", 0, 4, 3);
  EXPECT_FALSE(predict_with_anchors(records, question(15, "new"), kLeast)) << "4 anchors";
  EXPECT_FALSE(predict_with_anchors(records, question(15, "other"), kLeast)) << "no such host";
  add("new", "2.4", 4, 8, 3);
  EXPECT_TRUE(predict_with_anchors(records, question(15, "new"), kLeast));
  EXPECT_FALSE(predict_with_anchors(records, question(7, "new"), kLeast)) << "it was measured there";
  EXPECT_FALSE(predict_with_anchors(records, question(21, "new"), kLeast)) << "measured nowhere";
  EXPECT_FALSE(predict_with_anchors({}, question(15, "new"), kLeast));
}

TEST_F(AnchoredPredictionTest, AnchorsAreThoseThatTheOtherHasAsWell) {
  add("old", "2.4", 10, 20, 1);
  add("new", "2.4", 6, 14, 3);
  EXPECT_FALSE(predict_with_anchors(records, question(15, "new"), kLeast)) << "4 in common";
  add("new", "2.4", 14, 15, 3);
  const auto found = predict_with_anchors(records, question(15, "new"), kLeast);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->anchors, 5u);
}

}  // namespace
}  // namespace kiln::testing
