#include "factory/lint/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/enum_names.h"
#include "factory/base/text.h"

namespace kiln {
// Generated from data/*.json by cmake/embed.cmake.
std::map<std::string_view, std::string_view> embedded_lint_data();
}  // namespace kiln

namespace kiln::lint {
namespace {

constexpr auto kSeverities = enum_names<Severity>(
    {{Severity::note, "note"}, {Severity::warning, "warning"}, {Severity::error, "error"}});

Rule read_rule(const JsonNode& node) {
  node.allow_only({"id", "name", "severity", "summary", "why", "bad", "good", "hint", "fix"});
  Rule rule;
  rule.id = node.at("id").name();
  rule.name = node.at("name").name();
  const JsonNode severity = node.at("severity");
  auto known = severity_from(severity.string());
  if (!known) severity.fail("expected note, warning or error");
  rule.severity = *known;
  rule.summary = node.at("summary").line_of_text();
  rule.why = node.at("why").string();
  rule.bad = node.at("bad").string();
  rule.good = node.at("good").string();
  rule.hint = node.at("hint").line_of_text();
  if (auto fix = node.find("fix")) rule.fixable = fix->boolean();
  return rule;
}

std::vector<Rule> read_rules() {
  const JsonDocument document = lint_data("rules.json");
  std::vector<Rule> all;
  for (const JsonNode& node : document.root().items()) all.push_back(read_rule(node));
  return all;
}

}  // namespace

JsonDocument lint_data(const std::string& name) {
  return JsonDocument::parse(embedded_lint_data().at(name), name);
}

std::string_view name_of(Severity severity) { return kSeverities.of(severity); }

std::optional<Severity> severity_from(std::string_view name) { return kSeverities.find(name); }

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = read_rules();
  return kRules;
}

const Rule* find_rule(std::string_view id_or_name) {
  return find_where(rules(),
                    [&](const Rule& rule) { return rule.id == id_or_name || rule.name == id_or_name; });
}

std::string nearest_rule(std::string_view id_or_name) {
  std::vector<std::string> known;
  for (const Rule& rule : rules()) {
    known.push_back(rule.id);
    known.push_back(rule.name);
  }
  std::string hint = did_you_mean(id_or_name, known);
  return hint.empty() ? "`kiln lint --list` shows the rules" : hint;
}

const Rule& known_rule(std::string_view id_or_name) {
  if (const Rule* rule = find_rule(id_or_name)) return *rule;
  throw Error(ExitCode::usage, fmt::format("there is no rule '{}'", id_or_name), nearest_rule(id_or_name));
}

Finding& Report::add(std::string_view rule, const SourceLocation& where, std::string text) {
  const Rule& known = known_rule(rule);
  Finding finding;
  finding.rule = known.id;
  finding.severity = known.severity;
  finding.where = where;
  finding.first_line = where.line;
  finding.text = std::move(text);
  finding.hint = known.hint;
  findings_.push_back(std::move(finding));
  return findings_.back();
}

Finding& Report::add(std::string_view rule, const SourceFile& file, Span span, std::string text) {
  Finding& finding = add(rule, file.at(span.begin), std::move(text));
  SourceLocation end = file.at(span.end);
  if (span.end > span.begin && end.line == finding.where.line) finding.end_column = end.column;
  return finding;
}

void Report::add_once(std::string_view rule, const SourceLocation& where, std::string text) {
  auto same = [&](const Finding& other) {
    return other.rule == rule && other.where == where && other.text == text;
  };
  if (std::ranges::none_of(findings_, same)) add(rule, where, std::move(text));
}

}  // namespace kiln::lint
