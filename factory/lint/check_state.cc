// State that ends with its shell.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/lint/check_script.h"

namespace kiln::lint {
namespace {

// What the command changes in its own shell and nowhere else; "" for other commands.
std::string state_of(const ShellCommand& command, ScriptPlace place) {
  const Call call = call_of(command);
  if (call.program == "export" || call.program == "alias" || call.program == "cd") return call.program;
  bool alone = place == ScriptPlace::run || place == ScriptPlace::run_dropped;
  if (alone && (call.program == "source" || call.program == ".")) return call.program;
  if (call.program == "conda" && call.has("activate")) return "conda activate";
  if (alone && call.program.empty() && !command.words.empty()) return "an assignment";
  return "";
}

void check_last_commands(const ScriptUnit& unit, Report& report) {
  const auto& commands = unit.shell.commands;
  for (auto command = commands.rbegin(); command != commands.rend(); ++command) {
    if (command->in_substitution) continue;
    if (command->depth > 0) return;
    std::string state = state_of(*command, unit.place);
    if (state.empty()) return;
    add(report, "KL001", unit, *command, command->span,
        fmt::format("{} has no effect: its shell ends here",
                    state == "an assignment" ? state : "`" + state + "`"));
  }
}

bool is_profile(std::string_view path) {
  static constexpr std::array<std::string_view, 6> kExact = {"/etc/profile",     "/etc/bash.bashrc",
                                                             "/etc/environment", "/etc/bashrc",
                                                             "/root/.bashrc",    "/root/.profile"};
  if (path.starts_with("/etc/profile.d/")) return true;
  if (std::find(kExact.begin(), kExact.end(), path) != kExact.end()) return true;
  bool home = path.starts_with("~/") || path.starts_with("$HOME/") || path.starts_with("${HOME}/") ||
              path.starts_with("/home/");
  return home &&
         (path.ends_with("/.bashrc") || path.ends_with("/.profile") || path.ends_with("/.bash_profile"));
}

// Read by the same script, further down.
bool is_sourced_behind(std::string_view path, const ShellCommand& command, const ScriptUnit& unit) {
  const auto& commands = unit.shell.commands;
  return std::any_of(commands.begin(), commands.end(), [&](const ShellCommand& other) {
    const Call call = call_of(other);
    return other.span.begin > command.span.begin && (call.program == "source" || call.program == ".") &&
           call.has(path);
  });
}

void check_profile(const ShellToken& path, const ScriptUnit& unit, const ShellCommand& command,
                   Report& report) {
  if (is_profile(path.text) && !is_sourced_behind(path.text, command, unit))
    add(report, "KL002", unit, command, path.span, fmt::format("no step and no program reads {}", path.text));
}

void check_profiles(const ScriptUnit& unit, Report& report) {
  for (const ShellCommand& command : unit.shell.commands) {
    for (const ShellRedirect& redirect : command.redirects)
      if (redirect.sign.starts_with('>')) check_profile(redirect.target, unit, command, report);
    const Call call = call_of(command);
    if (call.program != "tee") continue;
    for (const ShellToken* word : call.arguments) check_profile(*word, unit, command, report);
  }
}

}  // namespace

void check_state(const ScriptUnit& unit, Report& report) {
  if (unit.place == ScriptPlace::environment) return;
  if (unit.place != ScriptPlace::other && !unit.is_sourced) check_last_commands(unit, report);
  check_profiles(unit, report);
}

}  // namespace kiln::lint
