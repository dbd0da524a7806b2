#include "factory/resolve/resolve.h"

#include <algorithm>

#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::cell;
using testing::demo_recipes;
using testing::demo_recipes_with;
using testing::error_of;
using testing::RecipeDraft;
using testing::Resolver;
using testing::titles;

using Words = std::vector<std::string>;

const ComponentUse& use_of(const ImageSpec& spec, const std::string& name) {
  for (const ComponentUse& use : spec.components)
    if (use.name == name) return use;
  throw std::runtime_error("no component " + name);
}

std::string archspec_flags(const std::string& target, const std::string& gcc) {
  return testing::archspec().flags(target, "gcc", gcc).flags;
}

TEST(ResolveTest, NeedsAreAddedInTheirNewestVersion) {
  ImageSpec spec = Resolver().spec(cell());
  EXPECT_EQ(titles(spec.image_stage()),
            (Words{"rootfs base/debian", "run toolchain/python", "run framework/pytorch"}));
  EXPECT_EQ(use_of(spec, "python").version.text(), "3.13");
  EXPECT_TRUE(use_of(spec, "python").automatic);
  EXPECT_FALSE(use_of(spec, "pytorch").automatic);
  EXPECT_EQ(spec.repository, "pytorch");
  EXPECT_EQ(spec.tag, "2.6.0-distro-x86_64_v3-trixie");
  EXPECT_EQ(spec.immutable_tag, spec.tag + "-" + spec.key.substr(0, 12));
  EXPECT_EQ(spec.environment, (std::map<std::string, std::string>{{"TORCH_HOME", "/var/torch"}}));
  EXPECT_EQ(spec.command, (Words{"/bin/sh"}));
  EXPECT_FALSE(spec.optimised);
}

TEST(ResolveTest, ImagesWithAndWithoutALaterComponentShareTheirBeginning) {
  Resolver resolver;
  ImageSpec plain = resolver.spec(cell());
  ImageSpec blas = resolver.spec(cell({{"library", "openblas"}}));
  ImageSpec both = resolver.spec(cell({{"library", "openblas"}, {"compiler", "inductor"}}));
  ASSERT_EQ(plain.image_stage().steps.size(), 3u);
  for (std::size_t index = 0; index < 3; ++index) {
    EXPECT_EQ(plain.image_stage().steps[index].key, blas.image_stage().steps[index].key);
    EXPECT_EQ(plain.image_stage().steps[index].key, both.image_stage().steps[index].key);
  }
  EXPECT_EQ(blas.last_step().key,
            both.image_stage().steps[3].key);  // gcc, which inductor needs, comes after it
  EXPECT_EQ(titles(both.image_stage()).back(), "run toolchain/gcc");
  EXPECT_EQ(both.components.back().name, "inductor");
  EXPECT_TRUE(blas.optimised);
}

TEST(ResolveTest, UnmetNeedsExcludeTheCellWithThePlainReason) {
  Resolver resolver;
  EXPECT_EQ(resolver.reason(
                {{"framework", "jax"}, {"compiler", "inductor"}, {"base", "debian"}, {"target", "zen3"}}),
            "inductor needs framework pytorch >=2.0; the cell has jax 0.10.2");
  EXPECT_EQ(resolver.reason(cell({{"version", "1.13.1"}, {"compiler", "inductor"}})),
            "inductor needs framework pytorch >=2.0; the cell has pytorch 1.13.1");
  EXPECT_EQ(resolver.reason({{"compiler", "inductor"}, {"base", "debian"}, {"target", "zen3"}}),
            "inductor needs framework pytorch >=2.0; the cell has none");
  EXPECT_EQ(resolver.reason(
                {{"version", "2.6.0"}, {"library", "openblas"}, {"base", "debian"}, {"target", "zen3"}}),
            "version 2.6.0 without a framework");
}

