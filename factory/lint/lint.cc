#include "factory/lint/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/checks.h"
#include "factory/lint/recipe_source.h"
#include "factory/lint/unit.h"
#include "factory/recipe/recipe.h"
#include "factory/site/site.h"
#include "factory/source/source_file.h"

namespace kiln::lint {

// Suppressions in comments: `# kiln-lint: ignore KL012 reason`, in JSON `// kiln-lint: ignore KL040 reason`.
// One holds for its own line and for the command or value that follows it.

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

// Marks what comments of the files allow (`# kiln-lint: ignore KL012 reason`) and reports comments without a
// reason (KL099).
static void apply_suppressions(std::map<std::string, SourceFile>& sources, Report& report) {
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

namespace {

constexpr int kDeepest = 12;

bool is_script(std::string_view path, std::string_view text) {
  return path.ends_with(".sh") || text.starts_with("#!/bin/sh") || text.starts_with("#!/bin/bash");
}

bool is_for_bash(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.starts_with("#!") && contains(first, "bash");
}

// On the distributions of rpm /bin/sh is bash. A script that serves both kinds is for dash as well.
bool is_for_rpm(std::string_view text) {
  if (contains(text, "# shellcheck shell=bash\n")) return true;  // an import's
  bool rpm = false;
  for (const ShellCommand& command : read_shell(text).commands) {
    const std::string program = call_of(command).program;
    if (program == "apt-get" || program == "apt" || program == "apk" || program == "dpkg") return false;
    rpm = rpm || program == "dnf" || program == "yum" || program == "microdnf" || program == "zypper" ||
          program == "rpm";
  }
  return rpm;
}

// JSON that is neither a matrix nor a site file.
bool is_other_json(std::string_view name) {
  return name.ends_with(".lock.json") || name.ends_with(".schema.json");
}

// "'numpy' is installed …, as are 'scipy' and 14 more": a file that pins nothing is one finding, at the
// first. A finding that is suppressed stays by itself. REQUIRES: in the order of files.
void fold_unpinned(std::vector<Finding>& findings) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<Finding> folded;
  std::map<std::string, std::pair<std::size_t, std::vector<std::string>>>
      others;  // by file: the first, names
  for (Finding& finding : findings) {
    if (finding.rule == "KL013" && !finding.suppressed) {
      auto [first, added] = others.try_emplace(finding.where.file, folded.size(), std::vector<std::string>{});
      if (!added) {
        first->second.second.push_back(fmt::format("'{}'", finding.package));
        continue;
      }
    }
    folded.push_back(std::move(finding));
  }
  for (auto& [file, rest] : others) {
    auto& [first, names] = rest;
    if (names.empty()) continue;
    const std::size_t more = names.size() - std::min(names.size(), kMostNamed);
    names.resize(names.size() - more);
    folded[first].text +=
        fmt::format(", as {} {}", names.size() + more == 1 ? "is" : "are", fmt::join(names, ", "));
    if (more > 0) folded[first].text += fmt::format(" and {} more", more);
  }
  findings = std::move(folded);
}

bool is_searched(const std::string& name) {
  return !name.starts_with('.') && name != "node_modules" && name != "__pycache__";
}

void add_recipes(const fs::path& path, const FileSystem& files, int depth, std::vector<fs::path>& found) {
  if (path.filename() == "recipe.json") found.push_back(path);
  if (depth > kDeepest || !files.is_directory(path) || (depth > 0 && is_link(path))) return;
  try {
    for (const std::string& name : files.list(path))
      if (!name.starts_with('.')) add_recipes(path / name, files, depth + 1, found);
  } catch (const Error&) {
    return;  // a folder that cannot be read
  }
}

}  // namespace

FileKind kind_of_file(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name == "recipe.json") return FileKind::recipe;
  if (name.ends_with(".json") && is_other_json(name)) return FileKind::unknown;
  if (name.starts_with("site.") && name.ends_with(".json")) return FileKind::site;
  if (name.ends_with(".json")) return FileKind::matrix;
  if (is_dockerfile_name(name)) return FileKind::dockerfile;
  if (is_definition_name(name)) return FileKind::definition;
  if (name.ends_with(".sh")) return FileKind::script;
  if (name.ends_with(".py")) return FileKind::python;
  if (name.ends_with(".txt") && contains(name, "requirements")) return FileKind::requirements;
  return FileKind::unknown;
}

std::vector<fs::path> recipes_below(const fs::path& path, const FileSystem& files) {
  std::vector<fs::path> found;
  add_recipes(path, files, 0, found);
  return found;
}

bool RuleSelection::wants(const std::string& rule) const {
  auto has = [&](const std::vector<std::string>& list) { return contains(list, rule); };
  return (only.empty() || has(only)) && !has(ignore);
}

std::size_t LintResult::count(Severity least) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      findings, [&](const Finding& finding) { return !finding.suppressed && finding.severity >= least; }));
}

std::vector<fs::path> Linter::look_at(const fs::path& path) {
  std::vector<fs::path> matrices;
  if (files_.is_directory(path)) {
    look_at_folder(path, matrices, 0);
    return matrices;
  }
  if (!files_.exists(path))
    throw Error(ExitCode::usage, fmt::format("there is no file or folder '{}'", path.string()));
  FileKind kind = kind_of_file(path);
  if (kind == FileKind::unknown)
    throw Error(ExitCode::usage, fmt::format("kiln lint does not check files like '{}'", path.string()),
                "recipe.json, a matrix, site.json, Dockerfile…, Containerfile…, *.def, Singularity…, "
                "Apptainer…, *.sh, "
                "*.py, requirements*.txt, or "
                "a folder");
  if (kind == FileKind::matrix) return {path};
  look_at_file(path, kind);
  return {};
}

