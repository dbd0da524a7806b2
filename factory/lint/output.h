// Findings as text, JSON and SARIF; rules as tables.
#pragma once

#include <string>
#include <vector>

#include "factory/lint/lint.h"

namespace kiln::lint {

// `file:line:col: warning: text [KL012]; hint`, a line each; findings below `least` and suppressed ones left
// out.
std::string to_text(const LintResult& result, Severity least);

// {"findings": [{"rule", "severity", "file", "line", "column", "end_column", "text", "hint", "fixable",
// "suppressed", "justification"}],
//  "errors": [{"file", "line", "column", "text", "hint"}], "files": N, "counts": {"error": N, "warning": N,
//  "note": N}}
std::string to_json_text(const LintResult& result, Severity least);

// SARIF 2.1.0 (OASIS), one run. Columns are counted in Unicode code points, as `columnKind` says. Suppressed
// findings are in it, marked.
std::string to_sarif(const LintResult& result, Severity least, std::string_view version);

// A cell of a table in Markdown; a URL ends at its bar as well.
std::string table_cell(std::string text);

std::string rules_as_markdown();        // docs/lint.md's table and one paragraph a rule
std::string rules_as_json();            // array of the rules' members
std::string explain(const Rule& rule);  // statement, reason, examples

// --fix: what can be mended without a person.
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
