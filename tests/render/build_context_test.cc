#include <gtest/gtest.h>

#include "factory/base/error.h"
#include "factory/render/render.h"
#include "support/fake_effects.h"
#include "support/render_sample.h"

namespace kiln::testing {
namespace {

TEST(RenderContext, HoldsEveryFileThatStepsNameAndNoOther) {
  std::map<std::string, std::string> context = render_context(sample_spec(), sample_recipes());
  std::vector<std::string> names;
  for (const auto& [name, bytes] : context) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "rootfs.sh", "scripts/base-debian/rootfs.sh", "scripts/framework-pytorch/distro.sh",
                       "scripts/framework-pytorch/smoke.sh", "scripts/library-openblas/build.sh",
                       "scripts/library-openblas/patches/cc.patch", "setup.sh", "site/apt-of-base.conf",
                       "site/apt.conf", "site/environment.sh"}));
  EXPECT_EQ(context["scripts/library-openblas/patches/cc.patch"], "# openblas/patches/cc.patch\n");
  expect_golden(context["rootfs.sh"], std::string(KILN_TEST_DATA) + "/golden/rootfs.sh");
  expect_golden(context["setup.sh"], std::string(KILN_TEST_DATA) + "/golden/setup.sh");
  expect_golden(context["site/environment.sh"], std::string(KILN_TEST_DATA) + "/golden/environment.sh");
}

TEST(RenderContext, APulledBaseNeedsNoRootfsScript) {
  ImageSpec spec = sample_spec();
  for (Stage& stage : spec.stages) {
    stage.steps[0] = sample_step(StepKind::pull, "debian", "base/debian", nullptr);
    stage.steps[0].reference = "debian";
  }
  EXPECT_FALSE(render_context(spec, sample_recipes()).contains("rootfs.sh"));
}

TEST(RenderContext, NamesWhatTheRecipesDoNotHave) {
  ImageSpec spec = sample_spec();
  try {
    render_context(spec, RecipeBook());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(), "the plan names the component 'base/debian', which is not among the recipes");
  }
  spec.tests[0].files = {"gone.sh"};
  try {
    render_context(spec, sample_recipes());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.where().file, "framework/pytorch/recipe.json");
    EXPECT_EQ(error.message(), "the plan needs the file 'gone.sh', which the recipe does not have");
  }
}

// The two scripts of ours, run by the real shell on real folders.
class ContextScripts : public ::testing::Test {
 protected:
  void SetUp() override {
    files_.remove_all(folder_);
    spec_ = sample_spec();
    for (Stage& stage : spec_.stages) stage.steps[0].parameters["HOSTILE"] = kHostile;
  }
  void TearDown() override { files_.remove_all(folder_); }

  void write_context(const std::string& rootfs_script) {
    std::map<std::string, std::string> context = render_context(spec_, sample_recipes());
    context["scripts/base-debian/rootfs.sh"] = rootfs_script;
    for (const auto& [name, bytes] : context) files_.write(folder_ / name, bytes);
  }

  CommandResult run(const std::vector<std::string>& argv) {
    RealCommandRunner runner;
    Command command;
    command.argv = argv;
    command.folder = folder_;
    command.environment = environment_;
    return runner.run(command);
  }

  static constexpr const char* kHostile = "it's {{ $HOME }} `id` \\";
  RealFileSystem files_;
  fs::path folder_ = fs::path(::testing::TempDir()) / "kiln-render-context";
  ImageSpec spec_;
  std::map<std::string, std::string> environment_ = {{"PATH", "/usr/bin:/bin"}};
};

TEST_F(ContextScripts, RootfsScriptRunsTheRecipeWithItsParameters) {
  write_context("printf '%s|%s|%s' \"$HOSTILE\" \"$KILN_VERSION\" \"$PWD\" >\"$KILN_OUTPUT\"\n");
  CommandResult result = run({"/bin/sh", "rootfs.sh"});
  EXPECT_TRUE(result.ok()) << result.tail;
  EXPECT_EQ(files_.read(folder_ / "rootfs.tar"),
            std::string(kHostile) + "|trixie|" + (folder_ / "scripts/base-debian").string());
}

TEST_F(ContextScripts, RootfsScriptLeavesNothingBehindItFailed) {
  write_context("echo half >\"$KILN_OUTPUT\"; false\n");
  EXPECT_FALSE(run({"/bin/sh", "rootfs.sh"}).ok());
  EXPECT_FALSE(files_.exists(folder_ / "rootfs.tar"));
}

