// What comes out: suppressions, fixes as diffs, JSON, SARIF, files that cannot be read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/lint/output.h"
#include "lint_support.h"
#include "support/fake_effects.h"
#include "support/json_schema.h"
#include "support/locked_folder.h"
#include "support/temporary_folder.h"

namespace kiln::lint {
namespace {

using kiln::testing::FakeFileSystem;
using testing::lint_text;
using Disk = std::map<std::string, std::string>;

TEST(Suppressions, NeedAReason) {
  const std::string line =
      "#!/bin/sh -eu\n# kiln-lint: ignore KL079 a scratch folder\nchmod 777 /x\nchmod 777 /y # kiln-lint: "
      "ignore world-writable as well\nchmod 777 /z\n";
  const LintResult result = lint_text("a.sh", line);
  ASSERT_EQ(result.findings.size(), 3u);
  EXPECT_TRUE(result.findings[0].suppressed);
  EXPECT_EQ(result.findings[0].justification, "a scratch folder");
  EXPECT_TRUE(result.findings[1].suppressed);
  EXPECT_FALSE(result.findings[2].suppressed);
  EXPECT_EQ(result.count(Severity::note), 1u);
  EXPECT_EQ(to_text(result, Severity::note),
            "a.sh:5:7: warning: every user may write here [KL079]; give readers what they need: a+rX\n");
}

TEST(Suppressions, HoldForACommandOfManyLines) {
  const LintResult result = lint_text("Dockerfile",
                                      "FROM scratch\n# kiln-lint: ignore KL079 a scratch folder\n# that is "
                                      "thrown away\nRUN a && \\\n    chmod 777 /x\n");
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_TRUE(result.findings[0].suppressed);
}

TEST(Suppressions, WorkInJson) {
  FakeFileSystem files(Disk{{"recipes/library/x/recipe.json",
                             "// kiln-lint: ignore KL040 nothing to prove\n{\n  \"licenses\": \"MIT\",\n  "
                             "\"versions\": {\"1\": {}},\n  \"methods\": {\"distro\": {}}\n}\n"}});
  const LintResult result = testing::lint_path("recipes", files);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].rule, "KL040");
  EXPECT_TRUE(result.findings[0].suppressed);
}

// Two recipes name it, one of them in another root: it is one file, looked at where it lies.
TEST(SharedFiles, AreReportedOnceAndAtTheirPlace) {
  const std::string recipe =
      R"({"licenses": "MIT", "versions": {"1": {}}, "methods": {"distro": {"script": "shared:open.sh"}}})";
  FakeFileSystem files(Disk{{"recipes/shared/open.sh", "#!/bin/sh -eu\nchmod 777 /x\n"},
                            {"recipes/library/x/recipe.json", recipe},
                            {"site/library/y/recipe.json", recipe}});
  Linter linter(files, {}, {"recipes", "site"});
  linter.look_at("recipes");
  linter.look_at("site");
  const LintResult result = linter.finish({});
  EXPECT_TRUE(result.unreadable.empty());
  const auto found = testing::of_rule(result, "KL079");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->where.file, "recipes/shared/open.sh");
}

TEST(Fixes, AreShownAsDiffs) {
  const LintResult result =
      lint_text("Dockerfile", "FROM scratch\nADD a /\nRUN b\nRUN apt-get update && apt-get install gcc\n");
  const auto fixed = fix(result);
  ASSERT_EQ(fixed.size(), 1u);
  EXPECT_EQ(unified_diff(fixed[0].path, fixed[0].before, fixed[0].after),
            "--- Dockerfile\n+++ Dockerfile\n@@ -1,4 +1,4 @@\n FROM scratch\n-ADD a /\n+COPY a /\n RUN b\n"
            "-RUN apt-get update && apt-get install gcc\n"
            "+RUN apt-get update && apt-get install -y --no-install-recommends gcc && rm -rf "
            "/var/lib/apt/lists/*\n");
}

TEST(Fixes, LeaveWhatIsBelowTheSeverity) {
  const LintResult result = lint_text("a.sh", "#!/bin/sh\napt update\n");
  EXPECT_EQ(fix(result, Severity::warning).size(), 0u);
  ASSERT_EQ(fix(result, Severity::note).size(), 1u);
  EXPECT_EQ(fix(result)[0].after,
            "#!/bin/sh -eu\napt-get update\napt-get clean\nrm -rf /var/lib/apt/lists/*\n");
}

