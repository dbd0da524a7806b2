#include "factory/cli/program_answer.h"

#include <utility>

namespace kiln {

std::optional<std::string> answer_of_program(std::vector<std::string> argv, Invocation& invocation) {
  if (!invocation.runner.find_program(argv.front())) return std::nullopt;
  Command command;
  command.argv = std::move(argv);
  command.environment = invocation.child_environment();
  command.limits.wall = std::chrono::seconds(20);
  command.capture_stdout = true;
  const CommandResult result = invocation.runner.run(command);
  return result.ok() ? std::optional(result.output) : std::nullopt;
}

}  // namespace kiln
