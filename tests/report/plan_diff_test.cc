#include "factory/report/plan_diff.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"
#include "support/plan_fixture.h"

namespace kiln::testing {
namespace {

using Lines = std::vector<std::string>;

class PlanDiff : public ::testing::Test {
 protected:
  static Matrix catalogue(Lines libraries) {
    return matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0", "2.7.0"}),
                   axis("library", std::move(libraries)), axis("base", {"debian"}),
                   axis("target", {"x86_64_v3"})});
  }
  static BuildPlan plan(const Matrix& matrix, std::vector<RecipeDraft> recipes = demo_recipes()) {
    return plan_matrix(matrix, Resolver(std::move(recipes)).input());
  }
  static std::vector<RecipeDraft> edited(const std::string& name, const std::function<void(Recipe&)>& edit) {
    std::vector<RecipeDraft> recipes = demo_recipes();
    for (RecipeDraft& recipe : recipes)
      if (recipe.get().name == name) edit(recipe.get());
    return recipes;
  }
  static PlanDifference differences(const BuildPlan& before, const BuildPlan& now) {
    return compare_plans(images_of(before), images_of(now));
  }
  static PlanDifference against_edit(const std::string& name, const std::function<void(Recipe&)>& edit) {
    Matrix both = catalogue({"none", "openblas"});
    return differences(plan(both), plan(both, edited(name, edit)));
  }
};

TEST_F(PlanDiff, EqualPlansHaveNoDifference) {
  PlanDifference same =
      differences(plan(catalogue({"none", "openblas"})), plan(catalogue({"none", "openblas"})));
  EXPECT_TRUE(same.cells.empty());
  EXPECT_EQ(same.unchanged, 4u);
}

TEST_F(PlanDiff, CellsComeAndGo) {
  Matrix after = catalogue({"openblas"});
  after.constraints.push_back({{{"version", "2.7.0"}}, {}, {{"library", "openblas"}}, "too new", {}});
  PlanDifference difference = differences(plan(catalogue({"none", "openblas"})), plan(after));
  EXPECT_EQ(difference.count(CellChange::removed), 3u);
  EXPECT_EQ(difference.unchanged, 1u);
  Lines why;
  for (const CellDifference& cell : difference.cells) why.insert(why.end(), cell.why.begin(), cell.why.end());
  EXPECT_EQ(why, (Lines{"now excluded: too new"}));
  difference = differences(plan(after), plan(catalogue({"none", "openblas"})));
  EXPECT_EQ(difference.count(CellChange::added), 3u);
}

TEST_F(PlanDiff, ChangedBitsSayWhatChanged) {
  PlanDifference difference = against_edit("openblas", [](Recipe& recipe) {
    recipe.files.at("distro.sh") = RecipeFile{"distro.sh", Digest::of("other"), "other"};
  });
  EXPECT_EQ(difference.count(CellChange::changed), 2u);
  EXPECT_EQ(difference.unchanged, 2u);
  ASSERT_FALSE(difference.cells.at(0).why.empty());
  EXPECT_TRUE(difference.cells[0].why[0].starts_with("library/openblas: distro.sh changed"))
      << difference.cells[0].why[0];
}

// A night: what its lockfile moved, and exactly the images that hang on it.
TEST_F(PlanDiff, WhatTheLockfileMovedIsTheReason) {
  auto pinned = [](char digit) {
    return edited("debian", [&](Recipe& recipe) {
      recipe.methods[0] = RecipeDraft(Kind::base, "debian", {}).image("x/debian:{version}").get().methods[0];
      recipe.versions[0].pins["hub"].digests["amd64"] = Digest::from_hex(std::string(64, digit));
    });
  };
  Matrix both = matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0"}),
                        axis("base", {"debian", "ubuntu"}), axis("target", {"x86_64_v3"})});
  auto with_ubuntu = [](std::vector<RecipeDraft> recipes) {
    recipes.push_back(RecipeDraft(Kind::base, "ubuntu", {"24.04"}).image("x/ubuntu:{version}"));
    return recipes;
  };
  const BuildPlan before = plan(both, with_ubuntu(pinned('a')));
  const BuildPlan now = plan(both, with_ubuntu(pinned('b')));
  const PlanDifference night =
      compare_plans(images_of(before), images_of(now), {{"archspec", "entry", "1", "2"}});
  ASSERT_EQ(night.cells.size(), 1u);
  EXPECT_EQ(night.unchanged, 1u);
  EXPECT_TRUE(night.cells[0].id.find("debian") != std::string::npos) << night.cells[0].id;
  EXPECT_EQ(night.cells[0].why.at(0), "base/debian: base digest aaaaaa… → bbbbbb…");
}

TEST_F(PlanDiff, ANewVersionOfWhatComesAlongIsNamed) {
  PlanDifference difference =
      against_edit("python", [](Recipe& recipe) { recipe.versions[0].version = Version("3.14"); });
  EXPECT_EQ(difference.count(CellChange::changed), 4u);
  EXPECT_EQ(difference.cells.at(0).why.at(0), "toolchain/python: version 3.13 → 3.14");
}

TEST_F(PlanDiff, ATestAloneIsNoRebuild) {
  PlanDifference difference = against_edit("openblas", [](Recipe& recipe) {
    recipe.files.at("smoke.sh") = RecipeFile{"smoke.sh", Digest::of("other"), "other"};
  });
  EXPECT_EQ(difference.count(CellChange::retest), 2u);
  EXPECT_EQ(difference.count(CellChange::changed), 0u);
}

TEST_F(PlanDiff, LabelsAloneAreARetag) {
  PlanDifference difference =
      against_edit("pytorch", [](Recipe& recipe) { recipe.description = "new words"; });
  EXPECT_EQ(difference.count(CellChange::retag), 4u);
  EXPECT_EQ(difference.cells.at(0).why,
            (Lines{"label org.opencontainers.image.description none → 'new words'"}));
}

// Everything at once, as `kiln diff --format json` prints it.
TEST_F(PlanDiff, Golden) {
  std::vector<RecipeDraft> recipes = edited("openblas", [](Recipe& recipe) {
    recipe.files.at("distro.sh") = RecipeFile{"distro.sh", Digest::of("other"), "other"};
  });
  for (RecipeDraft& recipe : recipes)
    if (recipe.get().name == "pytorch") recipe.get().homepage = "https://pytorch.org";
  Matrix after = catalogue({"none", "openblas", "openblas:source"});
  after.constraints.push_back({{{"version", "2.7.0"}}, {}, {{"library", "none"}}, "too slow", {}});
  PlanDifference difference = differences(plan(catalogue({"none", "openblas"})), plan(after, recipes));
  expect_golden(to_json(difference).dump(2) + "\n", KILN_TEST_DATA "/golden/diff.json");
}

}  // namespace
}  // namespace kiln::testing
