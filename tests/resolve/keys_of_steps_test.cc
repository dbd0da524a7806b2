// Keys: what moves them and what does not.
#include <functional>
#include <set>

#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::cell;
using testing::demo_recipes;
using testing::RecipeDraft;
using testing::Resolver;

// Every step's key must move with what can change the bits, and with nothing else.
class KeyTest : public ::testing::Test {
 protected:
  static std::string key(std::vector<RecipeDraft> recipes, AxisValues more = {}) {
    return Resolver(std::move(recipes)).spec(cell(std::move(more))).last_step().key;
  }
  static std::vector<RecipeDraft> changed(const std::string& name,
                                          const std::function<void(Recipe&)>& change) {
    std::vector<RecipeDraft> recipes = demo_recipes();
    for (RecipeDraft& recipe : recipes)
      if (recipe.get().name == name) change(recipe.get());
    return recipes;
  }
  static void rewrite(Recipe& recipe, const std::string& path) {
    recipe.files.at(path) = RecipeFile{path, Digest::of("other bytes"), "other bytes"};
  }
  std::string plain_ = key(demo_recipes());
};

TEST_F(KeyTest, ScriptsParametersAndParentsAreInTheKey) {
  std::set<std::string> keys = {plain_};
  keys.insert(key(changed("pytorch", [](Recipe& c) { rewrite(c, "distro.sh"); })));
  keys.insert(key(changed("debian", [](Recipe& c) { rewrite(c, "rootfs.sh"); })));
  keys.insert(
      key(changed("pytorch", [](Recipe& c) { c.methods[0].parameters.push_back("KILN_CPU_TARGET"); })));
  keys.insert(key(demo_recipes(), {{"version", "2.7.0"}}));
  EXPECT_EQ(keys.size(), 5u);
}

TEST_F(KeyTest, FurtherFilesAreInTheKey) {
  auto with_file = [](const std::string& bytes) {
    return changed("pytorch", [&](Recipe& c) {
      c.methods[0].files = {"requirements.txt"};
      c.files["requirements.txt"] = RecipeFile{"requirements.txt", Digest::of(bytes), bytes};
    });
  };
  EXPECT_NE(key(with_file("a")), key(with_file("b")));
  EXPECT_NE(key(with_file("a")), plain_);
}

TEST_F(KeyTest, AnInstallationIsTheStageWhoseFilesItSees) {
  auto built = [&](const std::vector<std::string>& mount, const std::string& script) {
    return key(changed("openblas",
                       [&](Recipe& c) {
                         Method& method = c.methods[1];
                         method.build->copy.clear();
                         method.build->mount = mount;
                         method.script = script;
                         c.files["install.sh"] = RecipeFile{"install.sh", Digest::of("install"), "install"};
                       }),
               {{"library", "openblas@0.3.29:source"}});
  };
  const std::string plain = built({"/srv/a"}, "install.sh");
  EXPECT_NE(plain, built({"/srv/b"}, "install.sh"));
  EXPECT_EQ(plain, built({"/srv/a"}, "install.sh"));
}

// What they hold never is; which ones a script is handed may decide what it does.
TEST_F(KeyTest, NamesOfSecretsAreInTheKeyOfTheirScript) {
  const Resolver resolver(changed("openblas", [](Recipe& c) {
    c.methods[0].secrets = {"licence", "token"};
    c.methods[1].build->secrets = {"token"};
  }));
  EXPECT_EQ(resolver.spec(cell()).last_step().key, plain_);
  const Step installed = resolver.spec(cell({{"library", "openblas:distro"}})).last_step();
  EXPECT_EQ(inputs_of(installed).at("secrets"), Json({"licence", "token"}));
  EXPECT_EQ(installed.secrets, (std::vector<std::string>{"licence", "token"}));
  EXPECT_NE(installed.key, key(demo_recipes(), {{"library", "openblas:distro"}}));
  const ImageSpec built = resolver.spec(cell({{"library", "openblas:source"}}));
  EXPECT_EQ(built.stages.at(0).steps.back().secrets, std::vector<std::string>{"token"});
  for (const Step& step : built.image_stage().steps)
    EXPECT_FALSE(inputs_of(step).contains("secrets")) << step.title;
  for (const Step& test : built.tests) EXPECT_TRUE(test.secrets.empty());
}

