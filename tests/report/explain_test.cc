#include "factory/report/explain.h"

#include <fmt/format.h>

#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::axis;
using testing::demo_recipes;
using testing::RecipeDraft;
using testing::Resolver;

using Lines = std::vector<std::string>;

Matrix matrix_of(std::vector<std::string> libraries) {
  return testing::matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0"}),
                          axis("library", std::move(libraries)), axis("base", {"debian"}),
                          axis("target", {"x86_64_v3"})});
}

BuildPlan plan_of(std::vector<RecipeDraft> recipes, std::vector<std::string> libraries = {"openblas"}) {
  return plan_matrix(matrix_of(std::move(libraries)), Resolver(std::move(recipes)).input());
}

std::vector<RecipeDraft> changed(const std::string& name, const std::function<void(RecipeDraft&)>& change) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  for (RecipeDraft& recipe : recipes)
    if (recipe.get().name == name) change(recipe);
  return recipes;
}

void rewrite(RecipeDraft& recipe, const std::string& path) {
  recipe.get().files.at(path) = RecipeFile{path, Digest::of("other"), "other"};
}

std::string short_digest(const std::string& bytes) { return Digest::of(bytes).hex().substr(0, 6) + "…"; }

Lines why(const std::vector<RecipeDraft>& now, const std::vector<RecipeDraft>& before = demo_recipes(),
          std::vector<std::string> libraries = {"openblas"}) {
  BuildPlan plan = plan_of(now, libraries);
  BuildPlan previous = plan_of(before, libraries);
  return explain_image(plan.image(0).spec(), previous.image(0).spec());
}

TEST(ExplainTest, NothingChangedIsSilent) { EXPECT_EQ(why(demo_recipes()), Lines{}); }

TEST(ExplainTest, AnotherFamilyOfEnginesIsSaid) {
  const Resolver resolver;
  ResolveInput input = resolver.input();
  const BuildPlan others = plan_matrix(matrix_of({"openblas"}), input);
  input.engine_family = "apptainer";
  const BuildPlan own = plan_matrix(matrix_of({"openblas"}), input);
  EXPECT_EQ(explain_image(own.image(0).spec(), others.image(0).spec()).front(),
            "base/debian: run by apptainer, whose steps are not those of another engine");
  EXPECT_EQ(explain_image(others.image(0).spec(), own.image(0).spec()).front(),
            "base/debian: run by another engine, whose steps are not those of apptainer");
}

TEST(ExplainTest, NewImages) {
  EXPECT_EQ(explain_new_image(false), (Lines{"new image: there is no last plan"}));
  EXPECT_EQ(explain_new_image(true), (Lines{"new image: was not in the last plan"}));
}

TEST(ExplainTest, AChangedScriptIsNamedWithItsDigests) {
  EXPECT_EQ(why(changed("openblas", [](RecipeDraft& recipe) { rewrite(recipe, "distro.sh"); })),
            (Lines{fmt::format("library/openblas: distro.sh changed ({} → {})",
                               short_digest("install openblas"), short_digest("other"))}));
}

TEST(ExplainTest, WhatStandsOnAChangedStepNamesTheRootCause) {
  EXPECT_EQ(
      why(changed("debian",
                  [](RecipeDraft& recipe) { recipe.get().methods[0].parameters = {"KILN_FACT_SUITE"}; })),
      (Lines{"base/debian: parameter KILN_FACT_SUITE is new ('trixie')",
             "toolchain/python: rebuilt because base/debian changed",
             "framework/pytorch: rebuilt because base/debian changed",
             "library/openblas: rebuilt because base/debian changed"}));
}

TEST(ExplainTest, ChangedParametersShowBothValues) {
  auto suite = [](const std::string& value) {
    return changed("debian", [&](RecipeDraft& recipe) {
      recipe.get().methods[0].parameters = {"KILN_FACT_SUITE"};
      recipe.fact("trixie", "suite", value);
    });
  };
  Lines lines = why(suite("trixie"), suite("testing"));
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0], "base/debian: parameter KILN_FACT_SUITE changed ('testing' → 'trixie')");
}

