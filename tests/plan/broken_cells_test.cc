// A mistake in a recipe or target breaks the cells that need it, with that error as their reason, and no
// other.
#include <gtest/gtest.h>

#include "factory/plan/cell_patterns.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"

namespace kiln::testing {
namespace {

using Words = std::vector<std::string>;

class BrokenCells : public ::testing::Test {
 protected:
  // As if `name` could not be read; with `versions` as far as these.
  void break_recipe(Kind kind, const std::string& name, const Words& versions = {}) {
    RecipeDraft recipe(kind, name, versions);
    resolver.recipes().add_broken(
        {recipe.get(), Error(ExitCode::input, at(recipe.get().file, 7), "no good: " + name)});
  }
  static Matrix catalogue(Axis version = axis("version", {"2.6.0"})) {
    return matrix({axis("framework", {"pytorch"}), std::move(version), axis("library", {"none", "openblas"}),
                   axis("base", {"debian"}), axis("target", {"x86_64_v3"})});
  }
  static Matrix both(Axis version) {
    return matrix({axis("framework", {"jax", "pytorch"}), std::move(version), axis("base", {"debian"}),
                   axis("target", {"x86_64_v3"})});
  }
  BuildPlan plan(Matrix matrix) { return plan_matrix(std::move(matrix), resolver.input()); }
  static Words broken(const BuildPlan& plan) {
    Words lines;
    for (std::size_t number = 0; number < plan.broken(); ++number)
      lines.push_back(plan.broken(number).request.id + ": " + plan.broken(number).why.message());
    return lines;
  }
  static Words images(const BuildPlan& plan) {
    Words ids;
    for (std::size_t number = 0; number < plan.size(); ++number) ids.push_back(plan.image(number).id());
    return ids;
  }

