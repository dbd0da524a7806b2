// Linting a path as `kiln lint` does: files and folders by what they are, a matrix.json with the recipes
// beside it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "factory/lint/lint.h"
#include "factory/plan/build_plan.h"
#include "factory/recipe/lockfile.h"
#include "support/fake_effects.h"

namespace kiln::lint::testing {

// The first line of the scripts of tests.
inline const std::string kShell = "#!/bin/sh -eu\n";

inline const Microarchitectures& cpus() {
  static const Microarchitectures kCpus = [] {
    std::ifstream in(KILN_ARCHSPEC_JSON, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    return Microarchitectures::parse(text, KILN_ARCHSPEC_JSON);
  }();
  return kCpus;
}

inline LintResult lint_path(const fs::path& path, FileSystem& files, const Shellcheck& shellcheck = {},
                            RuleSelection selection = {}) {
  Linter linter(files, std::move(selection));
  linter.look_at(path);
  if (files.exists(path / "matrix.json")) {
    RecipeBook recipes = RecipeBook::read(files, {path / "recipes"});
    TargetBook targets(cpus());
    BuildPlan plan = plan_matrix(read_matrix(files, path / "matrix.json"), {recipes, targets, cpus()});
    EXPECT_GT(plan.size(), 0u) << path;
    std::optional<Lockfile> lock;
    if (const fs::path beside = lockfile_beside(path / "matrix.json"); files.exists(beside))
      lock = read_lockfile(JsonDocument::parse(files.read(beside).value_or(""), beside.string()));
    linter.look_at(CellInput{plan, recipes, cpus(), lock ? &*lock : nullptr});
  }
  return linter.finish(shellcheck);
}

// Lints one file of this name and text.
inline LintResult lint_text(const std::string& name, const std::string& text,
                            const Shellcheck& shellcheck = {}) {
  kiln::testing::FakeFileSystem files(std::map<std::string, std::string>{{name, text}});
  return lint_path(name, files, shellcheck);
}

inline std::vector<const Finding*> of_rule(const LintResult& result, const std::string& rule) {
  std::vector<const Finding*> found;
  for (const Finding& finding : result.findings)
    if (finding.rule == rule && !finding.suppressed) found.push_back(&finding);
  return found;
}

// "line:column-end RULE text", a line each; with the file's path below `folder` in front when there is one.
inline std::string findings_in(const LintResult& result, const std::string& folder = {}) {
  std::string found;
  for (const Finding& one : result.findings) {
    if (one.suppressed) continue;
    const std::string file = folder.empty() ? "" : one.where.file.substr(folder.size() + 1) + ":";
    const std::string end = one.end_column > 0 ? fmt::format("-{}", one.end_column) : "";
    found += fmt::format("{}{}{}:{}{} {} {}", found.empty() ? "" : "\n", file, one.where.line,
                         one.where.column, end, one.rule, one.text);
  }
  return found;
}

struct TextCase {
  std::string text;
  std::string findings;  // all of them
};

// Looks at each text behind `head` as a file of this name.
inline void expect_findings(const std::string& name, const std::string& head,
                            const std::vector<TextCase>& cases) {
  for (const TextCase& one : cases) {
    kiln::testing::FakeFileSystem files(std::map<std::string, std::string>{{name, head + one.text}});
    const LintResult result = lint_path(name, files);
    EXPECT_TRUE(result.unreadable.empty()) << one.text;
    EXPECT_EQ(findings_in(result), one.findings) << one.text;
  }
}

}  // namespace kiln::lint::testing
