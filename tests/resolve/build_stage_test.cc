// Stages in which components are built: their names, their order, and what the image takes from them.
#include "factory/resolve/resolve.h"
#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::cell;
using testing::demo_recipes_with;
using testing::error_of;
using testing::RecipeDraft;
using testing::Resolver;
using testing::titles;

using Words = std::vector<std::string>;

// Both ways round: no name is longer than it need be, and no stage is missing.
TEST(BuildStages, TwoBuildStagesHaveTheirOwnNames) {
  for (const auto& [first, second] : {std::pair("alib", "blib"), std::pair("blib", "alib")}) {
    std::vector<RecipeDraft> recipes =
        demo_recipes_with(RecipeDraft(Kind::library, first, {"1"})
                              .method("source", "")
                              .build("make " + std::string(first), {"/opt/kiln/first"})
                              .after(second));
    recipes.push_back(RecipeDraft(Kind::library, second, {"1"})
                          .method("source", "")
                          .build("make " + std::string(second), {"/opt/kiln/second"}));
    const ImageSpec spec = Resolver(recipes).spec(cell({{"library", "alib+blib"}}));
    ASSERT_EQ(spec.stages.size(), 3u);
    EXPECT_EQ(spec.stages[0].name, "build-" + std::string(second));
    EXPECT_EQ(spec.stages[1].name, "build-" + std::string(first));
    EXPECT_EQ(spec.stages[2].name, "image");
  }
}

TEST(BuildStages, ABuildStageIsThrownAwayAndItsPathsAreCopied) {
  ImageSpec spec = Resolver().spec(cell({{"library", "openblas:source"}}));
  ASSERT_EQ(spec.stages.size(), 2u);
  EXPECT_EQ(spec.stages[0].name, "build-openblas");
  EXPECT_EQ(titles(spec.stages[0]),
            (Words{"rootfs base/debian", "run toolchain/gcc", "run library/openblas"}));
  EXPECT_EQ(spec.stages[1].name, "image");
  EXPECT_EQ(titles(spec.stages[1]), (Words{"rootfs base/debian", "copy library/openblas",
                                           "run toolchain/python", "run framework/pytorch"}));
  EXPECT_EQ(spec.stages[0].steps[0].key, spec.stages[1].steps[0].key);
  const Step& copy = spec.stages[1].steps[1];
  EXPECT_EQ(copy.from, spec.stages[0].steps.back().key);
  EXPECT_EQ(copy.parent, spec.stages[1].steps[0].key);
  EXPECT_EQ(copy.copy, (Words{"/opt/kiln/openblas"}));
  for (const ComponentUse& use : spec.components) EXPECT_NE(use.name, "gcc");
}

TEST(BuildStages, ABuildTakesTheImagesVersionsAndTheCellsFramework) {
  RecipeDraft horovod(Kind::distributed, "horovod", {"0.28"});
  horovod.method("source").build("make", {"/opt/kiln/horovod"}).build_needs(Kind::framework, "pytorch");
  horovod.build_needs(Kind::toolchain, "gcc");
  Resolver resolver(demo_recipes_with(horovod));
  ImageSpec spec = resolver.spec(cell({{"distributed", "horovod"}, {"toolchain", "gcc@12.2"}}));
  EXPECT_EQ(titles(spec.stages[0]), (Words{"rootfs base/debian", "run toolchain/gcc", "run toolchain/python",
                                           "run framework/pytorch", "run distributed/horovod"}));
  EXPECT_EQ(spec.stages[0].steps[1].parameters.at("KILN_VERSION"), "12.2");
  EXPECT_EQ(resolver.reason(
                {{"framework", "jax"}, {"distributed", "horovod"}, {"base", "debian"}, {"target", "zen3"}}),
            "horovod needs framework pytorch; the cell has jax 0.10.2");
}

TEST(BuildStages, AStageThatBuildsWithABuiltComponentBuildsThatFirst) {
  RecipeDraft user(Kind::library, "user", {"1"});
  user.method("source").build("make", {"/opt/kiln/user"}).build_needs(Kind::library, "openblas", ">=0.3");
  ImageSpec spec = Resolver(demo_recipes_with(user)).spec(cell({{"library", "user"}, {"method", "distro"}}));
  EXPECT_EQ(spec.stages.size(), 2u);
  spec = Resolver(demo_recipes_with(user)).spec(cell({{"library", "user+openblas:source"}}));
  ASSERT_EQ(spec.stages.size(), 3u);
  EXPECT_EQ(spec.stages[0].name, "build-openblas");
  EXPECT_EQ(spec.stages[1].name, "build-user");
  EXPECT_EQ(titles(spec.stages[1]),
            (Words{"rootfs base/debian", "copy library/openblas", "run library/user"}));
}

TEST(BuildStages, BuildStagesOfOneNameAreToldApartByKindVersionAndMethod) {
  std::vector<RecipeDraft> recipes = demo_recipes_with(
      RecipeDraft(Kind::library, "twin", {"1"}).method("source").build("make", {"/opt/kiln/a"}));
  recipes.push_back(
      RecipeDraft(Kind::toolchain, "twin", {"2"}).method("source").build("make 2", {"/opt/kiln/b"}));
  const ImageSpec spec = Resolver(recipes).spec(cell({{"library", "twin"}, {"toolchain", "twin"}}));
  ASSERT_EQ(spec.stages.size(), 3u);
  EXPECT_EQ(spec.stages[0].name, "build-twin");
  EXPECT_EQ(spec.stages[1].name, "build-twin-library-1-source");
}

TEST(BuildStages, AComponentThatIsNeededToBuildItselfIsAnError) {
  RecipeDraft own(Kind::toolchain, "own", {"1"});
  own.method("source").build("make", {"/x"}).build_needs(Kind::toolchain, "own");
  EXPECT_EQ(error_of([&] {
              Resolver(demo_recipes_with(own)).run(cell({{"toolchain", "own"}}));
            }),
            "recipes/toolchain/own/recipe.json:8:3: error: toolchain/own@1:source is needed to build itself: "
            "toolchain/own@1:source → toolchain/own@1:source (at /methods/source)");
}

}  // namespace
}  // namespace kiln
