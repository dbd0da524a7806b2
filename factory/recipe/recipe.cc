#include "recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/enum_names.h"

namespace kiln {
namespace {

constexpr auto kKinds = enum_names<Kind>({{Kind::base, "base"},
                                          {Kind::toolchain, "toolchain"},
                                          {Kind::library, "library"},
                                          {Kind::framework, "framework"},
                                          {Kind::compiler, "compiler"},
                                          {Kind::distributed, "distributed"},
                                          {Kind::workload, "workload"}});

std::vector<std::string> folders_in(const FileSystem& files, const fs::path& folder) {
  std::vector<std::string> names = files.list(folder);
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with('.') || !files.is_directory(folder / name);
  });
  return names;
}

[[noreturn]] void fail_at(const fs::path& path, std::string message, std::string hint) {
  throw Error(ExitCode::input, SourceLocation{path.string(), 0, 0, ""}, std::move(message), std::move(hint));
}

}  // namespace

std::string ComponentVersion::fact(const std::string& name) const {
  auto found = facts.find(name);
  return found == facts.end() ? "" : found->second;
}

std::string_view name_of(Kind kind) { return kKinds.of(kind); }

std::optional<Kind> kind_from(std::string_view name) { return kKinds.find(name); }

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> kNames = kKinds.all();
  return kNames;
}

const ComponentVersion* Component::find_version(const Version& version) const {
  auto found = std::find_if(versions.begin(), versions.end(),
                            [&](const ComponentVersion& offered) { return offered.version == version; });
  return found == versions.end() ? nullptr : &*found;
}

const Method* Component::find_method(std::string_view method) const {
  auto found = std::find_if(methods.begin(), methods.end(),
                            [&](const Method& offered) { return offered.name == method; });
  return found == methods.end() ? nullptr : &*found;
}

RecipeBook RecipeBook::read(const FileSystem& files, const std::vector<fs::path>& roots) {
  RecipeBook book;
  for (const fs::path& root : roots) {
    if (!files.is_directory(root)) fail_at(root, "there is no such folder of recipes", "");
    for (const std::string& kind : folders_in(files, root)) {
      if (kind == kSharedFolder) continue;
      if (!kind_from(kind))
        fail_at(root / kind, fmt::format("'{}' is not a kind of component", kind),
                nearest(kind, kind_names()).empty() ? fmt::format("kinds: {}", fmt::join(kind_names(), ", "))
                                                    : did_you_mean(kind, kind_names()));
      for (const std::string& name : folders_in(files, root / kind)) {
        const fs::path file = root / kind / name / "recipe.json";
        std::optional<std::string> json = files.read(file);
        if (json)
          book.add(read_recipe(*json, file, files, roots));
        else if (!files.list(root / kind / name).empty())
          fail_at(root / kind / name, "the folder has no recipe.json",
                  did_you_mean("recipe.json", files.list(root / kind / name)));
      }
    }
  }
  check_references(book);
  return book;
}

void RecipeBook::add(Component component) {
  std::pair<Kind, std::string> key{component.kind, component.name};
  components_.insert_or_assign(std::move(key), std::move(component));
}

const Component* RecipeBook::find(Kind kind, std::string_view name) const {
  auto found = components_.find({kind, std::string(name)});
  return found == components_.end() ? nullptr : &found->second;
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
