#include "factory/report/sharing.h"

#include <nlohmann/json.hpp>
#include <set>

#include "support/plan_fixture.h"
#include "support/plan_values.h"

namespace kiln {
namespace {

// Images of base, python, torch and a test; base, python, jax; base and a test; base alone.
BuildPlan four_images() {
  testing::RecipeDraft torch(Kind::framework, "torch", {"1"});
  torch.method("pip", "pip install torch").needs(Kind::toolchain, "python").test("import torch");
  testing::RecipeDraft jax(Kind::framework, "jax", {"1"});
  jax.method("pip", "pip install jax").needs(Kind::toolchain, "python");
  testing::Resolver resolver(
      {testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
       testing::RecipeDraft(Kind::toolchain, "python", {"3"}).method("distro", "install"), torch, jax,
       testing::RecipeDraft(Kind::library, "tested", {"1"}).method("x").test("y"),
       testing::RecipeDraft(Kind::library, "bare", {"1"}).method("x")});
  Matrix matrix = testing::matrix({testing::axis("framework", {"torch", "jax"}),
                                   testing::axis("base", {"debian"}), testing::axis("target", {"zen3"})});
  matrix.groups.push_back({"others",
                           {testing::axis("library", {"tested", "bare"}), testing::axis("base", {"debian"}),
                            testing::axis("target", {"zen3"})},
                           {},
                           {}});
  return plan_matrix(std::move(matrix), resolver.input());
}

class SharingTest : public ::testing::Test {
 protected:
  // `costs`: by component.
  Sharing of(const std::map<std::string, StepCost>& costs) {
    const std::map<std::string, Step> steps = testing::steps_of(plan_);
    return sharing_of(StepUses(plan_, images_), plan_.steps(), [&](const std::string& key) {
      const std::string& component = steps.at(key).component;
      asked_.insert(component);
      auto found = costs.find(component);
      return found == costs.end() ? StepCost{} : found->second;
    });
  }

  BuildPlan plan_ = four_images();
  ImageNumbers images_ = {0, 1, 2};  // base is run once instead of three times, python instead of twice
  std::set<std::string> asked_;
};

TEST_F(SharingTest, CountsRunsThatNeedNotBe) {
  Sharing sharing = of({});
  EXPECT_EQ(sharing.steps, 6u);
  EXPECT_EQ(sharing.without, 9u);
  EXPECT_EQ(sharing.shared, 2u);
  EXPECT_EQ(sharing.saved(), 3u);
  EXPECT_EQ(asked_, (std::set<std::string>{"base/debian", "toolchain/python"}))
      << "records of other steps are not read";
}

TEST_F(SharingTest, NeverInventsWhatNobodyMeasured) {
  Sharing sharing = of({});
  EXPECT_EQ(sharing_text(sharing),
            "6 steps, 9 without sharing: 2 shared steps save 3 runs; time saved: not measured, bytes saved: "
            "not measured");
  EXPECT_EQ(to_json(sharing)["seconds_saved"], nullptr);
  EXPECT_EQ(to_json(sharing)["bytes_saved"], nullptr);
}

TEST_F(SharingTest, SaysHowMuchOfItIsMeasured) {
  Sharing sharing = of({{"base/debian", {100.0, 30'000'000}}});
  EXPECT_EQ(sharing.timed, 2u);
  EXPECT_DOUBLE_EQ(sharing.seconds, 200);
  EXPECT_EQ(sharing_text(sharing),
            "6 steps, 9 without sharing: 2 shared steps save 3 runs; time saved: 3 min 20 s (measured: 2 of "
            "3 runs), "
            "bytes saved: 60 MB (measured: 2 of 3 runs)");
  EXPECT_EQ(to_json(sharing)["seconds_saved"], 200.0);
  EXPECT_EQ(to_json(sharing)["runs_timed"], 2);
}

TEST_F(SharingTest, NothingIsMeasuredWhereTooManyAreShared) {
  auto cost = [](const std::string&) { return StepCost{1.0, 1}; };
  const StepUses uses(plan_, images_);
  EXPECT_EQ(sharing_of(uses, plan_.steps(), cost, 1).timed, 0u);
  EXPECT_EQ(sharing_of(uses, plan_.steps(), cost, 1).shared, 2u);
  EXPECT_EQ(sharing_of(uses, plan_.steps(), cost, 2).timed, 3u);
}

TEST_F(SharingTest, AllMeasuredNeedsNoExcuse) {
  Sharing sharing = of({{"base/debian", {1800.0, 600'000'000}}, {"toolchain/python", {400.0, 1'000}}});
  EXPECT_EQ(
      sharing_text(sharing),
      "6 steps, 9 without sharing: 2 shared steps save 3 runs; time saved: 1 h 6 min, bytes saved: 1.2 GB");
}

TEST_F(SharingTest, NothingSharedIsSaidShortly) {
  images_ = {0};
  EXPECT_EQ(sharing_text(of({})), "4 steps, none shared");
  images_ = {3};
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
