#include "factory/recipe/recipe.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "factory/base/enum_names.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr auto kKinds = enum_names<Kind>({{Kind::base, "base"},
                                          {Kind::toolchain, "toolchain"},
                                          {Kind::library, "library"},
                                          {Kind::framework, "framework"},
                                          {Kind::compiler, "compiler"},
                                          {Kind::distributed, "distributed"},
                                          {Kind::runtime, "runtime"},
                                          {Kind::workload, "workload"},
                                          {Kind::application, "application"}});

std::vector<std::string> folders_in(const FileSystem& files, const fs::path& folder) {
  std::vector<std::string> names = files.list(folder);
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with('.') || !files.is_directory(folder / name);
  });
  return names;
}

Error error_at(const fs::path& path, std::string message, std::string hint = {}) {
  return {ExitCode::input, SourceLocation{path.string(), 0, 0, ""}, std::move(message), std::move(hint)};
}

Error not_a_kind(const fs::path& folder) {
  const std::string kind = folder.filename().string();
  return error_at(folder, fmt::format("'{}' is not a kind of component", kind),
                  did_you_mean(kind, kind_names(), "kinds: "));
}

}  // namespace

std::string ComponentVersion::fact(const std::string& name) const { return value_or(facts, name); }

std::string_view name_of(Kind kind) { return kKinds.of(kind); }

std::optional<Kind> kind_from(std::string_view name) { return kKinds.find(name); }

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> kNames = kKinds.all();
  return kNames;
}

const ComponentVersion* Recipe::find_version(const Version& version) const {
  return find_where(versions, [&](const ComponentVersion& offered) { return offered.version == version; });
}

const Method* Recipe::find_method(std::string_view method) const {
  return find_where(methods, [&](const Method& offered) { return offered.name == method; });
}

std::vector<AcceptedFile> Recipe::accepted(const Version& version, std::string_view by_method) const {
  std::vector<AcceptedFile> holding;
  for (const Acceptance& acceptance : accept)
    if ((acceptance.method.empty() || acceptance.method == by_method) &&
        acceptance.versions.contains(version))
      holding.push_back(acceptance.file);
  return holding;
}

RecipeBook RecipeBook::read(const FileSystem& files, const std::vector<fs::path>& roots) {
  RecipeBook book;
  for (const fs::path& root : roots) {
    if (!files.is_directory(root)) throw error_at(root, "there is no such folder of recipes");
    for (const std::string& name : folders_in(files, root)) {
      if (name == kSharedFolder) continue;
      const fs::path folder = root / name;
      const std::optional<Kind> kind = kind_from(name);
      if (!kind) {
        book.misplaced_.push_back(not_a_kind(folder));
        continue;
      }
      for (const std::string& component : folders_in(files, folder))
        book.read_folder(files, roots, folder / component, {*kind, component});
    }
  }
  for (auto& [key, why] : reference_faults(book)) book.add_broken({book.components_.at(key), why});
  return book;
}

void RecipeBook::read_folder(const FileSystem& files, const std::vector<fs::path>& roots,
                             const fs::path& folder, ComponentKey key) {
  const fs::path file = folder / "recipe.json";
  Recipe nothing;
  std::tie(nothing.kind, nothing.name) = std::move(key);
  nothing.folder = folder;
  nothing.file = file.string();
  try {
    if (std::optional<std::string> json = files.read(file)) {
      auto recipe = try_recipe(*json, file, files, roots);
      if (auto* broken = std::get_if<BrokenRecipe>(&recipe)) return add_broken(std::move(*broken));
      return add(std::get<Recipe>(std::move(recipe)));
    }
  } catch (const Error& unreadable) {
    return add_broken({std::move(nothing), unreadable});
  }
  const std::vector<std::string> others = files.list(folder);
  if (others.empty()) return;
  add_broken({std::move(nothing),
              error_at(folder, "the folder has no recipe.json", did_you_mean("recipe.json", others))});
}

void RecipeBook::add(Recipe recipe) {
  ComponentKey key{recipe.kind, recipe.name};
  broken_.erase(key);
  components_.insert_or_assign(std::move(key), std::move(recipe));
}

void RecipeBook::add_broken(BrokenRecipe recipe) {
  ComponentKey key{recipe.read.kind, recipe.read.name};
  components_.erase(key);
  broken_.insert_or_assign(std::move(key), std::move(recipe));
}

const BrokenRecipe* RecipeBook::find_broken(Kind kind, std::string_view name) const {
  return find_value(broken_, std::pair(kind, std::string(name)));
}

void RecipeBook::refuse_broken() const {
  if (!misplaced_.empty()) throw misplaced_.front();
  if (!broken_.empty()) throw broken_.begin()->second.why;
}

const Recipe* RecipeBook::find(Kind kind, std::string_view name) const {
  return find_value(components_, std::pair(kind, std::string(name)));
}

std::vector<std::string> RecipeBook::names(Kind kind) const {
  std::vector<std::string> names;
  for (const auto& [key, component] : components_)
    if (key.first == kind) names.push_back(key.second);
  return names;
}

std::vector<std::string> recipe_names(const FileSystem& files, const std::vector<fs::path>& roots,
                                      Kind kind) {
  std::set<std::string> names;
  for (const fs::path& root : roots) {
    const fs::path folder = root / name_of(kind);
    for (const std::string& name : folders_in(files, folder))
      if (files.exists(folder / name / "recipe.json")) names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::string base_reference(const Method& method, const Version& version) {
  constexpr std::string_view kPlace = "{version}";
  std::string reference = method.image;
  for (auto at = reference.find(kPlace); at != std::string::npos;
       at = reference.find(kPlace, at + version.text().size()))
    reference.replace(at, kPlace.size(), version.text());
  return reference;
}

}  // namespace kiln
