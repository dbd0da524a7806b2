// kiln init: commented starts that plan and lint as they stand. The texts are templates/*, with {{name}} and
// the like filled in.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/effects.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/recipe/schema.h"

namespace kiln {

namespace {

using Values = std::map<std::string, std::string>;
using Files = std::map<fs::path, std::string>;

std::string filled(std::string_view name, const Values& values) {
  std::string text(embedded_templates().at(name));
  for (const auto& [key, value] : values) {
    const std::string place = "{{" + key + "}}";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + value.size()))
      text.replace(at, place.size(), value);
  }
  return text;
}

// "../../../schema/recipe.schema.json" as seen from `file`; the schema is added to `files` unless it is
// there.
std::string add_schema_line(const std::string& name, const fs::path& root, const fs::path& file,
                            const FileSystem& disk, Files& files) {
  fs::path schema = (root / "schema" / (name + ".schema.json")).lexically_normal();
  if (!disk.exists(schema)) files[schema] = schema_text(name);
  return fs::absolute(schema)
      .lexically_relative(fs::absolute(file).lexically_normal().parent_path())
      .generic_string();
}

void check_name(const std::string& name, const std::string& what) {
  if (!is_name(name) || name.find('+') != std::string::npos || name == "none" || kind_from(name))
    throw Error(ExitCode::usage, fmt::format("'{}' is no name for a {}", name, what),
                "letters, digits and _ . - only, a letter or digit first, and neither 'none' nor a kind");
}

// All or nothing: no file is written when one is there already.
void write_all(const Files& files, const std::vector<std::string>& next, Invocation& invocation) {
  for (const auto& [path, text] : files)
    if (invocation.files.exists(path))
      throw Error(ExitCode::usage, fmt::format("{} is there already", path.string()),
                  "nothing was written; choose another name or move it away");
  for (const auto& [path, text] : files) {
    invocation.files.write(path, text);
    say("{}\n", path.string());
  }
  for (const std::string& command : next) invocation.note("next: " + command);
}

fs::path recipes_root(const Invocation& invocation) {
  return invocation.options.recipes.empty() ? fs::path("recipes")
                                            : fs::path(invocation.options.recipes.back());
}

// Debian's packages are in small letters.
std::string package_name(const std::string& name) {
  std::string out;
  for (char c : name) out += c == '_' ? '-' : lower_case(c);
  return out;
}

// What a start is made of.
struct Start {
  std::string kind, name, release, method = "distro";
};

// The toolchain that the start of a compiled component needs, unless there is one.
void add_compiler(const fs::path& root, const Values& values, const FileSystem& disk, Files& files) {
  const fs::path folder = root / "toolchain" / "gcc";
  if (disk.exists(folder / "recipe.json") || files.contains(folder / "recipe.json")) return;
  files[folder / "recipe.json"] = filled("gcc-recipe.json", values);
  files[folder / "distro.sh"] = filled("gcc-distro.sh", values);
  files[folder / "smoke.sh"] = filled("gcc-smoke.sh", values);
}

// The files of a component with the recipe folder `root`.
void add_component(const Start& start, const fs::path& root, const FileSystem& disk, Files& files) {
  const auto& [kind, name, release, method] = start;
  const fs::path folder = root / kind / name;
  Values values = {{"kind", kind}, {"name", name}, {"package", package_name(name)}, {"release", release}};
  values["schema"] =
      add_schema_line("recipe", root.lexically_normal().parent_path(), folder / "recipe.json", disk, files);
  using Templates = std::map<std::string, std::string>;  // by the file's name
  static const std::map<std::string, Templates> kTemplates = {
      {"base", {{"recipe.json", "base-recipe.json"}, {"smoke.sh", "base-smoke.sh"}}},
      {"workload", {{"recipe.json", "workload-recipe.json"}, {"bench.sh", "bench.sh"}}},
      {"pip", {{"recipe.json", "pip-recipe.json"}, {"pip.sh", "pip.sh"}, {"smoke.sh", "pip-smoke.sh"}}},
      {"source",
       {{"recipe.json", "source-recipe.json"},
        {"build.sh", "source-build.sh"},
        {"smoke.sh", "source-smoke.sh"}}},
      {"distro", {{"recipe.json", "recipe.json"}, {"distro.sh", "distro.sh"}, {"smoke.sh", "smoke.sh"}}}};
  const bool has_method = kind != "base" && kind != "workload";
  for (const auto& [file, name_of_template] : kTemplates.at(has_method ? method : kind))
    files[folder / file] = filled(name_of_template, values);
  if (has_method && method == "pip")
    files[folder / fmt::format("requirements-{}.txt", release)] = filled("requirements.txt", values);
  if (has_method && method == "source") add_compiler(root, values, disk, files);
}

