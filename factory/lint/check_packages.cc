// apt-get and its like.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/checks.h"
#include "factory/lint/unit.h"
#include "factory/oci/reference.h"

namespace kiln::lint {
namespace {

bool only_local_files(const AptCall& apt) {
  const auto packages = apt.packages();
  return !packages.empty() &&
         std::ranges::all_of(packages, [](const ShellToken* word) { return contains(word->text, '/'); });
}

// APT::Get::Assume-Yes "true" in a file or behind -o, in small or capital letters.
bool mentions_assume_yes(std::string_view text) { return contains(lower_case(text), "assume-yes"); }

bool answers(const AptCall& apt, const ScriptUnit& unit) {
  if (unit.assumes_yes || mentions_assume_yes(unit.text())) return true;
  for (const ShellToken* word : apt.call.arguments) {
    const std::string& text = word->text;
    if (text == "--yes" || text == "--assume-yes" || text == "--force-yes" || text == "-q=2" || text == "-qq")
      return true;
    bool letters = text.starts_with('-') && !text.starts_with("--");
    if (letters && (contains(text, 'y') || contains(text, "qq"))) return true;
  }
  return std::ranges::any_of(unit.shell.commands, [&](const ShellCommand& other) {
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
  if (apt.call.program != "apt" ||
      !is_one_of(apt.verb->text,
                 "install update upgrade full-upgrade remove purge clean autoremove autoclean"))
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
  if (unit.place == ScriptRole::run) {
    if (unit.mentions("<<")) return {};
    return {{{end, end}, " && rm -rf /var/lib/apt/lists/*"}};
  }
  const auto& words = shell.commands.back().words;
  if (!words.empty() && (words.front().text == "exec" || words.front().text == "exit")) return {};
  std::string_view last = unit.file->line_text(last_line);
  std::string indent(last.substr(
      0, unit.place == ScriptRole::post ? std::min(last.find_first_not_of(" \t"), last.size()) : 0));
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

// tzdata, which asks for the geographic area: the table of data/tzdata.json.

namespace {

struct Release {
  std::vector<std::string> tags;  // globs
  std::set<std::string> depends;
  std::set<std::string> recommends;
  Severity severity = Severity::error;
};

struct TimeZoneTable {
  std::vector<std::string> images;
  std::vector<Release> releases;
  Release every;  // what brings it in all releases that ask for sure
};

TimeZoneTable read_table() {
  const JsonDocument document = lint_data("tzdata.json");
  TimeZoneTable table;
  for (const JsonNode& image : document.root().at("images").items()) table.images.push_back(image.string());
  std::map<std::string, std::size_t> times;
  std::size_t sure = 0;
  for (const JsonNode& node : document.root().at("releases").items()) {
    Release release;
    for (const JsonNode& tag : node.at("tags").items()) release.tags.push_back(tag.string());
    for (const JsonNode& name : node.at("depends").items()) release.depends.insert(name.string());
    for (const JsonNode& name : node.at("recommends").items()) release.recommends.insert(name.string());
    if (auto severity = node.find("severity"))
      release.severity = severity_from(severity->string()).value_or(Severity::error);
    if (release.severity == Severity::error) {
      ++sure;
      for (const std::string& name : release.depends) ++times[name];
    }
    table.releases.push_back(std::move(release));
  }
  for (const auto& [name, count] : times)
    if (count == sure) table.every.depends.insert(name);
  table.every.severity = Severity::warning;
  return table;
}

const TimeZoneTable& table() {
  static const TimeZoneTable kTable = read_table();
  return kTable;
}

// Null for a base that is no plain Ubuntu, or has tzdata.
const Release* ubuntu_release(const std::string& base) {
  const std::string name = hub_name(base);
  if (!contains(table().images, name)) return nullptr;
  for (const Release& release : table().releases)
    for (const std::string& tag : release.tags)
      if (glob_matches(tag, tag_of(base))) return &release;
  return nullptr;
}

bool is_answer(const ShellToken& word) {
  return word.text == "debconf-set-selections" || assigned_name(word.text) == "DEBIAN_FRONTEND" ||
         contains(word.text, "/etc/timezone") || contains(word.text, "/etc/localtime");
}

// Whether the command answers the question, for itself or for those behind it in its step.
bool is_answered_by(const ShellCommand& command) {
  return std::ranges::any_of(command.words, is_answer) ||
         std::ranges::any_of(command.redirects,
                             [](const ShellRedirect& redirect) { return is_answer(redirect.target); });
}

// An answer that stays for the next steps: in files, not in a shell's environment.
bool stays_answered(const ShellCommand& command) {
  ShellCommand files = command;
  std::erase_if(files.words,
                [](const ShellToken& word) { return assigned_name(word.text) == "DEBIAN_FRONTEND"; });
  return is_answered_by(files);
}

std::string package_name(const std::string& word) { return word.substr(0, word.find_first_of("=/:")); }

const ShellToken* brings_tzdata(const AptCall& apt, const Release& release) {
  const bool recommends = !apt.call.has("--no-install-recommends");
  for (const ShellToken* word : apt.packages()) {
    const std::string name = package_name(word->text);
    if (release.depends.contains(name) || (recommends && release.recommends.contains(name))) return word;
  }
  return nullptr;
}

void report_question(const AptCall& apt, const ShellToken& package, const ScriptUnit& unit,
                     const Release& release, Report& report) {
  const std::string name = package_name(package.text);
  const std::string what =
      name == "tzdata" ? "tzdata asks" : fmt::format("'{}' brings tzdata, which asks", name);
  Finding& finding =
      add(report, "KL083", unit, *apt.command, package.span, what + " for the geographic area, and waits");
  finding.severity = release.severity;
  const std::size_t begin = apt.call.word->span.begin;
  const bool first = apt.command->words.front().span.begin == begin;
  if (first) finding.fix = {{{begin, begin}, "DEBIAN_FRONTEND=noninteractive "}};
}

// One stage, step by step; after the first installation nothing asks again. True where something was
// installed or answered.
bool look_for_question(const FileStage& stage, const Release& release, bool report_it, Report& report) {
  bool done = false;
  bool answered = false;
  for (const ScriptUnit& unit : stage.units) {
    const std::vector<AptCall> calls = apt_calls(unit);
    if (unit.place != ScriptRole::post) answered = false;  // all %post sections are one shell
    answered = answered || unit.unattended;
    for (const ShellCommand& command : unit.shell.commands) {
      if (done) return true;
      answered = answered || is_answered_by(command);
      done = stays_answered(command);
      auto apt = std::ranges::find_if(calls, [&](const AptCall& call) { return call.command == &command; });
      if (apt == calls.end() || apt->verb->text != "install") continue;
      const ShellToken* package = brings_tzdata(*apt, release);
      if (package == nullptr) continue;
      if (!answered && report_it) report_question(*apt, *package, unit, release, report);
      done = true;
    }
  }
  return done;
}

}  // namespace

void check_time_zone(const WholeFile& whole, Report& report) {
  for (const FileStage& stage : whole.stages) {
    if (stage.units.empty()) continue;
    const ScriptRole place = stage.units.front().place;
    if (in_recipe(place)) {
      if (place == ScriptRole::recipe || place == ScriptRole::build)
        look_for_question(stage, table().every, true, report);
      continue;
    }
    std::vector<const FileStage*> below;
    for (auto parent = stage.parent; parent; parent = whole.stages[*parent].parent)
      below.push_back(&whole.stages[*parent]);
    const Release* release = ubuntu_release(below.empty() ? stage.base : below.back()->base);
    if (release == nullptr) continue;
    const bool done = std::ranges::any_of(
        below, [&](const FileStage* one) { return look_for_question(*one, *release, false, report); });
    if (!done) look_for_question(stage, *release, true, report);
  }
}

// conda and its like.

namespace {

// `conda env create -f FILE`, which asks nothing.
bool is_environment(const Call& call) {
  return !call.arguments.empty() && call.arguments.front()->text == "env";
}

bool conda_answers(const Call& call, const ScriptUnit& unit, const ShellCommand& command) {
  const bool yes = std::ranges::any_of(call.arguments, [](const ShellToken* word) {
    const std::string& text = word->text;
    return text == "--yes" ||
           (text.starts_with('-') && !text.starts_with("--") && text.size() < 5 && contains(text, 'y'));
  });
  if (yes || call.has("--dry-run") || is_environment(call) || unit.mentions("CONDA_ALWAYS_YES") ||
      unit.mentions("always_yes"))
    return true;
  return std::ranges::any_of(unit.shell.commands, [&](const ShellCommand& other) {
    const std::string feeder = call_of(other).program;
    return other.pipeline == command.pipeline && (feeder == "yes" || feeder == "echo");
  });
}

// `rm -rf /opt/conda/pkgs`, and `find /opt/conda/pkgs … -delete`.
bool removes_packages(const Call& call) {
  const bool removes = call.program == "rm" || (call.program == "find" && call.has("-delete"));
  return removes && std::ranges::any_of(call.arguments, [](const ShellToken* word) {
           return contains(word->text, "pkgs") || contains(word->text, "CONDA_PKGS_DIRS");
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
