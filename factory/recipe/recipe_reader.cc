// recipe.json → Recipe. Everything that one recipe can get wrong is refused here, at its place.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/recipe/fact_sources.h"
#include "factory/recipe/parameters.h"
#include "factory/recipe/recipe.h"
#include "factory/recipe/recipe_needs.h"
#include "factory/recipe/recipe_parts.h"

namespace kiln {
namespace {

enum class FileUse { script, data };

// Reads one recipe; the parts of it that need the folder or earlier parts are members.
class RecipeReader {
 public:
  RecipeReader(const fs::path& file, const FileSystem& files, const std::vector<fs::path>& roots)
      : files_(files), roots_(roots) {
    component_.file = file.string();
    component_.folder = file.parent_path();
  }
  Recipe read(std::string_view json);
  std::variant<Recipe, BrokenRecipe> try_read(std::string_view json);

 private:
  void take_kind_and_name();
  void read_versions(const JsonNode& node);
  void read_versions_alone(std::string_view json);
  void read_methods(const JsonNode& node);
  void read_tests(const JsonNode& node);
  void check_build_bases() const;
  Method read_method(const std::string& name, const JsonNode& node);
  void read_base(const JsonNode& node, Method& method);
  void read_archive(const JsonNode& node, Method& method);
  void read_site_script(const JsonNode& node, Method& method);
  void read_script_parts(const JsonNode& node, Method& method);
  std::vector<std::string> read_parameters(const JsonNode& node) const;
  void check_fact(const JsonNode& parameter, const std::string& fact) const;
  BuildStage read_build(const JsonNode& node);
  std::string take_file(const JsonNode& node, FileUse use);
  fs::path find_shared(const fs::path& path) const;
  std::vector<std::string> take_files(const JsonNode& node);
  void take_method_files(const JsonNode& node, Method& method);
  [[noreturn]] void fail(std::string message, std::string hint = {}) const;

