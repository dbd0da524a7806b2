#include "factory/sbom/provenance.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "factory/base/text.h"

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
  if (contains(remote, "://")) return remote.starts_with("file:") ? "" : "git+" + public_url(remote);
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
    if (repository && !contains(all, *repository)) all.push_back(*repository);
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

namespace {

// {"gitCommit": …} or {"sha256": …}, from "git:…" and "sha256:…"; empty for all else.
Json digest_set(const std::string& checksum) {
  std::size_t colon = checksum.find(':');
  if (colon == checksum.npos) return Json::object();
  std::string kind = checksum.substr(0, colon);
  std::string value = checksum.substr(colon + 1);
  if (kind == "git") return {{"gitCommit", value}};
  if (kind == "sha256") return {{"sha256", value}};
  return Json::object();
}

// in-toto's ResourceDescriptors, each once, in the order in which they were found.
class Dependencies {
 public:
  void add(Json resource) {
    if (seen_.insert(resource.dump()).second) all_.push_back(std::move(resource));
  }
  void add(const std::string& uri, const std::string& name, const std::string& checksum) {
    Json resource{{"name", name}};
    if (!uri.empty()) resource["uri"] = uri;
    Json digests = digest_set(checksum);
    if (!digests.empty()) resource["digest"] = digests;
    if (resource.size() > 1) add(std::move(resource));
  }
  Json take() { return std::move(all_); }

 private:
  Json all_ = Json::array();
  std::set<std::string> seen_;
};

std::string text_at(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void add_scripts(const Json& inputs, const std::string& component, Dependencies& found) {
  auto name = [&](const std::string& file) { return fmt::format("recipes/{}/{}", component, file); };
  if (auto script = inputs.find("script"); script != inputs.end())
    found.add("", name(text_at(*script, "name")), text_at(*script, "digest"));
  if (auto files = inputs.find("files"); files != inputs.end())
    for (const auto& [file, digest] : files->items()) found.add("", name(file), digest.get<std::string>());
}

// A base image by its digest where the lockfile has one; without, only its name is known beforehand.
void add_step(const Step& step, Dependencies& found) {
  Json inputs = inputs_of(step);
  if (step.kind == StepKind::pull) {
    std::string name = step.tagged.empty() ? step.reference : step.tagged;
    found.add(step.reference, name, text_at(inputs, "digest"));
    return;
  }
  add_scripts(inputs, step.component, found);
  auto url = step.parameters.find("KILN_SOURCE_URL");
  auto sum = step.parameters.find("KILN_SOURCE_CHECKSUM");
  if (url != step.parameters.end() && !url->second.empty())
    found.add(url->second, step.component + "@" + step.version,
              sum == step.parameters.end() ? "" : sum->second);
  auto archive = step.parameters.find("KILN_ARCHIVE");
  if (archive != step.parameters.end() && !archive->second.empty())
    found.add({{"name", step.component + " package archive"}, {"uri", archive->second}});
}

std::vector<const Step*> steps_and_tests(const ImageSpec& image) {
  std::vector<const Step*> all = image.steps();
  for (const Step& test : image.tests) all.push_back(&test);
  return all;
}

Json dependencies_of(const ProvenanceInput& input) {
  Dependencies found;
  for (const RecipeRepository& repository : input.origin.repositories) {
    Json resource{{"name", "recipes"}, {"digest", {{"gitCommit", repository.commit}}}};
    if (!repository.uri.empty()) resource["uri"] = repository.uri;
    if (repository.modified) resource["annotations"] = {{"modified", true}};
    found.add(std::move(resource));
  }
  for (const Step* step : steps_and_tests(input.image)) add_step(*step, found);
  return found.take();
}

Json steps_of(const ImageSpec& image) {
  Json all = Json::array();
  for (const Step* step : steps_and_tests(image))
    all.push_back({{"key", step->key}, {"kind", name_of(step->kind)}, {"title", step->title}});
  return all;
}

Json flags_of(const ImageSpec& spec) {
  Json all = Json::array();
  for (const FlagOrigin& flag : spec.flags) {
    Json json{{"variable", flag.variable}, {"value", flag.value}};
    if (!flag.compiler.empty()) json["compiler"] = flag.compiler;
    if (!flag.from.empty()) json["from"] = flag.from;
    if (!flag.component.empty()) json["component"] = flag.component;
    all.push_back(std::move(json));
  }
  return all;
}

Json definition_of(const ProvenanceInput& input) {
  const ImageSpec& spec = input.image;
  return {{"buildType", kBuildType},
          {"externalParameters",
           {{"matrix", input.matrix}, {"cell", spec.request.id}, {"axes", spec.request.axes}}},
          {"internalParameters",
           {{"key", spec.key},
            {"target", {{"cpu", spec.target.cpu}, {"accelerators", spec.target.accelerators}}},
            {"steps", steps_of(spec)},
            {"flags", flags_of(spec)}}},
          {"resolvedDependencies", dependencies_of(input)}};
}

Json run_of(const ProvenanceInput& input) {
  std::string time = rfc3339(input.created);
  Json run{{"builder",
            {{"id", input.builder}, {"version", {{"kiln", input.tool}, {"archspec", input.flag_table}}}}},
           {"metadata",
            {{"invocationId", "urn:kiln:image:" + record_name(input.image)},
             {"startedOn", time},
             {"finishedOn", time}}}};
  if (!input.evidence.empty())
    run["byproducts"] = Json::array({{{"name", "evidence"}, {"digest", {{"sha256", input.evidence.hex()}}}}});
  return run;
}

}  // namespace

std::string to_provenance(const ProvenanceInput& input) {
  Json statement{{"_type", "https://in-toto.io/Statement/v1"},
                 {"subject", Json::array({{{"name", input.image.repository + ":" + input.image.tag},
                                           {"digest", {{"sha256", input.manifest.hex()}}}}})},
                 {"predicateType", "https://slsa.dev/provenance/v1"},
                 {"predicate", {{"buildDefinition", definition_of(input)}, {"runDetails", run_of(input)}}}};
  return statement.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<Package> components_of(const ImageSpec& image, const RecipeOrigin& origin) {
  std::vector<Package> all;
  for (const ComponentUse& use : image.components) {
    Package package;
    package.kind = name_of(use.kind);
    package.name = use.name;
    package.version = use.version.text();
    package.method = use.method;
    std::string id = package.kind + "/" + package.name;
    if (auto facts = origin.components.find(id); facts != origin.components.end()) {
      package.license = read_license(facts->second.licenses);
      package.homepage = facts->second.homepage;
    }
    for (const Step* step : image.steps()) {
      auto url = step->parameters.find("KILN_SOURCE_URL");
      if (step->component != id || url == step->parameters.end() || url->second.empty()) continue;
      auto sum = step->parameters.find("KILN_SOURCE_CHECKSUM");
      package.download = url->second;
      package.checksum = sum == step->parameters.end() ? "" : sum->second;
    }
    all.push_back(std::move(package));
  }
  return all;
}

}  // namespace kiln::sbom