TEST(Diffs, HaveOneHunkForEachPlace) {
  std::string before;
  for (int i = 0; i < 30; ++i) before += "line " + std::to_string(i) + "\n";
  std::string after = before;
  after.replace(after.find("line 2\n"), 7, "two\n");
  after.erase(after.find("line 25\n"), 8);
  const std::string diff = unified_diff("f", before, after);
  EXPECT_NE(diff.find("@@ -1,6 +1,6 @@\n"), std::string::npos) << diff;
  EXPECT_NE(diff.find("@@ -23,7 +23,6 @@\n"), std::string::npos) << diff;
  EXPECT_EQ(unified_diff("f", before, before), "");
}

TEST(JsonOutput, HasEverything) {
  const LintResult result = lint_text("a.sh", "#!/bin/sh -eu\nchmod 777 /x\n");
  const Json json = Json::parse(to_json_text(result, Severity::warning));
  EXPECT_EQ(json["counts"]["warning"], 1);
  EXPECT_EQ(json["files"], 1);
  EXPECT_EQ(json["findings"][0], (Json{{"rule", "KL079"},
                                       {"severity", "warning"},
                                       {"file", "a.sh"},
                                       {"line", 2},
                                       {"column", 7},
                                       {"end_column", 10},
                                       {"text", "every user may write here"},
                                       {"hint", "give readers what they need: a+rX"},
                                       {"fixable", false},
                                       {"suppressed", false}}));
}

// tests/data/lint/sarif.schema.json has the parts of the standard's schema that kiln's log uses, closed
// against any other member.
TEST(Sarif, IsValid) {
  RealFileSystem files;
  const fs::path data = fs::path(KILN_TEST_DATA) / "lint";
  LintResult result = testing::lint_path(data / "KL001" / "bad.Dockerfile", files);
  LintResult suppressed = testing::lint_path(data / "KL099" / "good.sh", files);
  result.findings.insert(result.findings.end(), suppressed.findings.begin(), suppressed.findings.end());
  result.unreadable.emplace_back(ExitCode::input, SourceLocation{"a b.json", 1, 2, ""}, "broken", "");
  ASSERT_GE(result.findings.size(), 2u);
  const Json log = Json::parse(to_sarif(result, Severity::note, "0.1.0"));
  const Json schema = Json::parse(files.read(data / "sarif.schema.json").value());
  EXPECT_EQ(kiln::testing::schema_violations(schema, log), std::vector<std::string>{});
  const Json& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), rules().size());
  for (const Json& one : run["results"])
    EXPECT_EQ(run["tool"]["driver"]["rules"][one["ruleIndex"].get<std::size_t>()]["id"], one["ruleId"]);
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false);
  EXPECT_EQ(run["invocations"][0]["toolExecutionNotifications"][0]["locations"][0]["physicalLocation"]
               ["artifactLocation"]["uri"],
            "a%20b.json");
}

TEST(Sarif, CountsColumnsInCodePoints) {
  const LintResult result = lint_text("a.sh", "#!/bin/sh -eu\necho \"äöü\" && chmod 777 /x\n");
  const Json log = Json::parse(to_sarif(result, Severity::warning, "0.1.0"));
  EXPECT_EQ(result.findings.at(0).where.column, 24);
  EXPECT_EQ(log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"],
            (Json{{"startLine", 2}, {"startColumn", 21}, {"endColumn", 24}}));
}

TEST(Unreadable, DoesNotStopTheOthers) {
  FakeFileSystem files(
      {{"r/library/x/recipe.json", "{\"versions\": 1}"},
       {"r/library/y/recipe.json", "{\"versions\": {\"1\": {}}, \"methods\": {\"distro\": {}}}"}});
  const LintResult result = testing::lint_path("r", files);
  ASSERT_EQ(result.unreadable.size(), 1u);
  EXPECT_EQ(result.unreadable[0].where().file, "r/library/x/recipe.json");
  EXPECT_EQ(testing::of_rule(result, "KL093").size(), 1u);
}

// A person's view of two files with the mistakes that hand-written images have.
TEST(TextOutput, OfHandWrittenFiles) {
  RealFileSystem files;
  std::string text =
      to_text(testing::lint_path(fs::path(KILN_TEST_DATA) / "lint" / "hand-written", files), Severity::note);
  const std::string folder = std::string(KILN_TEST_DATA) + "/lint/hand-written/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
    text.erase(at, folder.size());
  kiln::testing::expect_golden(text, std::string(KILN_TEST_DATA) + "/golden/lint.txt");
}

