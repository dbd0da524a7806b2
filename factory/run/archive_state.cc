#include "factory/run/archive_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/run/failure.h"
#include "factory/run/script.h"

namespace kiln {
namespace {

bool is_one_line(const std::string& text) {
  return !text.empty() && text.size() <= 4096 &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

std::string archive_state(const Step& base, const std::string& script, const std::string& architecture,
                          const StepSetup& setup, const fs::path& folder) {
  Command command = host_script(base, script, setup, folder);
  command.environment.erase("KILN_ARCHIVE");
  command.environment["KILN_ARCHITECTURE"] = architecture;
  command.capture_stdout = true;
  CommandResult result = setup.runner.run(command);
  try {
    check_script(result, command.limits);
  } catch (Error& error) {
    throw error.while_doing(
        fmt::format("asking {} of {} for the state of the archives", script, base.component));
  }
  std::string line = result.output;
  while (line.ends_with('\n')) line.pop_back();
  if (!is_one_line(line))
    throw Error(ExitCode::input, fmt::format("{} of {} printed no single line", script, base.component),
                "it prints the state of the package archives on one line of stdout");
  return line;
}

}  // namespace kiln