TEST(ExplainTest, FilesThatCameWentAndChanged) {
  auto with = [](const std::string& path, const std::string& bytes) {
    return changed("openblas", [&](RecipeDraft& recipe) {
      recipe.get().methods[0].files = {path};
      recipe.get().files[path] = RecipeFile{path, Digest::of(bytes), bytes};
    });
  };
  EXPECT_EQ(why(with("a.txt", "2"), with("a.txt", "1")),
            (Lines{fmt::format("library/openblas: a.txt changed ({} → {})", short_digest("1"),
                               short_digest("2"))}));
  EXPECT_EQ(why(with("b.txt", "1"), with("a.txt", "1")),
            (Lines{fmt::format("library/openblas: a.txt is gone ({})", short_digest("1")),
                   fmt::format("library/openblas: b.txt is new ({})", short_digest("1"))}));
}

TEST(ExplainTest, ARenamedScript) {
  EXPECT_EQ(why(changed("openblas",
                        [](RecipeDraft& recipe) {
                          recipe.get().files["install.sh"] = recipe.get().files.at("distro.sh");
                          recipe.get().methods[0].script = "install.sh";
                        })),
            (Lines{"library/openblas: script changed ('distro.sh' → 'install.sh')"}));
}

TEST(ExplainTest, BuildStagesAreNamed) {
  EXPECT_EQ(why(changed("openblas", [](RecipeDraft& recipe) { rewrite(recipe, "build.sh"); }), demo_recipes(),
                {"openblas:source"}),
            (Lines{fmt::format("library/openblas in build-openblas: build.sh changed ({} → {})",
                               short_digest("make openblas"), short_digest("other")),
                   "library/openblas: rebuilt because library/openblas in build-openblas changed",
                   "toolchain/python: rebuilt because library/openblas in build-openblas changed",
                   "framework/pytorch: rebuilt because library/openblas in build-openblas changed"}));
}

TEST(ExplainTest, ComponentsThatCameAndWent) {
  auto more = changed("openblas", [](RecipeDraft& recipe) {
    recipe.get().methods[0].needs.push_back({Kind::toolchain, "gcc", VersionRange(), {}});
  });
  EXPECT_EQ(why(more), (Lines{"toolchain/gcc: new in this image",
                              "library/openblas: rebuilt because toolchain/gcc is new"}));
  EXPECT_EQ(why(demo_recipes(), more),
            (Lines{"library/openblas: rebuilt because it is now built on framework/pytorch",
                   "toolchain/gcc: no longer in the image as before"}));
}

TEST(ExplainTest, ATestOrTheEnvironmentAlone) {
  EXPECT_EQ(why(changed("openblas", [](RecipeDraft& recipe) { rewrite(recipe, "smoke.sh"); })),
            (Lines{fmt::format("test of library/openblas: smoke.sh changed ({} → {})",
                               short_digest("is it openblas"), short_digest("other"))}));
  Lines lines = why(changed(
      "pytorch", [](RecipeDraft& recipe) { recipe.get().methods[0].environment["TORCH_HOME"] = {"/tmp"}; }));
  EXPECT_EQ(lines.back(), "image: environment TORCH_HOME changed ('/var/torch' → '/tmp')");
}

TEST(ExplainTest, ABasesDigestIsNamedOldAndNew) {
  auto pinned = [](const std::string& digit, const std::string& image = "x/debian:{version}") {
    return changed("debian", [&](RecipeDraft& recipe) {
      recipe.get().methods[0] = RecipeDraft(Kind::base, "debian", {}).image(image).get().methods[0];
      if (!digit.empty())
        recipe.get().versions[0].pins["hub"].digests["amd64"] = Digest::from_hex(std::string(64, digit[0]));
    });
  };
  EXPECT_EQ(why(pinned("b"), pinned("a")).at(0), "base/debian: base digest aaaaaa… → bbbbbb…");
  EXPECT_EQ(why(pinned("b"), pinned("a")).at(1), "toolchain/python: rebuilt because base/debian changed");
  EXPECT_EQ(why(pinned("a"), pinned("")).at(0),
            "base/debian: base digest pinned to aaaaaa… (was 'x/debian:trixie')");
  EXPECT_EQ(why(pinned(""), pinned("a")).at(0),
            "base/debian: base digest aaaaaa… no longer pinned (now 'x/debian:trixie')");
  EXPECT_EQ(why(pinned("a", "y/debian:{version}"), pinned("a")).at(0),
            "base/debian: reference changed ('x/debian' → 'y/debian')");
}

TEST(ExplainTest, AVersionThatCameAlongIsNamed) {
  EXPECT_EQ(
      why(changed("python", [](RecipeDraft& recipe) { recipe.get().versions[0].version = Version("3.14"); }))
          .at(0),
      "toolchain/python: version 3.13 → 3.14");
}

