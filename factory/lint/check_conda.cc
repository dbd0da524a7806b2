// conda and its like.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/lint/check_script.h"

namespace kiln::lint {
namespace {

// `conda env create -f FILE`, which asks nothing.
bool is_environment(const Call& call) {
  return !call.arguments.empty() && call.arguments.front()->text == "env";
}

bool conda_answers(const Call& call, const ScriptUnit& unit, const ShellCommand& command) {
  const bool yes = std::ranges::any_of(call.arguments, [](const ShellToken* word) {
    const std::string& text = word->text;
    return text == "--yes" || (text.starts_with('-') && !text.starts_with("--") && text.size() < 5 &&
                               text.find('y') != std::string::npos);
  });
  if (yes || call.has("--dry-run") || is_environment(call) || unit.mentions("CONDA_ALWAYS_YES") ||
      unit.mentions("always_yes"))
    return true;
  const auto& commands = unit.shell.commands;
  return std::ranges::any_of(commands, [&](const ShellCommand& other) {
    const std::string feeder = call_of(other).program;
    return other.pipeline == command.pipeline && (feeder == "yes" || feeder == "echo");
  });
}

// `rm -rf /opt/conda/pkgs`, and `find /opt/conda/pkgs … -delete`.
bool removes_packages(const Call& call) {
  const bool removes = call.program == "rm" || (call.program == "find" && call.has("-delete"));
  return removes && std::ranges::any_of(call.arguments, [](const ShellToken* word) {
           return word->text.find("pkgs") != std::string::npos ||
                  word->text.find("CONDA_PKGS_DIRS") != std::string::npos;
         });
}

void check_answer(const Call& call, const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  if (conda_answers(call, unit, command)) return;
  const ShellToken* verb = call.has("install") ? call.find("install") : call.find("create");
  Finding& finding = add(report, "KL072", unit, command, verb->span,
                         fmt::format("{} asks for confirmation, which a build cannot give", call.program));
  finding.fix = {{{verb->span.end, verb->span.end}, " -y"}};
}

}  // namespace

void check_conda(const ScriptUnit& unit, Report& report) {
  const ShellCommand* last = nullptr;
  for (const ShellCommand& command : unit.shell.commands) {
    const Call call = call_of(command);
    if (removes_packages(call)) last = nullptr;
    if (call.program != "conda" && call.program != "mamba" && call.program != "micromamba") continue;
    if (call.has("clean")) last = nullptr;
    if (!call.has("install") && !call.has("create")) continue;
    last = &command;
    check_answer(call, unit, command, report);
    if (is_environment(call)) continue;  // what a file lists
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const std::string& text = call.arguments[i]->text;
      if (text == "-n" || text == "-c" || text == "-p" || text == "--name" || text == "--channel" ||
          text == "--file" || text == "--prefix") {
        ++i;
      } else if (text != "install" && text != "create" && is_letter_or_digit(text.front()) &&
                 text.find_first_of("=$/") == std::string::npos) {
        add(report, "KL013", unit, command, call.arguments[i]->span,
            fmt::format("'{}' is installed without a version", text))
            .package = text;
      }
    }
  }
  if (last != nullptr && stays(unit.place))
    add(report, "KL052", unit, *last, last->span, "conda's packages stay in the layer a second time");
}

}  // namespace kiln::lint