// No text is too broken to be looked at, and what is mended can be looked at again: every beginning and every
// end of two files.
TEST(LintText, TakesEveryBeginningAndEndOfAFile) {
  RealFileSystem files;
  for (const char* name : {"Dockerfile", "pytorch.def"}) {
    const std::string text = files.read(fs::path(KILN_TEST_DATA) / "lint" / "hand-written" / name).value();
    for (std::size_t at = 0; at < text.size(); at += 3) {
      for (const std::string& part : {text.substr(0, at), text.substr(at)}) {
        LintResult result = lint_text(name, part);
        for (const FixedFile& fixed : fix(result)) {
          EXPECT_GT(fixed.fixes, 0u);
          EXPECT_NO_THROW(lint_text(name, fixed.after));
        }
      }
    }
  }
}

// Places of findings, "line:column", by rule.
std::string places(const LintResult& result, const std::string& rule) {
  std::string all;
  for (const Finding* one : testing::of_rule(result, rule))
    all += fmt::format("{}:{}-{} ", one->where.line, one->where.column, one->end_column);
  return all;
}

TEST(Dockerfiles, FindingsStandWhereTheMistakeIs) {
  const LintResult result =
      lint_text("Dockerfile",
                "ARG TAG=latest\nFROM a:1 AS one\nFROM --platform=linux/amd64 b:${TAG} AS b\n"
                "FROM ONE\nENV A=1 \\\n  CFLAGS='-O2 -march=native'\n"
                "RUN --mount=type=cache,target=/c x \\\n# no\n  && chmod 777 /y\n"
                "ONBUILD RUN chmod 777 /z\n");
  EXPECT_EQ(places(result, "KL016"), "2:6-0 ");
  EXPECT_EQ(places(result, "KL015"), "3:29-0 ") << "ARG's default counts, names of stages are no images";
  EXPECT_EQ(places(result, "KL003"), "6:3-29 ");
  EXPECT_EQ(places(result, "KL079"), "9:12-15 10:19-22 ");
  EXPECT_TRUE(result.unreadable.empty());
}

TEST(Dockerfiles, AHeredocIsShellOnlyWhenAShellReadsIt) {
  const std::string body = "chmod 777 /x\nEOF\n";
  EXPECT_EQ(places(lint_text("Dockerfile", "FROM scratch\nRUN <<EOF\n" + body), "KL079"), "3:7-10 ");
  EXPECT_EQ(places(lint_text("Dockerfile", "FROM scratch\nRUN <<-'EOF' /bin/bash -x\n" + body), "KL079"),
            "3:7-10 ");
  EXPECT_EQ(places(lint_text("Dockerfile", "FROM scratch\nRUN <<EOF python3\n" + body), "KL079"), "");
  EXPECT_EQ(places(lint_text("Dockerfile", "FROM scratch\nRUN <<EOF\n#!/usr/bin/python3\n" + body), "KL079"),
            "");
}

TEST(BrokenFiles, AreReportedAndTheRestIsLookedAt) {
  const LintResult docker = lint_text("Dockerfile", "FROM scratch\nRUNN x\nRUN chmod 777 /x\n");
  ASSERT_EQ(docker.unreadable.size(), 1u);
  EXPECT_EQ(docker.unreadable[0].format(),
            "Dockerfile:2:1: error: unknown instruction 'RUNN'; did you mean 'RUN'?");
  EXPECT_EQ(places(docker, "KL079"), "3:11-14 ");
  const LintResult definition =
      lint_text("a.def", "Bootstrap: docker\nFrom: a:1\n%pots\n x\n%post\n chmod 777 /{{ given }}\n");
  ASSERT_EQ(definition.unreadable.size(), 1u);
  EXPECT_EQ(places(definition, "KL016"), "2:7-0 ");
  EXPECT_EQ(places(definition, "KL079"), "6:8-11 ")
      << "an argument without a value is no mistake of the file";
}

TEST(Dockerfiles, PinInALaterRun) {
  const std::string commit(40, 'a');
  EXPECT_TRUE(
      testing::of_rule(
          lint_text("Dockerfile",
                    "FROM scratch\nRUN git clone https://example.org/a\nRUN git checkout " + commit + "\n"),
          "KL010")
          .empty());
  EXPECT_FALSE(
      testing::of_rule(
          lint_text("Dockerfile",
                    "FROM scratch\nRUN git clone https://example.org/a\nFROM scratch\nRUN git checkout " +
                        commit + "\n"),
          "KL010")
          .empty());
  EXPECT_FALSE(
      testing::of_rule(
          lint_text("Dockerfile", "FROM scratch\nRUN curl -O https://example.org/a | x\nRUN sh b\n"), "KL012")
          .empty());
}

