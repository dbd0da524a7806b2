#include "factory/lint/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kiln::lint {
namespace {

std::string place(const SourceLocation& where) {
  return where.line == 0 ? where.file : fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

Json to_json(const Finding& finding) {
  Json json = {{"rule", finding.rule},
               {"severity", name_of(finding.severity)},
               {"file", finding.where.file},
               {"line", finding.where.line},
               {"column", finding.where.column},
               {"text", finding.text},
               {"hint", finding.hint},
               {"fixable", !finding.fix.empty()},
               {"suppressed", finding.suppressed}};
  if (finding.end_column > 0) json["end_column"] = finding.end_column;
  if (finding.suppressed) json["justification"] = finding.justification;
  return json;
}

std::string in_table(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text;
}

// `indent` in front of every line.
std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  for (std::size_t start = 0; start <= text.size();) {
    std::size_t end = std::min(text.find('\n', start), text.size());
    out += fmt::format("{}{}\n", indent, text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

}  // namespace

std::string to_text(const LintResult& result, Severity least) {
  std::string out;
  for (const Finding& finding : result.findings) {
    if (finding.suppressed || finding.severity < least) continue;
    out += fmt::format("{}: {}: {} [{}]; {}\n", place(finding.where), name_of(finding.severity), finding.text,
                       finding.rule, finding.hint);
  }
  return out;
}

std::string to_json_text(const LintResult& result, Severity least) {
  Json json = {{"findings", Json::array()}, {"errors", Json::array()}, {"files", result.files}};
  for (const Finding& finding : result.findings)
    if (finding.severity >= least) json["findings"].push_back(to_json(finding));
  for (const Error& error : result.unreadable)
    json["errors"].push_back({{"file", error.where().file},
                              {"line", error.where().line},
                              {"column", error.where().column},
                              {"text", error.message()},
                              {"hint", error.hint()}});
  for (Severity severity : {Severity::error, Severity::warning, Severity::note})
    json["counts"][std::string(name_of(severity))] = std::count_if(
        result.findings.begin(), result.findings.end(),
        [&](const Finding& finding) { return !finding.suppressed && finding.severity == severity; });
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string rules_as_markdown() {
  std::string out = "| rule | name | severity | `--fix` | what |\n|---|---|---|---|---|\n";
  for (const Rule& rule : rules())
    out += fmt::format("| {} | {} | {} | {} | {} |\n", rule.id, rule.name, name_of(rule.severity),
                       rule.fixable ? "yes" : "", in_table(rule.summary));
  for (const Rule& rule : rules())
    out += fmt::format("\n### {} {}\n\n{}\n\n```\n{}\n```\n\nbetter:\n\n```\n{}\n```\n", rule.id, rule.name,
                       rule.why, rule.bad, rule.good);
  return out;
}

std::string rules_as_json() {
  Json all = Json::array();
  for (const Rule& rule : rules())
    all.push_back({{"id", rule.id},
                   {"name", rule.name},
                   {"severity", name_of(rule.severity)},
                   {"summary", rule.summary},
                   {"why", rule.why},
                   {"bad", rule.bad},
                   {"good", rule.good},
                   {"hint", rule.hint},
                   {"fixable", rule.fixable}});
  return all.dump(2) + "\n";
}

std::string explain(const Rule& rule) {
  return fmt::format(
      "{} {} ({}{})\n{}\n\n{}\n\nBad:\n{}\nGood:\n{}\nIn short: {}\nTo allow it once: # kiln-lint: ignore {} "
      "reason\n",
      rule.id, rule.name, name_of(rule.severity), rule.fixable ? ", --fix" : "", rule.summary, rule.why,
      indented(rule.bad, "  "), indented(rule.good, "  "), rule.hint, rule.id);
}

}  // namespace kiln::lint
