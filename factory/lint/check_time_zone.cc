// tzdata, which asks for the geographic area: the table of data/tzdata.json.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/apt_call.h"
#include "factory/lint/check_script.h"
#include "factory/lint/whole_file.h"
#include "factory/oci/reference.h"

namespace kiln {

std::map<std::string_view, std::string_view> embedded_lint_data();

namespace lint {
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
  const auto data = embedded_lint_data();
  const JsonDocument document = JsonDocument::parse(data.at("tzdata.json"), "tzdata.json");
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
  std::string name = repository_name(base);
  if (name.starts_with("docker.io/")) name.erase(0, std::string_view("docker.io/").size());
  if (name.starts_with("library/")) name.erase(0, std::string_view("library/").size());
  const auto& images = table().images;
  if (std::find(images.begin(), images.end(), name) == images.end()) return nullptr;
  for (const Release& release : table().releases)
    for (const std::string& tag : release.tags)
      if (glob_matches(tag, tag_of(base))) return &release;
  return nullptr;
}

bool is_answer(const ShellToken& word) {
  return word.text == "debconf-set-selections" || assigned_name(word.text) == "DEBIAN_FRONTEND" ||
         word.text.find("/etc/timezone") != std::string::npos ||
         word.text.find("/etc/localtime") != std::string::npos;
}

// Whether the command answers the question, for itself or for those behind it in its step.
bool is_answered_by(const ShellCommand& command) {
  return std::any_of(command.words.begin(), command.words.end(), is_answer) ||
         std::any_of(command.redirects.begin(), command.redirects.end(),
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
    if (unit.place != ScriptPlace::post) answered = false;  // all %post sections are one shell
    answered = answered || unit.unattended;
    for (const ShellCommand& command : unit.shell.commands) {
      if (done) return true;
      answered = answered || is_answered_by(command);
      done = stays_answered(command);
      auto apt = std::find_if(calls.begin(), calls.end(),
                              [&](const AptCall& call) { return call.command == &command; });
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
    const ScriptPlace place = stage.units.front().place;
    if (in_recipe(place)) {
      if (place == ScriptPlace::recipe || place == ScriptPlace::build)
        look_for_question(stage, table().every, true, report);
      continue;
    }
    std::vector<const FileStage*> below;
    for (auto parent = stage.parent; parent; parent = whole.stages[*parent].parent)
      below.push_back(&whole.stages[*parent]);
    const Release* release = ubuntu_release(below.empty() ? stage.base : below.back()->base);
    if (release == nullptr) continue;
    const bool done = std::any_of(below.begin(), below.end(), [&](const FileStage* one) {
      return look_for_question(*one, *release, false, report);
    });
    if (!done) look_for_question(stage, *release, true, report);
  }
}

}  // namespace lint
}  // namespace kiln
