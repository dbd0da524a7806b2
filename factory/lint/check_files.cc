// Files that are no Dockerfile: shell, Python, requirements.
#include <fmt/format.h>

#include <algorithm>

#include "factory/lint/check_file.h"
#include "factory/lint/whole_file.h"
#include "factory/recipe/native_flag.h"
#include "factory/source/secret_words.h"

namespace kiln::lint {
namespace {

// The code of a Python line: without a comment. Quotes are not followed; a `#` inside a string ends the line
// early.
std::string_view code_of(std::string_view line) {
  return line.substr(0, std::min(line.find(" #"), line.starts_with('#') ? 0 : line.size()));
}

}  // namespace

void check_shell_file(const SourceFile& file, ScriptPlace place, Report& report, const ScriptUse& use) {
  Span all{0, file.text().size()};
  ScriptUnit unit{&file, all, place, read_shell(file.text(), all)};
  unit.keeps_pip = use.keeps_pip;
  unit.is_sourced = use.is_sourced;
  check_script(unit, report);
  WholeFile whole{&file, {{"", "", std::nullopt, {}}}, {}, {}};
  whole.stages.front().units.push_back(std::move(unit));
  whole.add_shell_settings();
  check_whole(whole, report);
}

void check_python_file(const SourceFile& file, Report& report) {
  bool checks = file.text().find("hashlib") != std::string::npos;
  for (int line = 1; line <= static_cast<int>(file.lines()); ++line) {
    std::string_view code = code_of(file.line_text(line));
    std::size_t start = file.start_of(line);
    Span span{start + std::min(code.find_first_not_of(" \t"), code.size()), start + code.size()};
    if (std::string flag = native_flag(code); !flag.empty())
      report.add("KL003", file, span, native_text(flag));
    for (std::string_view get : {"urlretrieve(", "urlopen(", "requests.get("})
      if (!checks && code.find(get) != std::string_view::npos)
        report.add("KL012", file, span, fmt::format("nothing checks what {}) gets", get));
    if (std::string kind = token_in(code); !kind.empty()) report.add("KL060", file, span, "here is " + kind);
    if (has_credentials(code)) report.add("KL061", file, span, "this URL has a password");
  }
}

void check_requirements_file(const SourceFile& file, Report& report) {
  const RequirementsFile all = read_requirements_file(file);
  check_protobuf_of(file, all, report);
  check_indexes_of(file, all, report);
  for (const PipPackage& one : all.packages) {
    if (one.url.starts_with("git+") && !has_commit(one.url))
      report.add("KL010", file, one.span, "git+ without a commit is whatever upstream has today");
    else if (!one.exact)
      report
          .add("KL013", file, one.span,
               fmt::format("'{}' is installed in whatever version is newest", one.name))
          .package = one.name;
    else if (!one.hashed && !one.url.starts_with("git+"))
      report.add("KL014", file, one.span,
                 fmt::format("'{}' has no hash", one.name.empty() ? one.url : one.name));
    if (has_credentials(one.url)) report.add("KL061", file, one.span, "this URL has a password");
  }
  for (int line = 1; line <= static_cast<int>(file.lines()); ++line) {
    std::string_view text = file.line_text(line);
    if (text.starts_with("-") && has_credentials(text))
      report.add("KL061", file, {file.start_of(line), file.start_of(line) + text.size()},
                 "this URL has a password");
  }
}

}  // namespace kiln::lint
