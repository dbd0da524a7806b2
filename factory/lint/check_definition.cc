// Definition files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "factory/base/text.h"
#include "factory/lint/check_file.h"
#include "factory/lint/whole_file.h"
#include "factory/source/definition_file.h"

namespace kiln::lint {
namespace {

ScriptPlace place_of(std::string_view section) {
  if (section == "post") return ScriptPlace::post;
  return section == "environment" ? ScriptPlace::environment : ScriptPlace::other;
}

bool is_shell_section(std::string_view section) {
  static constexpr std::array<std::string_view, 7> kSections = {
      "pre", "setup", "post", "environment", "test", "runscript", "startscript"};
  return std::find(kSections.begin(), kSections.end(), section) != kSections.end();
}

// An %environment is read by every start of the container.
void check_environment(const ScriptUnit& unit, Report& report) {
  for (const ShellCommand& command : unit.shell.commands)
    for (const ShellToken& word : command.words)
      if (assigned_name(word.text) == "LD_LIBRARY_PATH" &&
          word.text.find("LD_LIBRARY_PATH", 1) == std::string::npos)
        add(report, "KL078", unit, command, word.span,
            "what was in LD_LIBRARY_PATH, such as --nv's, is lost");
}

// The section's shell, where it is one.
std::optional<ScriptUnit> check_section(const SourceFile& file, const DefinitionSection& section,
                                        Report& report) {
  if (!is_shell_section(section.name)) return std::nullopt;
  Span body{file.start_of(section.place.line + 1), file.start_of(section.last_line + 1)};
  ScriptUnit unit{&file, body, place_of(section.name), read_shell(file.text(), body)};
  check_script(unit, report);
  if (section.name == "test") check_test_section(unit, report);
  if (unit.place == ScriptPlace::environment) check_environment(unit, report);
  return unit;
}

// The base, "" where it is not in a registry.
std::string check_from(const SourceFile& file, const DefinitionStage& stage, Report& report) {
  const HeaderField* from = stage.find("from");
  if (from == nullptr || lower_case(stage.value("bootstrap")) != "docker") return "";
  if (from->value.find("{{") != std::string::npos) return "";  // whoever builds says which
  Place place = from->value_place;
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
