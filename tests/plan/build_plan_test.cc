#include "factory/plan/build_plan.h"

#include <fmt/format.h>

#include "factory/plan/plan_json.h"
#include "support/plan_fixture.h"
#include "support/plan_values.h"

namespace kiln {
namespace {

using testing::axis;
using testing::error_of;
using testing::Resolver;
using testing::steps_of;

Matrix demo_matrix() {
  return testing::matrix({axis("framework", {"pytorch", "jax"}), axis("library", {"none", "openblas"}),
                          axis("compiler", {"none", "inductor"}), axis("base", {"debian@trixie"}),
                          axis("target", {"x86_64_v3"}, 9)});
}

TEST(BuildPlanTest, EqualStepsAreOne) {
  BuildPlan plan = plan_matrix(demo_matrix(), Resolver().input());
  ASSERT_EQ(plan.size(), 6u);
  EXPECT_EQ(plan.name(), "demo");
  // debian; python, pytorch, gcc, openblas, openblas' gcc; jax and openblas on it — and one step for each
  // test.
  std::size_t built = 0;
  const std::map<std::string, Step> steps = steps_of(plan);
  for (const auto& [key, step] : steps) {
    EXPECT_EQ(key, step.key);
    built += step.kind != StepKind::test;
  }
  EXPECT_EQ(built, 8u);
  EXPECT_EQ(plan.image(0).steps()[0], plan.image(5).steps()[0]);
  EXPECT_GT(StepUses(plan, all_images(plan)).runs(), steps.size());
  ASSERT_EQ(plan.excluded(), 2u);
  EXPECT_EQ(plan.excluded(0).reason, "inductor needs framework pytorch >=2.0; the cell has jax 0.10.2");
}

TEST(BuildPlanTest, StepsComeAfterWhatTheyStandOn) {
  Matrix matrix = demo_matrix();
  matrix.groups[0].axes[1].values = {"openblas:source"};
  BuildPlan plan = plan_matrix(matrix, Resolver().input());
  const StepTable& table = plan.steps();
  for (std::size_t number = 0; number < plan.size(); ++number) {
    const std::vector<StepTable::Number> steps = plan.image(number).steps();
    std::set<StepTable::Number> before = {StepTable::kNone};
    for (StepTable::Number step : steps) {
      EXPECT_TRUE(before.contains(table.parent(step))) << table.pattern(step).title;
      EXPECT_TRUE(before.contains(table.from(step))) << table.pattern(step).title;
      EXPECT_TRUE(before.insert(step).second) << "twice: " << table.pattern(step).title;
    }
    const ImageSpec spec = plan.image(number).spec();
    EXPECT_EQ(table.hex(steps.back()), spec.last_step().key);
    EXPECT_EQ(steps.size(), spec.steps().size());
    for (StepTable::Number test : plan.image(number).tests()) EXPECT_EQ(table.parent(test), steps.back());
  }
}

TEST(StepUsesTest, CountTheStepsOfTheChosenImages) {
  Matrix matrix = demo_matrix();
  matrix.groups[0].axes[1].values = {"none", "openblas", "openblas:source"};
  const BuildPlan plan = plan_matrix(matrix, Resolver().input());
  const ImageNumbers chosen = {0, 2, 3, 5};
  std::map<std::string, std::size_t> uses;
  std::size_t runs = 0;
  for (std::uint32_t number : chosen) {
    const ImageSpec spec = plan.image(number).spec();
    for (const Step* step : spec.steps()) ++uses[step->key];
    for (const Step& test : spec.tests) ++uses[test.key];
    runs += spec.steps().size() + spec.tests.size();
  }
  const StepUses counted(plan, chosen);
  EXPECT_EQ(counted.runs(), runs);
  ASSERT_EQ(counted.steps().size(), uses.size());
  std::size_t shared = 0;
  std::vector<std::string> sorted;
  for (StepTable::Number step : counted.by_key()) {
    EXPECT_EQ(counted.of(step), uses.at(plan.steps().hex(step)));
    shared += counted.of(step) > 1 ? 1 : 0;
    sorted.push_back(plan.steps().hex(step));
  }
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_EQ(counted.shared(), shared);
  EXPECT_GT(shared, 0u);
  EXPECT_LT(uses.size(), StepUses(plan, all_images(plan)).steps().size());
}

TEST(BuildPlanTest, TwoCellsWithOneTagAreAnErrorThatNamesBoth) {
  Matrix matrix = testing::matrix(
      {axis("framework", {"pytorch"}), axis("base", {"debian", "debian@trixie"}), axis("target", {"zen3"})});
  EXPECT_EQ(error_of([&] { plan_matrix(matrix, Resolver().input()); }),
            "matrix/demo.json:5:3: error: two cells have the tag pytorch:2.7.0-distro-zen3-trixie: "
            "'pytorch-zen3-debian' "
            "(matrix/demo.json:5:3) and 'pytorch-zen3-debian_trixie' (matrix/demo.json:5:3) (at "
            "/axes/framework); exclude one, or "
            "say the version or method on the axis, such as openblas@0.3.29:source");
}

TEST(BuildPlanTest, MethodsAndVersionsOnAnAxisAreDifferentImages) {
  Matrix matrix =
      testing::matrix({axis("framework", {"pytorch"}), axis("base", {"debian"}), axis("target", {"zen3"}),
                       axis("library", {"openblas", "openblas@0.3.28", "openblas:source"})});
  BuildPlan plan = plan_matrix(matrix, Resolver().input());
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan.image(0).tag(), "2.7.0-distro-openblas-zen3-trixie");
  EXPECT_EQ(plan.image(1).tag(), "2.7.0-distro-openblas0.3.28-zen3-trixie");
  EXPECT_EQ(plan.image(2).tag(), "2.7.0-distro-openblas.source-zen3-trixie");
}

TEST(BuildPlanTest, AnUnknownTargetIsAnErrorAtItsAxis) {
  Matrix matrix = demo_matrix();
  matrix.groups[0].axes[4].values = {"x86_64_v3", "zen33"};
  std::string error = error_of([&] { plan_matrix(matrix, Resolver().input()); });
  EXPECT_TRUE(error.starts_with("matrix/demo.json:9:3: error: ")) << error;
  EXPECT_NE(error.find("(at /axes/target/1)"), std::string::npos) << error;
}

Json json_of(const BuildPlan& plan) { return Json::parse(plan_text(plan)); }

TEST(PlanJsonTest, APlanIsReadBackAsItWas) {
  Matrix matrix = demo_matrix();
  matrix.groups[0].axes[1].values = {"none", "openblas:source"};
  matrix.groups[0].exclude = {testing::partial({{"framework", "glow"}})};
  BuildPlan plan = plan_matrix(matrix, Resolver().input());
  PlanDocument again = plan_from_json(JsonDocument::parse(json_of(plan).dump(2), "plan.json"));
  EXPECT_EQ(again.name, "demo");
  EXPECT_EQ(again.warnings, plan.warnings());
  ASSERT_EQ(again.images.size(), plan.size());
  for (std::size_t number = 0; number < plan.size(); ++number) {
    const ImageSpec spec = plan.image(number).spec();
    EXPECT_EQ(to_json(again.images[number]), to_json(spec));
    EXPECT_EQ(again.images[number].components, spec.components);
    EXPECT_EQ(again.images[number].flags, spec.flags);
  }
  ASSERT_EQ(again.excluded.size(), plan.excluded());
  EXPECT_EQ(to_json(again.excluded[0]), to_json(plan.excluded(0)));
  const std::map<std::string, Step> steps = steps_of(plan);
  ASSERT_EQ(again.steps.size(), steps.size());
  for (const auto& [key, step] : steps) EXPECT_EQ(to_json(again.steps.at(key)), to_json(step));
}

TEST(PlanJsonTest, LimitsOfAStepAreReadBack) {
  std::vector<testing::RecipeDraft> recipes = testing::demo_recipes();
  const OwnLimits limits{std::chrono::hours(12), std::chrono::minutes(1), 5, std::uint64_t{64} << 30};
  for (testing::RecipeDraft& recipe : recipes) recipe.get().methods[0].limits = limits;
  const Resolver resolver(std::move(recipes));
  const BuildPlan plan = plan_matrix(demo_matrix(), resolver.input());
  const PlanDocument again = plan_from_json(JsonDocument::parse(json_of(plan).dump(2), "plan.json"));
  ASSERT_FALSE(again.steps.empty());
  for (const auto& [key, step] : again.steps) EXPECT_EQ(step.limits, limits) << step.title;
}

TEST(PlanJsonTest, AcceptedFilesAreReadBack) {
  std::vector<testing::RecipeDraft> recipes = testing::demo_recipes();
  const AcceptedFile file{"*/libf.so", "asks \"first\""};
  for (testing::RecipeDraft& recipe : recipes) recipe.get().accept = {{file, "", {}, {}}};
  const Resolver resolver(std::move(recipes));
  const BuildPlan plan = plan_matrix(demo_matrix(), resolver.input());
  const PlanDocument again = plan_from_json(JsonDocument::parse(json_of(plan).dump(2), "plan.json"));
  ASSERT_FALSE(again.images.empty());
  for (const ComponentUse& use : again.images[0].components)
    EXPECT_EQ(use.accept, std::vector{file}) << use.name;
}

TEST(PlanJsonTest, CellsAndExcludedAreWhatPlanPrints) {
  const BuildPlan plan = plan_matrix(demo_matrix(), Resolver().input());
  Json json = json_of(plan);
  const Json& cell = json.at("cells").at(0);
  EXPECT_EQ(cell.at("id"), "pytorch-x86_64_v3-debian_trixie");
  EXPECT_EQ(cell.at("axes").at("framework"), "pytorch");
  EXPECT_EQ(cell.at("tag"), "2.7.0-distro-x86_64_v3-trixie");
  EXPECT_EQ(cell.at("steps").size(), 3u);
  EXPECT_TRUE(json.at("steps").contains(cell.at("steps").at(0).get<std::string>()));
  EXPECT_EQ(json.at("excluded").at(0).at("axes").at("compiler"), "inductor");
  EXPECT_TRUE(json.at("excluded").at(0).at("reason").is_string());
  EXPECT_EQ(json.at("steps_before_sharing"), StepUses(plan, all_images(plan)).runs());
}

TEST(PlanJsonTest, APartHasTheStepsThatItNeeds) {
  const BuildPlan plan = plan_matrix(demo_matrix(), Resolver().input());
  const Json part = Json::parse(plan_text(plan, match_cells(plan, {{"framework=jax"}, {}})));
  EXPECT_EQ(part.at("cells").size(), 2u);
  std::set<std::string> needed;
  for (const Json& cell : part.at("cells"))
    for (const char* list : {"steps", "tests"})
      for (const Json& key : cell.at(list)) needed.insert(key.get<std::string>());
  EXPECT_EQ(part.at("steps").size(), needed.size());
  for (const std::string& key : needed) EXPECT_TRUE(part.at("steps").contains(key));
}

TEST(PlanJsonTest, StatesThatACallerAddedArePassedOver) {
  const BuildPlan plan = plan_matrix(demo_matrix(), Resolver().input());
  Json marked = json_of(plan);
  for (Json& cell : marked["cells"]) cell.update({{"state", "fresh"}, {"why", {"nothing"}}});
  PlanDocument again = plan_from_json(JsonDocument::parse(marked.dump(), "plan.json"));
  EXPECT_EQ(to_json(again.images.at(0)), to_json(plan.image(0).spec()));
}

class DamagedPlanTest : public ::testing::Test {
 protected:
  std::string error() const {
    return error_of([&] { plan_from_json(JsonDocument::parse(json_.dump(), "plan.json")); });
  }
  Json json_ = json_of(plan_matrix(demo_matrix(), Resolver().input()));
  std::string base_ = json_["cells"][0]["steps"][0];
};

TEST_F(DamagedPlanTest, AChangedInputNoLongerFitsItsKey) {
  json_["steps"][base_]["inputs"]["architecture"] = "arm64";
  EXPECT_NE(error().find(fmt::format("the key '{}' does not belong to the step's inputs (at /steps/{}/key)",
                                     base_, base_)),
            std::string::npos)
      << error();
}

TEST_F(DamagedPlanTest, AnUnknownStepIsNamed) {
  json_["cells"][0]["stages"][0]["steps"][0] = "0000";
  EXPECT_NE(error().find("no step has the key '0000' (at /cells/0/stages/0/steps/0)"), std::string::npos)
      << error();
}

TEST_F(DamagedPlanTest, UnknownKindsAndEmptyStagesAreRefused) {
  json_["steps"][base_]["kind"] = "rootsf";
  EXPECT_NE(error().find("unknown kind of step 'rootsf'"), std::string::npos) << error();
  json_["steps"][base_]["kind"] = "rootfs";
  json_["cells"][0]["components"][0]["kind"] = "bass";
  EXPECT_NE(error().find("unknown kind 'bass' (at /cells/0/components/0/kind)"), std::string::npos)
      << error();
  json_["cells"][0]["components"][0]["kind"] = "base";
  json_["cells"][0]["stages"] = Json::array();
  EXPECT_NE(error().find("an image has at least one stage (at /cells/0/stages)"), std::string::npos)
      << error();
}

}  // namespace
}  // namespace kiln
