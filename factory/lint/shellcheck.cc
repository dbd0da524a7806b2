// KL070: the real shellcheck, in one batch, with its answers kept by digest.
//
// The cache is one JSON file: {"version": "0.9.0", "scripts": {"sha256:…": [{"line": 1, …}, …]}}. It is
// thrown away when shellcheck changes, and keeps the scripts of the last run only.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/json.h"
#include "factory/lint/lint.h"

namespace kiln::lint {
namespace {

constexpr std::size_t kMostRemembered = 10'000;

using Comments = std::map<std::string, Json>;  // digest of a script → array of shellcheck's comments

Command command_for(const Shellcheck& setup, std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  command.environment = setup.environment;
  command.capture_stdout = true;
  command.limits.wall = std::chrono::minutes(5);
  return command;
}

std::string version_of(const Shellcheck& setup) {
  std::string output = setup.runner->run(command_for(setup, {"shellcheck", "--version"})).output;
  constexpr std::string_view kField = "\nversion: ";
  std::size_t at = output.find(kField);
  if (at == std::string::npos) return "unknown";
  at += kField.size();
  return output.substr(at, output.find('\n', at) - at);
}

Comments read_cache(const Shellcheck& setup, const std::string& version, const FileSystem& files) {
  Comments known;
  if (setup.cache.empty()) return known;
  auto text = files.read(setup.cache);
  if (!text) return known;
  Json cache = Json::parse(*text, nullptr, false);
  if (!cache.is_object() || cache.value("version", Json()) != Json(version) || !cache.contains("scripts") ||
      !cache["scripts"].is_object())
    return known;
  for (const auto& [digest, comments] : cache["scripts"].items())
    if (comments.is_array()) known[digest] = comments;
  return known;
}

// Comments by path, as `shellcheck --format=json1` prints them.
std::map<std::string, Json> ask(const std::vector<std::string>& paths, const std::string& shell,
                                const Shellcheck& setup) {
  if (paths.empty()) return {};
  std::vector<std::string> argv = {"shellcheck", "--format=json1", "--shell=" + shell, "--"};
  argv.insert(argv.end(), paths.begin(), paths.end());
  const CommandResult result = setup.runner->run(command_for(setup, std::move(argv)));
  Json answer = Json::parse(result.output, nullptr, false);
  // 0: nothing found, 1: something found; anything else is shellcheck's own trouble.
  if (result.end != CommandEnd::exited || result.status > 1 || !answer.is_object() ||
      !answer.contains("comments"))
    throw Error(ExitCode::input, "shellcheck failed: " + result.tail);
  std::map<std::string, Json> by_path;
  for (const std::string& path : paths) by_path[path] = Json::array();
  for (Json& comment : answer["comments"]) {
    auto found = by_path.find(comment.value("file", ""));
    if (found == by_path.end()) continue;
    comment.erase("file");
    comment.erase("fix");
    found->second.push_back(std::move(comment));
  }
  return by_path;
}

Severity severity_of(const std::string& level) {
  if (level == "error") return Severity::error;
  return level == "warning" ? Severity::warning : Severity::note;
}

// "In POSIX sh, … is undefined."
bool is_about_dash(const Json& comment) {
  const int code = comment.value("code", 0);
  return code >= 3000 && code < 4000;
}

void add_comments(const std::string& path, const Json& comments, bool sh_is_bash, Report& report) {
  for (const Json& comment : comments) {
    if (sh_is_bash && is_about_dash(comment)) continue;
    SourceLocation where{path, comment.value("line", 1), comment.value("column", 1), ""};
    Finding& finding = report.add(
        "KL070", where, fmt::format("{} (SC{})", comment.value("message", ""), comment.value("code", 0)));
    finding.severity = severity_of(comment.value("level", "info"));
    if (comment.value("endLine", 0) == where.line) finding.end_column = comment.value("endColumn", 0);
    finding.hint = fmt::format("mend it, or `# shellcheck disable=SC{}` with the reason above it",
                               comment.value("code", 0));
  }
}

void write_cache(const Comments& comments, const std::string& version, const Shellcheck& setup,
                 FileSystem& files) {
  if (setup.cache.empty()) return;
  try {
    files.write(setup.cache, Json{{"version", version}, {"scripts", comments}}.dump() + "\n");
  } catch (const Error&) {
    // A cache that cannot be written costs time and nothing else.
  }
}

}  // namespace

void run_shellcheck(const std::vector<Script>& scripts, const std::map<std::string, SourceFile>& sources,
                    const Shellcheck& setup, FileSystem& files, Report& report,
                    std::vector<std::string>& notes) {
  if (scripts.empty()) return;
  if (!setup.runner->find_program("shellcheck")) {
    notes.push_back("shellcheck is not installed: scripts were looked at without it [KL070]");
    return;
  }
  const std::string version = version_of(setup);
  Comments known = read_cache(setup, version, files);
  Comments used;
  auto key_of = [&](const std::string& path, bool bash) {
    return Digest::of(sources.at(path).text()).text() + (bash ? " bash" : "");
  };
  bool news = false;
  for (bool bash : {false, true}) {
    std::vector<std::string> unknown;
    for (const Script& script : scripts)
      if (script.bash == bash && !known.contains(key_of(script.path, bash))) unknown.push_back(script.path);
    for (auto& [path, comments] : ask(unknown, bash ? "bash" : "sh", setup))
      known[key_of(path, bash)] = std::move(comments);
    news = news || !unknown.empty();
  }
  for (const Script& script : scripts) {
    const std::string key = key_of(script.path, script.bash);
    const Json& comments = used[key] = known.at(key);
    add_comments(script.path, comments, script.sh_is_bash, report);
  }
  if (!news) return;
  if (known.size() > kMostRemembered) known = std::move(used);
  write_cache(known, version, setup, files);
}

}  // namespace kiln::lint
