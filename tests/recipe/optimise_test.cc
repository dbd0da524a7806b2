// Levels, LTO and PGO: the words, each compiler's spelling, and what they do to cells.
#include "factory/recipe/optimise.h"

#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::cell;
using testing::demo_recipes;
using testing::error_of;
using testing::RecipeDraft;
using testing::Resolver;

std::string why_not(const std::string& words, const std::string& compiler, const std::string& version) {
  Optimise optimise = parse_optimise(words, {});
  optimise.profile = "/p";
  auto flags = optimise_flags(optimise, compiler, version);
  auto* reason = std::get_if<std::string>(&flags);
  return reason == nullptr ? "" : *reason;
}

OptimiseFlags flags(const std::string& words, const std::string& compiler, const std::string& version) {
  Optimise optimise = parse_optimise(words, {});
  optimise.profile = "/p";
  auto flags = optimise_flags(optimise, compiler, version);
  EXPECT_TRUE(std::holds_alternative<OptimiseFlags>(flags)) << words << " " << compiler;
  return std::get<OptimiseFlags>(std::move(flags));
}

TEST(Optimise, WordsGoBothWays) {
  EXPECT_EQ(parse_optimise("none", {}).text(), "o2");
  EXPECT_TRUE(parse_optimise("none", {}).says_nothing());
  EXPECT_EQ(parse_optimise("o3", {}).text(), "o3");
  EXPECT_EQ(parse_optimise("pgo-use+lto+os", {}).text(), "os+lto+pgo-use");
  EXPECT_EQ(parse_optimise("nolto+nopgo", {}).text(), "o2");
  EXPECT_FALSE(parse_optimise("nolto", {}).says_nothing());
}

TEST(Optimise, WrongWordsAreErrors) {
  auto error = [](const std::string& value) { return error_of([&] { parse_optimise(value, {}); }); };
  EXPECT_EQ(error("o4"), "error: 'o4' is no way to optimise; did you mean 'o0'?");
  EXPECT_EQ(error("lto+"),
            "error: '' is no way to optimise; none, or words joined by '+': o0, o1, o2, o3, os, lto, "
            "thinlto, nolto, pgo-generate, pgo-use, nopgo");
  EXPECT_EQ(error("lto+o3+thinlto"),
            "error: 'lto' and 'thinlto' contradict each other in 'lto+o3+thinlto'; one level, "
            "one sort of LTO, one of PGO");
  EXPECT_TRUE(error("none+o3").starts_with("error: 'none' is no way to optimise; none, or words joined by"));
}

TEST(Optimise, TheCellGoesBeforeTheMethodPartByPart) {
  Optimise method;
  method.level = {"3", "the method"};
  method.lto = {"thin", "the method"};
  EXPECT_EQ(method.overridden_by(parse_optimise("none", {})).text(), "o3+thinlto");
  EXPECT_EQ(method.overridden_by(parse_optimise("o2", {})).text(), "o2+thinlto");
  EXPECT_EQ(method.overridden_by(parse_optimise("nolto", {})).text(), "o3");
  EXPECT_EQ(method.overridden_by(parse_optimise("lto", {})).lto.said_by, "the cell");
}

TEST(Optimise, EachCompilersSpelling) {
  EXPECT_EQ(flags("none", "gcc", "12").level, "-O2");
  EXPECT_EQ(flags("lto", "gcc", "12.2.0").compile, "-flto=auto");
  EXPECT_EQ(flags("lto", "gcc", "9.4").compile, "-flto");
  EXPECT_EQ(flags("thinlto", "gcc", "12").compile, "-flto=auto");
  EXPECT_EQ(flags("thinlto", "gcc", "12").note,
            "gcc has no ThinLTO; its own LTO, which is parallel, is used");
  for (const char* compiler : {"clang", "apple-clang", "aocc", "arm", "oneapi", "dpcpp"})
    EXPECT_EQ(flags("thinlto", compiler, "15").link, "-flto=thin") << compiler;
  EXPECT_EQ(flags("lto", "intel", "2021.2").link, "-ipo");
  EXPECT_EQ(flags("pgo-generate", "gcc", "12").compile,
            "-fprofile-generate=/p -fprofile-update=prefer-atomic");
  EXPECT_EQ(flags("pgo-generate", "gcc", "6.3").compile, "-fprofile-generate=/p");
  EXPECT_EQ(flags("pgo-generate", "gcc", "12").link, "-fprofile-generate=/p");
  EXPECT_EQ(flags("pgo-use", "gcc", "12").compile,
            "-fprofile-use=/p -fprofile-correction -Wno-missing-profile");
  EXPECT_EQ(flags("pgo-use", "gcc", "12").link, "");
  EXPECT_EQ(flags("lto+pgo-generate", "clang", "15").link, "-flto -fprofile-generate=/p");
  EXPECT_EQ(flags("pgo-use", "intel", "2021.2").compile, "-prof-use -prof-dir=/p");
  EXPECT_EQ(why_not("os", "nvhpc", "23.9"), "nvhpc has no level 's'");
  EXPECT_EQ(why_not("lto", "nvhpc", "23.9"), "kiln knows no link-time optimisation of nvhpc");
  EXPECT_EQ(why_not("pgo-use", "nvhpc", "23.9"), "kiln knows no profile-guided optimisation of nvhpc");
  EXPECT_EQ(why_not("o3", "nvhpc", "23.9"), "");
}

