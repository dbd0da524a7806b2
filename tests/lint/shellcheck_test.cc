// ShellCheck's findings as kiln's: one run for all scripts, its cache, and scripts whose sh is bash.
#include <gtest/gtest.h>

#include "lint_support.h"
#include "support/fake_effects.h"

namespace kiln::lint {
namespace {

using kiln::testing::FakeCommandRunner;
using kiln::testing::FakeFileSystem;
using testing::lint_text;
using Disk = std::map<std::string, std::string>;

TEST(ShellcheckRule, RunsOnceForAllScriptsAndRemembers) {
  FakeFileSystem files(Disk{{"r/library/x/recipe.json",
                             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {}}, \"methods\": {\"distro\": "
                             "{\"script\": \"a.sh\"}}, \"test\": {\"script\": \"b.sh\"}}"},
                            {"r/library/x/a.sh", "#!/bin/sh -eu\nls $X\n"},
                            {"r/library/x/b.sh", "#!/bin/sh -eu\nls\n"}});
  FakeCommandRunner runner;
  runner.respond = [](const Command& command) {
    CommandResult result;
    if (command.argv[1] == "--version") {
      result.output = "ShellCheck\nversion: 0.9.0\n";
    } else {
      result.status = 1;
      result.output =
          R"({"comments": [{"file": "r/library/x/a.sh", "line": 2, "endLine": 2, "column": 4, "endColumn": 6, "level": "info", "code": 2086, "message": "Double quote", "fix": null}]})";
    }
    return result;
  };
  const Shellcheck setup{&runner, {}, "cache/shellcheck.json"};
  for (int round = 0; round < 2; ++round) {
    const LintResult result = testing::lint_path("r", files, setup);
    ASSERT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings[0].text, "Double quote (SC2086)");
    EXPECT_EQ(result.findings[0].severity, Severity::note);
    EXPECT_EQ(result.findings[0].where.column, 4);
  }
  ASSERT_EQ(runner.commands.size(), 3u);  // version, batch, version
  EXPECT_EQ(runner.commands[1].argv.size(), 6u);
}

TEST(ShellcheckRule, KnowsWhereShIsBash) {
  FakeCommandRunner runner;
  runner.respond = [](const Command& command) {
    CommandResult result;
    result.status = command.argv[1] == "--version" ? 0 : 1;
    result.output =
        R"({"comments": [{"file": "r/library/x/a.sh", "line": 3, "column": 1, "level": "warning", "code": 3046, "message": "In POSIX sh, 'source' is undefined."}, {"file": "r/library/x/a.sh", "line": 3, "column": 1, "level": "warning", "code": 2086, "message": "Double quote"}]})";
    return result;
  };
  auto codes = [&](const std::string& script) {
    FakeFileSystem files(Disk{{"r/library/x/recipe.json",
                               "{\"licenses\": \"MIT\", \"versions\": {\"1\": {}}, \"methods\": {\"distro\": "
                               "{\"script\": \"a.sh\"}}}"},
                              {"r/library/x/a.sh", script}});
    std::string text;
    const LintResult result = testing::lint_path("r", files, {&runner, {}, ""});
    for (const Finding* finding : testing::of_rule(result, "KL070"))
      text += finding->text.substr(finding->text.rfind("SC"), 6) + " ";
    return text;
  };
  EXPECT_EQ(codes("#!/bin/sh -eu\ndnf -y install x\nsource /x\n"), "SC2086 ");
  EXPECT_EQ(codes("# shellcheck shell=bash\nls\nsource /x\n"), "SC2086 ");
  EXPECT_EQ(codes("#!/bin/sh -eu\nls\nsource /x\n"), "SC2086 SC3046 ");
  EXPECT_EQ(codes("#!/bin/sh -eu\nif a; then dnf install x; else apt-get install x; fi\nsource /x\n"),
            "SC2086 SC3046 ");
}

TEST(ShellcheckRule, SaysThatItIsMissing) {
  FakeCommandRunner runner;
  runner.missing.insert("shellcheck");
  const LintResult result = lint_text("a.sh", "#!/bin/sh -eu\nls\n", {&runner, {}, ""});
  EXPECT_TRUE(result.findings.empty());
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_TRUE(runner.commands.empty());
}

}  // namespace
}  // namespace kiln::lint