void Linter::look_at_folder(const fs::path& folder, std::vector<fs::path>& matrices, int depth) {
  if (depth > kDeepest) return;
  const std::vector<std::string> names = list(folder);
  if (contains(names, "recipe.json")) return look_at_recipe((folder / "recipe.json").lexically_normal());
  for (const std::string& name : names) {
    if (!is_searched(name)) continue;
    const fs::path path = (folder / name).lexically_normal();  // "Dockerfile", not "./Dockerfile"
    if (files_.is_directory(path)) {
      if (!is_link(path)) look_at_folder(path, matrices, depth + 1);
      continue;
    }
    FileKind kind = kind_of_file(name);
    bool own = depth == 0 &&
               (kind == FileKind::script || kind == FileKind::python || kind == FileKind::requirements);
    if (own || kind == FileKind::dockerfile || kind == FileKind::definition || name == "site.json")
      look_at_file(path, kind);
    if (kind == FileKind::matrix && depth <= 1 && folder.filename() == "matrix") matrices.push_back(path);
  }
}

std::vector<std::string> Linter::list(const fs::path& folder) {
  try {
    return files_.list(folder);
  } catch (const Error& error) {
    cannot_read(error);
    return {};
  }
}

// nullopt for what cannot be read, which is then in the result.
std::optional<std::string> Linter::read(const fs::path& path) {
  try {
    auto text = files_.read(path);
    if (text) return text;
    cannot_read(Error(ExitCode::input, {path.string(), 0, 0, ""}, "cannot be read"));
  } catch (const Error& error) {
    cannot_read(error);
  }
  return std::nullopt;
}

void Linter::look_at_file(const fs::path& path, FileKind kind) {
  if (kind == FileKind::recipe) return look_at_recipe(path);
  if (kind == FileKind::site) return look_at_site(path);
  auto text = read(path);
  if (!text) return;
  ++result_.files;
  SourceFile file(path.string(), std::move(*text));
  std::vector<Error> errors;
  if (kind == FileKind::dockerfile) errors = check_dockerfile(file, report_);
  if (kind == FileKind::definition) errors = check_definition(file, report_);
  for (const Error& error : errors) cannot_read(error);
  if (kind == FileKind::script) check_shell_file(file, ScriptRole::recipe, report_);
  if (kind == FileKind::python) check_python_file(file, report_);
  if (kind == FileKind::requirements) check_requirements_file(file, report_);
  if (kind == FileKind::script) scripts_.push_back({file.path(), is_for_bash(file.text()), false});
  remember(file);
}

void Linter::look_at_site(const fs::path& path) {
  ++result_.files;
  try {
    read_site(files_, path);
  } catch (const Error& error) {
    cannot_read(error);
  }
}

void Linter::look_at_recipe(const fs::path& path) {
  if (result_.sources.contains(path.string())) return;
  try {
    ++result_.files;
    const RecipeSource recipe = read_recipe_source(path, files_, roots_);
    check_recipe(recipe, report_);
    remember(recipe.json);
    for (const auto& [name, file] : recipe.files) {
      remember(file);
      if (is_script(file.path(), file.text()))
        scripts_.push_back({file.path(), false, is_for_rpm(file.text())});
    }
    result_.files += recipe.files.size();
    for (const std::string& name : recipe.unnamed)
      if (auto text = read(recipe.component.folder / name))
        remember(SourceFile((recipe.component.folder / name).string(), std::move(*text)));
  } catch (const Error& error) {
    cannot_read(error);
  }
}

void Linter::look_at(const CellInput& cells) {
  check_cells(cells, report_);
  for (const auto& [key, component] : cells.recipes.all())
    for (const ComponentVersion& version : component.versions)
      if (!version.pins.empty()) pinned_.insert(component.file);
  for (const Finding& finding : report_.findings()) {
    const std::string& path = finding.where.file;
    if (result_.sources.contains(path)) continue;
    if (auto text = read(path)) remember(SourceFile(path, std::move(*text)));
  }
}

void Linter::cannot_read(const Error& error) {
  auto same = [&](const Error& other) { return other.format() == error.format(); };
  if (std::ranges::none_of(result_.unreadable, same)) result_.unreadable.push_back(error);
}

void Linter::remember(const SourceFile& file) { result_.sources.emplace(file.path(), file); }

LintResult Linter::finish(const Shellcheck& shellcheck) {
  if (shellcheck.runner != nullptr && selection_.wants("KL070"))
    run_shellcheck(scripts_, result_.sources, shellcheck, files_, report_, result_.notes);
  apply_suppressions(result_.sources, report_);
  result_.findings = std::move(report_.findings());
  std::erase_if(result_.findings, [&](const Finding& finding) {
    bool pinned = finding.rule == "KL016" && pinned_.contains(finding.where.file);
    return pinned || !selection_.wants(finding.rule);
  });
  auto place = [](const Finding& finding) {
    return std::tie(finding.where.file, finding.where.line, finding.where.column, finding.rule, finding.text);
  };
  std::ranges::stable_sort(result_.findings, {}, place);
  auto same = [&](const Finding& a, const Finding& b) { return place(a) == place(b); };
  result_.findings.erase(std::unique(result_.findings.begin(), result_.findings.end(), same),
                         result_.findings.end());
  fold_unpinned(result_.findings);
  return std::move(result_);
}

}  // namespace kiln::lint