TEST(ResolveTest, TheFrameworkMustOfferTheCellsMethodOthersTakeTheirOwn) {
  Resolver resolver(demo_recipes_with(
      RecipeDraft(Kind::library, "old", {"2.0", "1.0"}).method("pip", "x").for_versions("<2")));
  EXPECT_EQ(
      resolver.reason({{"framework", "jax"}, {"method", "distro"}, {"base", "debian"}, {"target", "zen3"}}),
      "jax 0.10.2 has no method distro; it has pip");
  ImageSpec spec = resolver.spec(cell({{"method", "pip"}, {"library", "openblas"}}));
  EXPECT_EQ(use_of(spec, "pytorch").method, "pip");
  EXPECT_EQ(use_of(spec, "openblas").method, "distro");
  EXPECT_EQ(resolver.reason(cell({{"library", "old"}})), "old 2.0 has no method at all; it has none");
  EXPECT_EQ(resolver.reason(cell({{"library", "old@2.0:pip"}})), "old 2.0 has no method pip; it has none");
  EXPECT_EQ(use_of(resolver.spec(cell({{"library", "old@1.0"}})), "old").method, "pip");
}

TEST(ResolveTest, UnknownNamesAreErrorsAtTheCell) {
  Resolver resolver;
  auto message = [&](AxisValues axes) { return error_of([&] { resolver.run(std::move(axes)); }); };
  EXPECT_EQ(message(cell({{"library", "openbals"}})),
            "matrix/demo.json:5:3: error: no recipe for library 'openbals' (at /axes/framework); did you "
            "mean 'openblas'?");
  EXPECT_EQ(message(cell({{"version", "2.6.1"}})),
            "matrix/demo.json:5:3: error: framework/pytorch has no version '2.6.1' (at /axes/framework); did "
            "you mean "
            "'2.6.0'?");
  EXPECT_EQ(message(cell({{"library", "openblas:rpm"}})),
            "matrix/demo.json:5:3: error: library/openblas has no method 'rpm' (at /axes/framework); the "
            "recipe has distro, "
            "source");
  EXPECT_EQ(message(cell({{"framework", "pytorch@2.7.0"}})),
            "matrix/demo.json:5:3: error: 'pytorch@2.7.0' and the version 2.6.0 contradict each other (at "
            "/axes/framework); name "
            "the version once");
  EXPECT_EQ(message(cell({{"library", "openblas@"}})),
            "matrix/demo.json:5:3: error: no version after '@' in 'openblas@' (at /axes/framework)");
  EXPECT_TRUE(message({{"framework", "jax"}, {"base", "debian"}})
                  .starts_with("matrix/demo.json:5:3: error: the cell 'jax-debian' has no target"));
  EXPECT_TRUE(message({{"framework", "jax"}, {"target", "zen3"}})
                  .starts_with("matrix/demo.json:5:3: error: the cell 'jax-zen3' has no base"));
  std::string target = message(cell({{"target", "zen33"}}));
  EXPECT_TRUE(target.starts_with("matrix/demo.json:5:3: error: ")) << target;
  EXPECT_NE(target.find("zen33"), std::string::npos) << target;
}

TEST(ResolveTest, AnAddedComponentFitsEveryOneWhoNeedsIt) {
  RecipeDraft picky(Kind::workload, "picky", {"1"});
  picky.method("distro", "x").needs(Kind::toolchain, "python", "<3.12");
  Resolver resolver(demo_recipes_with(picky));
  EXPECT_EQ(use_of(resolver.spec(cell({{"workload", "picky"}})), "python").version.text(), "3.11");
  RecipeDraft impossible(Kind::workload, "impossible", {"1"});
  impossible.method("distro", "x")
      .needs(Kind::toolchain, "python", "<3.12")
      .needs(Kind::toolchain, "python", ">=3.12");
  EXPECT_EQ(Resolver(demo_recipes_with(impossible)).reason(cell({{"workload", "impossible"}})),
            "no version of toolchain/python fits: pytorch needs >=3.11, impossible needs <3.12, impossible "
            "needs >=3.12");
}

TEST(ResolveTest, ANeedThatNoRecipeMeetsIsAnErrorThere) {
  RecipeDraft absent(Kind::workload, "w", {"1"});
  absent.method("distro", "x").needs(Kind::library, "openbls");
  EXPECT_EQ(error_of([&] {
              Resolver(demo_recipes_with(absent)).run(cell({{"workload", "w"}}));
            }),
            "recipes/workload/w/recipe.json:11:3: error: no recipe for library 'openbls' (at "
            "/methods/x/needs/0); did you mean "
            "'openblas'?");
  RecipeDraft newer(Kind::workload, "w", {"1"});
  newer.method("distro", "x").needs(Kind::library, "openblas", ">=1");
  EXPECT_EQ(error_of([&] {
              Resolver(demo_recipes_with(newer)).run(cell({{"workload", "w"}}));
            }),
            "recipes/workload/w/recipe.json:11:3: error: w needs library/openblas >=1, and no version of its "
            "recipe is that (at "
            "/methods/x/needs/0)");
}

