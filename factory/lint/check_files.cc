// Files that are no Dockerfile: shell, Python, requirements.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "factory/base/text.h"
#include "factory/lint/checks.h"
#include "factory/recipe/native_flag.h"
#include "factory/source/definition_file.h"
#include "factory/source/secret_words.h"

namespace kiln::lint {

// Passwords, tokens and keys.

void check_script_secrets(const ScriptUnit& unit, Report& report) {
  for (const ShellCommand& command : unit.shell.commands) {
    for (const ShellToken& word : command.words) {
      if (has_credentials(word.text))
        add(report, "KL061", unit, command, word.span, "this URL has a password");
      std::string_view name = assigned_name(word.text);
      std::string reason;
      if (!name.empty()) {
        reason = secret_in(name, std::string_view(word.text).substr(word.text.find('=') + 1));
      } else if (std::string kind = token_in(word.text); !kind.empty()) {
        reason = "this is " + kind;
      }
      if (!reason.empty()) add(report, "KL060", unit, command, word.span, reason);
    }
  }
}

namespace {

// The code of a Python line: without a comment. Quotes are not followed; a `#` inside a string ends the line
// early.
std::string_view code_of(std::string_view line) {
  return line.substr(0, std::min(line.find(" #"), line.starts_with('#') ? 0 : line.size()));
}

}  // namespace

void check_shell_file(const SourceFile& file, ScriptRole place, Report& report, const ScriptUse& use) {
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
  bool checks = contains(file.text(), "hashlib");
  for (int line = 1; line <= static_cast<int>(file.lines()); ++line) {
    std::string_view code = code_of(file.line_text(line));
    std::size_t start = file.start_of(line);
    Span span{start + std::min(code.find_first_not_of(" \t"), code.size()), start + code.size()};
    if (std::string flag = native_flag(code); !flag.empty())
      report.add("KL003", file, span, native_text(flag));
    for (std::string_view get : {"urlretrieve(", "urlopen(", "requests.get("})
      if (!checks && contains(code, get))
        report.add("KL012", file, span, fmt::format("no checksum verifies what {}) downloads", get));
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
      report.add("KL010", file, one.span, "git+ without a commit installs the newest commit");
    else if (!one.exact)
      report.add("KL013", file, one.span, fmt::format("'{}' is installed without a version", one.name))
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

// Definition files.

namespace {

ScriptRole place_of(std::string_view section) {
  if (section == "post") return ScriptRole::post;
  return section == "environment" ? ScriptRole::environment : ScriptRole::other;
}

bool is_shell_section(std::string_view section) {
  return is_one_of(section, "pre setup post environment test runscript startscript");
}

// An %environment is read by every start of the container.
void check_environment(const ScriptUnit& unit, Report& report) {
  for (const ShellCommand& command : unit.shell.commands)
    for (const ShellToken& word : command.words)
      if (assigned_name(word.text) == "LD_LIBRARY_PATH" &&
          word.text.find("LD_LIBRARY_PATH", 1) == std::string::npos)
        add(report, "KL078", unit, command, word.span,
            "the former value of LD_LIBRARY_PATH, for example that of --nv, is lost");
}

// The section's shell, where it is one.
std::optional<ScriptUnit> check_section(const SourceFile& file, const DefinitionSection& section,
                                        Report& report) {
  if (!is_shell_section(section.name)) return std::nullopt;
  Span body{file.start_of(section.place.line + 1), file.start_of(section.last_line + 1)};
  ScriptUnit unit{&file, body, place_of(section.name), read_shell(file.text(), body)};
  check_script(unit, report);
  if (section.name == "test") check_test_section(unit, report);
  if (unit.place == ScriptRole::environment) check_environment(unit, report);
  return unit;
}

// The base, "" where it is not in a registry.
std::string check_from(const SourceFile& file, const DefinitionStage& stage, Report& report) {
  const HeaderField* from = stage.find("from");
  if (from == nullptr || lower_case(stage.value("bootstrap")) != "docker") return "";
  if (contains(from->value, "{{")) return "";  // the person who builds says which
  Position place = from->value_place;
  check_base(from->value, file.at(file.offset_of(place.line, place.column)), report);
  return from->value;
}

// Apptainer runs all %post sections of a stage as one shell: what one exports, the next one has.
void check_stage(const SourceFile& file, const DefinitionStage& stage, WholeFile& whole, Report& report) {
  FileStage& own = whole.stages.emplace_back();
  own.name = stage.value("stage");
  own.base = check_from(file, stage, report);
  for (const DefinitionSection& section : stage.sections) {
    if (auto unit = check_section(file, section, report)) own.units.push_back(std::move(*unit));
    if (section.name == "labels")
      for (const NamedValue& label : section.labels()) whole.labels.push_back(label.value);
  }
}

}  // namespace

std::vector<Error> check_definition(const SourceFile& file, Report& report) {
  std::vector<Error> errors;
  WholeFile whole{&file, {}, {}, {}};
  for (const DefinitionStage& stage : read_definition(file.text(), file.path(), errors).stages)
    check_stage(file, stage, whole, report);
  whole.add_shell_settings();
  check_whole(whole, report);
  return errors;
}

}  // namespace kiln::lint
