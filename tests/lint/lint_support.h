// Linting a path as `kiln lint` does: files and folders by what they are, a matrix.json with the recipes
// beside it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lint/lint.h"
#include "plan/build_plan.h"

namespace kiln::lint::testing {

inline const Microarchitectures& cpus() {
  static const Microarchitectures kCpus = [] {
    std::ifstream in(KILN_ARCHSPEC_JSON, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    return Microarchitectures::parse(text, KILN_ARCHSPEC_JSON);
  }();
  return kCpus;
}

inline LintResult lint_path(const fs::path& path, FileSystem& files, const Shellcheck& shellcheck = {},
                            Selection selection = {}) {
  Linter linter(files, std::move(selection));
  linter.look_at(path);
  if (files.exists(path / "matrix.json")) {
    RecipeBook recipes = RecipeBook::read(files, {path / "recipes"});
    TargetBook targets(cpus());
    BuildPlan plan = plan_matrix(read_matrix(files, path / "matrix.json"), {recipes, targets, cpus()});
    EXPECT_FALSE(plan.images.empty()) << path;
    linter.look_at(CellInput{plan, recipes, cpus()});
  }
  return linter.finish(shellcheck);
}

inline std::vector<const Finding*> of_rule(const LintResult& result, const std::string& rule) {
  std::vector<const Finding*> found;
  for (const Finding& finding : result.findings)
    if (finding.rule == rule && !finding.suppressed) found.push_back(&finding);
  return found;
}

}  // namespace kiln::lint::testing