// Scripts deeper down belong to recipes, or to something else.
TEST(Paths, AFoldersOwnScriptsAreLookedAt) {
  FakeFileSystem files(Disk{{"scripts/a.sh", "chmod 777 /x\n"},
                            {"scripts/deep/b.sh", "chmod 777 /x\n"},
                            {"scripts/deep/Containerfile", "FROM scratch\nRUN chmod 777 /x\n"}});
  const LintResult result = testing::lint_path("scripts", files);
  EXPECT_EQ(result.files, 2u);
  EXPECT_EQ(places(result, "KL079"), "1:7-10 2:11-14 ");
}

TEST(Paths, AreKnownByTheirNames) {
  EXPECT_EQ(kind_of_file("a/recipe.json"), FileKind::recipe);
  EXPECT_EQ(kind_of_file("matrix/demo.json"), FileKind::matrix);
  EXPECT_EQ(kind_of_file("site.example.json"), FileKind::site);
  EXPECT_EQ(kind_of_file("site.schema.json"), FileKind::unknown);
  EXPECT_EQ(kind_of_file("matrix/demo.lock.json"), FileKind::unknown);
  EXPECT_EQ(kind_of_file("Dockerfile.gpu"), FileKind::dockerfile);
  EXPECT_EQ(kind_of_file("pytorch.dockerfile"), FileKind::dockerfile);
  EXPECT_EQ(kind_of_file("Singularity.gpu"), FileKind::definition);
  EXPECT_EQ(kind_of_file("a.def"), FileKind::definition);
  EXPECT_EQ(kind_of_file("requirements-2.1.0.txt"), FileKind::requirements);
  EXPECT_EQ(kind_of_file("notes.txt"), FileKind::unknown);
}

// What a lockfile pins is not said to float.
TEST(Pins, SilenceTheNoteOnDigests) {
  RealFileSystem files;
  const fs::path path = fs::path(KILN_TEST_DATA) / "lint" / "KL030" / "good";
  RecipeBook recipes = RecipeBook::read(files, {path / "recipes"});
  Recipe base = *recipes.find(Kind::base, "cuda");
  for (bool pinned : {false, true}) {
    if (pinned) base.versions.front().pins["hub"].digests["amd64"] = Digest::of("a manifest");
    recipes.add(base);
    const BuildPlan plan = plan_matrix({}, {recipes, TargetBook(testing::cpus()), testing::cpus()});
    Linter linter(files, {});
    linter.look_at(path / "recipes");
    linter.look_at(CellInput{plan, recipes, testing::cpus()});
    EXPECT_EQ(testing::of_rule(linter.finish({}), "KL016").empty(), pinned);
  }
}

TEST(Selections, KeepAndDropRules) {
  FakeFileSystem files(Disk{{"a.sh", "apt update\nchmod 777 /x\n"}});
  EXPECT_EQ(testing::lint_path("a.sh", files, {}, {{"KL079"}, {}}).findings.size(), 1u);
  EXPECT_TRUE(testing::of_rule(testing::lint_path("a.sh", files, {}, {{}, {"KL079"}}), "KL079").empty());
}

// Three links to their own folder are 3 + 9 + 27 + … folders to one who follows them.
TEST(Lint, FollowsNoLinkToAFolder) {
  kiln::testing::TemporaryFolder root;
  root.write("x/Dockerfile", "FROM scratch\n");
  root.write("x/recipes/library/a/recipe.json", "{}");
  for (const char* name : {"a", "b", "c"}) {
    fs::create_directory_symlink(".", root / "x" / name);
    fs::create_directory_symlink(".", root / "x/recipes/library/a" / name);
  }
  fs::create_directory_symlink("/", root / "x/out");
  RealFileSystem files;
  Linter linter(files, {});
  linter.look_at(root / "x");
  EXPECT_EQ(linter.finish({}).files, 2u);
  EXPECT_EQ(recipes_below(root / "x", files).size(), 1u);
  fs::create_directory_symlink("x", root / "y");
  Linter through(files, {});
  through.look_at(root / "y");
  EXPECT_EQ(through.finish({}).files, 2u) << "a link that is named";
}

TEST(Lint, GoesOnBesideAFolderThatCannotBeRead) {
  kiln::testing::LockedFolder files(
      std::map<std::string, std::string>{{"x/a/Dockerfile", "FROM scratch\n"},
                                         {"x/locked/Dockerfile", "FROM scratch\n"},
                                         {"x/z/Dockerfile", "FROM scratch\n"}});
  Linter linter(files, {});
  linter.look_at("x");
  const LintResult result = linter.finish({});
  EXPECT_EQ(result.files, 2u);
  ASSERT_EQ(result.unreadable.size(), 1u);
  EXPECT_EQ(result.unreadable[0].message(), "cannot list x/locked: Permission denied");
  EXPECT_EQ(recipes_below("x", files).size(), 0u);
}

}  // namespace
}  // namespace kiln::lint