// What they hold decides no bit.
TEST_F(KeyTest, CachesAreInNoKey) {
  const auto with = changed("openblas", [](Recipe& c) {
    for (Method& method : c.methods) method.cache = {"ccache"};
  });
  const std::string source = "openblas:source";
  EXPECT_EQ(key(with, {{"library", source}}), key(demo_recipes(), {{"library", source}}));
  const Resolver resolver(with);
  const ImageSpec built = resolver.spec(cell({{"library", source}}));
  EXPECT_EQ(built.stages.at(0).steps.back().cache, std::vector<std::string>{"ccache"});
  EXPECT_TRUE(built.stages.at(0).steps.front().cache.empty());
  for (const Step& step : built.image_stage().steps)
    EXPECT_EQ(step.cache.empty(), step.kind != StepKind::run || step.component != "library/openblas")
        << step.title;
  for (const Step& test : built.tests) EXPECT_TRUE(test.cache.empty());
}

// A file for one version or target is nothing to the others.
TEST_F(KeyTest, AFileIsInTheKeyWhereItsWhenHolds) {
  auto with_files = [](const std::string& bytes) {
    return changed("pytorch", [&](Recipe& c) {
      c.methods[0].files = {"all.txt", "new.txt", "gpu.txt"};
      c.methods[0].file_when = {
          {}, {VersionRange::parse(">=2.7"), ""}, {VersionRange::parse("2.6"), "*nvidia*"}};
      for (const char* name : {"all.txt", "new.txt", "gpu.txt"})
        c.files[name] = RecipeFile{name, Digest::of(name + bytes), name + bytes};
      c.files["all.txt"] = RecipeFile{"all.txt", Digest::of("all"), "all"};
    });
  };
  const AxisValues gpu = {{"target", "x86_64_v3,nvidia:sm_80"}};
  EXPECT_EQ(key(with_files("1")), key(with_files("2")));
  EXPECT_NE(key(with_files("1"), {{"version", "2.7.0"}}), key(with_files("2"), {{"version", "2.7.0"}}));
  EXPECT_NE(key(with_files("1"), gpu), key(with_files("2"), gpu));
  EXPECT_NE(key(with_files("1"), gpu), key(with_files("1"))) << "in one resolution, too";
  auto files = [&](const AxisValues& more) {
    return Resolver(with_files("1")).spec(cell(more)).last_step().files;
  };
  using Paths = std::vector<std::string>;
  EXPECT_EQ(files({}), (Paths{"distro.sh", "all.txt"}));
  EXPECT_EQ(files({{"version", "2.7.0"}}), (Paths{"distro.sh", "all.txt", "new.txt"}));
  EXPECT_EQ(files(gpu), (Paths{"distro.sh", "all.txt", "gpu.txt"}));
}

TEST_F(KeyTest, AnEngineOfOtherBitsHasNoStepOfTheOthers) {
  const Resolver resolver;
  auto spec_for = [&](const std::string& family) {
    ResolveInput input = resolver.input();
    input.engine_family = family;
    return std::get<ImageSpec>(resolve(testing::request(cell({{"library", "openblas"}})), input));
  };
  const ImageSpec others = spec_for("");
  const ImageSpec own = spec_for("apptainer");
  std::set<std::string> keys;
  for (const ImageSpec* spec : {&others, &own}) {
    for (const Step* step : spec->steps()) keys.insert(step->key);
    for (const Step& test : spec->tests) keys.insert(test.key);
  }
  EXPECT_EQ(keys.size(), 2 * (others.steps().size() + others.tests.size()));
  EXPECT_NE(others.key, own.key);
  EXPECT_EQ(others.tag, own.tag);
  EXPECT_FALSE(inputs_of(*others.steps().front()).contains("engine")) << "keys of before hold";
}

TEST_F(KeyTest, OneResolutionHasAStepForEachSetOfFiles) {
  Resolver resolver(changed("pytorch", [](Recipe& c) {
    c.methods[0].files = {"gpu.txt"};
    c.methods[0].file_when = {{VersionRange(), "*nvidia*"}};
    c.files["gpu.txt"] = RecipeFile{"gpu.txt", Digest::of("gpu"), "gpu"};
  }));
  const BuildPlan plan = plan_matrix(
      testing::matrix({testing::axis("framework", {"pytorch"}), testing::axis("version", {"2.6.0"}),
                       testing::axis("base", {"debian"}),
                       testing::axis("target", {"x86_64_v3", "x86_64_v3,nvidia:sm_80", "x86_64_v4"})}),
      resolver.input());
  auto last = [&](std::size_t image) { return plan.image(image).spec().last_step().key; };
  EXPECT_NE(last(0), last(1));
  EXPECT_EQ(last(0), last(2));
}

When beside(Kind kind, const std::string& name, const std::string& range = "") {
  return {{}, "", Companion{{kind, name}, VersionRange::parse(range)}};
}

