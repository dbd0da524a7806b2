#include "factory/sbom/recipe_origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "factory/base/text.h"
#include "factory/sbom/package.h"

namespace kiln::sbom {
namespace {

class Git {
 public:
  Git(CommandRunner& runner, const std::map<std::string, std::string>& environment, fs::path folder)
      : runner_(runner), environment_(environment), folder_(std::move(folder)) {}

  // nullopt when git refuses: no work tree, no remote of that name.
  std::optional<std::string> ask(std::vector<std::string> arguments) const {
    Command command;
    command.argv = {"git", "-C", folder_.string(), "--no-optional-locks"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment = environment_;
    command.capture_stdout = true;
    command.limits.wall = std::chrono::seconds(60);
    CommandResult result = runner_.run(command);
    if (!result.ok()) return std::nullopt;
    while (result.output.ends_with('\n')) result.output.pop_back();
    return result.output;
  }

 private:
  CommandRunner& runner_;
  const std::map<std::string, std::string>& environment_;
  fs::path folder_;
};

bool is_commit(const std::string& text) { return (text.size() == 40 || text.size() == 64) && is_hex(text); }

// SPDX's and SLSA's form: git+https://…. "git@host:path" is ssh in short; a path on this machine says
// nothing.
std::string git_uri(const std::string& remote) {
  if (remote.find("://") != remote.npos)
    return remote.starts_with("file:") ? "" : "git+" + public_url(remote);
  std::size_t colon = remote.find(':');
  std::size_t at = remote.find('@');
  if (colon == remote.npos || remote.find('/') < colon) return "";
  std::string host = remote.substr(at < colon ? at + 1 : 0, colon - (at < colon ? at + 1 : 0));
  return "git+ssh://" + host + "/" + remote.substr(colon + 1);
}

std::optional<RecipeRepository> repository_of(const Git& git) {
  auto commit = git.ask({"rev-parse", "--verify", "--quiet", "HEAD"});
  if (!commit || !is_commit(*commit)) return std::nullopt;
  RecipeRepository repository;
  repository.commit = *commit;
  if (auto remote = git.ask({"remote", "get-url", "origin"})) repository.uri = git_uri(*remote);
  auto changes = git.ask({"status", "--porcelain", "--", "."});
  repository.modified = !changes || !changes->empty();
  return repository;
}

}  // namespace

RecipeOrigin find_origin(const RecipeBook& recipes, CommandRunner& runner,
                         const std::map<std::string, std::string>& environment) {
  RecipeOrigin origin;
  std::set<fs::path> roots;
  for (const auto& [id, component] : recipes.all()) {
    origin.components[fmt::format("{}/{}", name_of(id.first), id.second)] = {component.licenses,
                                                                             component.homepage};
    if (id.first == Kind::application) continue;  // may lie in the state folder, which is no repository
    roots.insert(fs::absolute(component.folder).lexically_normal().parent_path().parent_path());
  }
  if (!runner.find_program("git")) return origin;
  for (const fs::path& root : roots) {
    auto repository = repository_of(Git(runner, environment, root));
    auto& all = origin.repositories;
    if (repository && std::find(all.begin(), all.end(), *repository) == all.end()) all.push_back(*repository);
  }
  return origin;
}

Json to_json(const RecipeOrigin& origin) {
  Json components = Json::object();
  for (const auto& [name, facts] : origin.components)
    components[name] = {{"licenses", facts.licenses}, {"homepage", facts.homepage}};
  Json repositories = Json::array();
  for (const RecipeRepository& repository : origin.repositories)
    repositories.push_back(
        {{"uri", repository.uri}, {"commit", repository.commit}, {"modified", repository.modified}});
  return {{"components", components}, {"repositories", repositories}};
}

RecipeOrigin recipe_origin_from_json(const JsonNode& node) {
  RecipeOrigin origin;
  for (const auto& [name, facts] : node.at("components").members())
    origin.components[name] = {facts.at("licenses").string(), facts.at("homepage").string()};
  for (const JsonNode& repository : node.at("repositories").items())
    origin.repositories.push_back({repository.at("uri").string(), repository.at("commit").string(),
                                   repository.at("modified").boolean()});
  return origin;
}

}  // namespace kiln::sbom
