// Any bytes as a Dockerfile, a definition file, a script, a requirements file: looked at, mended, looked at
// again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "factory/lint/checks.h"
#include "factory/lint/output.h"

namespace {

// What cannot be read is said with a place in the file.
template <std::vector<kiln::Error> (*check)(const kiln::SourceFile&, kiln::lint::Report&)>
void definition(const kiln::SourceFile& file, kiln::lint::Report& report) {
  for (const kiln::Error& error : check(file, report))
    if (error.code() != kiln::ExitCode::input || error.where().file != "f") __builtin_trap();
}

using Check = void (*)(const kiln::SourceFile&, kiln::lint::Report&);

void script(const kiln::SourceFile& file, kiln::lint::Report& report) {
  check_shell_file(file, kiln::lint::ScriptRole::recipe, report);
}

void look(Check check, const std::string& text, int rounds) {
  kiln::SourceFile file("f", text);
  kiln::lint::Report report;
  check(file, report);
  kiln::lint::LintResult result;
  result.sources.emplace("f", file);
  result.findings = report.findings();
  for (const kiln::lint::Finding& finding : result.findings)
    if (finding.where.line < 1 || static_cast<std::size_t>(finding.where.line) > file.lines() + 1)
      __builtin_trap();
  if (rounds > 0)
    for (const kiln::lint::FixedFile& fixed : fix(result)) look(check, fixed.after, rounds - 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  for (Check check :
       {Check(definition<kiln::lint::check_dockerfile>), Check(definition<kiln::lint::check_definition>),
        Check(script), Check(kiln::lint::check_python_file), Check(kiln::lint::check_requirements_file)})
    look(check, text, 3);
  return 0;
}
