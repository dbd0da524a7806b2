// Every rule in both directions: tests/data/lint/<ID>/bad* must be found, good* must not.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "factory/lint/output.h"
#include "lint_support.h"
#include "support/temporary_folder.h"

namespace kiln::lint {
namespace {

const fs::path kData = fs::path(KILN_TEST_DATA) / "lint";

struct Case {
  std::string rule;
  fs::path path;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.path.string(); }

std::vector<Case> cases(const std::string& prefix) {
  std::vector<Case> all;
  for (const Rule& rule : rules())
    for (const std::string& name : RealFileSystem().list(kData / rule.id))
      if (name.starts_with(prefix)) all.push_back({rule.id, kData / rule.id / name});
  return all;
}

std::string test_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.rule + "_" + info.param.path.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

LintResult lint_case(const fs::path& path) {
  RealFileSystem files;
  RealCommandRunner runner;
  Shellcheck shellcheck{path.string().find("KL070") == std::string::npos ? nullptr : &runner,
                        {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C.UTF-8"}},
                        ""};
  return testing::lint_path(path, files, shellcheck);
}

class BadExampleOfARule : public ::testing::TestWithParam<Case> {};
class GoodExampleOfARule : public ::testing::TestWithParam<Case> {};
class FixOfABadExample : public ::testing::TestWithParam<Case> {};

TEST_P(BadExampleOfARule, IsReported) {
  const LintResult result = lint_case(GetParam().path);
  ASSERT_TRUE(result.unreadable.empty()) << result.unreadable.front().format();
  const auto found = testing::of_rule(result, GetParam().rule);
  EXPECT_FALSE(found.empty()) << to_text(result, Severity::note);
  for (const Finding* finding : found) {
    EXPECT_GT(finding->where.line, 0);
    EXPECT_GT(finding->where.column, 0);
    EXPECT_FALSE(finding->hint.empty());
  }
}

TEST_P(GoodExampleOfARule, IsNotReported) {
  const LintResult result = lint_case(GetParam().path);
  ASSERT_TRUE(result.unreadable.empty()) << result.unreadable.front().format();
  EXPECT_TRUE(testing::of_rule(result, GetParam().rule).empty()) << to_text(result, Severity::note);
}

// What --fix changes is gone afterwards, and a second run changes nothing.
TEST_P(FixOfABadExample, LeavesNothingToFix) {
  kiln::testing::TemporaryFolder folder;
  const fs::path copy = folder / GetParam().path.filename().string();
  fs::copy(GetParam().path, copy, fs::copy_options::recursive);
  RealFileSystem files;
  for (int round = 0; round < 5; ++round)
    for (const FixedFile& file : fix(lint_case(copy))) files.write(file.path, file.after);
  const LintResult result = lint_case(copy);
  EXPECT_TRUE(fix(result).empty());
  for (const Finding* finding : testing::of_rule(result, GetParam().rule)) EXPECT_TRUE(finding->fix.empty());
}

INSTANTIATE_TEST_SUITE_P(Rules, BadExampleOfARule, ::testing::ValuesIn(cases("bad")), test_name);
INSTANTIATE_TEST_SUITE_P(Rules, GoodExampleOfARule, ::testing::ValuesIn(cases("good")), test_name);
INSTANTIATE_TEST_SUITE_P(Rules, FixOfABadExample, ::testing::ValuesIn(cases("bad")), test_name);

TEST(Rules, HaveCasesInBothDirections) {
  std::set<std::string> bad;
  std::set<std::string> good;
  for (const Case& one : cases("bad")) bad.insert(one.rule);
  for (const Case& one : cases("good")) good.insert(one.rule);
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(bad.contains(rule.id)) << rule.id;
    EXPECT_TRUE(good.contains(rule.id)) << rule.id;
  }
}

TEST(Rules, SayThatTheyAreMendedWhenTheyAre) {
  std::set<std::string> mended;
  for (const Case& one : cases("bad")) {
    const LintResult result = lint_case(one.path);
    for (const Finding* finding : testing::of_rule(result, one.rule))
      if (!finding->fix.empty()) mended.insert(one.rule);
  }
  for (const Rule& rule : rules()) EXPECT_EQ(mended.contains(rule.id), rule.fixable) << rule.id;
}

TEST(Rules, AreNumberedUpwardsAndNamedOnce) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < rules().size(); ++i) {
    if (i > 0) {
      EXPECT_LT(rules()[i - 1].id, rules()[i].id);
    }
    EXPECT_TRUE(names.insert(rules()[i].name).second) << rules()[i].name;
    EXPECT_FALSE(rules()[i].bad.empty() || rules()[i].good.empty() || rules()[i].hint.empty() ||
                 rules()[i].why.empty());
  }
}

TEST(Rules, AreFoundByIdAndName) {
  EXPECT_EQ(known_rule("KL001").name, "lost-state");
  EXPECT_EQ(known_rule("lost-state").id, "KL001");
  try {
    known_rule("lost-stat");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.hint(), "did you mean 'lost-state'?");
  }
}

TEST(Rules, TheRepositorysOwnRecipesAreClean) {
  RealFileSystem files;
  Linter linter(files, {});
  linter.look_at(fs::path(KILN_SOURCE_DIR) / "recipes");
  const LintResult result = linter.finish({});
  EXPECT_TRUE(result.unreadable.empty());
  EXPECT_GT(result.files, 20u);
  EXPECT_EQ(to_text(result, Severity::warning), "");
}

TEST(Rules, ThePageShowsThem) {
  RealFileSystem files;
  const std::string page = files.read(fs::path(KILN_SOURCE_DIR) / "docs" / "lint.md").value_or("");
  EXPECT_NE(page.find(rules_as_markdown()), std::string::npos)
      << "docs/lint.md is out of date: put `kiln lint --list --format markdown` below its heading \"Rules\"";
}

}  // namespace
}  // namespace kiln::lint