TEST(ResolveTest, AWishGivesWayToANeed) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  for (RecipeDraft& recipe : recipes)
    if (recipe.get().name == "pytorch") recipe.needs(Kind::library, "openblas");  // of method pip
  ImageSpec spec = Resolver(recipes).spec(cell({{"method", "pip"}}));
  EXPECT_EQ(titles(spec.image_stage()),
            (Words{"rootfs base/debian", "run library/openblas", "run framework/pytorch"}));
}

TEST(ResolveTest, WishesInACircleAreAnError) {
  std::vector<RecipeDraft> recipes =
      demo_recipes_with(RecipeDraft(Kind::library, "a", {"1"}).method("distro", "x").after("b"));
  recipes.push_back(RecipeDraft(Kind::library, "b", {"1"}).method("distro", "x").after("a"));
  EXPECT_EQ(error_of([&] {
              Resolver(recipes).run(cell({{"library", "a+b"}}));
            }),
            "recipes/library/a/recipe.json:8:3: error: components are layered on each other in a circle: "
            "library/a → library/b "
            "→ library/a (at /methods/distro); take one out of 'needs' or 'after'");
}

TEST(ResolveTest, WhatLeadsIntoACircleIsNoPartOfIt) {
  std::vector<RecipeDraft> recipes =
      demo_recipes_with(RecipeDraft(Kind::library, "a", {"1"}).method("distro", "x").after("b"));
  recipes.push_back(RecipeDraft(Kind::library, "b", {"1"}).method("distro", "x").after("c"));
  recipes.push_back(RecipeDraft(Kind::library, "c", {"1"}).method("distro", "x").after("b"));
  EXPECT_NE(error_of([&] {
              Resolver(recipes).run(cell({{"library", "a+b+c"}}));
            }).find("in a circle: library/b → library/c → library/b (at "),
            std::string::npos);
}

TEST(ResolveTest, FlagsAreArchspecsForTheCompilerOfTheStage) {
  ImageSpec spec = Resolver().spec(cell({{"library", "openblas:source"}}));
  const Step& build = spec.stages[0].steps.back();
  EXPECT_EQ(build.parameters,
            (std::map<std::string, std::string>{{"CFLAGS", "-O2 " + archspec_flags("x86_64_v3", "14.2")},
                                                {"KILN_VERSION", "0.3.29"}}));
  ASSERT_EQ(spec.flags.size(), 1u);
  EXPECT_EQ(spec.flags[0].variable, "CFLAGS");
  EXPECT_EQ(spec.flags[0].compiler, "gcc 14.2");
  EXPECT_EQ(spec.flags[0].target, "x86_64_v3");
  EXPECT_EQ(spec.labels.at("io.kiln.flags"), "CFLAGS=" + spec.flags[0].value);
}

TEST(ResolveTest, AllFlagVariablesHaveTheirForm) {
  RecipeDraft kernel(Kind::library, "kernel", {"1"});
  kernel.method("source", "make", {"KILN_CPU_FLAGS", "CXXFLAGS", "FFLAGS", "KILN_BAZEL_COPTS"})
      .needs(Kind::toolchain, "gcc");
  auto parameters = Resolver(demo_recipes_with(kernel))
                        .spec(cell({{"library", "kernel"}, {"target", "zen3"}}))
                        .image_stage();
  std::string flags = archspec_flags("zen3", "14.2");
  std::string copts = "--copt=" + flags;
  for (auto blank = copts.find(' '); blank != std::string::npos; blank = copts.find(' ', blank + 8))
    copts.replace(blank, 1, " --copt=");
  auto step = std::find_if(parameters.steps.begin(), parameters.steps.end(),
                           [](const Step& one) { return one.component == "library/kernel"; });
  ASSERT_NE(step, parameters.steps.end());
  EXPECT_EQ(step->parameters, (std::map<std::string, std::string>{{"KILN_CPU_FLAGS", flags},
                                                                  {"CXXFLAGS", "-O2 " + flags},
                                                                  {"FFLAGS", "-O2 " + flags},
                                                                  {"KILN_BAZEL_COPTS", copts}}));
}

