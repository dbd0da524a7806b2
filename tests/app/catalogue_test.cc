#include "factory/app/catalogue.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"
#include "support/plan_fixture.h"

namespace kiln::testing {
namespace {

using Paths = std::vector<fs::path>;

class RecipeRoots : public ::testing::Test {
 protected:
  Paths roots(const std::string& matrix, const std::vector<std::string>& named = {}) const {
    return recipe_roots(named, matrix, "/usr/share/kiln", files_);
  }
  FakeFileSystem files_;
};

TEST_F(RecipeRoots, AreTheNearestFolder) {
  EXPECT_THROW(roots("site/matrix/a.json"), Error);
  files_.make_directories("/usr/share/kiln/recipes");
  EXPECT_EQ(roots("site/matrix/a.json"), Paths{"/usr/share/kiln/recipes"});
  files_.make_directories("recipes");
  EXPECT_EQ(roots("site/matrix/a.json"), Paths{"recipes"});
  files_.make_directories("site/matrix/../recipes");
  EXPECT_EQ(roots("site/matrix/a.json"), Paths{"site/recipes"});
  files_.make_directories("site/matrix/recipes");
  EXPECT_EQ(roots("site/matrix/a.json"), Paths{"site/matrix/recipes"});
}

TEST_F(RecipeRoots, AreAllThatAreNamed) {
  files_.make_directories("recipes");
  files_.make_directories("one");
  files_.make_directories("two");
  EXPECT_EQ(roots("a.json", {"two", "one"}), (Paths{"two", "one"}));
  try {
    roots("a.json", {"one", "three"});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(), "there is no folder 'three'");
  }
}

TEST(RecipesBeside, AreOfEachMatrix) {
  EXPECT_EQ(with_recipes_beside({"r"}, {"a/x.json", "y.json"}),
            (Paths{"r", "a/recipes", "a/../recipes", "recipes", "../recipes"}));
}

TEST(OwnRecipes, AreNeededForWhatTheMatrixOrTheCommandNames) {
  std::vector<RecipeDraft> drafts = demo_recipes();
  drafts.push_back(RecipeDraft(Kind::workload, "mlp", {"1"}).method("run"));
  const RecipeBook recipes = book(std::move(drafts));
  const Matrix known = matrix({axis("framework", {"pytorch"}), axis("base", {"debian"})});
  EXPECT_FALSE(needs_own_recipes(recipes, known, {}));
  EXPECT_FALSE(needs_own_recipes(recipes, known, {"mlp"}));
  EXPECT_TRUE(needs_own_recipes(recipes, known, {"mlp", "osu"}));
  EXPECT_TRUE(needs_own_recipes(recipes, matrix({axis("framework", {"keras"})}), {}));
}

// What a broken cell has as its reason is told with that cell.
TEST(Faults, AreToldOnceAndNotWithTheirCells) {
  std::vector<RecipeDraft> drafts = demo_recipes();
  RecipeBook recipes = book(std::move(drafts));
  BrokenRecipe broken{RecipeDraft(Kind::framework, "keras", {"1"}).get(),
                      Error(ExitCode::input, "no method")};
  recipes.add_broken(broken);
  broken.read.name = "mxnet";
  recipes.add_broken(broken);
  const TargetBook targets(archspec());
  const auto faults = [&](const std::string& framework) {
    const BuildPlan plan = plan_matrix(
        matrix({axis("framework", {framework}), axis("base", {"debian"}), axis("target", {"zen3"})}),
        {recipes, targets, archspec()});
    return faults_beside(plan.resolution(), recipes, targets);
  };
  ASSERT_EQ(faults("pytorch").size(), 1u) << "the same error of two recipes";
  EXPECT_EQ(faults("pytorch")[0].message(), "no method");
  EXPECT_TRUE(faults("keras").empty());
}

TEST(WithWishes, PutsTheCommandLineInPlaceOfTheSiteFile) {
  Site site;
  site.engine = "podman";
  site.mirror = "/site/mirror";
  site.launcher.slurm.emplace();
  const Site same = with_wishes(site, {});
  EXPECT_EQ(same.engine, "podman");
  EXPECT_EQ(same.mirror, "/site/mirror");
  EXPECT_EQ(same.cache.use, site.cache.use);
  EXPECT_FALSE(same.offline);
  const Site other = with_wishes(site, {"docker", "zen4", "/mirror/../m", true, true});
  EXPECT_EQ(other.engine, "docker");
  EXPECT_EQ(other.launcher.asked, "zen4");
  EXPECT_EQ(other.mirror, "/m");
  EXPECT_FALSE(other.cache.use);
  EXPECT_TRUE(other.offline);
}

TEST(WithWishes, RefusesToBuildFromNoMirror) {
  SiteWishes wishes;
  wishes.offline = true;
  EXPECT_THROW(with_wishes({}, wishes), Error);
  Site site;
  site.mirror = "/site/mirror";
  EXPECT_NO_THROW(with_wishes(site, wishes));
}

}  // namespace
}  // namespace kiln::testing
