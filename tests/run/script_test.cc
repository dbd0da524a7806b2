// What a script may take of its machine.
#include "factory/run/script.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(CompilersOfStep, TheProcessorsAreDividedAmongTheStepsThatRun) {
  EXPECT_EQ(compilers_of_step(1, 64, 512 * kGiB, 0), 64);
  EXPECT_EQ(compilers_of_step(4, 64, 512 * kGiB, 0), 16);
  EXPECT_EQ(compilers_of_step(8, 4, 512 * kGiB, 0), 1) << "never none";
}

TEST(CompilersOfStep, EachHasTwoGiBOfWhatItMayUse) {
  EXPECT_EQ(compilers_of_step(1, 64, 16 * kGiB, 0), 8);
  EXPECT_EQ(compilers_of_step(2, 64, 16 * kGiB, 0), 4);
  EXPECT_EQ(compilers_of_step(1, 64, 512 * kGiB, 6 * kGiB), 3) << "its own limit";
}

// A base whose recipe has a script that prints `answer`.
class ArchiveState : public ::testing::Test {
 protected:
  ArchiveState() {
    site.ca_certificates = "";
    site.pip_configuration = folder.write("pip.conf", "");
    folder.write("recipe/rootfs.sh", "rootfs");
    folder.write("recipe/archive.sh", "archive");
    base.kind = StepKind::rootfs;
    base.component = "base/debian";
    base.script = "rootfs.sh";
    base.files = {"archive.sh"};
    base.parameters = {{"KILN_FACT_SUITE", "trixie"}, {"KILN_ARCHIVE", "of an earlier build"}};
    base.inputs = Json{{"files", {{"archive.sh", Digest::of("archive").text()}}}}.dump();
  }

  std::string state_for(CommandResult answer) {
    runner.respond = [answer](const Command&) { return answer; };
    StepSetup setup{site, state, files, runner, clock, environment, {{"base/debian", folder / "recipe"}}};
    return archive_state(base, "archive.sh", "arm64", setup, folder / "private");
  }
  std::string state_printed(const std::string& output) {
    CommandResult result;
    result.output = output;
    return state_for(result);
  }

  testing::TemporaryFolder folder;
  Step base;
  Site site;
  StatePaths state{folder / "state"};
  RealFileSystem files;
  testing::FakeCommandRunner runner;
  testing::FakeClock clock;
  std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"}};
};

TEST_F(ArchiveState, IsWhatTheScriptPrintsOnItsOneLine) {
  EXPECT_EQ(state_printed("trixie 2026-11-20 ä"), "trixie 2026-11-20 ä");
  EXPECT_EQ(state_printed("trixie\n\n"), "trixie");
  EXPECT_EQ(state_printed(std::string(4096, 'x') + "\n"), std::string(4096, 'x'));
}

TEST_F(ArchiveState, TheScriptRunsAsTheRootfsScriptWill) {
  state_printed("x");
  const Command& command = runner.commands.at(0);
  EXPECT_EQ(command.argv, (std::vector<std::string>{"/bin/sh", "-eu", "archive.sh"}));
  EXPECT_EQ(files.read(command.folder / "archive.sh"), "archive");
  EXPECT_EQ(command.environment.at("KILN_FACT_SUITE"), "trixie");
  EXPECT_EQ(command.environment.at("KILN_ARCHITECTURE"), "arm64");
  EXPECT_FALSE(command.environment.contains("KILN_ARCHIVE"));
  EXPECT_TRUE(command.capture_stdout);
  EXPECT_EQ(command.limits.wall, site.step_limits.wall);
}

TEST_F(ArchiveState, AnyOtherAnswerIsRefused) {
  for (const std::string& output : {std::string(), std::string("\n"), std::string("a\nb"),
                                    std::string("a\tb"), std::string("a\x1f"), std::string(4097, 'x')}) {
    try {
      state_printed(output);
      ADD_FAILURE() << output;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_EQ(error.message(), "archive.sh of base/debian printed no single line");
    }
  }
}

TEST_F(ArchiveState, AScriptThatFailsIsNamed) {
  CommandResult failed;
  failed.status = 3;
  failed.output = "half";
  try {
    state_for(failed);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
    EXPECT_NE(error.format().find("asking archive.sh of base/debian for the state of the archives"),
              std::string::npos)
        << error.format();
  }
}

}  // namespace
}  // namespace kiln
