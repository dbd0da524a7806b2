// Findings as text, JSON and SARIF; rules as tables.
#pragma once

#include <string>

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

std::string rules_as_markdown();        // docs/lint.md's table and one paragraph a rule
std::string rules_as_json();            // array of the rules' members
std::string explain(const Rule& rule);  // what, why, examples

}  // namespace kiln::lint
