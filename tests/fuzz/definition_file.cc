// Definition files from anybody: refused with an Error(input) or read, and nothing that was read is lost.
#include "factory/source/definition_file.h"

#include <algorithm>
#include <cstdint>

#include "factory/source/shell.h"

namespace {

void demand(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  auto lines = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  std::vector<Error> errors;
  for (const DefinitionStage& stage : read_definition(text, "x.def", errors).stages)
    for (const DefinitionSection& section : stage.sections)
      demand(section.last_line >= section.place.line && section.last_line <= lines);
  for (const Error& error : errors) demand(error.code() == ExitCode::input && error.where().line <= lines);
  try {
    DefinitionFile file = parse_definition(text, "x.def", {{"given", "value {{ other }}"}});
    demand(!file.stages.empty() && errors.empty());
    bool templated = text.find("{{") != std::string_view::npos;
    for (const DefinitionStage& stage : file.stages) {
      demand(!stage.header.empty() || !stage.sections.empty());
      for (const DefinitionSection& section : stage.sections) {
        demand(!section.name.empty() && (templated || section.place.line <= lines));
        auto body = static_cast<int>(std::count(section.body.begin(), section.body.end(), '\n'));
        for (const FilePair& pair : section.files()) demand(pair.place.line <= section.place.line + body);
        for (const NamedValue& label : section.labels()) demand(!label.name.empty());
        for (const NamedValue& value : section.assignments()) demand(!value.name.empty());
        read_shell(section.body);
      }
    }
  } catch (const Error& error) {
    demand(error.code() == ExitCode::input);
  }
  return 0;
}
