#include "factory/app/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/recipe/component_value.h"

namespace kiln {

std::vector<Error> faults_beside(const Resolution& resolution, const RecipeBook& recipes,
                                 const TargetBook& targets) {
  std::set<std::string> told;
  for (std::size_t number = 0; number < resolution.broken(); ++number)
    told.insert(resolution.broken(number).why.format());
  std::vector<Error> faults;
  auto add = [&](const Error& error) {
    if (told.insert(error.format()).second) faults.push_back(error);
  };
  for (const Error& error : recipes.misplaced()) add(error);
  for (const auto& [key, broken] : recipes.broken()) add(broken.why);
  for (const auto& [name, why] : targets.broken()) add(why);
  return faults;
}

std::vector<fs::path> recipe_roots(const std::vector<std::string>& named, const fs::path& matrix,
                                   const fs::path& shared, const FileSystem& files) {
  for (const std::string& root : named)
    if (!files.is_directory(root)) throw Error(ExitCode::input, fmt::format("there is no folder '{}'", root));
  if (!named.empty()) return {named.begin(), named.end()};
  for (const fs::path& root : {matrix.parent_path() / "recipes", matrix.parent_path() / ".." / "recipes",
                               fs::path("recipes"), shared / "recipes"})
    if (files.is_directory(root)) return {root.lexically_normal()};
  throw Error(ExitCode::usage, "no recipes folder next to " + matrix.string(), "name it with --recipes");
}

std::vector<fs::path> with_recipes_beside(std::vector<fs::path> roots,
                                          const std::vector<std::string>& matrices) {
  for (const std::string& matrix : matrices)
    for (const char* beside : {"recipes", "../recipes"})
      roots.push_back(fs::path(matrix).parent_path() / beside);
  return roots;
}

bool needs_own_recipes(const RecipeBook& recipes, const Matrix& matrix,
                       const std::vector<std::string>& workloads) {
  return names_unknown(recipes, matrix) || std::ranges::any_of(workloads, [&](const std::string& workload) {
           return recipes.find(Kind::workload, workload) == nullptr;
         });
}

Site with_wishes(Site site, const SiteWishes& wishes) {
  if (!wishes.engine.empty()) site.engine = wishes.engine;
  if (wishes.no_cache) site.cache.use = false;
  if (!wishes.partition.empty()) site.launcher.ask_for(wishes.partition);
  if (!wishes.mirror.empty()) site.mirror = fs::absolute(wishes.mirror).lexically_normal().string();
  site.offline = wishes.offline;
  if (site.offline && site.mirror.empty())
    throw Error(ExitCode::usage, "--offline, and no mirror is named",
                "--mirror DIR, or \"mirror\" in the site file; `kiln mirror` makes one");
  return site;
}

}  // namespace kiln
