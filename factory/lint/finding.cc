#include "factory/lint/finding.h"

#include <algorithm>

namespace kiln::lint {

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
  if (std::none_of(findings_.begin(), findings_.end(), same)) add(rule, where, std::move(text));
}

}  // namespace kiln::lint
