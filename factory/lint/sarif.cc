// SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Only what code-scanning services and editors
// read.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/text.h"
#include "factory/lint/output.h"

namespace kiln::lint {
namespace {

// Code points in front of a byte of a line, counted from 1.
int code_point_column(std::string_view line, int byte_column) {
  auto end = std::min(line.size(), static_cast<std::size_t>(std::max(byte_column - 1, 0)));
  return 1 + static_cast<int>(
                 std::count_if(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(end),
                               [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// A relative URI reference (RFC 3986): what a path must not hold is percent-encoded.
std::string as_uri(std::string_view path) {
  return (path.starts_with('/') ? "file://" : "") + percent_encoded(path, "/-._~+@");
}

// "lost-state" → "LostState", the spelling that the standard asks of names.
std::string pascal_case(std::string_view name) {
  std::string out;
  bool start = true;
  for (char c : name) {
    if (c != '-') out += start ? upper_case(c) : c;
    start = c == '-';
  }
  return out;
}

Json descriptor(const Rule& rule) {
  return {{"id", rule.id},
          {"name", pascal_case(rule.name)},
          {"shortDescription", {{"text", rule.summary}}},
          {"fullDescription", {{"text", rule.why}}},
          {"help",
           {{"text", fmt::format("{}\n\nBad:\n{}\n\nGood:\n{}", rule.hint, rule.bad, rule.good)},
            {"markdown",
             fmt::format("{}\n\n```\n{}\n```\n\nbetter:\n\n```\n{}\n```", rule.hint, rule.bad, rule.good)}}},
          {"defaultConfiguration", {{"level", name_of(rule.severity)}}}};
}

Json region(const Finding& finding, const LintResult& result) {
  int line = std::max(finding.where.line, 1);
  auto file = result.sources.find(finding.where.file);
  std::string_view text = file == result.sources.end() ? "" : file->second.line_text(line);
  int start = code_point_column(text, finding.where.column);
  Json region = {{"startLine", line}, {"startColumn", start}};
  if (finding.end_column > finding.where.column)
    region["endColumn"] = std::max(code_point_column(text, finding.end_column), start + 1);
  return region;
}

// Stays the same when lines are added above: rule, file and the line's own text.
std::string fingerprint(const Finding& finding, const LintResult& result) {
  auto file = result.sources.find(finding.where.file);
  std::string line(file == result.sources.end() ? "" : file->second.line_text(finding.where.line));
  return Digest::of(fmt::format("{}\n{}\n{}\n{}", finding.rule, finding.where.file, line, finding.text))
      .hex();
}

Json to_sarif_result(const Finding& finding, const LintResult& result) {
  auto index = std::find_if(rules().begin(), rules().end(),
                            [&](const Rule& rule) { return rule.id == finding.rule; }) -
               rules().begin();
  Json json = {{"ruleId", finding.rule},
               {"ruleIndex", index},
               {"level", name_of(finding.severity)},
               {"message", {{"text", fmt::format("{}; {}", finding.text, finding.hint)}}},
               {"locations", Json::array({{{"physicalLocation",
                                            {{"artifactLocation", {{"uri", as_uri(finding.where.file)}}},
                                             {"region", region(finding, result)}}}}})},
               {"partialFingerprints", {{"kilnLint/v1", fingerprint(finding, result)}}}};
  if (finding.suppressed)
    json["suppressions"] = Json::array({{{"kind", "inSource"}, {"justification", finding.justification}}});
  return json;
}

Json notification(const Error& error) {
  Json json = {{"level", "error"}, {"message", {{"text", error.message()}}}};
  if (error.where().file.empty()) return json;
  Json location = {{"artifactLocation", {{"uri", as_uri(error.where().file)}}}};
  if (error.where().line > 0)
    location["region"] = {{"startLine", error.where().line},
                          {"startColumn", std::max(error.where().column, 1)}};
  json["locations"] = Json::array({{{"physicalLocation", location}}});
  return json;
}

}  // namespace

std::string to_sarif(const LintResult& result, Severity least, std::string_view version) {
  Json descriptors = Json::array();
  for (const Rule& rule : rules()) descriptors.push_back(descriptor(rule));
  Json results = Json::array();
  for (const Finding& finding : result.findings)
    if (finding.severity >= least) results.push_back(to_sarif_result(finding, result));
  Json notifications = Json::array();
  for (const Error& error : result.unreadable) notifications.push_back(notification(error));
  Json invocation = {{"executionSuccessful", result.unreadable.empty()}};
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = notifications;
  Json run = {
      {"tool", {{"driver", {{"name", "kiln lint"}, {"semanticVersion", version}, {"rules", descriptors}}}}},
      {"columnKind", "unicodeCodePoints"},
      {"invocations", Json::array({invocation})},
      {"results", results}};
  Json log = {{"$schema",
               "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
              {"version", "2.1.0"},
              {"runs", Json::array({run})}};
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::lint
