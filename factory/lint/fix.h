// --fix: what can be mended without a person.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/lint/lint.h"

namespace kiln::lint {

struct FixedFile {
  std::string path;
  std::string before;
  std::string after;
  std::size_t fixes = 0;
};

// The files that change. Edits that overlap an earlier one of the same file are left for the next run.
// Suppressed findings and
// those below `least` are left alone.
std::vector<FixedFile> fix(const LintResult& result, Severity least = Severity::note);

// `diff -u` of two texts with three lines around each change; "" for equal texts.
std::string unified_diff(const std::string& path, const std::string& before, const std::string& after);

}  // namespace kiln::lint
