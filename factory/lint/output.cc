#include "factory/lint/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/text.h"

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

// `indent` in front of every line.
std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  for (std::string_view line : split(text, '\n')) out += fmt::format("{}{}\n", indent, line);
  return out;
}

}  // namespace

std::string table_cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text;
}

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
    json["counts"][std::string(name_of(severity))] = std::ranges::count_if(
        result.findings,
        [&](const Finding& finding) { return !finding.suppressed && finding.severity == severity; });
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string rules_as_markdown() {
  std::string out = "| rule | name | severity | `--fix` | what |\n|---|---|---|---|---|\n";
  for (const Rule& rule : rules())
    out += fmt::format("| {} | {} | {} | {} | {} |\n", rule.id, rule.name, name_of(rule.severity),
                       rule.fixable ? "yes" : "", table_cell(rule.summary));
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

// SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Only what code-scanning services and editors
// read.

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
  auto index = std::ranges::find(rules(), finding.rule, &Rule::id) - rules().begin();
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

namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

FixedFile apply(const SourceFile& file, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, [](const Edit& one) { return one.span.begin; });
  FixedFile fixed{file.path(), file.text(), "", 0};
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.span.begin < at) continue;
    fixed.after += fixed.before.substr(at, edit.span.begin - at) + edit.text;
    at = edit.span.end;
    ++fixed.fixes;
  }
  fixed.after += fixed.before.substr(at);
  return fixed;
}

struct DiffLine {
  char sign;  // ' ', '-', '+'
  std::string_view text;
};

// Longest common subsequence, after the equal lines at both ends: texts that differ in a few lines, a few
// hundred lines long.
std::vector<DiffLine> compare(const Lines& a, const Lines& b) {
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::size_t rows = a.size() - head - tail;
  std::size_t columns = b.size() - head - tail;
  std::vector<std::vector<std::size_t>> length(rows + 1, std::vector<std::size_t>(columns + 1, 0));
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t j = columns; j-- > 0;)
      length[i][j] = a[head + i] == b[head + j] ? length[i + 1][j + 1] + 1
                                                : std::max(length[i + 1][j], length[i][j + 1]);
  std::vector<DiffLine> lines;
  for (std::size_t i = 0; i < head; ++i) lines.push_back({' ', a[i]});
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    if (i < rows && j < columns && a[head + i] == b[head + j]) {
      lines.push_back({' ', a[head + i++]});
      ++j;
    } else if (i < rows && (j == columns || length[i + 1][j] >= length[i][j + 1])) {
      lines.push_back({'-', a[head + i++]});
    } else {
      lines.push_back({'+', b[head + j++]});
    }
  }
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) lines.push_back({' ', a[i]});
  return lines;
}

constexpr std::size_t kAround = 3;

// [first, last) of the next hunk at or behind `from`; empty at the end.
Span next_hunk(const std::vector<DiffLine>& lines, std::size_t from) {
  while (from < lines.size() && lines[from].sign == ' ') ++from;
  if (from == lines.size()) return {from, from};
  std::size_t last = from;
  for (std::size_t i = from; i < lines.size() && i <= last + 2 * kAround; ++i)
    if (lines[i].sign != ' ') last = i;
  return {from < kAround ? 0 : from - kAround, std::min(last + 1 + kAround, lines.size())};
}

}  // namespace

std::vector<FixedFile> fix(const LintResult& result, Severity least) {
  std::map<std::string, std::vector<Edit>> edits;
  for (const Finding& finding : result.findings)
    if (!finding.suppressed && finding.severity >= least)
      edits[finding.where.file].insert(edits[finding.where.file].end(), finding.fix.begin(),
                                       finding.fix.end());
  std::vector<FixedFile> fixed;
  for (const auto& [path, list] : edits)
    if (auto file = result.sources.find(path); file != result.sources.end() && !list.empty())
      fixed.push_back(apply(file->second, list));
  return fixed;
}

std::string unified_diff(const std::string& path, const std::string& before, const std::string& after) {
  if (before == after) return "";
  const std::vector<DiffLine> lines = compare(lines_of(before), lines_of(after));
  std::string out = fmt::format("--- {0}\n+++ {0}\n", path);
  std::size_t from = 0;
  for (Span hunk = next_hunk(lines, 0); hunk.begin < hunk.end; hunk = next_hunk(lines, from)) {
    auto count = [&](char other, std::size_t begin, std::size_t end) {
      return std::count_if(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                           lines.begin() + static_cast<std::ptrdiff_t>(end),
                           [&](const DiffLine& line) { return line.sign != other; });
    };
    hunk.begin = std::max(hunk.begin, from);
    auto old_lines = count('+', hunk.begin, hunk.end);
    auto new_lines = count('-', hunk.begin, hunk.end);
    out += fmt::format("@@ -{},{} +{},{} @@\n", count('+', 0, hunk.begin) + (old_lines > 0 ? 1 : 0),
                       old_lines, count('-', 0, hunk.begin) + (new_lines > 0 ? 1 : 0), new_lines);
    for (std::size_t i = hunk.begin; i < hunk.end; ++i)
      out += fmt::format("{}{}\n", lines[i].sign, lines[i].text);
    from = hunk.end;
  }
  return out;
}

}  // namespace kiln::lint
