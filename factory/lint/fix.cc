#include "factory/lint/fix.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln::lint {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

FixedFile apply(const SourceFile& file, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
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
  const std::string* text;
};

// Longest common subsequence, after the equal lines at both ends: texts that differ in a few lines, a few
// hundred lines long.
std::vector<DiffLine> compare(const std::vector<std::string>& a, const std::vector<std::string>& b) {
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
  for (std::size_t i = 0; i < head; ++i) lines.push_back({' ', &a[i]});
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    if (i < rows && j < columns && a[head + i] == b[head + j]) {
      lines.push_back({' ', &a[head + i++]});
      ++j;
    } else if (i < rows && (j == columns || length[i + 1][j] >= length[i][j + 1])) {
      lines.push_back({'-', &a[head + i++]});
    } else {
      lines.push_back({'+', &b[head + j++]});
    }
  }
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) lines.push_back({' ', &a[i]});
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
  const std::vector<std::string> a = lines_of(before);
  const std::vector<std::string> b = lines_of(after);
  const std::vector<DiffLine> lines = compare(a, b);
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
      out += fmt::format("{}{}\n", lines[i].sign, *lines[i].text);
    from = hunk.end;
  }
  return out;
}

}  // namespace kiln::lint