  const FileSystem& files_;
  const std::vector<fs::path>& roots_;
  Recipe component_;
  bool versions_read_ = false;  // all of them, in order
};

void RecipeReader::fail(std::string message, std::string hint) const {
  throw Error(ExitCode::input, SourceLocation{component_.file, 0, 0, ""}, std::move(message),
              std::move(hint));
}

void RecipeReader::take_kind_and_name() {
  const fs::path& folder = component_.folder;
  const std::string kind = folder.parent_path().filename().string();
  if (!kind_from(kind))
    fail(fmt::format("a recipe is in <kind>/<name>/, and '{}' is not a kind", kind),
         did_you_mean(kind, kind_names(), "kinds: "));
  component_.kind = *kind_from(kind);
  component_.name = folder.filename().string();
  // "+" joins components in a matrix, "none" stands for no component, and "after" names kinds or components.
  if (!is_name(component_.name) || contains(component_.name, '+'))
    fail(fmt::format("the folder's name '{}' is not a component's name", component_.name),
         "letters, digits and _ . - only, and a letter or digit first");
  if (component_.name == "none" || kind_from(component_.name))
    fail(fmt::format("'{}' means something else in a matrix and cannot be a component's name",
                     component_.name));
}

Recipe RecipeReader::read(std::string_view json) {
  take_kind_and_name();
  const JsonDocument document = JsonDocument::parse(json, component_.file);
  const JsonNode root = document.root();
  root.allow_only(keys_of("recipe"));
  if (auto node = root.find("description")) component_.description = read_text(*node);
  if (auto node = root.find("licenses")) component_.licenses = read_text(*node);
  if (auto node = root.find("homepage")) component_.homepage = read_text(*node);
  if (auto node = root.find("role")) component_.role = read_role(*node);
  read_versions(root.at("versions"));
  versions_read_ = true;
  read_fact_sources(root);
  if (auto node = root.find("upstream")) component_.upstream = read_upstream(*node);
  read_methods(root.at("methods"));
  check_build_bases();
  if (auto node = root.find("test")) read_tests(*node);
  read_accept(root, component_);
  return std::move(component_);
}

std::variant<Recipe, BrokenRecipe> RecipeReader::try_read(std::string_view json) {
  component_.kind = kind_from(component_.folder.parent_path().filename().string()).value_or(Kind::base);
  component_.name = component_.folder.filename().string();
  try {
    return read(json);
  } catch (const Error& error) {
    if (!versions_read_) read_versions_alone(json);
    component_.methods.clear();
    return BrokenRecipe{std::move(component_), error};
  }
}

// So that the cells of a broken recipe keep their names.
void RecipeReader::read_versions_alone(std::string_view json) {
  component_.versions.clear();
  try {
    const JsonDocument document = JsonDocument::parse(json, component_.file);
    read_versions(document.root().at("versions"));
  } catch (const Error&) {
    component_.versions.clear();
  }
}

void RecipeReader::read_tests(const JsonNode& node) {
  auto read_one = [this](const JsonNode& item) {
    item.allow_only(keys_of("recipe/test"));
    SmokeTest test;
    test.script = take_file(item.at("script"), FileUse::script);
    if (auto list = item.find("files")) test.files = take_files(*list);
    if (auto when = item.find("when")) test.when = read_when(*when, component_.versions);
    component_.tests.push_back(std::move(test));
  };
  if (!node.is_array()) return read_one(node);
  for (const JsonNode& item : read_at_least_one(node, "test")) read_one(item);
}

void RecipeReader::read_versions(const JsonNode& node) {
  for (const auto& [version, body] : node.members()) {
    if (!is_name(version))
      throw Error(ExitCode::input, node.where_key(version), fmt::format("'{}' is not a version", version),
                  "a version starts with a letter or digit and holds letters, digits and . + - _");
    component_.versions.push_back(read_version_facts(version, body));
  }
  auto& versions = component_.versions;
  if (versions.empty()) node.fail("expected at least one version, found an empty object");
  std::ranges::stable_sort(versions, [](const auto& a, const auto& b) { return b.version < a.version; });
  for (std::size_t i = 1; i < versions.size(); ++i)
    if (versions[i].version == versions[i - 1].version)
      throw Error(ExitCode::input, versions[i].where,
                  fmt::format("'{}' and '{}' are the same version", versions[i - 1].version.text(),
                              versions[i].version.text()));
}

void RecipeReader::read_methods(const JsonNode& node) {
  for (const auto& [name, body] : node.members()) {
    const auto& known = method_names();
    if (!contains(known, name))
      throw Error(ExitCode::input, node.where_key(name), fmt::format("unknown method '{}'", name),
                  did_you_mean(name, known, "methods: "));
    component_.methods.push_back(read_method(name, body));
  }
  if (component_.methods.empty()) node.fail("expected at least one method, found an empty object");
}

void RecipeReader::check_build_bases() const {
  for (const ComponentVersion& one : component_.versions) {
    if (!one.build_on) continue;
    auto refuse = [&](const std::string& why, const std::string& hint = "") {
      throw Error(ExitCode::input, one.build_on->where, why, hint);
    };
    const std::string name = one.build_on->version.text();
    if (component_.kind != Kind::base) refuse("only a base has another version to build on");
    const ComponentVersion* other = component_.find_version(one.build_on->version);
    if (other == nullptr) {
      std::vector<std::string> known;
      for (const auto& version : component_.versions) known.push_back(version.version.text());
      refuse(fmt::format("there is no version '{}'", name), did_you_mean_version(name, known));
    }
    if (other->build_on) refuse(fmt::format("'{}' is itself built on another version", name));
    for (const Method& method : component_.methods)
      if (method.versions.contains(one.version) && !method.versions.contains(other->version))
        refuse(fmt::format("the method {} has no version '{}'", method.name, name));
  }
}

Method RecipeReader::read_method(const std::string& name, const JsonNode& node) {
  const bool base = component_.kind == Kind::base;
  node.allow_only(keys_of(base ? "recipe/base_method" : "recipe/method"));
  Method method;
  method.name = name;
  method.where = node.where();
  if (auto optimised = node.find("optimised")) method.optimised = optimised->boolean();
  if (auto stock = node.find("stock")) method.stock = stock->boolean();
  if (method.stock && method.optimised)
    node.at("stock").fail("a method that is an optimised build is not the stock one");
  if (auto range = node.find("versions")) method.versions = read_own_range(*range, component_.versions);
  if (auto optimise = node.find("optimise")) method.optimise = read_optimise(*optimise);
  if (auto environment = node.find("environment")) method.environment = read_environment(*environment);
  if (auto limits = node.find("limits")) method.limits = read_limits(*limits);
  read_script_parts(node, method);
  if (base) read_base(node, method);
  if (!method.secrets.empty() && method.script.empty() && method.rootfs.empty())
    node.at("secrets").fail("this method has no script that reads them",
                            "those of a build stage's script belong in 'build'");
  if (auto needs = node.find("needs")) method.needs = read_needs(*needs, component_.versions);
  if (auto build = node.find("build")) {
    method.build = read_build(*build);
    if (!method.build->mount.empty() && method.script.empty())
      build->at("mount").fail("this method has no script that sees what is mounted",
                              "add a 'script', or 'copy'");
  }
  read_cache(node, method);
  if (auto after = node.find("after")) {
    for (const JsonNode& item : read_distinct(*after, "name")) {
      method.after.push_back(item.name());
      method.after_where.push_back(item.where());
    }
  }
  return method;
}

void RecipeReader::read_script_parts(const JsonNode& node, Method& method) {
  if (auto script = node.find("script")) method.script = take_file(*script, FileUse::script);
  if (auto list = node.find("files")) take_method_files(*list, method);
  if (auto list = node.find("parameters")) method.parameters = read_parameters(*list);
  if (auto list = node.find("secrets")) method.secrets = read_secrets(*list);
}

void RecipeReader::read_base(const JsonNode& node, Method& method) {
  auto image = node.find("image");
  auto rootfs = node.find("rootfs");
  if (image.has_value() == rootfs.has_value())
    node.fail(
        image ? "a base has an 'image' or a 'rootfs', not both" : "a base needs an 'image' or a 'rootfs'",
        "'image' is pulled, 'rootfs' is a script that writes a tar to $KILN_OUTPUT");
  if (rootfs) method.rootfs = take_file(*rootfs, FileUse::script);
  if (auto archive = node.find("archive")) read_archive(*archive, method);
  if (auto site = node.find("site")) read_site_script(*site, method);
  if (!image) return;
  method.image = read_text(*image);
  std::string plain = method.image;
  for (std::size_t at = plain.find("{version}"); at != std::string::npos; at = plain.find("{version}"))
    plain.replace(at, std::string_view("{version}").size(), "1");
  const std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/:@";
  if (plain.find_first_not_of(allowed) != std::string::npos || plain.starts_with('-') ||
      plain.starts_with('/'))
    image->fail(fmt::format("expected an image reference, found '{}'", method.image),
                "for example docker.io/library/debian:{version}; {version} is the only placeholder");
}

void RecipeReader::read_archive(const JsonNode& node, Method& method) {
  if (method.rootfs.empty())
    node.fail("only a rootfs reads package archives", "an image is pinned by its digest");
  if (!contains(method.parameters, "KILN_ARCHIVE"))
    node.fail("no script of this method reads what is pinned", "add KILN_ARCHIVE to its parameters");
  method.archive = take_file(node, FileUse::script);
}

void RecipeReader::read_site_script(const JsonNode& node, Method& method) {
  if (method.rootfs.empty()) node.fail("only a rootfs says how the build machine reaches packages");
  method.site = take_file(node, FileUse::script);
}

std::vector<std::string> RecipeReader::read_parameters(const JsonNode& node) const {
  std::vector<std::string> parameters;
  for (const JsonNode& item : read_distinct(node, "parameter")) {
    std::string name = item.string();
    if (is_given_to_every_script(name))
      item.fail(fmt::format("'{}' is given to every script and is not listed", name), "leave it out");
    if (!is_known_parameter(name)) {
      std::string hint = did_you_mean(name, known_parameters());
      item.fail(fmt::format("unknown parameter '{}'", name),
                hint.empty() ? "docs/formats/recipe.md lists the parameters" : hint);
    }
    if (std::string fact = fact_of_parameter(name); !fact.empty()) check_fact(item, fact);
    parameters.push_back(std::move(name));
  }
  return parameters;
}

void RecipeReader::check_fact(const JsonNode& parameter, const std::string& fact) const {
  std::vector<std::string> known;
  for (const ComponentVersion& version : component_.versions)
    for (const auto& [name, value] : version.facts) known.push_back(name);
  if (!contains(known, fact))
    parameter.fail(fmt::format("no version of this recipe has the fact '{}'", fact),
                   did_you_mean(fact, known));
}

BuildStage RecipeReader::read_build(const JsonNode& node) {
  node.allow_only(keys_of("recipe/build"));
  BuildStage build;
  if (auto needs = node.find("needs")) build.needs = read_needs(*needs, component_.versions);
  build.script = take_file(node.at("script"), FileUse::script);
  for (auto [key, paths] : {std::pair("copy", &build.copy), std::pair("mount", &build.mount)})
    if (auto list = node.find(key))
      for (const JsonNode& item : read_at_least_one(*list, "path"))
        paths->push_back(read_absolute_path(item));
  if (build.copy.empty() && build.mount.empty())
    node.fail(
        "the build stage leaves nothing to the image",
        "'copy' are paths that the image keeps, 'mount' those that the method's script sees while it runs");
  if (auto list = node.find("secrets")) build.secrets = read_secrets(*list);
  return build;
}

std::vector<std::string> RecipeReader::take_files(const JsonNode& node) {
  std::vector<std::string> paths;
  for (const JsonNode& item : read_distinct(node, "file")) paths.push_back(take_file(item, FileUse::data));
  return paths;
}

// A name, or {"file": …, "when": …}.
void RecipeReader::take_method_files(const JsonNode& node, Method& method) {
  for (const JsonNode& item : read_distinct(node, "file")) {
    When when;
    if (item.is_object()) {
      item.allow_only(keys_of("recipe/file_when"));
      method.files.push_back(take_file(item.at("file"), FileUse::data));
      when = read_file_when(item.at("when"), component_.versions);
    } else {
      method.files.push_back(take_file(item, FileUse::data));
    }
    method.file_when.push_back(std::move(when));
  }
}

constexpr std::string_view kSharedPrefix = "shared:";

// "mpi/ring.py" of "shared:mpi/ring.py".
fs::path read_shared_path(const JsonNode& node) {
  fs::path path = node.string().substr(kSharedPrefix.size());
  auto is_fit = [](const fs::path& part) { return is_name(part.string()); };
  if (path.empty() || !std::ranges::all_of(path, is_fit))
    node.fail(fmt::format("expected a file of the shared folder, found {}", node.value().dump()),
              "for example shared:name.py: letters, digits and _ . + - only, and a letter or digit first");
  return path;
}

// Where a shared file lies; where it should, when no root has it.
fs::path RecipeReader::find_shared(const fs::path& path) const {
  for (auto root = roots_.rbegin(); root != roots_.rend(); ++root)
    if (files_.exists(*root / kSharedFolder / path)) return *root / kSharedFolder / path;
  return component_.folder.parent_path().parent_path() / kSharedFolder / path;
}

std::string RecipeReader::take_file(const JsonNode& node, FileUse use) {
  const bool is_shared = node.string().starts_with(kSharedPrefix);
  const fs::path named = is_shared ? read_shared_path(node) : fs::path(read_relative_path(node));
  std::string path = is_shared ? named.filename().string() : named.string();
  const fs::path source = is_shared ? find_shared(named) : component_.folder / named;
  std::optional<std::string> bytes;
  if (!files_.is_directory(source)) bytes = files_.read(source);
  if (!bytes) {
    MissingFile missing = describe_missing(files_, source);
    if (!is_shared && files_.exists(find_shared(named)))
      missing.hint = fmt::format("{} is '{}{}'", find_shared(named).string(), kSharedPrefix, path);
    node.fail(std::move(missing.message), std::move(missing.hint));
  }
  if (use == FileUse::script) check_script(node, path, *bytes);
  auto other = component_.files.find(path);
  if (other == component_.files.end()) {
    Digest digest = Digest::of(*bytes);
    component_.files.emplace(path, RecipeFile{path, std::move(digest), std::move(*bytes), source});
  } else if (other->second.source != source) {
    node.fail(fmt::format("the scripts would find {} and {} as one file '{}'", other->second.source.string(),
                          source.string(), path),
              "give one of them another name");
  }
  return path;
}

}  // namespace

Recipe read_recipe(std::string_view json, const fs::path& file, const FileSystem& files,
                   const std::vector<fs::path>& roots) {
  return RecipeReader(file, files, roots).read(json);
}

std::variant<Recipe, BrokenRecipe> try_recipe(std::string_view json, const fs::path& file,
                                              const FileSystem& files, const std::vector<fs::path>& roots) {
  return RecipeReader(file, files, roots).try_read(json);
}

}  // namespace kiln
