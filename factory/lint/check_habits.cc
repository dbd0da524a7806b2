// Habits from a terminal that do not belong into builds, and the list of all script checks.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/lint/checks.h"

namespace kiln::lint {

// State that ends with its shell.

namespace {

// What the command changes in its own shell and nowhere else; "" for other commands.
std::string state_of(const ShellCommand& command, ScriptRole place) {
  const Call call = call_of(command);
  if (call.program == "export" || call.program == "alias" || call.program == "cd") return call.program;
  bool alone = place == ScriptRole::run || place == ScriptRole::run_dropped;
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
  if (path.starts_with("/etc/profile.d/")) return true;
  if (is_one_of(path,
                "/etc/profile /etc/bash.bashrc /etc/environment /etc/bashrc /root/.bashrc /root/.profile"))
    return true;
  bool home = path.starts_with("~/") || path.starts_with("$HOME/") || path.starts_with("${HOME}/") ||
              path.starts_with("/home/");
  return home &&
         (path.ends_with("/.bashrc") || path.ends_with("/.profile") || path.ends_with("/.bash_profile"));
}

// Read by the same script, further down.
bool is_sourced_behind(std::string_view path, const ShellCommand& command, const ScriptUnit& unit) {
  return std::ranges::any_of(unit.shell.commands, [&](const ShellCommand& other) {
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

// KL001, KL002
static void check_state(const ScriptUnit& unit, Report& report) {
  if (unit.place == ScriptRole::environment) return;
  if (unit.place != ScriptRole::other && !unit.is_sourced) check_last_commands(unit, report);
  check_profiles(unit, report);
}

namespace {

void check_sudo(const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  if (!call_of(command).sudo) return;
  const auto& words = command.words;
  auto sudo = std::ranges::find_if(words, [](const ShellToken& word) { return word.text.ends_with("sudo"); });
  Finding& finding = add(report, "KL075", unit, command, sudo->span, "this step is root already");
  bool plain = sudo + 1 != words.end() && !(sudo + 1)->text.starts_with('-');
  if (in_recipe(unit.place) && plain) finding.fix = {{{sudo->span.begin, (sudo + 1)->span.begin}, ""}};
}

bool opens_to_all(std::string_view mode) {
  return is_one_of(mode, "777 0777 666 0666 a+rwx a+w o+w a=rwx ugo+rwx");
}

void check_modes(const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  const Call call = call_of(command);
  if (call.program != "chmod") return;
  for (const ShellToken* word : call.arguments)
    if (opens_to_all(word->text))
      add(report, "KL079", unit, command, word->span, "every user may write here");
}

void check_questions(const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  const Call call = call_of(command);
  bool asks = (call.program == "update-alternatives" && call.has("--config")) || call.program == "passwd" ||
              (call.program == "dpkg-reconfigure" && !call.has("noninteractive") &&
               !call.has_prefix("-fnoninteractive") && !call.has_prefix("--frontend=noninteractive"));
  if (asks && !(call.program == "passwd" && call.arguments.size() > 1))
    add(report, "KL081", unit, command, command.span, fmt::format("{} asks a person", call.program));
}

// `yes | ./configure`: what is answered to the questions in turn.
void check_answers(const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  const std::string program = call_of(command).program;
  if (command.before != "|" || (program != "configure" && program != "configure.py")) return;
  auto feeds = [&](const ShellCommand& other) {
    const std::string its = call_of(other).program;
    return other.pipeline == command.pipeline && (its == "yes" || its == "echo" || its == "printf");
  };
  const auto& commands = unit.shell.commands;
  auto feeder = std::ranges::find_if(commands, feeds);
  if (feeder != commands.end())
    add(report, "KL034", unit, command, command.span,
        fmt::format("{} answers {}'s questions by their order", call_of(*feeder).program, program));
}

// A link or copy of the stub, or its folder in the loader's configuration.
void check_stub(const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  if (!stays(unit.place)) return;
  const Call call = call_of(command);
  bool places =
      call.program == "ln" || call.program == "cp" || call.program == "mv" || call.program == "install";
  bool configures = std::ranges::any_of(command.redirects, [](const ShellRedirect& redirect) {
    return redirect.target.text.starts_with("/etc/ld.so.conf");
  });
  // Beside the stub itself, where the loader does not look.
  if (places && !call.arguments.empty() && contains(call.arguments.back()->text, "/stubs/")) places = false;
  for (const ShellToken* word : call.arguments) {
    bool stub = contains(word->text, "stubs/libcuda.");
    bool folder = configures && contains(word->text, "cuda") && contains(word->text, "stubs");
    if ((places && stub) || folder) {
      add(report, "KL082", unit, command, word->span, "the stub hides the host's driver");
      return;
    }
  }
}

// `make -j`: as many jobs as there are files. A number, or what computes one, must follow.
const ShellToken* endless_jobs(const Call& call) {
  const bool builds = call.program == "cmake" && call.has("--build");
  if (call.program != "make" && call.program != "gmake" && !builds) return nullptr;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const std::string& text = call.arguments[i]->text;
    const bool letters = text.starts_with('-') && !text.starts_with("--") && text.ends_with('j') &&
                         text.find_first_of("CfIoW") == std::string::npos;
    if (!letters && text != "--jobs" && !(builds && text == "--parallel")) continue;
    const std::string next = i + 1 < call.arguments.size() ? call.arguments[i + 1]->text : "";
    if (next.empty() || (!is_digit(next[0]) && next[0] != '$' && next[0] != '`')) return call.arguments[i];
  }
  return nullptr;
}

void check_jobs(const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  const Call call = call_of(command);
  if (const ShellToken* word = endless_jobs(call))
    add(report, "KL084", unit, command, word->span,
        fmt::format("{} starts a job for every file that is ready", call.program));
  for (const ShellToken& word : command.words)
    if (assigned_name(word.text) == "MAKEFLAGS" && (word.text.ends_with("=-j") || word.text.ends_with("=j")))
      add(report, "KL084", unit, command, word.span, "make starts a job for every file that is ready");
}

// Commands of which no failure is to be expected, or whose failure is the end.
bool cannot_fail(const ShellCommand& command) {
  const bool substitutes =
      std::ranges::any_of(command.words, [](const ShellToken& word) { return !word.substitutions.empty(); });
  const std::string program = call_of(command).program;
  return (program.empty() ||
          is_one_of(program, ": true echo printf export set unset umask trap alias exit readonly shopt")) &&
         !substitutes;
}

bool stops_at_errors(const ScriptUnit& unit) {
  if (unit.stops) return true;
  const bool whole = in_recipe(unit.place);
  std::string_view first = whole ? unit.file->line_text(1) : unit.text().substr(0, unit.text().find('\n'));
  std::size_t blank = first.find(' ');
  if (first.starts_with("#!") && blank != std::string_view::npos && contains(first.substr(blank), " -") &&
      first.substr(blank).find('e', first.substr(blank).find(" -")) != std::string_view::npos)
    return true;
  return std::ranges::any_of(unit.shell.commands, [](const ShellCommand& command) {
    const Call call = call_of(command);
    if (call.program != "set") return false;
    return std::ranges::any_of(call.arguments, [](const ShellToken* word) {
      return word->text == "errexit" ||
             (word->text.starts_with('-') && !word->text.starts_with("--") && contains(word->text, 'e'));
    });
  });
}

std::vector<Edit> stop_at_errors(const ScriptUnit& unit) {
  std::string_view first = unit.file->line_text(1);
  if (first == "#!/bin/sh") return {{{first.size(), first.size()}, " -eu"}};
  if (first.starts_with("#!")) return {};
  return {{{0, 0}, "#!/bin/sh -eu\n"}};
}

void check_errors(const ScriptUnit& unit, Report& report) {
  if (stops_at_errors(unit) || unit.is_sourced) return;
  if (in_recipe(unit.place)) {
    Finding& finding = report.add("KL077", *unit.file, {0, unit.file->line_text(1).size()},
                                  "run by hand, this script continues after a failure");
    finding.severity = Severity::note;
    finding.fix = stop_at_errors(unit);
    return;
  }
  if ((unit.place != ScriptRole::run && unit.place != ScriptRole::run_dropped) || unit.shell.compound) return;
  for (const ShellCommand& command : unit.shell.commands) {
    if (command.after != ";" || command.depth > 0 || cannot_fail(command)) continue;
    add(report, "KL077", unit, command, command.span, "when this fails, the next command runs all the same");
    return;
  }
}

}  // namespace

Finding& add(Report& report, std::string_view rule, const ScriptUnit& unit, const ShellCommand& command,
             Span span, std::string text) {
  Finding& finding = report.add(rule, *unit.file, span, std::move(text));
  finding.first_line = unit.file->line_of(std::min(command.span.begin, span.begin));
  return finding;
}

// KL034, KL075, KL077, KL079, KL081, KL082, KL084
static void check_habits(const ScriptUnit& unit, Report& report) {
  if (unit.place == ScriptRole::environment) return;
  for (const ShellCommand& command : unit.shell.commands) {
    check_sudo(unit, command, report);
    check_modes(unit, command, report);
    check_questions(unit, command, report);
    check_answers(unit, command, report);
    check_stub(unit, command, report);
    check_jobs(unit, command, report);
  }
  check_errors(unit, report);
}

void check_alone(const ScriptUnit& unit, Report& report) {
  check_state(unit, report);
  check_flags(unit, report);
  check_pip(unit, report);
  check_conda(unit, report);
  check_apt(unit, report);
  check_habits(unit, report);
  check_self_tests(unit, report);
  check_script_secrets(unit, report);
}

void check_script(const ScriptUnit& unit, Report& report) {
  check_alone(unit, report);
  check_git(unit, report);
  check_downloads(unit, report);
}

}  // namespace kiln::lint