// A library that is compiled by a tool that is itself built, both with the target's flags.
std::vector<RecipeDraft> compiled() {
  std::vector<RecipeDraft> recipes = demo_recipes();
  recipes.push_back(RecipeDraft(Kind::toolchain, "maker", {"1"})
                        .method("source", "", {"CFLAGS"})
                        .build("make maker", {"/opt/kiln/maker"})
                        .build_needs(Kind::toolchain, "gcc"));
  recipes.push_back(RecipeDraft(Kind::library, "kernel", {"1"})
                        .method("source", "", {"CFLAGS", "KILN_OPTIMISE", "KILN_PROFILE"})
                        .build("make kernel", {"/opt/kiln/kernel"})
                        .build_needs(Kind::toolchain, "gcc")
                        .build_needs(Kind::toolchain, "maker"));
  return recipes;
}

const Step& build_of(const ImageSpec& spec, const std::string& component) {
  for (const Stage& stage : spec.stages)
    if (stage.name != "image" && stage.steps.back().component == component) return stage.steps.back();
  throw std::runtime_error("no build of " + component);
}

TEST(OptimiseAxis, ChangesWhatIsCompiledButNotTheTools) {
  Resolver resolver(compiled());
  ImageSpec plain = resolver.spec(cell({{"library", "kernel"}}));
  ImageSpec fast = resolver.spec(cell({{"library", "kernel"}, {"optimise", "o3+lto+pgo-use"}}));
  const auto& before = build_of(plain, "library/kernel").parameters;
  const auto& now = build_of(fast, "library/kernel").parameters;
  EXPECT_EQ(before.at("CFLAGS").substr(0, 4), "-O2 ");
  EXPECT_EQ(before.at("KILN_OPTIMISE"), "o2");
  EXPECT_EQ(before.at("KILN_PROFILE"), "");
  EXPECT_EQ(now.at("CFLAGS").substr(0, 4), "-O3 ");
  EXPECT_NE(now.at("CFLAGS").find(" -flto=auto -fprofile-use=/opt/kiln/profile/kernel "), std::string::npos);
  EXPECT_EQ(now.at("KILN_OPTIMISE"), "o3+lto+pgo-use");
  EXPECT_EQ(now.at("KILN_PROFILE"), "/opt/kiln/profile/kernel");
  EXPECT_NE(plain.key, fast.key);
  EXPECT_EQ(build_of(plain, "toolchain/maker").key, build_of(fast, "toolchain/maker").key);
}

TEST(OptimiseAxis, IsInTheTagTheIdAndALabel) {
  Resolver resolver(compiled());
  ImageSpec fast = resolver.spec(cell({{"library", "kernel"}, {"optimise", "o3+lto"}}));
  EXPECT_EQ(fast.tag, "2.6.0-distro-kernel-o3-lto-x86_64_v3-trixie");
  EXPECT_EQ(fast.request.id, "pytorch-2.6.0-kernel-o3+lto-x86_64_v3-debian");
  EXPECT_EQ(fast.labels.at("io.kiln.optimise"), "o3+lto");
  ImageSpec plain = resolver.spec(cell({{"library", "kernel"}, {"optimise", "none"}}));
  EXPECT_EQ(plain.tag, "2.6.0-distro-kernel-x86_64_v3-trixie");
  EXPECT_FALSE(plain.labels.contains("io.kiln.optimise"));
  EXPECT_EQ(plain.key, resolver.spec(cell({{"library", "kernel"}})).key);
}

TEST(OptimiseAxis, ACellInWhichNothingIsCompiledIsExcluded) {
  EXPECT_EQ(Resolver(compiled()).reason(cell({{"optimise", "o3"}})),
            "no script of this image reads compiler flags: 'o3' would change nothing");
}

TEST(OptimiseAxis, WhatTheCompilerCannotIsAReasonForTheCellAndAnErrorForTheMethod) {
  std::vector<RecipeDraft> recipes = compiled();
  recipes.push_back(RecipeDraft(Kind::toolchain, "hpc", {"23.9"})
                        .method("distro", "x")
                        .fact("23.9", "compiler", "nvhpc")
                        .fact("23.9", "compiler_version", "23.9"));
  RecipeDraft solver = RecipeDraft(Kind::library, "solver", {"1"})
                           .method("source", "x", {"FFLAGS"})
                           .needs(Kind::toolchain, "hpc");
  recipes.push_back(solver);
  EXPECT_EQ(Resolver(recipes).reason(cell({{"library", "solver"}, {"optimise", "lto"}})),
            "solver: kiln knows no link-time optimisation of nvhpc");
  recipes.back().get().methods[0].optimise.lto = {"full", "the method"};
  EXPECT_EQ(
      error_of([&] {
        Resolver(recipes).run(cell({{"library", "solver"}}));
      }),
      "recipes/library/solver/recipe.json:8:3: error: kiln knows no link-time optimisation of nvhpc (at "
      "/methods/source); see \"optimise\" of this method");
}

TEST(OptimiseAxis, AMethodsOwnSettingsAreTheDefault) {
  std::vector<RecipeDraft> recipes = compiled();
  recipes.back().get().methods[0].optimise.level = {"3", "the method"};
  recipes.back().get().methods[0].optimise.profile = "/srv/profile";
  ImageSpec spec = Resolver(recipes).spec(cell({{"library", "kernel"}}));
  EXPECT_EQ(build_of(spec, "library/kernel").parameters.at("KILN_OPTIMISE"), "o3");
  EXPECT_NE(spec.flags.back().from.find("-O3 of the method"), std::string::npos) << spec.flags.back().from;
  ImageSpec cells = Resolver(recipes).spec(cell({{"library", "kernel"}, {"optimise", "o1+pgo-generate"}}));
  EXPECT_EQ(build_of(cells, "library/kernel").parameters.at("KILN_PROFILE"), "/srv/profile");
  EXPECT_EQ(build_of(cells, "library/kernel").parameters.at("KILN_OPTIMISE"), "o1+pgo-generate");
}

}  // namespace
}  // namespace kiln
