#include "factory/cli/upstream.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cli/temporary_folder.h"
#include "factory/distribution/package_index.h"
#include "factory/plan/lock_update.h"
#include "factory/recipe/component_value.h"
#include "factory/run/commit_history.h"

namespace kiln {

namespace {

// pip alone knows it, and says it in its help.
std::string default_index(Invocation& invocation) {
  if (!invocation.runner.find_program("python3")) return "";
  Command command;
  command.argv = {"python3", "-m", "pip", "install", "--help"};
  command.environment = invocation.child_environment();
  command.environment["COLUMNS"] = "1000";
  command.environment["LC_ALL"] = "C";
  command.capture_stdout = true;
  command.limits.wall = std::chrono::minutes(1);
  const CommandResult result = invocation.runner.run(command);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return result.ok() ? default_index_in(result.output) : "";
}

}  // namespace

std::optional<PipIndex> index_of_pip(const Site& site, Invocation& invocation) {
  std::optional<PipIndex> index = pip_index(invocation.files, invocation.environment, site.pip_configuration);
  if (!index || !index->url.empty()) return index;
  index->url = default_index(invocation);
  index->from = "pip";
  return index;
}

PipPlaces pip_places(const Site& site, Invocation& invocation) {
  PipPlaces places{index_of_pip(site, invocation), {}};
  if (places.index && places.index->url.empty()) places.index.reset();
  const auto links = invocation.environment.find("PIP_FIND_LINKS");
  if (links == invocation.environment.end()) return places;
  for (std::string_view word : split(links->second, ' ')) {
    if (word.starts_with("file://")) word.remove_prefix(std::string_view("file://").size());
    if (word.starts_with('/') && invocation.files.is_directory(word)) places.folders.emplace_back(word);
  }
  return places;
}

namespace {

constexpr std::chrono::seconds kPageTime = std::chrono::minutes(2);  // for a page of a package index

Error odd_names(const Upstream& upstream, std::size_t odd) {
  return {ExitCode::input, fmt::format("{}: {} file{} no version that kiln can compare", name_of(upstream),
                                       odd, odd == 1 ? " has" : "s have")};
}

// Asks each package and each repository once.
class UpstreamAsker {
 public:
  explicit UpstreamAsker(Invocation& invocation)
      : invocation_(invocation),
        site_(invocation.site()),
        history_(invocation.runner, invocation.child_environment(), fetched_.path(), site_.pull_limits) {}

  // nullopt: it could not be asked.
  std::optional<std::vector<UpstreamRelease>> ask(const Recipe& recipe, const Upstream& upstream,
                                                  std::vector<UpstreamProblem>& problems) {
    try {
      std::size_t odd = 0;
      auto found = releases(upstream, odd);
      if (odd != 0) problems.push_back({path_of(recipe), odd_names(upstream, odd)});
      return found;
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      problems.push_back({path_of(recipe), error});
    }
    return std::nullopt;
  }

 private:
  std::vector<UpstreamRelease> releases(const Upstream& upstream, std::size_t& odd) {
    if (upstream.package.empty()) {
      const auto tags = history_.tags_of(upstream.repository);
      return releases_of_tags(upstream.tags, tags);
    }
    const PackageReleases found = package(upstream.package);
    odd = found.odd;
    std::vector<UpstreamRelease> releases;
    for (const PackageRelease& one : found.releases) releases.push_back({one.version, one.date, ""});
    return releases;
  }

  // An index that does not answer is not waited for again with each package.
  PackageReleases package(const std::string& name) {
    if (silent_) throw Error(*silent_);
    try {
      if (!http_) open();
      return ask_releases(*index_, name, *http_);
    } catch (const Error& error) {
      if (error.code() != ExitCode::no_match) silent_ = error;
      throw;
    }
  }

