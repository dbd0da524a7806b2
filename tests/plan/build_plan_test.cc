#include "plan/build_plan.h"

#include "plan_fixture.h"

namespace kiln {
namespace {

using testing::axis;
using testing::error_of;
using testing::Resolver;

Matrix demo_matrix() {
  return testing::matrix({axis("framework", {"pytorch", "jax"}), axis("library", {"none", "openblas"}),
                          axis("compiler", {"none", "inductor"}), axis("base", {"debian@trixie"}),
                          axis("target", {"x86_64_v3"}, 9)});
}

TEST(BuildPlanTest, EqualStepsAreOne) {
  BuildPlan plan = plan_matrix(demo_matrix(), Resolver().input());
  ASSERT_EQ(plan.images.size(), 6u);
  EXPECT_EQ(plan.name, "demo");
  // debian; python, pytorch, gcc, openblas, openblas' gcc; jax and openblas on it — and one step for each
  // test.
  std::size_t built = 0;
  for (const auto& [key, step] : plan.steps) {
    EXPECT_EQ(key, step.key);
    built += step.kind != StepKind::test;
  }
  EXPECT_EQ(built, 8u);
  EXPECT_EQ(plan.images[0].steps[0], plan.images[5].steps[0]);
  EXPECT_GT(plan.steps_before_sharing, plan.steps.size());
  ASSERT_EQ(plan.excluded.size(), 2u);
  EXPECT_EQ(plan.excluded[0].reason, "inductor needs framework pytorch >=2.0; the cell has jax 0.10.2");
}

TEST(BuildPlanTest, StepsComeAfterWhatTheyStandOn) {
  Matrix matrix = demo_matrix();
  matrix.groups[0].axes[1].values = {"openblas:source"};
  BuildPlan plan = plan_matrix(matrix, Resolver().input());
  for (const PlannedImage& image : plan.images) {
    std::map<std::string, std::size_t> position;
    for (const std::string& key : image.steps) {
      const Step& step = plan.steps.at(key);
      EXPECT_TRUE(step.parent.empty() || position.contains(step.parent)) << step.title;
      EXPECT_TRUE(step.from.empty() || position.contains(step.from)) << step.title;
      EXPECT_TRUE(position.emplace(key, position.size()).second) << "twice: " << step.title;
    }
    EXPECT_EQ(image.steps.back(), image.spec.last_step().key);
    for (const std::string& test : image.tests) EXPECT_EQ(plan.steps.at(test).parent, image.steps.back());
  }
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
  ASSERT_EQ(plan.images.size(), 3u);
  EXPECT_EQ(plan.images[0].spec.tag, "2.7.0-distro-openblas-zen3-trixie");
  EXPECT_EQ(plan.images[1].spec.tag, "2.7.0-distro-openblas0.3.28-zen3-trixie");
  EXPECT_EQ(plan.images[2].spec.tag, "2.7.0-distro-openblas.source-zen3-trixie");
}

TEST(BuildPlanTest, AnUnknownTargetIsAnErrorAtItsAxis) {
  Matrix matrix = demo_matrix();
  matrix.groups[0].axes[4].values = {"x86_64_v3", "zen33"};
  std::string error = error_of([&] { plan_matrix(matrix, Resolver().input()); });
  EXPECT_TRUE(error.starts_with("matrix/demo.json:9:3: error: ")) << error;
  EXPECT_NE(error.find("(at /axes/target/1)"), std::string::npos) << error;
}

TEST(PlanJsonTest, APlanIsReadBackAsItWas) {
  Matrix matrix = demo_matrix();
  matrix.groups[0].axes[1].values = {"none", "openblas:source"};
  matrix.groups[0].exclude = {testing::partial({{"framework", "glow"}})};
  BuildPlan plan = plan_matrix(matrix, Resolver().input());
  Json json = to_json(plan);
  BuildPlan again = plan_from_json(JsonDocument::parse(json.dump(2), "plan.json"));
  EXPECT_EQ(to_json(again), json);
  ASSERT_EQ(again.images.size(), plan.images.size());
  EXPECT_EQ(to_json(again.images[1].spec), to_json(plan.images[1].spec));
  EXPECT_EQ(again.images[1].spec.components, plan.images[1].spec.components);
  EXPECT_EQ(again.images[1].spec.flags, plan.images[1].spec.flags);
  EXPECT_EQ(again.images[1].steps, plan.images[1].steps);
  EXPECT_EQ(again.images[1].tests, plan.images[1].tests);
  EXPECT_EQ(again.warnings, plan.warnings);
  EXPECT_EQ(again.steps_before_sharing, plan.steps_before_sharing);
}

TEST(PlanJsonTest, CellsAndExcludedAreWhatPlanPrints) {
  Json json = to_json(plan_matrix(demo_matrix(), Resolver().input()));
  const Json& cell = json.at("cells").at(0);
  EXPECT_EQ(cell.at("id"), "pytorch-x86_64_v3-debian_trixie");
  EXPECT_EQ(cell.at("axes").at("framework"), "pytorch");
  EXPECT_EQ(cell.at("tag"), "2.7.0-distro-x86_64_v3-trixie");
  EXPECT_EQ(cell.at("steps").size(), 3u);
  EXPECT_TRUE(json.at("steps").contains(cell.at("steps").at(0).get<std::string>()));
  EXPECT_EQ(json.at("excluded").at(0).at("axes").at("compiler"), "inductor");
  EXPECT_TRUE(json.at("excluded").at(0).at("reason").is_string());
}

TEST(PlanJsonTest, StatesThatACallerAddedArePassedOver) {
  Json json = to_json(plan_matrix(demo_matrix(), Resolver().input()));
  Json marked = json;
  for (Json& cell : marked["cells"]) cell.update({{"state", "fresh"}, {"why", {"nothing"}}});
  EXPECT_EQ(to_json(plan_from_json(JsonDocument::parse(marked.dump(), "plan.json"))), json);
}

class DamagedPlanTest : public ::testing::Test {
 protected:
  std::string error() const {
    return error_of([&] { plan_from_json(JsonDocument::parse(json_.dump(), "plan.json")); });
  }
  Json json_ = to_json(plan_matrix(demo_matrix(), Resolver().input()));
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