struct RecipeOptions {
  std::string component;
  std::string method = "distro";
};

void init_recipe(const RecipeOptions& options, Invocation& invocation) {
  const std::string& which = options.component;
  const std::size_t slash = which.find('/');
  const std::string kind = which.substr(0, slash);
  if (slash == std::string::npos || !kind_from(kind)) {
    std::string hint = did_you_mean(kind, kind_names());
    throw Error(ExitCode::usage, fmt::format("expected KIND/NAME, found '{}'", which),
                slash == std::string::npos || hint.empty()
                    ? fmt::format("kinds: {}", fmt::join(kind_names(), ", "))
                    : hint);
  }
  const std::string name = which.substr(slash + 1);
  check_name(name, "component");
  if (options.method != "distro" && (kind == "base" || kind == "workload"))
    throw Error(ExitCode::usage, fmt::format("a {} has no method {}", kind, options.method),
                "--method needs a component that is installed in an image");
  const fs::path root = recipes_root(invocation);
  const fs::path folder = root / kind / name;
  Files files;
  add_component({kind, name, "1.0", options.method}, root, invocation.files, files);
  std::string use = kind == "framework" ? "kiln init matrix NAME --framework " + name
                                        : fmt::format("put \"{}\" into a matrix, and kiln plan -f it", name);
  if (kind == "base") use = "kiln init recipe framework/NAME";
  if (kind == "workload") use = fmt::format("kiln bench --workload {} -f MATRIX", name);
  write_all(files, {"edit the files, then kiln lint " + folder.string(), use}, invocation);
}

struct Pick {
  std::string framework, version, method, base;
};

Matrix matrix_of(const Pick& pick, const std::string& target) {
  Matrix matrix;
  matrix.name = "init";
  matrix.file = "init";
  MatrixGroup group;
  for (const auto& [axis, value] : Values{{"framework", pick.framework},
                                          {"version", pick.version},
                                          {"method", pick.method},
                                          {"base", pick.base},
                                          {"target", target}})
    group.axes.push_back({axis, {value}, {"init", 0, 0, ""}});
  matrix.groups.push_back(std::move(group));
  return matrix;
}

bool plans(const Pick& pick, const std::string& target, const ResolveInput& input) {
  // A combination that cannot be planned is no error: the caller tries the next one.
  return unless_error([&] { return plan_matrix(matrix_of(pick, target), input).size() != 0; });
}

// Every base in every version, newest first.
std::vector<std::string> bases_of(const RecipeBook& recipes) {
  std::vector<std::string> bases;
  for (const std::string& name : recipes.names(Kind::base))
    for (const ComponentVersion& version : recipes.find(Kind::base, name)->versions)
      bases.push_back(name + "@" + version.version.text());
  return bases;
}

// The first combination that can be planned: newest version, the recipe's first method, any base.
std::optional<Pick> first_that_plans(const std::vector<std::string>& frameworks, const std::string& target,
                                     const ResolveInput& input) {
  for (const std::string& name : frameworks) {
    const Recipe& framework = *input.recipes.find(Kind::framework, name);
    for (const ComponentVersion& version : framework.versions)
      for (const Method& method : framework.methods)
        for (const std::string& base : bases_of(input.recipes)) {
          Pick pick{name, version.version.text(), method.name, base};
          if (method.versions.contains(version.version) && plans(pick, target, input)) return pick;
        }
  }
  return std::nullopt;
}

// All, or the one that is named. Throws Error(usage).
std::vector<std::string> frameworks_to_try(const RecipeBook& recipes, const std::string& named) {
  std::vector<std::string> frameworks = recipes.names(Kind::framework);
  if (named.empty()) return frameworks;
  if (recipes.find(Kind::framework, named) != nullptr) return {named};
  std::string hint = did_you_mean(named, frameworks);
  throw Error(ExitCode::usage, fmt::format("there is no framework '{}'", named),
              hint.empty() ? fmt::format("kiln init recipe framework/{} makes one", named) : hint);
}

struct MatrixOptions {
  std::string name, framework, target = "x86_64_v3";
};

// Those that `kiln plan -f matrix/NAME.json` will find; "recipes" where there are none.
fs::path folder_to_plan_from(const Invocation& invocation) {
  fs::path root = recipes_root(invocation);
  if (invocation.files.is_directory(root)) return root;
  if (!invocation.options.recipes.empty())
    throw Error(ExitCode::input, fmt::format("there is no folder '{}'", root.string()));
  const fs::path installed = shared_folder() / "recipes";
  return invocation.files.is_directory(installed) ? installed : root;
}