  void open() {
    index_ = index_of_pip(site_, invocation_);
    if (!index_) throw Error(ExitCode::input, "pip is configured to use no index");
    if (index_->url.empty())
      throw Error(ExitCode::input, "no package index is configured on this machine",
                  "name it as for pip: PIP_INDEX_URL, or index-url in pip.conf");
    HttpSettings settings{invocation_.environment, site_.pull_limits.stall};
    const std::chrono::seconds wall = site_.pull_limits.wall;
    settings.wall = wall.count() == 0 ? kPageTime : std::min(wall, kPageTime);
    if (!index_->certificates.empty()) settings.environment["SSL_CERT_FILE"] = index_->certificates;
    http_ = open_http(std::move(settings));
  }

  Invocation& invocation_;
  Site site_;
  TemporaryFolder fetched_;
  CommitHistory history_;
  std::optional<PipIndex> index_;
  std::unique_ptr<Http> http_;
  std::optional<Error> silent_;
};

ProposalMemory remembered(Invocation& invocation, std::vector<UpstreamProblem>& problems) {
  const fs::path file = invocation.state().proposals();
  try {
    if (const auto text = invocation.files.read(file))
      return read_proposals(JsonDocument::parse(*text, file.string()));
  } catch (const Error& error) {
    problems.push_back({"proposals.json", error});
  }
  return {};
}

// Nobody knows what upstreams a recipe has that is wrong today.
std::set<std::string> places_of_broken(const RecipeBook& recipes, const ProposalMemory& memory) {
  std::set<std::string> broken, places;
  for (const auto& [key, recipe] : recipes.broken()) broken.insert(path_of(key.first, key.second));
  for (const ProposalMemory::Place& place : memory.places)
    if (broken.contains(place.proposal.component))
      places.insert(place_of(place.proposal.component, place.proposal.upstream, place.proposal.range));
  return places;
}

}  // namespace

UpstreamNews ask_upstream(const Catalogue& catalogue, const UpdatePolicy& policy, std::int64_t now,
                          Invocation& invocation) {
  UpstreamNews news;
  if (policy.proposals == 0) return news;
  std::set<const Recipe*> needed;
  for (const auto& [id, need] : lock_needs(catalogue.plan.resolution(), catalogue.recipes))
    needed.insert(need.component);
  const ProposalMemory memory = remembered(invocation, news.problems);
  std::set<std::string> asked, known = places_of_broken(catalogue.recipes, memory);
  std::vector<Proposal> found;
  UpstreamAsker asker(invocation);
  for (const auto& [key, recipe] : catalogue.recipes.all()) {
    for (const Upstream& upstream : recipe.upstream) {
      const std::string place = place_of(path_of(recipe), name_of(upstream), upstream.versions.text());
      known.insert(place);
      if (!needed.contains(&recipe)) continue;
      const auto releases = asker.ask(recipe, upstream, news.problems);
      if (!releases) continue;
      asked.insert(place);
      if (auto newer = newer_release(recipe, upstream, *releases)) found.push_back(*std::move(newer));
    }
  }
  news.proposals = choose_proposals(found, asked, known, memory, policy.proposals, now);
  return news;
}

Json to_json(const UpstreamNews& news) {
  Json proposals = Json::array(), waiting = Json::array(), problems = Json::array();
  for (const Proposal& proposal : news.proposals.shown) {
    Json json = to_json(proposal);
    json["is_new"] = proposal.is_new;
    proposals.push_back(std::move(json));
  }
  for (const Proposal& proposal : news.proposals.waiting) waiting.push_back(to_json(proposal));
  for (const UpstreamProblem& problem : news.problems)
    problems.push_back({{"component", problem.component}, {"error", problem.why.format()}});
  return {{"proposals", std::move(proposals)},
          {"waiting", std::move(waiting)},
          {"problems", std::move(problems)}};
}

void remember_proposals(const ProposalMemory& memory, Invocation& invocation) {
  invocation.files.write(invocation.state().proposals(), proposals_text(memory));
}

}  // namespace kiln
