#include "factory/run/commit_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

// What `git ls-remote` writes of a tag's commit beside the tag itself.
constexpr std::string_view kPeeled = "^{}";

std::map<std::string, std::string> tips_in(const std::string& listed) {
  std::map<std::string, std::string> tips;
  for (std::string_view line : split(listed, '\n')) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    std::string_view ref = line.substr(tab + 1);
    if (ref.ends_with(kPeeled)) ref.remove_suffix(kPeeled.size());  // it comes after the tag's own line
    tips[std::string(ref)] = line.substr(0, tab);
  }
  return tips;
}

constexpr std::string_view kTags = "refs/tags/";

bool is_tag_ref(std::string_view ref) { return ref.starts_with(kTags); }

// The branch that people look at, else the first tag, else the first.
std::string best_of(const std::vector<std::string_view>& refs) {
  for (const char* usual : {"refs/heads/main", "refs/heads/master"})
    if (std::ranges::find(refs, usual) != refs.end()) return usual;
  auto tag = std::ranges::find_if(refs, is_tag_ref);
  if (tag != refs.end()) return std::string(*tag);
  return refs.empty() ? "" : std::string(refs.front());
}

Error failure(const CommandResult& result, const std::string& action, const CommandLimits& limits) {
  if (result.end == CommandEnd::interrupted) return {ExitCode::interrupted, "interrupted"};
  if (result.end == CommandEnd::silence_limit)
    return {ExitCode::network, fmt::format("{}: nothing came for {} s", action, limits.silence.count())};
  if (result.end == CommandEnd::wall_limit)
    return {ExitCode::network, fmt::format("{}: it took longer than {} s", action, limits.wall.count())};
  const bool full = result.tail.find("No space left on device") != std::string::npos;
  return {full ? ExitCode::store : ExitCode::network,
          fmt::format("{}: {}", action, last_lines(result.tail, 1))};
}

}  // namespace

CommitHistory::CommitHistory(CommandRunner& runner, std::map<std::string, std::string> environment,
                             fs::path folder, const PullLimits& limits)
    : runner_(runner), environment_(std::move(environment)), folder_(std::move(folder)) {
  limits_.wall = limits.wall;
  limits_.silence = limits.stall;
  environment_["GIT_TERMINAL_PROMPT"] = "0";
  environment_["LC_ALL"] = "C";
}

std::string CommitHistory::git(std::vector<std::string> arguments, const std::string& action,
                               const CommandLimits& limits) {
  Command command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), "git");
  command.environment = environment_;
  command.capture_stdout = true;
  command.limits = limits;
  CommandResult result = runner_.run(command);
  if (!result.ok()) throw failure(result, action, limits);
  return std::move(result.output);
}

const std::map<std::string, std::string>& CommitHistory::tips_of(const std::string& url) {
  auto tips = tips_.find(url);
  if (tips != tips_.end()) return tips->second;
  const std::string listed =
      git({"ls-remote", "--heads", "--tags", "--", url}, "cannot ask for the branches of " + url, limits_);
  return tips_.emplace(url, tips_in(listed)).first->second;
}

std::map<std::string, std::string> CommitHistory::tags_of(const std::string& url) {
  std::map<std::string, std::string> tags;
  for (const auto& [ref, tip] : tips_of(url))
    if (is_tag_ref(ref)) tags.emplace(ref.substr(kTags.size()), tip);
  return tags;
}

std::string CommitHistory::ref_at(const std::string& url, const std::string& commit) {
  std::vector<std::string_view> ending;
  for (const auto& [ref, tip] : tips_of(url))
    if (tip == commit) ending.push_back(ref);
  // Tags before branches: a release says more.
  auto tag = std::ranges::find_if(ending, is_tag_ref);
  return tag != ending.end() ? std::string(*tag) : best_of(ending);
}

std::string CommitHistory::ref_above(const std::string& url, const std::string& commit) {
  const std::string action = "cannot fetch the history of " + url;
  auto fetched = fetched_.find(url);
  if (fetched == fetched_.end()) {
    const fs::path repository = folder_ / fmt::format("{}.git", fetched_.size());
    git({"init", "--quiet", "--bare", repository.string()}, action);
    // With its progress, so that silence is silence.
    git({"-C", repository.string(), "fetch", "--progress", "--filter=tree:0", "--", url,
         "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"},
        action, limits_);
    fetched = fetched_.emplace(url, repository).first;
  }
  // Only what branches and tags reach was fetched: of any other commit there is no object.
  const std::string inside = fetched->second.string();
  const std::string known =
      git({"-C", inside, "rev-list", "--all", "--no-walk=unsorted", "--ignore-missing", commit}, action);
  if (known.find(commit) == std::string::npos) return "";
  const std::string listed =
      git({"-C", inside, "for-each-ref", "--format=%(refname)", "--contains", commit}, action);
  std::vector<std::string_view> containing = split(listed, '\n');
  std::erase(containing, "");
  return best_of(containing);
}

std::string CommitHistory::ref_of(const std::string& url, const std::string& commit) {
  std::string ref = ref_at(url, commit);
  return ref.empty() ? ref_above(url, commit) : ref;
}

}  // namespace kiln