  Resolver resolver;
};

TEST_F(BrokenCells, AreThoseThatNameABrokenRecipe) {
  const BuildPlan whole = plan(catalogue());
  break_recipe(Kind::library, "openblas");
  const BuildPlan now = plan(catalogue());
  EXPECT_EQ(broken(now), Words{"pytorch-2.6.0-openblas-x86_64_v3-debian: no good: openblas"});
  EXPECT_EQ(now.broken(0).why.where().line, 7);
  EXPECT_EQ(now.broken(0).architecture, "amd64");
  ASSERT_EQ(images(now), Words{"pytorch-2.6.0-x86_64_v3-debian"});
  EXPECT_EQ(now.image(0).key(), whole.image(0).key());
  EXPECT_EQ(now.excluded(), 0u);
}

TEST_F(BrokenCells, AreThoseThatNeedABrokenRecipe) {
  break_recipe(Kind::toolchain, "python", {"3.13"});
  EXPECT_EQ(plan(catalogue()).broken(), 2u);
  EXPECT_EQ(plan(catalogue()).size(), 0u);
}

TEST_F(BrokenCells, AreNoneWhereNoCellNeedsIt) {
  break_recipe(Kind::framework, "jax");
  EXPECT_EQ(plan(catalogue()).broken(), 0u);
  EXPECT_EQ(plan(catalogue()).size(), 2u);
}

TEST_F(BrokenCells, AreThoseOfABuildStageThatNeedsIt) {
  break_recipe(Kind::toolchain, "gcc");
  Matrix wanted = catalogue();
  wanted.groups.front().axes[2].values = {"openblas:distro", "openblas:source"};
  EXPECT_EQ(broken(plan(wanted)), Words{"pytorch-2.6.0-openblas_source-x86_64_v3-debian: no good: gcc"});
}

TEST_F(BrokenCells, OfKnownVersionsKeepTheirNames) {
  break_recipe(Kind::framework, "pytorch", {"2.7.0", "2.6.0"});
  EXPECT_EQ(broken(plan(both(axis("version", {">=2.6"})))),
            (Words{"pytorch-2.7.0-x86_64_v3-debian: no good: pytorch",
                   "pytorch-2.6.0-x86_64_v3-debian: no good: pytorch"}));
}

// Nobody knows which versions a range stands for: one cell stands for them.
TEST_F(BrokenCells, OfUnknownVersionsAreOneForEachRangeAndOneForEachVersion) {
  break_recipe(Kind::framework, "pytorch");
  const BuildPlan now = plan(both(axis("version", {">=2.6", "<2", ">=0.1", "2.6.0"})));
  EXPECT_EQ(broken(now), (Words{"pytorch-x86_64_v3-debian: no good: pytorch",
                                "pytorch-2.6.0-x86_64_v3-debian: no good: pytorch"}));
  EXPECT_EQ(images(now), Words{"jax-0.10.2-x86_64_v3-debian"});
}

TEST_F(BrokenCells, AreNotExcludedByWhatNobodyKnows) {
  Matrix wanted = both(axis("version", {">=0.1"}));
  wanted.constraints.push_back({{{"framework", "pytorch"}},
                                {{"framework.python", ">=3.11"}},
                                {},
                                "old",
                                at("matrix/demo.json", 20),
                                {}});
  EXPECT_EQ(plan(wanted).excluded(), 2u);  // 2.7.0 has no such fact, 1.13.1 an older one
  break_recipe(Kind::framework, "pytorch");
  EXPECT_EQ(broken(plan(wanted)), Words{"pytorch-x86_64_v3-debian: no good: pytorch"});
  EXPECT_EQ(plan(wanted).excluded(), 0u);
  // What does not depend on the recipe counts.
  wanted.constraints.push_back({{{"framework", "pytorch"}}, {}, {{"base", "debian"}}, "no", {}, {}});
  EXPECT_EQ(plan(wanted).broken(), 0u);
}

TEST_F(BrokenCells, AreNotMendedByAnotherAlternative) {
  RecipeDraft choosy(Kind::library, "choosy", {"1"});
  choosy.method("distro", "x").needs_any({{Kind::toolchain, "gcc"}, {Kind::toolchain, "python"}});
  resolver.recipes().add(choosy.get());
  auto wanted = [] {
    Matrix one = catalogue();
    one.groups.front().axes[0].values = {"jax"};
    one.groups.front().axes[1].values = {"0.10.2"};
    one.groups.front().axes[2].values = {"choosy"};
    return one;
  };
  EXPECT_EQ(plan(wanted()).size(), 1u);
  break_recipe(Kind::toolchain, "gcc");
  EXPECT_EQ(broken(plan(wanted())), Words{"jax-0.10.2-choosy-x86_64_v3-debian: no good: gcc"});
}

// The recipe can be read; what is wrong shows in some images only.
TEST_F(BrokenCells, AreThoseWhoseRecipeAsksForWhatIsNotThere) {
  RecipeDraft flags(Kind::library, "flags", {"1"});
  flags.method("distro", "x", {"CFLAGS"});
  resolver.recipes().add(flags.get());
  Matrix wanted = catalogue();
  wanted.groups.front().axes[2].values = {"none", "flags"};
  const BuildPlan now = plan(wanted);
  EXPECT_EQ(images(now), Words{"pytorch-2.6.0-x86_64_v3-debian"});
  ASSERT_EQ(now.broken(), 1u);
  EXPECT_NE(now.broken(0).why.message().find("no compiler is in the stage"), std::string::npos);
}

TEST_F(BrokenCells, AreThoseOfABrokenTarget) {
  FakeFileSystem files({{"targets/big.json", "{"}, {"targets/zen3.json", "{}"}});
  resolver.targets() = TargetBook::read(files, "targets", archspec());
  Matrix wanted = catalogue();
  wanted.groups.front().axes[2].values = {"none"};
  wanted.groups.front().axes[4].values = {"big", "zen2", "zen3"};
  const BuildPlan now = plan(wanted);
  EXPECT_EQ(images(now), Words{"pytorch-2.6.0-zen2-debian"});
  ASSERT_EQ(now.broken(), 2u);
  EXPECT_EQ(now.broken(0).why.where().file, "targets/big.json");
  EXPECT_EQ(now.broken(0).architecture, "");
  EXPECT_EQ(now.broken(1).why.where().file, "targets/zen3.json");
}

TEST_F(BrokenCells, MistakesOfTheMatrixStillEndIt) {
  break_recipe(Kind::framework, "jax");
  Matrix wanted = catalogue();
  wanted.groups.front().axes[0].values = {"pytorhc"};
  EXPECT_NE(error_of([&] { plan(wanted); }).find("no recipe for framework 'pytorhc'"), std::string::npos);
  wanted = catalogue();
  wanted.groups.front().axes.pop_back();
  EXPECT_NE(error_of([&] { plan(wanted); }).find("has no target"), std::string::npos);
}

TEST_F(BrokenCells, AreChosenByPatternsAsImagesAre) {
  break_recipe(Kind::library, "openblas");
  const BuildPlan now = plan(catalogue());
  auto chosen = [&](const Words& only) {
    const ChosenCells cells = match_cells(now, {only, {}});
    return std::pair(cells.images.size(), cells.broken.size());
  };
  EXPECT_EQ(chosen({}), std::pair(std::size_t{1}, std::size_t{1}));
  EXPECT_EQ(chosen({"library=openblas"}), std::pair(std::size_t{0}, std::size_t{1}));
  EXPECT_EQ(chosen({"pytorch-2.6.0-open*"}), std::pair(std::size_t{0}, std::size_t{1}));
  EXPECT_EQ(chosen({"library=none"}), std::pair(std::size_t{1}, std::size_t{0}));
  EXPECT_TRUE(match_cells(now, {{}, {"library=openblas"}}).broken.empty());
  EXPECT_THROW(match_cells(now, {{}, {"library=*"}}), Error);
}

TEST_F(BrokenCells, AreInThePlanAsText) {
  break_recipe(Kind::library, "openblas");
  const std::string text = plan_text(plan(catalogue()));
  const PlanDocument read = plan_from_json(JsonDocument::parse(text, "plan.json"));
  EXPECT_EQ(read.images.size(), 1u);
  EXPECT_EQ(
      read.broken,
      (std::map<std::string, std::string>{{"pytorch-2.6.0-openblas-x86_64_v3-debian",
                                           "recipes/library/openblas/recipe.json:7:3: no good: openblas"}}));
}

}  // namespace
}  // namespace kiln::testing
