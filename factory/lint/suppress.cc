// Suppressions in comments: `# kiln-lint: ignore KL012 reason`, in JSON `// kiln-lint: ignore KL040 reason`.
// One holds for its own line and for the command or value that follows it.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/lint/lint.h"

namespace kiln::lint {
namespace {

constexpr std::string_view kMark = "kiln-lint:";

struct Suppression {
  std::string rule;
  std::string reason;
  int line = 0;
  bool alone = false;  // nothing but the comment is on the line
};

std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

bool in_comment(std::string_view line, std::size_t at) {
  std::string_view before = line.substr(0, at);
  while (before.ends_with(' ')) before.remove_suffix(1);
  return before.ends_with('#') || before.ends_with("//");
}

void read_one(const SourceFile& file, int line, std::size_t at, Report& report,
              std::vector<Suppression>& out) {
  std::string_view text = file.line_text(line);
  Span span{file.start_of(line) + at, file.start_of(line) + text.size()};
  text.remove_prefix(at + kMark.size());
  if (next_word(text) != "ignore") {
    report.add("KL099", file, span, "expected `kiln-lint: ignore KL000 reason`");
    return;
  }
  std::string_view word = next_word(text);
  const Rule* rule = find_rule(word);
  if (rule == nullptr) {
    report.add("KL099", file, span, fmt::format("there is no rule '{}'", word)).hint = nearest_rule(word);
    return;
  }
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (text.size() < 3) {
    report.add("KL099", file, span, fmt::format("{} is ignored without a reason", rule->id));
    return;
  }
  std::string_view before = file.line_text(line).substr(0, at);
  out.push_back(
      {rule->id, std::string(text), line, before.find_first_not_of(" \t#/") == std::string_view::npos});
}

std::vector<Suppression> read_all(const SourceFile& file, Report& report) {
  std::vector<Suppression> all;
  if (!contains(file.text(), kMark)) return all;
  for (int line = 1; line <= static_cast<int>(file.lines()); ++line) {
    std::size_t at = file.line_text(line).find(kMark);
    if (at != std::string_view::npos && in_comment(file.line_text(line), at))
      read_one(file, line, at, report, all);
  }
  return all;
}

// The first line below a comment that is no comment itself.
int line_below(const SourceFile& file, int line) {
  int below = line + 1;
  for (; below <= static_cast<int>(file.lines()); ++below) {
    std::string_view text = file.line_text(below);
    std::size_t first = text.find_first_not_of(" \t");
    bool comment =
        first != std::string_view::npos && (text[first] == '#' || text.substr(first).starts_with("//"));
    if (!comment || text.starts_with("#!")) break;
  }
  return below;
}

}  // namespace

void apply_suppressions(std::map<std::string, SourceFile>& sources, Report& report) {
  for (const auto& [path, file] : sources) {
    for (const Suppression& one : read_all(file, report)) {
      int below = one.alone ? line_below(file, one.line) : 0;
      for (Finding& finding : report.findings()) {
        if (finding.rule != one.rule || finding.where.file != path) continue;
        bool here = finding.where.line == one.line || finding.where.line == below ||
                    finding.first_line == below || finding.first_line == one.line;
        if (!here) continue;
        finding.suppressed = true;
        finding.justification = one.reason;
      }
    }
  }
}

}  // namespace kiln::lint
