// Build stages: the base that they stand upon, and what they hand to the image.
#include <algorithm>
#include <iterator>

#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::cell;
using testing::demo_recipes;
using testing::RecipeDraft;
using testing::Resolver;

TEST(BuildStages, StandOnTheBaseToBuildOnAndHandFilesToAScript) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  for (RecipeDraft& draft : recipes) {
    Recipe& recipe = draft.get();
    if (recipe.kind == Kind::base) {
      recipe.versions.push_back(recipe.versions.front());
      recipe.versions.back().version = Version("a-devel");
      recipe.versions.front().build_on = BuildBase{Version("a-devel"), {}};
    }
    if (recipe.name != "openblas") continue;
    recipe.methods[1].build->mount = {"/srv/wheels"};
    recipe.methods[1].script = "install.sh";
    recipe.files["install.sh"] = RecipeFile{"install.sh", Digest::of("install"), "install"};
  }
  ImageSpec spec = Resolver(std::move(recipes)).spec(cell({{"library", "openblas@0.3.29:source"}}));
  ASSERT_EQ(spec.stages.size(), 2u);
  EXPECT_EQ(spec.stages[0].steps.front().version, "a-devel");
  EXPECT_EQ(spec.stages[1].steps.front().version, "trixie");
  const std::vector<Step>& image = spec.stages[1].steps;
  auto mounts =
      std::find_if(image.begin(), image.end(), [](const Step& step) { return !step.mount.empty(); });
  ASSERT_NE(mounts, image.end());
  EXPECT_EQ(mounts->script, "install.sh");
  EXPECT_EQ(mounts->mount, std::vector<std::string>{"/srv/wheels"});
  EXPECT_EQ(mounts->from, spec.stages[0].steps.back().key);
  EXPECT_EQ(std::prev(mounts)->kind, StepKind::copy) << "what the image keeps comes first";
  EXPECT_EQ(std::prev(mounts)->from, mounts->from);
  EXPECT_EQ(inputs_of(*mounts)["mount"], Json({"/srv/wheels"}));
}

}  // namespace
}  // namespace kiln