TEST(ResolveTest, FlagsWithoutACompilerAreAnErrorAtTheMethod) {
  RecipeDraft kernel(Kind::library, "kernel", {"1"});
  kernel.method("source", "make", {"CFLAGS"});
  EXPECT_EQ(
      error_of([&] {
        Resolver(demo_recipes_with(kernel)).run(cell({{"library", "kernel"}}));
      }),
      "recipes/library/kernel/recipe.json:8:3: error: library/kernel (method source) reads CFLAGS, but no "
      "compiler is in "
      "the stage where its script runs (at /methods/source); add a toolchain with the facts 'compiler' and "
      "'compiler_version' to its needs, such as gcc");
  std::vector<RecipeDraft> recipes =
      demo_recipes_with(RecipeDraft(Kind::toolchain, "tcc", {"1"}).method("distro", "x"));
  recipes.back().fact("1", "compiler", "tcc").fact("1", "compiler_version", "1");
  recipes.push_back(kernel.needs(Kind::toolchain, "tcc"));
  EXPECT_EQ(error_of([&] {
              Resolver(recipes).run(cell({{"library", "kernel"}}));
            }),
            "recipes/toolchain/tcc/recipe.json:4:3: error: archspec knows no compiler 'tcc 1' for x86_64_v3 "
            "(at /versions/1); the "
            "fact 'compiler' is archspec's name, such as gcc or clang");
}

TEST(ResolveTest, OnlyDeclaredParametersAreSetAndMissingValuesAreEmpty) {
  RecipeDraft reader(Kind::workload, "reader", {"1.2"});
  reader.method(
      "distro", "x",
      {"KILN_NAME", "KILN_METHOD", "KILN_PREFIX", "KILN_FACT_COLOUR", "KILN_FACT_SHAPE", "KILN_SOURCE_URL",
       "KILN_SOURCE_CHECKSUM", "KILN_FRAMEWORK_NAME", "KILN_FRAMEWORK_VERSION", "KILN_COMPILER_NAME",
       "KILN_CPU_TARGET", "KILN_CPU_FAMILY", "KILN_GPU_TARGETS", "KILN_CUDA_ARCHS"});
  reader.fact("1.2", "colour", "red");
  reader.get().versions[0].source_url = "https://example.org/x.tar";
  reader.get().versions[0].source_checksum = "sha256:00";
  Resolver resolver(demo_recipes_with(reader));
  std::map<std::string, std::string> expected = {{"KILN_NAME", "reader"},
                                                 {"KILN_METHOD", "distro"},
                                                 {"KILN_PREFIX", "/opt/kiln/reader"},
                                                 {"KILN_FACT_COLOUR", "red"},
                                                 {"KILN_FACT_SHAPE", ""},
                                                 {"KILN_SOURCE_URL", "https://example.org/x.tar"},
                                                 {"KILN_SOURCE_CHECKSUM", "sha256:00"},
                                                 {"KILN_FRAMEWORK_NAME", "pytorch"},
                                                 {"KILN_FRAMEWORK_VERSION", "2.6.0"},
                                                 {"KILN_COMPILER_NAME", ""},
                                                 {"KILN_CPU_TARGET", "x86_64_v3"},
                                                 {"KILN_CPU_FAMILY", "x86_64"},
                                                 {"KILN_GPU_TARGETS", ""},
                                                 {"KILN_CUDA_ARCHS", ""}};
  EXPECT_EQ(resolver.spec(cell({{"workload", "reader"}})).last_step().parameters, expected);
  expected["KILN_GPU_TARGETS"] = "sm_90 sm_80";
  expected["KILN_CUDA_ARCHS"] = "8.0;9.0+PTX";
  ImageSpec gpu =
      resolver.spec(cell({{"workload", "reader"}, {"target", "x86_64_v3,nvidia:sm_90,nvidia:sm_80"}}));
  EXPECT_EQ(gpu.last_step().parameters, expected);
  EXPECT_EQ(gpu.labels.at("io.kiln.gpu.targets"), "sm_90 sm_80");
}

TEST(ResolveTest, AnUnknownParameterIsAnErrorAtTheMethod) {
  RecipeDraft reader(Kind::workload, "reader", {"1.2"});
  reader.method("distro", "x", {"KILN_VERSOIN"});
  EXPECT_EQ(error_of([&] {
              Resolver(demo_recipes_with(reader)).run(cell({{"workload", "reader"}}));
            }),
            "recipes/workload/reader/recipe.json:8:3: error: unknown parameter 'KILN_VERSOIN' (at "
            "/methods/distro); did you mean "
            "'KILN_VERSION'?");
}