// A catalogue needs a base and a framework. Where there is none, a start of one is added to `files`: Debian,
// and its package hello, so that the first image can be built before anything is edited.
void add_what_is_missing(RecipeBook& recipes, const fs::path& root, const std::string& framework,
                         const Invocation& invocation, Files& files) {
  if (recipes.names(Kind::base).empty()) add_component({"base", "debian", ""}, root, invocation.files, files);
  if (recipes.names(Kind::framework).empty())
    add_component({"framework", framework.empty() ? "hello" : framework, framework.empty() ? "2.10" : "1.0"},
                  root, invocation.files, files);
  std::map<std::string, std::string> texts;
  for (const auto& [path, text] : files) texts[path.string()] = text;
  const MemoryFiles memory(texts);
  for (const auto& [path, text] : texts)
    if (path.ends_with("/recipe.json")) recipes.add(read_recipe(text, path, memory));
}

void init_matrix(const MatrixOptions& options, Invocation& invocation) {
  check_name(options.name, "matrix");
  if (!options.framework.empty()) check_name(options.framework, "framework");
  const fs::path root = folder_to_plan_from(invocation);
  RecipeBook recipes;
  if (invocation.files.is_directory(root)) recipes = RecipeBook::read(invocation.files, {root});
  Files files;
  add_what_is_missing(recipes, root, options.framework, invocation, files);
  const bool starts = !files.empty();
  const std::vector<std::string> frameworks = frameworks_to_try(recipes, options.framework);
  const fs::path file = fs::path("matrix") / (options.name + ".json");
  const TargetBook targets =
      TargetBook::read(invocation.files, file.parent_path() / "targets", invocation.cpus());
  targets.get(options.target, {});
  auto pick = first_that_plans(frameworks, options.target, {recipes, targets, invocation.cpus()});
  if (!pick)
    throw Error(
        ExitCode::usage,
        fmt::format("no framework of '{}' can be planned on any base for {}", root.string(), options.target),
        "name another with --target, or see why with kiln plan");
  Values values = {{"name", options.name},     {"path", file.string()},  {"framework", pick->framework},
                   {"version", pick->version}, {"method", pick->method}, {"base", pick->base},
                   {"target", options.target}};
  values["schema"] = add_schema_line("matrix", ".", file, invocation.files, files);
  files[file] = filled("matrix.json", values);
  std::vector<std::string> next = {"kiln plan -f " + file.string()};
  if (starts) next.insert(next.begin(), "edit the recipes, which are starts, then kiln lint");
  write_all(files, next, invocation);
}

void init_site(Invocation& invocation) {
  const fs::path file =
      invocation.options.site.empty() ? fs::path("site.json") : fs::path(invocation.options.site);
  Files files;
  Values values = {{"schema", add_schema_line("site", file.parent_path(), file, invocation.files, files)}};
  files[file] = filled("site.json", values);
  write_all(files, {"kiln doctor"}, invocation);
}

}  // namespace

CLI::App* add_init(CLI::App& app, Invocation& invocation) {
  CLI::App* command = add_below(app, "init", "Write a commented template: a recipe, a matrix or a site file",
                                "kiln init recipe library/blis\n"
                                "kiln init matrix mine\n"
                                "\n"
                                "Existing files are never overwritten: exit code 2, and nothing is written.");
  command->require_subcommand(1);
  auto start = std::make_shared<RecipeOptions>();
  CLI::App* recipe =
      add_below(*command, "recipe", "Write recipes/KIND/NAME: recipe.json, a script and a smoke test",
                "kiln init recipe library/blis\n"
                "kiln init recipe framework/scikit-learn --method pip\n"
                "kiln init recipe framework/llama.cpp --method source");
  add_value(*recipe, "component", start->component, "KIND/NAME", "KIND/NAME, such as library/blis")
      ->required();
  add_choice(*recipe, "--method", start->method, {"distro", "pip", "source"},
             "install method: distro, pip or source");
  recipe->callback([start, &invocation] { init_recipe(*start, invocation); });
  auto options = std::make_shared<MatrixOptions>();
  CLI::App* matrix =
      add_below(*command, "matrix",
                "Write matrix/NAME.json: one cell that can be planned, and the recipes that it lacks",
                "kiln init matrix mine --framework pytorch --target zen4");
  add_value(*matrix, "name", options->name, "NAME", "name of the catalogue")->required();
  add_value(*matrix, "--framework", options->framework, "NAME",
            "framework of the cell (default: the first that can be planned)");
  add_value(*matrix, "--target", options->target, "TARGET", "target of the cell")->capture_default_str();
  matrix->callback([options, &invocation] { init_matrix(*options, invocation); });
  add_below(*command, "site", "Write site.json: engine, launcher, limits of this machine or centre",
            "kiln init site")
      ->callback([&invocation] { init_site(invocation); });
  return command;
}

}  // namespace kiln
