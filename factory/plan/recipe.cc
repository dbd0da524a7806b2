#include "plan/recipe.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {
namespace {

// In the order of Kind.
const std::vector<std::string>& kinds() {
  static const std::vector<std::string> kNames = {"base",     "toolchain",   "library", "framework",
                                                  "compiler", "distributed", "workload"};
  return kNames;
}

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

std::string_view name_of(Kind kind) { return kinds()[static_cast<std::size_t>(kind)]; }

std::optional<Kind> kind_from(std::string_view name) {
  auto found = std::find(kinds().begin(), kinds().end(), name);
  if (found == kinds().end()) return std::nullopt;
  return static_cast<Kind>(found - kinds().begin());
}

const std::vector<std::string>& kind_names() { return kinds(); }

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
      if (!kind_from(kind))
        fail_at(root / kind, fmt::format("'{}' is not a kind of component", kind),
                nearest(kind, kinds()).empty() ? fmt::format("kinds: {}", fmt::join(kinds(), ", "))
                                               : did_you_mean(kind, kinds()));
      for (const std::string& name : folders_in(files, root / kind)) {
        const fs::path file = root / kind / name / "recipe.json";
        std::optional<std::string> json = files.read(file);
        if (json)
          book.add(read_recipe(*json, file, files));
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

}  // namespace kiln