TEST(ExplainTest, ALabelIsNoReason) {
  EXPECT_EQ(why(changed("pytorch", [](RecipeDraft& recipe) { recipe.get().description = "new words"; })),
            Lines{});
}

TEST(ExplainTest, ArchivesAreNamedOldAndNew) {
  auto pinned = [](const std::string& state) {
    return changed("debian", [&](RecipeDraft& recipe) {
      recipe.get().methods[0].parameters = {"KILN_ARCHIVE"};
      recipe.get().methods[0].archive = "archive.sh";
      recipe.get().files["archive.sh"] = RecipeFile{"archive.sh", Digest::of("a"), "a"};
      if (!state.empty()) recipe.get().versions[0].pins["distro"].archives["amd64"] = state;
    });
  };
  EXPECT_EQ(why(pinned("trixie 13.7 4f2c, trixie-security 13 14d7"),
                pinned("trixie 13.7 4f2c, trixie-security 13 9a8b"))
                .at(0),
            "base/debian: package archives trixie-security 13 9a8b → 13 14d7");
  EXPECT_EQ(why(pinned("trixie 13.8 aaaa, trixie-security 13 14d7"),
                pinned("trixie 13.7 4f2c, trixie-security 13 9a8b"))
                .at(0),
            "base/debian: package archives trixie 13.7 4f2c → 13.8 aaaa, trixie-security 13 9a8b → 13 14d7");
  EXPECT_EQ(why(pinned("forky 14 1"), pinned("trixie 13 1")).at(0),
            "base/debian: package archives trixie 13 1 → forky 14 1");
  EXPECT_EQ(why(pinned("a 1, b 2"), pinned("a 1")).at(0), "base/debian: package archives 'a 1' → 'a 1, b 2'");
  EXPECT_EQ(why(pinned("x"), pinned("y")).at(0), "base/debian: package archives y → x");
  EXPECT_EQ(why(pinned("a 1"), pinned("")).at(0), "base/debian: parameter KILN_ARCHIVE changed ('' → 'a 1')");
  EXPECT_EQ(why(pinned("a 2"), pinned("a 1")).at(1), "toolchain/python: rebuilt because base/debian changed");
}

TEST(ExplainTest, ACommitIsNamedOldAndNew) {
  auto at_commit = [](const std::string& checksum) {
    return changed("openblas", [&](RecipeDraft& recipe) {
      recipe.get().methods[0].parameters = {"KILN_SOURCE_CHECKSUM"};
      for (ComponentVersion& version : recipe.get().versions) version.source_checksum = checksum;
    });
  };
  EXPECT_EQ(why(at_commit("git:" + std::string(40, 'b')), at_commit("git:" + std::string(40, 'a'))).at(0),
            "library/openblas: commit aaaaaaaaaaaa… → bbbbbbbbbbbb…");
  EXPECT_EQ(why(at_commit("sha256:" + std::string(64, 'b')), at_commit("git:" + std::string(40, 'a'))).at(0),
            "library/openblas: parameter KILN_SOURCE_CHECKSUM changed ('git:" + std::string(40, 'a') +
                "' → bbbbbb…)");
}

// The same change of flags, with and without a lockfile that says where it is from.
TEST(ExplainTest, FlagsNameTheTablesThatChanged) {
  auto recipes = changed(
      "openblas", [](RecipeDraft& recipe) { recipe.get().methods[0].parameters = {"KILN_CUDA_ARCHS"}; });
  auto image = [&](const std::string& target) {
    Matrix matrix =
        testing::matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0"}),
                         axis("library", {"openblas"}), axis("base", {"debian"}), axis("target", {target})});
    return plan_matrix(std::move(matrix), Resolver(recipes).input()).image(0).spec();
  };
  const ImageSpec now = image("x86_64_v3,nvidia:sm_90");
  const ImageSpec before = image("x86_64_v3,nvidia:sm_80");
  EXPECT_EQ(explain_image(now, before).at(0),
            "library/openblas: parameter KILN_CUDA_ARCHS changed ('8.0+PTX' → '9.0+PTX')");
  EXPECT_EQ(explain_image(now, before, {{"base/x@1:hub", "digest amd64", "a", "b"}}),
            explain_image(now, before));
  EXPECT_EQ(
      explain_image(now, before, {{"archspec", "entry", "0.2.4", "0.2.5"}}).at(0),
      "library/openblas: flag table archspec 0.2.4 → 0.2.5: KILN_CUDA_ARCHS changed ('8.0+PTX' → '9.0+PTX')");
}

}  // namespace
}  // namespace kiln