void set_files(Recipe& recipe, Method& method, std::map<std::string, When> files) {
  for (auto& [name, when] : files) {
    recipe.files[name] = RecipeFile{name, Digest::of(name), name};
    method.files.push_back(name);
    method.file_when.push_back(when);
  }
}

// One version, method and target, with other components around it.
TEST_F(KeyTest, AFileIsThereBesideWhatItAsksFor) {
  const Resolver resolver(changed("pytorch", [&](Recipe& c) {
    set_files(c, c.methods[0],
              {{"blas.txt", beside(Kind::library, "openblas")},
               {"new.txt", beside(Kind::toolchain, "python", ">=3.13")},
               {"old.txt", beside(Kind::toolchain, "python", "3.11")}});
  }));
  const BuildPlan plan = plan_matrix(
      testing::matrix({testing::axis("framework", {"pytorch"}), testing::axis("version", {"2.6.0"}),
                       testing::axis("library", {"none", "openblas:distro"}),
                       testing::axis("toolchain", {"none", "python@3.11"}), testing::axis("base", {"debian"}),
                       testing::axis("target", {"x86_64_v3"})}),
      resolver.input());
  using Paths = std::vector<std::string>;
  std::set<Paths> files;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const ImageSpec spec = plan.image(i).spec();
    for (const Step& step : spec.image_stage().steps)
      if (step.component == "framework/pytorch") files.insert(step.files);
  }
  EXPECT_EQ(files, (std::set<Paths>{{"distro.sh", "new.txt"},
                                    {"distro.sh", "old.txt"},
                                    {"distro.sh", "blas.txt", "new.txt"},
                                    {"distro.sh", "blas.txt", "old.txt"}}));
}

// A build's script is told of the finished image, and has its own stage around it.
TEST_F(KeyTest, AFileOfABuildStageIsThereBesideWhatEitherHas) {
  const Resolver resolver(changed("openblas", [&](Recipe& c) {
    c.methods[1].script = "install.sh";
    c.files["install.sh"] = RecipeFile{"install.sh", Digest::of("install"), "install"};
    set_files(c, c.methods[1],
              {{"gcc.txt", beside(Kind::toolchain, "gcc", "14")},
               {"jax.txt", beside(Kind::framework, "jax")},
               {"torch.txt", beside(Kind::framework, "pytorch")}});
    set_files(c, c.methods[1], {{"torch.txt", beside(Kind::toolchain, "gcc")}});  // in either case, once
  }));
  const ImageSpec spec = resolver.spec(cell({{"library", "openblas:source"}}));
  using Paths = std::vector<std::string>;
  EXPECT_EQ(spec.stages.at(0).steps.back().files, (Paths{"build.sh", "gcc.txt", "torch.txt"}));
  std::set<Paths> installed;
  for (const Step& step : spec.image_stage().steps)
    if (step.script == "install.sh") installed.insert(step.files);
  EXPECT_EQ(installed, (std::set<Paths>{{"install.sh", "torch.txt"}}));
}

TEST_F(KeyTest, WordsPlacesAndUnreadTargetsAreNotInTheKey) {
  EXPECT_EQ(plain_, key(changed("pytorch", [](Recipe& c) {
              c.description = "better words";
              c.licenses = "BSD-3-Clause";
              c.homepage = "https://example.org";
              c.folder = "/elsewhere";
              c.file = "elsewhere.json";
              c.methods[0].optimised = true;
              c.methods[0].where = {};
            })));
  EXPECT_EQ(plain_, key(demo_recipes(), {{"target", "zen3"}}));
  EXPECT_EQ(plain_,
            key(changed("pytorch", [](Recipe& c) { c.methods[0].parameters.push_back("KILN_JOBS"); })));
}

TEST_F(KeyTest, LimitsAreWithTheStepsOfTheirMethodAndInNoKey) {
  const OwnLimits limits{std::chrono::hours(12), {}, {}, std::uint64_t{64} << 30};
  const Resolver resolver(changed("openblas", [&](Recipe& c) { c.methods[1].limits = limits; }));
  const ImageSpec image = resolver.spec(cell({{"library", "openblas:source"}}));
  EXPECT_EQ(image.last_step().key, key(demo_recipes(), {{"library", "openblas:source"}}));
  std::size_t limited = 0;
  for (const Stage& stage : image.stages)
    for (const Step& step : stage.steps) {
      EXPECT_EQ(step.limits == limits, step.component == "library/openblas") << step.title;
      if (step.limits == limits) ++limited;
    }
  EXPECT_GE(limited, 2u) << "what builds and what copies";
}

TEST_F(KeyTest, ArchitectureIsInTheBasesKey) {
  EXPECT_NE(plain_, key(demo_recipes(), {{"target", "neoverse_v1"}}));
}

