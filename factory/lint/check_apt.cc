// apt-get and its like.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"
#include "factory/lint/apt_call.h"
#include "factory/lint/check_script.h"

namespace kiln::lint {
namespace {

bool only_local_files(const AptCall& apt) {
  const auto packages = apt.packages();
  return !packages.empty() && std::all_of(packages.begin(), packages.end(), [](const ShellToken* word) {
    return word->text.find('/') != std::string::npos;
  });
}

// APT::Get::Assume-Yes "true" in a file or behind -o, in small or capital letters.
bool mentions_assume_yes(std::string_view text) {
  return lower_case(text).find("assume-yes") != std::string::npos;
}

bool answers(const AptCall& apt, const ScriptUnit& unit) {
  if (unit.assumes_yes || mentions_assume_yes(unit.text())) return true;
  for (const ShellToken* word : apt.call.arguments) {
    const std::string& text = word->text;
    if (text == "--yes" || text == "--assume-yes" || text == "--force-yes" || text == "-q=2" || text == "-qq")
      return true;
    bool letters = text.starts_with('-') && !text.starts_with("--");
    if (letters && (text.find('y') != std::string::npos || text.find("qq") != std::string::npos)) return true;
  }
  const auto& commands = unit.shell.commands;
  return std::any_of(commands.begin(), commands.end(), [&](const ShellCommand& other) {
    return other.pipeline == apt.command->pipeline && call_of(other).program == "yes";
  });
}

void check_install(const AptCall& apt, bool updated, const ScriptUnit& unit, Report& report) {
  const std::size_t behind = apt.verb->span.end;
  if (!updated && !only_local_files(apt)) {
    Finding& finding = add(report, "KL071", unit, *apt.command, apt.call.word->span,
                           "there are no package lists here, or old ones");
    const bool simple = apt.command->before != "||" && apt.command->before != "|" && !apt.call.sudo;
    if (simple) finding.fix = {{{apt.command->span.begin, apt.command->span.begin}, "apt-get update && "}};
  }
  if (!answers(apt, unit)) {
    Finding& finding = add(report, "KL072", unit, *apt.command, apt.verb->span,
                           "apt-get asks for confirmation, which a build cannot give");
    finding.fix = {{{behind, behind}, " -y"}};
  }
  if (!apt.call.has("--no-install-recommends") && !unit.mentions("Install-Recommends")) {
    Finding& finding =
        add(report, "KL073", unit, *apt.command, apt.verb->span, "recommended packages come along");
    finding.fix = {{{behind, behind}, " --no-install-recommends"}};
  }
}

void check_name(const AptCall& apt, const ScriptUnit& unit, Report& report) {
  static constexpr std::array<std::string_view, 9> kVerbs = {
      "install", "update", "upgrade", "full-upgrade", "remove", "purge", "clean", "autoremove", "autoclean"};
  if (apt.call.program != "apt" || std::find(kVerbs.begin(), kVerbs.end(), apt.verb->text) == kVerbs.end())
    return;
  Finding& finding = add(report, "KL074", unit, *apt.command, apt.call.word->span, "apt is for people");
  bool plain = apt.call.word->span.end - apt.call.word->span.begin == 3;
  if (plain && apt.verb->text != "full-upgrade") finding.fix = {{apt.call.word->span, "apt-get"}};
}

bool drops_lists(const ScriptUnit& unit) {
  return unit.mentions("/var/lib/apt/lists") || unit.mentions("type=cache");
}

std::size_t end_of_text(const ScriptUnit& unit) {
  std::size_t end = unit.text().find_last_not_of(" \t\r\n");
  return unit.span.begin + (end == std::string_view::npos ? 0 : end + 1);
}

// What removes the lists at the end of the unit; nothing where its end is out of reach.
std::vector<Edit> removal(const ScriptUnit& unit) {
  const auto& shell = unit.shell;
  if (shell.commands.empty()) return {};
  const std::size_t end = end_of_text(unit);
  const int last_line = unit.file->line_of(end);
  for (const ShellComment& comment : shell.comments)
    if (unit.file->line_of(comment.offset) == last_line) return {};
  if (unit.place == ScriptPlace::run) {
    if (unit.mentions("<<")) return {};
    return {{{end, end}, " && rm -rf /var/lib/apt/lists/*"}};
  }
  const auto& words = shell.commands.back().words;
  if (!words.empty() && (words.front().text == "exec" || words.front().text == "exit")) return {};
  std::string_view last = unit.file->line_text(last_line);
  std::string indent(last.substr(
      0, unit.place == ScriptPlace::post ? std::min(last.find_first_not_of(" \t"), last.size()) : 0));
  return {{{end, end}, fmt::format("\n{0}apt-get clean\n{0}rm -rf /var/lib/apt/lists/*", indent)}};
}

void check_lists(const std::vector<AptCall>& calls, const ScriptUnit& unit, Report& report) {
  auto leaves = [](const AptCall& apt) { return apt.verb->text == "update"; };
  auto last = std::find_if(calls.rbegin(), calls.rend(), leaves);
  if (last == calls.rend() || !stays(unit.place) || drops_lists(unit)) return;
  Finding& finding =
      add(report, "KL050", unit, *last->command, last->command->span, "apt's lists stay in the layer");
  if (in_recipe(unit.place)) finding.severity = Severity::note;
  finding.fix = removal(unit);
}

void check_other_managers(const ScriptUnit& unit, Report& report) {
  if (!stays(unit.place) || unit.mentions("type=cache")) return;
  for (const ShellCommand& command : unit.shell.commands) {
    const Call call = call_of(command);
    bool rpm = call.program == "dnf" || call.program == "yum" || call.program == "microdnf" ||
               call.program == "zypper";
    bool left = (rpm && call.has("install") && !unit.mentions("clean") && !unit.mentions("/var/cache")) ||
                (call.program == "apk" && call.has("add") && !call.has("--no-cache") &&
                 !unit.mentions("/var/cache/apk"));
    if (!left) continue;
    Finding& finding = add(report, "KL050", unit, command, command.span,
                           fmt::format("{}'s cache stays in the layer", call.program));
    finding.hint = call.program == "apk" ? "add --no-cache"
                                         : fmt::format("run {} clean all in the same step", call.program);
    if (in_recipe(unit.place)) finding.severity = Severity::note;
  }
}

}  // namespace

bool configures_assume_yes(const ScriptUnit& unit) {
  return unit.mentions("apt.conf") && mentions_assume_yes(unit.text());
}

void check_apt(const ScriptUnit& unit, Report& report) {
  const std::vector<AptCall> calls = apt_calls(unit);
  bool updated = false;
  for (const AptCall& apt : calls) {
    check_name(apt, unit, report);
    updated |= apt.verb->text == "update";
    if (apt.verb->text == "install") check_install(apt, updated, unit, report);
  }
  check_lists(calls, unit, report);
  check_other_managers(unit, report);
}

}  // namespace kiln::lint
