// Recipes: what recipe.json says, and all files that it names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/checks.h"
#include "factory/lint/recipe_source.h"
#include "factory/lint/release_facts.h"
#include "factory/recipe/fact_sources.h"
#include "factory/recipe/parameters.h"
#include "factory/source/secret_words.h"
#include "factory/source/shell.h"

namespace kiln::lint {
namespace {

std::set<std::string> scripts_with_pip_cache(const Recipe& component) {
  std::set<std::string> scripts;
  for (const Method& method : component.methods) {
    if (!contains(method.cache, "pip")) continue;
    scripts.insert(method.script);
    if (method.build) scripts.insert(method.build->script);
    scripts.insert(method.files.begin(), method.files.end());
  }
  return scripts;
}

// `. ./build.sh` in any script of the recipe.
std::set<std::string> sourced_scripts(const RecipeSource& recipe) {
  std::set<std::string> names;
  for (const auto& [path, file] : recipe.files) {
    if (!path.ends_with(".sh")) continue;
    for (const ShellCommand& command : read_shell(file.text()).commands) {
      const Call call = call_of(command);
      if ((call.program != "." && call.program != "source") || call.arguments.empty()) continue;
      const std::string& name = call.arguments.front()->text;
      names.insert(name.starts_with("./") ? name.substr(2) : name);
    }
  }
  return names;
}

void check_files(const RecipeSource& recipe, Report& report) {
  const std::set<std::string> sourced = sourced_scripts(recipe);
  const std::set<std::string> kept = scripts_with_pip_cache(recipe.component);
  for (const auto& [path, place] : places_of(recipe.component)) {
    const SourceFile& file = recipe.files.at(path);
    bool script = path.ends_with(".sh") || file.text().starts_with("#!/bin/sh") ||
                  file.text().starts_with("#!/bin/bash");
    if (script)
      check_shell_file(file, place, report, {kept.contains(path), sourced.contains(path)});
    else if (path.ends_with(".py"))
      check_python_file(file, report);
    else if (path.ends_with(".txt") && contains(path, "requirements"))
      check_requirements_file(file, report);
  }
}

void check_environment(const JsonNode& method, Report& report) {
  auto environment = method.find("environment");
  if (!environment) return;
  for (const auto& [name, node] : environment->members()) {
    const std::string value = (node.is_object() ? node.at("value") : node).string();
    if (std::string reason = secret_in(name, value); !reason.empty())
      report.add("KL060", node.where(), reason);
    if (has_credentials(value)) report.add("KL061", node.where(), "this URL has a password");
    if (name == "LD_LIBRARY_PATH" && !contains(value, "LD_LIBRARY_PATH"))
      report.add("KL078", node.where(), "the base's LD_LIBRARY_PATH is lost");
    if (name == "LD_LIBRARY_PATH" && contains(value, "stubs"))
      report.add("KL082", node.where(), "the stub hides the host's driver");
  }
}

void check_methods(const RecipeSource& recipe, Report& report) {
  for (const auto& [name, method] : recipe.document.root().at("methods").members()) {
    check_environment(method, report);
    auto image = method.find("image");
    if (image) check_base(image->string(), image->where(), report);
  }
}

bool reads_source(const RecipeSource& recipe, const Method& method) {
  auto reads = [&](const std::string& path) {
    return !path.empty() && contains(recipe.files.at(path).text(), "KILN_SOURCE_");
  };
  return reads(method.script) || (method.build && reads(method.build->script)) ||
         std::ranges::any_of(method.files, reads);
}

void check_sources(const RecipeSource& recipe, Report& report) {
  for (const Method& method : recipe.component.methods) {
    if (!reads_source(recipe, method)) continue;
    for (const ComponentVersion& version : recipe.component.versions)
      if (version.source_url.empty() && method.versions.contains(version.version))
        report.add_once("KL018", version.where,
                        fmt::format("method '{}' downloads the source of {}, and there is none", method.name,
                                    version.version.text()));
  }
}

void check_caches(const RecipeSource& recipe, Report& report) {
  const JsonNode methods = recipe.document.root().at("methods");
  for (const Method& method : recipe.component.methods) {
    std::string text;
    for (const std::string& path : {method.script, method.build ? method.build->script : ""})
      if (!path.empty()) text += recipe.files.at(path).text();
    for (const std::string& path : method.files) text += recipe.files.at(path).text();
    for (std::size_t i = 0; i < method.cache.size(); ++i) {
      const CacheKind* kind = find_cache_kind(method.cache[i]);
      const bool is_used =
          contains(text, kind->word) && (kind->without.empty() || !contains(text, kind->without));
      if (!is_used)
        report.add("KL095", methods.at(method.name).at("cache").where(),
                   fmt::format("no script of the method '{}' uses the cache '{}': {}", method.name,
                               kind->name, kind->how));
    }
  }
}

bool holds_for(const Acceptance& accepted, const RecipeSource& recipe, const Method& method) {
  const auto& versions = recipe.component.versions;
  return (accepted.method.empty() || accepted.method == method.name) &&
         std::ranges::any_of(versions, [&](const ComponentVersion& version) {
           return method.versions.contains(version.version) && accepted.versions.contains(version.version);
         });
}

// What a recipe compiles is compiled for its target: only binaries of others need to be accepted.
void check_accept(const RecipeSource& recipe, Report& report) {
  for (const Acceptance& accepted : recipe.component.accept)
    for (const Method& method : recipe.component.methods)
      if (method.build && holds_for(accepted, recipe, method))
        report.add(
            "KL097", accepted.where,
            fmt::format("the method '{}' compiles what '{}' accepts", method.name, accepted.file.file));
}

// Facts decide what is built and where it runs, so where each is from can be looked up.
void check_facts(const RecipeSource& recipe, Report& report) {
  const JsonNode root = recipe.document.root();
  const std::vector<FactSource> sources = read_fact_sources(root);
  std::set<const FactSource*> used;
  for (const Fact& fact : facts_of(recipe.component, root)) {
    const FactSource* source = source_of(fact, sources);
    if (source == nullptr)
      report.add("KL094", fact.where, fmt::format("'{}' has no source", fact.path));
    else if (source->known == Knowledge::unknown)
      report.add("KL094", fact.where, fmt::format("no source is given for '{}'", fact.path));
    used.insert(source);
  }
  for (const FactSource& source : sources)
    if (!used.contains(&source))
      report
          .add("KL094", source.where,
               fmt::format("no fact is '{}' that is not another's before it", fmt::join(source.of, "', '")))
          .severity = Severity::warning;
}

void check_versions(const RecipeSource& recipe, Report& report) {
  for (const auto& [name, version] : recipe.document.root().at("versions").members()) {
    if (auto source = version.find("source")) {
      const JsonNode url = source->at("url");
      if (has_credentials(url.string())) report.add("KL061", url.where(), "this URL has a password");
      if (auto checksum = source->find("checksum"))
        check_source_commit(url.string(), checksum->string(), checksum->where(), report);
    }
    auto facts = version.find("facts");
    if (!facts) continue;
    for (const auto& [fact, value] : facts->members())
      if (std::string kind = token_in(value.string()); !kind.empty())
        report.add("KL060", value.where(), "here is " + kind);
  }
}

void check_drivers(const RecipeSource& recipe, Report& report) {
  if (recipe.component.kind != Kind::base) return;
  for (const ComponentVersion& version : recipe.component.versions) {
    auto cuda = version.facts.find("cuda");
    if (cuda == version.facts.end()) continue;
    auto least = smallest_driver(cuda->second);
    if (!least) continue;
    auto driver = version.facts.find("driver");
    if (driver == version.facts.end()) {
      report
          .add("KL032", version.where,
               fmt::format("CUDA {} needs a driver from {} on, and no fact says so", cuda->second, *least))
          .severity = Severity::note;
    } else if (is_cuda_version(driver->second) && Version(driver->second) < Version(*least)) {
      report.add(
          "KL032", version.where,
          fmt::format("CUDA {} needs a driver from {} on, not {}", cuda->second, *least, driver->second));
    }
  }
}

// cp36 → 3.6, cp313 → 3.13.
std::string python_of_tag(std::string_view tag) {
  return tag.size() < 4 ? "" : fmt::format("{}.{}", tag.substr(2, 1), tag.substr(3));
}

void check_wheels(const RecipeSource& recipe, Report& report) {
  std::vector<std::string> pythons;
  for (const ComponentVersion& version : recipe.component.versions)
    if (auto fact = version.facts.find("python"); fact != version.facts.end())
      pythons.push_back(fact->second);
  if (pythons.empty()) return;
  for (const auto& [path, file] : recipe.files) {
    const std::string& text = file.text();
    for (std::size_t at = text.find(".whl"); at != std::string::npos; at = text.find(".whl", at + 1)) {
      std::size_t line_start = file.start_of(file.line_of(at));
      std::string wheel = wheel_name(std::string_view(text).substr(line_start, at + 4 - line_start));
      std::string python = python_of_tag(wheel_python(wheel));
      if (python.empty() ||
          std::ranges::any_of(pythons, [&](const std::string& fact) { return fact_admits(fact, python); }))
        continue;
      report.add("KL023", file, {at + 4 - wheel.size(), at + 4},
                 fmt::format("this wheel is for Python {}, and the recipe's is {}", python,
                             fmt::join(pythons, ", ")));
    }
  }
}

}  // namespace

// Builds that become others because of SOURCE_DATE_EPOCH, which kiln sets for every script.

namespace {

struct EpochReader {
  std::string name;
  std::vector<std::string> sources, options, decided_by;
  std::string native, off, variants;
};

std::vector<EpochReader> read_epoch_readers() {
  std::vector<EpochReader> readers;
  const JsonDocument document = lint_data("epoch.json");
  for (const JsonNode& node : document.root().items()) {
    node.allow_only({"name", "sources", "options", "decided_by", "native", "off", "variants", "from"});
    node.at("from").line_of_text();
    readers.push_back({node.at("name").string(), node.at("sources").strings(), node.at("options").strings(),
                       node.at("decided_by").strings(), node.at("native").string(), node.at("off").string(),
                       node.at("variants").string()});
  }
  return readers;
}

const std::vector<EpochReader>& epoch_readers() {
  static const std::vector<EpochReader> kReaders = read_epoch_readers();
  return kReaders;
}

// What a shell reads of a script: comments decide nothing.
std::string words_of(const ShellText& shell) {
  std::string code;
  for (const ShellCommand& command : shell.commands)
    for (const ShellToken& word : command.words) code += word.text + ' ';
  return code;
}

bool configures(const Call& call) {
  if (call.program == "cmake") {
    constexpr std::string_view kOthers[] = {"--build", "--install", "-E",
                                            "-P",      "--version", "--find-package"};
    return std::ranges::none_of(kOthers, [&](std::string_view option) { return call.has(option); });
  }
  return (call.program == "pip" || call.program == "pip3") && (call.has("install") || call.has("wheel"));
}

// CMake of this project, by an option of it or because the recipe's source is the project's; pip by the name
// of what it builds.
bool compiles_project(const EpochReader& reader, const Call& call, const std::string& sources) {
  if (!configures(call)) return false;
  auto named = [&](const ShellToken* word) { return contains_any(word->text, reader.sources); };
  if (std::ranges::any_of(call.arguments, named)) return true;
  if (call.program != "cmake") return false;
  auto option = [&](const ShellToken* word) {
    return std::ranges::any_of(reader.options,
                               [&](const std::string& name) { return word->text.starts_with("-D" + name); });
  };
  return contains_any(sources, reader.sources) || std::ranges::any_of(call.arguments, option);
}

struct MethodScripts {
  const Method* method = nullptr;
  std::string sources;  // addresses of all versions that it offers
  std::vector<std::pair<const SourceFile*, ShellText>> scripts;
  std::string code;  // of all of them
};

MethodScripts scripts_of(const RecipeSource& recipe, const Method& method) {
  MethodScripts found{&method, {}, {}, {}};
  for (const ComponentVersion& version : recipe.component.versions)
    if (method.versions.contains(version.version)) found.sources += version.source_url + ' ';
  std::vector<std::string> paths{method.script, method.build ? method.build->script : ""};
  for (const std::string& path : method.files)
    if (path.ends_with(".sh")) paths.push_back(path);
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    const SourceFile& file = recipe.files.at(path);
    found.scripts.emplace_back(&file, read_shell(file.text()));
    found.code += words_of(found.scripts.back().second);
  }
  return found;
}

// "" when the build is what its script says.
std::string change_of(const EpochReader& reader, const MethodScripts& scripts) {
  if (contains(scripts.code, "SOURCE_DATE_EPOCH")) return "";
  if (!contains_any(scripts.code, reader.decided_by))
    return fmt::format(
        "{} switches {} off because kiln sets SOURCE_DATE_EPOCH: this compiles baseline code{}", reader.name,
        reader.native, scripts.method->stock ? ", which is not the project's own build" : "");
  if (scripts.method->stock && contains(scripts.code, reader.off) && !contains(scripts.code, reader.variants))
    return fmt::format("{} is not the project's own build: its default is {}, or {} in its releases",
                       reader.off, reader.native, reader.variants);
  return "";
}

void check_method(const EpochReader& reader, const MethodScripts& scripts, Report& report) {
  const std::string change = change_of(reader, scripts);
  if (change.empty()) return;
  for (const auto& [file, shell] : scripts.scripts)
    for (const ShellCommand& command : shell.commands)
      if (const Call call = call_of(command);
          call.word != nullptr && compiles_project(reader, call, scripts.sources))
        report.add("KL096", *file, call.word->span, change);
}

}  // namespace

// KL096
static void check_epoch(const RecipeSource& recipe, Report& report) {
  for (const Method& method : recipe.component.methods) {
    const MethodScripts scripts = scripts_of(recipe, method);
    for (const EpochReader& reader : epoch_readers()) check_method(reader, scripts, report);
  }
}

void check_recipe(const RecipeSource& recipe, Report& report) {
  const JsonNode root = recipe.document.root();
  check_files(recipe, report);
  check_methods(recipe, report);
  check_versions(recipe, report);
  check_facts(recipe, report);
  check_sources(recipe, report);
  check_caches(recipe, report);
  check_epoch(recipe, report);
  check_accept(recipe, report);
  check_drivers(recipe, report);
  check_wheels(recipe, report);
  check_recipe_parameters(recipe, report);
  check_recipe_test(recipe, report);
  for (const std::string& path : recipe.unnamed)
    report.add("KL092", {(recipe.component.folder / path).string(), 1, 1, ""},
               fmt::format("recipe.json does not name '{}'", path));
  if (recipe.component.licenses.empty())
    report.add("KL093", root.where(), "nothing says under which licences it is");
}

}  // namespace kiln::lint
