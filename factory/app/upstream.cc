#include "factory/app/upstream.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "factory/base/json_put.h"
#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

Error odd_names(const Upstream& upstream, std::size_t odd) {
  return {ExitCode::input, fmt::format("{}: {} file{} no version that kiln can compare", name_of(upstream),
                                       odd, odd == 1 ? " has" : "s have")};
}

class UpstreamAsker {
 public:
  explicit UpstreamAsker(const UpstreamSources& sources) : sources_(sources) {}

  // nullopt: it could not be asked.
  std::optional<std::vector<UpstreamRelease>> ask(const Recipe& recipe, const Upstream& upstream,
                                                  std::vector<UpstreamProblem>& problems) {
    try {
      if (upstream.package.empty())
        return releases_of_tags(upstream.tags, sources_.tags(upstream.repository));
      const PackageReleases found = package(upstream.package);
      if (found.odd != 0) problems.push_back({path_of(recipe), odd_names(upstream, found.odd)});
      std::vector<UpstreamRelease> releases;
      for (const PackageRelease& one : found.releases) releases.push_back({one.version, one.date, ""});
      return releases;
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      problems.push_back({path_of(recipe), error});
    }
    return std::nullopt;
  }

 private:
  // After an index has not answered, kiln does not wait for it again with each package.
  PackageReleases package(const std::string& name) {
    if (silent_) throw Error(*silent_);
    try {
      return sources_.releases(name);
    } catch (const Error& error) {
      if (error.code() != ExitCode::no_match) silent_ = error;
      throw;
    }
  }

  const UpstreamSources& sources_;
  std::optional<Error> silent_;
};

// The upstreams of a recipe that is broken today cannot be known, so their places stay.
std::set<std::string> places_of_broken(const RecipeBook& recipes, const ProposalMemory& memory) {
  std::set<std::string> broken, places;
  for (const auto& [key, recipe] : recipes.broken()) broken.insert(path_of(key.first, key.second));
  for (const ProposalMemory::Place& place : memory.places)
    if (broken.contains(place.proposal.component))
      places.insert(place_of(place.proposal.component, place.proposal.upstream, place.proposal.range));
  return places;
}

}  // namespace

UpstreamNews newer_upstream(const RecipeBook& recipes, const LockNeeds& needs, const ProposalMemory& memory,
                            int most, std::int64_t now, const UpstreamSources& sources) {
  UpstreamNews news;
  std::set<const Recipe*> needed;
  for (const auto& [id, need] : needs) needed.insert(need.component);
  std::set<std::string> asked, known = places_of_broken(recipes, memory);
  std::vector<Proposal> found;
  UpstreamAsker asker(sources);
  for (const auto& [key, recipe] : recipes.all()) {
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
  news.proposals = choose_proposals(found, asked, known, memory, most, now);
  return news;
}

Json to_json(const UpstreamNews& news) {
  Json proposals = json_list(news.proposals.shown, [](const Proposal& proposal) {
    Json json = to_json(proposal);
    json["is_new"] = proposal.is_new;
    return json;
  });
  Json problems = json_list(news.problems, [](const UpstreamProblem& problem) {
    return Json{{"component", problem.component}, {"error", problem.why.format()}};
  });
  return {{"proposals", std::move(proposals)},
          {"waiting", json_list(news.proposals.waiting)},
          {"problems", std::move(problems)}};
}

}  // namespace kiln