TEST(ResolveTest, PulledBasesNameTheirVersionAndRunTheirScript) {
  std::vector<RecipeDraft> recipes = demo_recipes_with(
      RecipeDraft(Kind::base, "ubuntu", {"24.04"}).image("docker.io/library/ubuntu:{version}"));
  ImageSpec spec = Resolver(recipes).spec(cell({{"base", "ubuntu@24.04"}}));
  const Step& pull = spec.image_stage().steps[0];
  EXPECT_EQ(pull.kind, StepKind::pull);
  EXPECT_EQ(pull.reference, "docker.io/library/ubuntu:24.04");
  EXPECT_EQ(inputs_of(pull).at("reference"), pull.reference);
  EXPECT_EQ(inputs_of(pull).at("architecture"), "amd64");
  EXPECT_TRUE(spec.tag.ends_with("-ubuntu24.04"));
}

TEST(ResolveTest, EveryComponentWithATestIsTestedOnTheLastStep) {
  ImageSpec spec = Resolver().spec(cell({{"library", "openblas"}, {"compiler", "inductor"}}));
  ASSERT_EQ(spec.tests.size(), 3u);
  EXPECT_EQ(spec.tests[0].component, "framework/pytorch");
  EXPECT_EQ(spec.tests[1].component, "library/openblas");
  EXPECT_EQ(spec.tests[2].component, "compiler/inductor");
  for (const Step& test : spec.tests) {
    EXPECT_EQ(test.kind, StepKind::test);
    EXPECT_EQ(test.parent, spec.last_step().key);
    EXPECT_EQ(test.files, (Words{"smoke.sh"}));
  }
  EXPECT_EQ(spec.tests[1].parameters, (std::map<std::string, std::string>{{"KILN_NAME", "openblas"},
                                                                          {"KILN_CPU_FAMILY", "x86_64"},
                                                                          {"KILN_CPU_TARGET", "x86_64_v3"},
                                                                          {"KILN_GPU_TARGETS", ""},
                                                                          {"KILN_VERSION", "0.3.29"},
                                                                          {"KILN_METHOD", "distro"},
                                                                          {"TORCH_HOME", "/var/torch"}}));
}

TEST(ResolveTest, LabelsSayWhatIsInTheImage) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  for (RecipeDraft& recipe : recipes) {
    if (recipe.get().name != "pytorch") continue;
    recipe.get().description = "PyTorch";
    recipe.get().homepage = "https://example.org/pytorch";
    recipe.get().licenses = "BSD-3-Clause OR MIT";
  }
  ImageSpec spec = Resolver(recipes).spec(cell({{"library", "openblas"}}));
  std::map<std::string, std::string> expected = {
      {"io.kiln.cell", "pytorch-2.6.0-openblas-x86_64_v3-debian"},
      {"io.kiln.components",
       "base/debian@trixie:distro toolchain/python@3.13:distro framework/pytorch@2.6.0:distro "
       "library/openblas@0.3.29:distro"},
      {"io.kiln.cpu.target", "x86_64_v3"},
      {"io.kiln.facts.python", "3.13"},
      {"io.kiln.framework", "pytorch"},
      {"io.kiln.framework.version", "2.6.0"},
      {"io.kiln.key", spec.key},
      {"io.kiln.libraries", "openblas@0.3.29"},
      {"io.kiln.method", "distro"},
      {"io.kiln.claims_gain", "true"},
      {"org.opencontainers.image.description", "PyTorch"},
      {"org.opencontainers.image.licenses", "MIT AND (BSD-3-Clause OR MIT)"},
      {"org.opencontainers.image.title", "pytorch 2.6.0 (distro) with openblas"},
      {"org.opencontainers.image.url", "https://example.org/pytorch"},
      {"org.opencontainers.image.version", "2.6.0"}};
  EXPECT_EQ(spec.labels, expected);
}

TEST(StepKindTest, NamesGoBothWays) {
  for (StepKind kind : {StepKind::rootfs, StepKind::pull, StepKind::run, StepKind::copy, StepKind::test})
    EXPECT_EQ(step_kind_from(name_of(kind)), kind);
  EXPECT_EQ(error_of([] { step_kind_from("cpy"); }),
            "error: unknown kind of step 'cpy'; did you mean 'copy'?");
}

}  // namespace
}  // namespace kiln
