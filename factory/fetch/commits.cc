#include "factory/fetch/commits.h"

#include <fmt/format.h>

#include <deque>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kMostCommits = 1000;  // of one source, submodules among them

}  // namespace

std::string submodule_url(const std::string& repository, const std::string& link) {
  if (!link.starts_with("./") && !link.starts_with("../")) return link;
  std::string base = repository;
  while (base.ends_with('/')) base.pop_back();
  std::string_view rest = link;
  while (rest.starts_with("./") || rest.starts_with("../")) {
    const bool up = rest.starts_with("../");
    rest.remove_prefix(up ? 3 : 2);
    if (up) base.resize(std::max(base.rfind('/') + 1, std::size_t{1}) - 1);
  }
  return base + "/" + std::string(rest);
}

std::string repository_path(const std::string& url) {
  std::string name = file_name_of(url);
  if (name.ends_with(".git")) name.resize(name.size() - 4);
  return fmt::format("git/{}-{}.git", name, Digest::of(url).hex().substr(0, 12));
}

CommitFetcher::CommitFetcher(CommandRunner& runner, std::map<std::string, std::string> environment,
                             const PullLimits& limits, const MirrorFolder& folder)
    : runner_(runner), environment_(std::move(environment)), folder_(folder) {
  limits_.wall = limits.wall;
  limits_.silence = limits.stall;
  environment_["GIT_TERMINAL_PROMPT"] = "0";
  environment_["LC_ALL"] = "C";
}

CommandResult CommitFetcher::git(std::vector<std::string> words, bool remote) {
  Command command;
  command.argv = std::move(words);
  command.argv.insert(command.argv.begin(), {"git", "-c", "safe.directory=*"});
  command.environment = environment_;
  command.capture_stdout = true;
  if (remote) command.limits = limits_;
  CommandResult result = runner_.run(command);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return result;
}

std::string CommitFetcher::must(std::vector<std::string> words, const std::string& action, bool remote) {
  CommandResult result = git(std::move(words), remote);
  if (result.ok()) return std::move(result.output);
  throw Error(remote ? ExitCode::network : ExitCode::store,
              fmt::format("{}: {}", action, last_lines(result.tail, 1)));
}

// Removes a damaged repository, into which git fetches nothing. Returns the commits that it had.
std::set<std::string> CommitFetcher::take_apart(const std::string& repository) {
  std::set<std::string> commits;
  const std::string place = folder_.path(repository).string();
  const CommandResult refs =
      git({"-C", place, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/kiln"}, false);
  for (std::string_view commit : split(refs.output, '\n'))
    if (!commit.empty()) commits.emplace(commit);
  folder_.remove(repository);
  return commits;
}

void CommitFetcher::fetch_one(const std::string& url, const std::string& commit,
                              const std::string& repository) {
  const std::string place = folder_.path(repository).string();
  const std::string action = fmt::format("cannot fetch {} of {}", commit, url);
  must({"init", "--quiet", "--bare", place}, action);
  // All that the commit reaches: what a kill left half is none of it.
  const bool is_there =
      git({"-C", place, "rev-parse", "--quiet", "--verify", "refs/kiln/" + commit}, false).ok();
  if (is_there && git({"-C", place, "fsck", "--no-dangling", commit}, false).ok()) return;
  std::set<std::string> wanted = {commit};
  if (is_there) {
    wanted.merge(take_apart(repository));
    must({"init", "--quiet", "--bare", place}, action);
  }
  must({"-C", place, "config", "uploadpack.allowAnySHA1InWant", "true"}, action);
  for (const std::string& one : wanted) {
    ++fetched_;
    // Half an object, which a lost power leaves, would be in the way of every later fetch.
    must({"-C", place, "-c", "core.fsync=all", "fetch", "--progress", "--no-tags", "--depth", "1",
          "--refetch", "--", url, one},
         action, true);
    must({"-C", place, "update-ref", "refs/kiln/" + one, one}, action);
  }
}

std::vector<std::pair<std::string, std::string>> CommitFetcher::submodules(const std::string& url,
                                                                           const std::string& commit,
                                                                           const std::string& repository) {
  const std::string place = folder_.path(repository).string();
  std::vector<std::pair<std::string, std::string>> found;
  // <name>.path LF <value> NUL
  const CommandResult listed =
      git({"-C", place, "config", "-z", "--blob", commit + ":.gitmodules", "--get-regexp", "\\.(path|url)$"},
          false);
  if (!listed.ok()) return found;
  std::map<std::string, std::string> paths, urls;
  for (std::string_view entry : split(listed.output, '\0')) {
    const std::size_t line = entry.find('\n');
    if (line == std::string_view::npos) continue;
    const std::string_view key = entry.substr(0, line);
    const std::size_t dot = key.rfind('.');
    (key.substr(dot + 1) == "path" ? paths : urls)[std::string(key.substr(0, dot))] = entry.substr(line + 1);
  }
  for (const auto& [name, path] : paths) {
    // <mode> commit <hash> TAB <path>
    const std::string tree = must({"-C", place, "ls-tree", "-z", commit, "--", path}, "cannot read " + url);
    const auto words = split(std::string_view(tree).substr(0, tree.find('\t')), ' ');
    if (words.size() == 3 && words[1] == "commit" && urls.contains(name))
      found.emplace_back(submodule_url(url, urls.at(name)), std::string(words[2]));
  }
  return found;
}

std::vector<MirrorItem> CommitFetcher::fetch(const std::string& url, const std::string& commit) {
  std::vector<MirrorItem> items;
  std::set<std::pair<std::string, std::string>> known = {{url, commit}};
  std::deque<std::pair<std::string, std::string>> open = {{url, commit}};
  for (; !open.empty(); open.pop_front()) {
    const auto& [from, wanted] = open.front();
    const std::string repository = repository_path(from);
    fetch_one(from, wanted, repository);
    items.push_back({MirrorKind::commit, from, repository, {}, 0, wanted, from});
    for (auto& one : submodules(from, wanted, repository))
      if (known.insert(one).second) open.push_back(std::move(one));
    if (known.size() > kMostCommits)
      throw Error(ExitCode::input, fmt::format("{} has more than {} submodules", url, kMostCommits));
  }
  return items;
}

}  // namespace kiln