TEST_F(KeyTest, AKeyIsTheHashOfTheInputs) {
  ImageSpec spec = Resolver().spec(cell({{"library", "openblas:source"}}));
  for (const Stage& stage : spec.stages)
    for (const Step& step : stage.steps) EXPECT_EQ(Digest::of(step.inputs).hex(), step.key);
  const Step& step = spec.stages[1].steps[2];
  EXPECT_EQ(inputs_of(step),
            (Json{{"schema", 1},
                  {"kind", "run"},
                  {"component", "toolchain/python"},
                  {"parent", spec.stages[1].steps[1].key},
                  {"script", {{"name", "distro.sh"}, {"digest", Digest::of("install python").text()}}},
                  {"files", Json::object()},
                  {"parameters", {{"KILN_VERSION", "3.13"}}}}));
  const Step& copy = spec.stages[1].steps[1];
  EXPECT_EQ(inputs_of(copy), (Json{{"schema", 1},
                                   {"kind", "copy"},
                                   {"component", "library/openblas"},
                                   {"parent", spec.stages[1].steps[0].key},
                                   {"from", spec.stages[0].steps.back().key},
                                   {"copy", {"/opt/kiln/openblas"}}}));
}

TEST_F(KeyTest, AScriptThatIsListedAmongItsFilesIsOneFile) {
  auto listed = [](std::vector<std::string> files) {
    return Resolver(changed("pytorch",
                            [&](Recipe& c) {
                              c.files["more"] = RecipeFile{"more", Digest::of("more"), "more"};
                              c.methods[0].files = files;
                            }))
        .spec(cell())
        .last_step();
  };
  EXPECT_EQ(listed({"distro.sh", "more"}).files, (std::vector<std::string>{"distro.sh", "more"}));
  EXPECT_EQ(listed({"distro.sh", "more"}).key, listed({"more"}).key);
}

TEST_F(KeyTest, OfSeveralTestsEachIsNamedAfterItsScript) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  EXPECT_EQ(Resolver(recipes).spec(cell()).tests.at(0).title, "test pytorch 2.6.0 (distro)");
  for (RecipeDraft& recipe : recipes)
    if (recipe.get().name == "pytorch") recipe.test_when("another", "");
  const ImageSpec spec = Resolver(recipes).spec(cell());
  ASSERT_EQ(spec.tests.size(), 2u);
  EXPECT_EQ(spec.tests[0].title, "test pytorch 2.6.0 (distro): smoke.sh");
  EXPECT_EQ(spec.tests[1].title, "test pytorch 2.6.0 (distro): smoke1.sh");
}

TEST_F(KeyTest, TheImagesKeyCoversItsEnvironment) {
  auto of = [](std::vector<RecipeDraft> recipes) { return Resolver(std::move(recipes)).spec(cell()); };
  ImageSpec plain = of(demo_recipes());
  ImageSpec other =
      of(changed("pytorch", [](Recipe& c) { c.methods[0].environment["TORCH_HOME"] = {"/tmp"}; }));
  ImageSpec renamed = of(changed("pytorch", [](Recipe& c) { c.description = "new words"; }));
  EXPECT_EQ(plain.last_step().key, other.last_step().key);
  EXPECT_NE(plain.key, other.key);
  EXPECT_NE(plain.tests[0].key, other.tests[0].key);
  EXPECT_EQ(plain.key, renamed.key);
  EXPECT_NE(plain.labels, renamed.labels);
}

// What a recipe accepts changes what is said of an image, and no bit of it.
TEST_F(KeyTest, AnAcceptedFileIsInALabelAndInNoKey) {
  const ImageSpec plain = Resolver(demo_recipes()).spec(cell());
  const ImageSpec accepting =
      Resolver(changed("pytorch", [](Recipe& c) {
        c.accept = {{{"*/libtorch.so", "asks"}, "", {}, {}}, {{"*/libother.so", "asks"}, "source", {}, {}}};
      })).spec(cell());
  EXPECT_EQ(accepting.key, plain.key);
  EXPECT_EQ(accepting.last_step().key, plain.last_step().key);
  EXPECT_EQ(accepting.tests[0].key, plain.tests[0].key);
  EXPECT_NE(record_name(accepting), record_name(plain)) << "it is packaged again";
  EXPECT_EQ(accepting.labels.at("io.kiln.accept"),
            R"([{"by":"framework/pytorch","file":"*/libtorch.so","reason":"asks"}])");
  EXPECT_FALSE(plain.labels.contains("io.kiln.accept"));
}

}  // namespace
}  // namespace kiln