// How the machine reaches packages lies beside the Dockerfile, and %setup moves it to Apptainer's place.
TEST_F(ContextScripts, RootfsScriptNotesHowTheMachineReachesPackages) {
  for (Stage& stage : spec_.stages) stage.steps[0].site = "site.sh";
  write_context(": >\"$KILN_OUTPUT\"\n");
  files_.write(folder_ / "scripts/base-debian/site.sh",
               "[ \"$KILN_VERSION\" = trixie ]\n"
               "echo 'Dir::Etc::SourceList \"/run/kiln/site/base/x.sources\";' >\"$KILN_OUTPUT/apt.conf\"\n"
               "echo 'Signed-By: /run/kiln/site/base/key.gpg' >\"$KILN_OUTPUT/x.sources\"\n"
               "echo /run/kiln/site/base >\"$KILN_OUTPUT/key.gpg\"\n");
  files_.write(folder_ / "site/base/of-the-last-time", "");
  CommandResult result = run({"/bin/sh", "rootfs.sh"});
  ASSERT_TRUE(result.ok()) << result.tail;
  EXPECT_EQ(files_.list(folder_ / "site/base"),
            (std::vector<std::string>{"apt.conf", "key.gpg", "x.sources"}));
  EXPECT_TRUE(files_.exists(folder_ / "rootfs.tar"));

  ASSERT_TRUE(run({"tar", "-cf", "rootfs.tar", "site/apt.conf"}).ok());
  files_.make_directories(folder_ / "root");
  files_.write(folder_ / "gitconfig", "[http]\n");
  files_.write(folder_ / "ca.crt", "certificates\n");
  environment_["GIT_CONFIG_SYSTEM"] = (folder_ / "gitconfig").string();
  environment_["SSL_CERT_FILE"] = (folder_ / "ca.crt").string();
  result = run({"/bin/sh", "-eu", "setup.sh", (folder_ / "root").string(), "rootfs.tar"});
  ASSERT_TRUE(result.ok()) << result.tail;
  const fs::path site = folder_ / "root/.kiln/site";
  EXPECT_EQ(files_.read(site / "apt.conf"),
            "Dir::Etc::SourceList \"/.kiln/site/base/x.sources\";\n"
            "Acquire::https::CaInfo \"/.kiln/site/ca-certificates.crt\";\n");
  EXPECT_EQ(files_.read(site / "base/x.sources"), "Signed-By: /.kiln/site/base/key.gpg\n");
  EXPECT_EQ(files_.read(site / "base/key.gpg"), "/run/kiln/site/base\n") << "a key is left as it is";
  EXPECT_EQ(files_.read(site / "gitconfig"), "[http]\n");
  const std::string seen = files_.read(site / "environment.sh").value_or("");
  for (const char* line :
       {"export GIT_CONFIG_SYSTEM=/.kiln/site/gitconfig\n", "export APT_CONFIG=/.kiln/site/apt.conf\n"})
    EXPECT_NE(seen.find(line), std::string::npos) << line << seen;
}

TEST_F(ContextScripts, SetupHandsInTheMachinesConfiguration) {
  write_context("");
  files_.write(folder_ / "tree/etc/hello", "hello");
  ASSERT_TRUE(run({"tar", "-C", "tree", "-cf", "rootfs.tar", "."}).ok());
  files_.write(folder_ / "my pip.conf", "[global]\n");
  files_.write(folder_ / "ca.crt", "certificates\n");
  environment_["https_proxy"] = "http://proxy.example.org:3128/it's";
  environment_["PIP_RETRIES"] = "9";
  environment_["SECRET"] = "not handed in";
  environment_["PIP_CONFIG_FILE"] = (folder_ / "my pip.conf").string();
  environment_["SSL_CERT_FILE"] = (folder_ / "ca.crt").string();
  CommandResult result = run({"/bin/sh", "-eu", "setup.sh", (folder_ / "root").string(), "rootfs.tar"});
  EXPECT_FALSE(result.ok()) << "the root folder is made by Apptainer, not by us";

  files_.make_directories(folder_ / "root");
  result = run({"/bin/sh", "-eu", "setup.sh", (folder_ / "root").string(), "rootfs.tar"});
  ASSERT_TRUE(result.ok()) << result.tail;
  EXPECT_EQ(files_.read(folder_ / "root/etc/hello"), "hello");
  EXPECT_EQ(files_.read(folder_ / "root/.kiln/site/pip.conf"), "[global]\n");
  EXPECT_EQ(files_.read(folder_ / "root/.kiln/site/ca-certificates.crt"), "certificates\n");
  environment_ = {{"PATH", "/usr/bin:/bin"}};
  result = run({"/bin/sh", "-euc", ". ./root/.kiln/site/environment.sh; env >seen"});
  ASSERT_TRUE(result.ok()) << result.tail;
  std::string seen = files_.read(folder_ / "seen").value_or("");
  for (const char* line :
       {"https_proxy=http://proxy.example.org:3128/it's\n", "PIP_RETRIES=9\n",
        "PIP_CONFIG_FILE=/.kiln/site/pip.conf\n", "SSL_CERT_FILE=/.kiln/site/ca-certificates.crt\n",
        "APT_CONFIG=/.kiln/site/apt.conf\n"}) {
    EXPECT_NE(seen.find(line), std::string::npos) << line << seen;
  }
  EXPECT_EQ(seen.find("SECRET"), std::string::npos);
}

TEST_F(ContextScripts, SetupSaysWhatToDoWithoutTheArchive) {
  write_context("");
  CommandResult result = run({"/bin/sh", "-eu", "setup.sh", folder_.string(), "rootfs.tar"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.tail, "rootfs.tar is missing: run 'sh rootfs.sh' first\n");
}

}  // namespace
}  // namespace kiln::testing
