// Planner gives image by image what resolve and plan_matrix give at once.
#include "plan/planner.h"

#include <gtest/gtest.h>

#include <set>

#include "plan/plan_fixture.h"
#include "plan/sharing.h"

namespace kiln {
namespace {

using namespace testing;

Matrix many_cells() {
  Matrix all = matrix(
      {axis("framework", {"pytorch"}), axis("version", {"2.6.0", "2.7.0"}), axis("method", {"distro", "pip"}),
       axis("library", {"none", "openblas:source", "openblas@0.3.28:source"}),
       axis("compiler", {"none", "inductor"}), axis("base", {"debian@trixie", "debian@bookworm"}),
       axis("target", {"x86_64_v3", "zen3", "x86_64_v3,nvidia:sm_80", "neoverse_v1"})});
  all.groups[0].exclude.push_back(partial({{"library", "openblas@0.3.28:source"}, {"compiler", "inductor"}}));
  return all;
}

class PlannerTest : public ::testing::Test {
 protected:
  Matrix matrix_ = many_cells();
  Resolver resolver_;
};

// Each image as the planner has it beside what resolve says of its cell alone; the number of images.
std::size_t compare(const Matrix& matrix, const ResolveInput& input) {
  Expansion expansion = expand(matrix, input.recipes);
  Planner planner(matrix, input);
  for (const ImageRequest& request : expansion.requests) {
    auto alone = resolve(request, input);
    auto* spec = std::get_if<ImageSpec>(&alone);
    if (spec == nullptr) continue;
    EXPECT_TRUE(planner.next());
    EXPECT_EQ(planner.request().id, request.id);
    EXPECT_EQ(to_json(planner.image().spec), to_json(*spec));
    EXPECT_EQ(planner.record_name(), record_name(*spec));
    EXPECT_EQ(planner.immutable_tag(), spec->immutable_tag);
  }
  EXPECT_FALSE(planner.next());
  EXPECT_EQ(planner.images() + planner.excluded(), expansion.requests.size() + expansion.excluded.size());
  return planner.images();
}

TEST_F(PlannerTest, WhatCellsShareChangesNoneOfThem) { EXPECT_GT(compare(matrix_, resolver_.input()), 50u); }

// Everything that a script's values, a need and a test may depend on, in one recipe.
TEST_F(PlannerTest, WhatDependsOnTheRestOfTheCellIsNotShared) {
  std::vector<Recipe> recipes = demo_recipes();
  recipes.push_back(Recipe(Kind::distributed, "mpi", {"4.1", "3.4"})
                        .method("source", "install mpi",
                                {"KILN_VERSION", "KILN_LIBRARY_NAME", "KILN_FRAMEWORK_VERSION", "CFLAGS",
                                 "KILN_CUDA_ARCHS", "KILN_OPTIMISE"})
                        .build("make mpi", {"/opt/kiln/mpi"})
                        .build_needs(Kind::toolchain, "gcc")
                        .needs_when(Kind::library, "openblas", "", "*nvidia*")
                        .after("framework")
                        .test("mpirun")
                        .test_when("uses the GPU", "*nvidia*")
                        .test_when("only the old one", "", "3.4"));
  Resolver resolver(recipes);
  matrix_.groups[0].axes.push_back(axis("distributed", {"mpi", "mpi@3.4"}));
  matrix_.groups[0].axes.push_back(axis("optimise", {"none", "o3+lto"}));
  matrix_.groups[0].axes[5].values = {"debian@trixie"};
  EXPECT_GT(compare(matrix_, resolver.input()), 100u);
}

TEST(PlannerCatalogues, AreThoseOfTheirCells) {
  RealFileSystem files;
  fs::path source(KILN_SOURCE_DIR);
  RecipeBook recipes = RecipeBook::read(files, {source / "recipes"});
  TargetBook targets = TargetBook::read(files, source / "matrix/targets", archspec());
  std::size_t catalogues = 0;
  for (const std::string& name : files.list(source / "matrix")) {
    if (!name.ends_with(".json") || name.starts_with("site")) continue;
    EXPECT_GT(compare(read_matrix(files, source / "matrix" / name), {recipes, targets, archspec()}), 0u)
        << name;
    ++catalogues;
  }
  EXPECT_GE(catalogues, 2u);
}

TEST_F(PlannerTest, EveryStepIsNewOnce) {
  BuildPlan plan = plan_matrix(matrix_, resolver_.input());
  Planner planner(matrix_, resolver_.input());
  std::map<std::string, Step> steps;
  std::size_t before_sharing = 0;
  while (planner.next()) {
    for (const Step& step : planner.new_steps()) EXPECT_TRUE(steps.emplace(step.key, step).second);
    PlannedImage image = planner.image();
    before_sharing += image.steps.size() + image.tests.size();
    for (const auto* keys : {&image.steps, &image.tests})
      for (const std::string& key : *keys) EXPECT_TRUE(steps.contains(key));
  }
  EXPECT_EQ(planner.steps(), steps.size());
  EXPECT_EQ(planner.steps_before_sharing(), before_sharing);
  ASSERT_EQ(plan.steps.size(), steps.size());
  for (const auto& [key, step] : plan.steps) EXPECT_EQ(to_json(step), to_json(steps.at(key)));
}

// What is printed cell by cell goes through them twice: once for what may be wrong, once for the text.
TEST_F(PlannerTest, GoesBackToAnyImage) {
  BuildPlan plan = plan_matrix(matrix_, resolver_.input());
  Planner planner(matrix_, resolver_.input());
  while (planner.next()) continue;
  const std::size_t steps = planner.steps();
  for (std::size_t number = planner.images(); number-- > 0;) {
    planner.go_to(number);
    const PlannedImage& image = plan.images[number];
    EXPECT_EQ(to_json(planner.image().spec), to_json(image.spec));
    EXPECT_EQ(planner.record_name(), record_name(image.spec));
    EXPECT_TRUE(planner.new_steps().empty());
    std::vector<std::string> stages;
    std::vector<std::string> tests;
    planner.each_sketched_step([&](const SketchedStep& step, bool test) {
      (test ? tests : stages).push_back(planner.step_store().hex(step.step));
      EXPECT_EQ(step.pattern->step.kind, plan.steps.at(planner.step_store().hex(step.step)).kind);
    });
    EXPECT_EQ(stages, image.steps);
    EXPECT_EQ(tests, image.tests);
  }
  EXPECT_EQ(planner.images(), plan.images.size());
  EXPECT_EQ(planner.steps(), steps);
  EXPECT_FALSE(planner.next());
}

TEST_F(PlannerTest, CountsTheStepsOfTheImagesThatAreChosen) {
  BuildPlan plan = plan_matrix(matrix_, resolver_.input());
  Planner planner(matrix_, resolver_.input());
  while (planner.next()) continue;
  planner.forget_steps();
  EXPECT_EQ(planner.steps() + planner.steps_before_sharing() + planner.shared_steps(), 0u);
  std::vector<const PlannedImage*> chosen;
  for (std::size_t number = 0; number < planner.images(); number += 3) {
    planner.go_to(number);
    planner.count_steps();
    chosen.push_back(&plan.images[number]);
  }
  Sharing expected = sharing_of(chosen, [](const std::string&) { return StepCost{}; });
  EXPECT_EQ(planner.steps(), expected.steps);
  EXPECT_EQ(planner.steps_before_sharing(), expected.without);
  EXPECT_EQ(planner.shared_steps(), expected.shared);
  EXPECT_GT(planner.shared_steps(), 0u);
  EXPECT_LT(planner.steps(), plan.steps.size());
}

TEST_F(PlannerTest, WhatIsLeftOutIsSaidAfterwards) {
  matrix_.groups[0].axes[1].values = {"2.6.0", "1.13.1"};
  BuildPlan plan = plan_matrix(matrix_, resolver_.input());
  Planner planner(matrix_, resolver_.input());
  while (planner.next()) continue;
  ASSERT_EQ(planner.excluded(), plan.excluded.size());
  std::set<std::string> reasons;
  for (std::size_t index = 0; index < planner.excluded(); ++index) {
    EXPECT_EQ(to_json(planner.excluded(index)), to_json(plan.excluded[index]));
    reasons.insert(planner.excluded(index).reason);
  }
  EXPECT_TRUE(reasons.contains("exclude at matrix/demo.json:12:3"));
  EXPECT_TRUE(reasons.contains("inductor needs framework pytorch >=2.0; the cell has pytorch 1.13.1"));
}

TEST_F(PlannerTest, TwoCellsOfOneTagAreRefused) {
  Matrix same = matrix(
      {axis("framework", {"pytorch"}), axis("base", {"debian", "debian@trixie"}), axis("target", {"zen3"})});
  Planner planner(same, resolver_.input());
  EXPECT_TRUE(planner.next());
  EXPECT_NE(error_of([&] { planner.next(); }).find("'pytorch-zen3-debian' (matrix/demo.json:5:3) and"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln
