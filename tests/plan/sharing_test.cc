#include "plan/sharing.h"

#include <nlohmann/json.hpp>
#include <set>

#include "plan_fixture.h"

namespace kiln {
namespace {

// Only the keys count.
PlannedImage image(std::vector<std::string> steps, std::vector<std::string> tests) {
  PlannedImage one;
  one.steps = std::move(steps);
  one.tests = std::move(tests);
  return one;
}

class SharingTest : public ::testing::Test {
 protected:
  Sharing of(const std::map<std::string, StepCost>& costs) {
    std::vector<const PlannedImage*> views;
    for (const PlannedImage& one : images_) views.push_back(&one);
    return sharing_of(views, [&](const std::string& key) {
      asked_.insert(key);
      auto found = costs.find(key);
      return found == costs.end() ? StepCost{} : found->second;
    });
  }

  // base is run once instead of three times, python once instead of twice.
  std::vector<PlannedImage> images_ = {image({"base", "python", "torch"}, {"test1"}),
                                       image({"base", "python", "jax"}, {}), image({"base"}, {"test2"})};
  std::set<std::string> asked_;
};

TEST_F(SharingTest, CountsRunsThatNeedNotBe) {
  Sharing sharing = of({});
  EXPECT_EQ(sharing.steps, 6u);
  EXPECT_EQ(sharing.without, 9u);
  EXPECT_EQ(sharing.shared, 2u);
  EXPECT_EQ(sharing.saved(), 3u);
  EXPECT_EQ(asked_, (std::set<std::string>{"base", "python"})) << "records of other steps are not read";
}

TEST_F(SharingTest, NeverInventsWhatNobodyMeasured) {
  Sharing sharing = of({});
  EXPECT_EQ(sharing_text(sharing),
            "6 steps, 9 without sharing: 2 shared steps save 3 runs; time not measured, bytes not measured");
  EXPECT_EQ(to_json(sharing)["seconds_saved"], nullptr);
  EXPECT_EQ(to_json(sharing)["bytes_saved"], nullptr);
}

TEST_F(SharingTest, SaysHowMuchOfItIsMeasured) {
  Sharing sharing = of({{"base", {100.0, 30'000'000}}});
  EXPECT_EQ(sharing.timed, 2u);
  EXPECT_DOUBLE_EQ(sharing.seconds, 200);
  EXPECT_EQ(
      sharing_text(sharing),
      "6 steps, 9 without sharing: 2 shared steps save 3 runs; time 3 min 20 s (measured: 2 of 3 runs), "
      "bytes 60 MB (measured: 2 of 3 runs)");
  EXPECT_EQ(to_json(sharing)["seconds_saved"], 200.0);
  EXPECT_EQ(to_json(sharing)["runs_timed"], 2);
}

TEST_F(SharingTest, AllMeasuredNeedsNoExcuse) {
  Sharing sharing = of({{"base", {1800.0, 600'000'000}}, {"python", {400.0, 1'000}}});
  EXPECT_EQ(sharing_text(sharing),
            "6 steps, 9 without sharing: 2 shared steps save 3 runs; time 1 h 6 min, bytes 1.2 GB");
}

TEST_F(SharingTest, NothingSharedIsSaidShortly) {
  images_.resize(1);
  EXPECT_EQ(sharing_text(of({})), "4 steps, none shared");
  images_[0] = image({"base"}, {});
  EXPECT_EQ(sharing_text(of({})), "1 step, none shared");
}

TEST(SharingUnits, AreOfAReadableSize) {
  EXPECT_EQ(duration_text(0.44), "0.4 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(61), "1 min 1 s");
  EXPECT_EQ(duration_text(7260), "2 h 1 min");
  EXPECT_EQ(size_text(1'499), "1 kB");
  EXPECT_EQ(size_text(27'351'900), "27 MB");
  EXPECT_EQ(size_text(2'700'000'000), "2.7 GB");
}

}  // namespace
}  // namespace kiln
