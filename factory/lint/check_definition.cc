// Definition files.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "lint/check_file.h"
#include "source/definition_file.h"

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

void check_section(const SourceFile& file, const DefinitionSection& section, Report& report) {
  if (!is_shell_section(section.name)) return;
  Span body{file.start_of(section.place.line + 1), file.start_of(section.last_line + 1)};
  ScriptUnit unit{&file, body, place_of(section.name), read_shell(file.text(), body)};
  check_script(unit, report);
  if (unit.place == ScriptPlace::environment) check_environment(unit, report);
}

void check_from(const SourceFile& file, const DefinitionStage& stage, Report& report) {
  const HeaderField* from = stage.find("from");
  if (from == nullptr || lower_case(stage.value("bootstrap")) != "docker") return;
  if (from->value.find("{{") != std::string::npos) return;  // whoever builds says which
  Place place = from->value_place;
  check_base(from->value, file.at(file.offset_of(place.line, place.column)), report);
}

}  // namespace

std::vector<Error> check_definition(const SourceFile& file, Report& report) {
  std::vector<Error> errors;
  for (const DefinitionStage& stage : read_definition(file.text(), file.path(), errors).stages) {
    check_from(file, stage, report);
    for (const DefinitionSection& section : stage.sections) check_section(file, section, report);
  }
  return errors;
}

}  // namespace kiln::lint
