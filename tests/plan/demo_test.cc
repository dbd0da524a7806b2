// The recipes and the matrix of this repository, from files to plan.
#include <fmt/format.h>

#include <set>

#include "support/plan_fixture.h"
#include "support/plan_values.h"

namespace kiln {
namespace {

using testing::excluded_of;
using testing::requests_of;
using testing::specs_of;
using testing::steps_of;

class DemoTest : public ::testing::Test {
 protected:
  static BuildPlan plan() {
    RealFileSystem files;
    fs::path source = KILN_SOURCE_DIR;
    RecipeBook recipes = RecipeBook::read(files, {source / "recipes"});
    TargetBook targets = TargetBook::read(files, source / "matrix/targets", testing::archspec());
    return plan_matrix(read_matrix(files, source / "matrix/demo.json"),
                       {recipes, targets, testing::archspec()});
  }
};

TEST_F(DemoTest, ItsFiveImagesHaveTheirTags) {
  BuildPlan demo = plan();
  std::vector<std::string> names;
  for (const ImageSpec& image : specs_of(demo)) names.push_back(image.repository + ":" + image.tag);
  EXPECT_EQ(names, (std::vector<std::string>{"pytorch:2.6.0-distro-x86_64-trixie",
                                             "pytorch:2.6.0-distro-inductor-x86_64-trixie",
                                             "pytorch:2.6.0-distro-openblas-x86_64-trixie",
                                             "pytorch:2.6.0-distro-openblas-inductor-x86_64-trixie",
                                             "jax:0.10.2-pip-xla-x86_64_v3-trixie"}));
  EXPECT_EQ(demo.excluded(), 0u);
  EXPECT_TRUE(demo.warnings().empty());
}

TEST_F(DemoTest, TheBigStepsAreBuiltOnce) {
  BuildPlan demo = plan();
  std::map<std::string, int> built;
  for (const auto& [key, step] : steps_of(demo))
    if (step.kind != StepKind::test) ++built[step.component];
  EXPECT_EQ(built.at("base/debian"), 1);
  EXPECT_EQ(built.at("toolchain/python"), 1);
  EXPECT_EQ(built.at("framework/pytorch"), 1);
  EXPECT_EQ(built.at("compiler/inductor"), 1);
  EXPECT_EQ(built.at("library/openblas"), 2);  // with and without inductor below it
}

TEST_F(DemoTest, EveryImageIsTestedInAllItsParts) {
  for (const ImageSpec& image : specs_of(plan())) {
    std::set<std::string> tested;
    for (const Step& test : image.tests) tested.insert(test.component);
    for (const ComponentUse& use : image.components)
      EXPECT_TRUE(tested.contains(fmt::format("{}/{}", name_of(use.kind), use.name))) << use.name;
  }
}

// 27,000 cells through every part of expand: work that grows with the square of the cells would not end.
TEST(LargeMatrixTest, IsExpandedAndJudgedCellByCell) {
  Matrix large = testing::matrix({testing::axis("framework", {"pytorch"}), testing::axis("version", {"*"}),
                                  testing::axis("library", {"none", "openblas", "openblas@0.3.28"}),
                                  testing::axis("zone", {})});
  for (int zone = 0; zone < 3'000; ++zone) large.groups[0].axes[3].values.push_back(fmt::format("z{}", zone));
  for (int one = 0; one < 50; ++one) {
    large.groups[0].exclude.push_back(
        testing::partial({{"zone", fmt::format("z{}", one)}, {"version", "<2"}}));
    large.constraints.push_back(
        {{{"zone", fmt::format("z1{}*", one)}}, {}, {{"library", "openblas"}}, "no", {}});
  }
  large.groups[0].include.push_back(testing::partial({{"version", "2.6.0"}, {"target", "zen3"}}));
  Expansion out = expand(large, testing::book(testing::demo_recipes()));
  EXPECT_EQ(out.size() + out.excluded(), 27'000u);
  std::size_t excluded = 0;
  for (const ExcludedCell& cell : excluded_of(out)) excluded += cell.reason.starts_with("exclude at ");
  EXPECT_EQ(excluded, 50u * 3);
  for (const ImageRequest& request : requests_of(out))
    ASSERT_EQ(request.axes.contains("target"), request.axes.at("version") == "2.6.0") << request.id;
}

}  // namespace
}  // namespace kiln
