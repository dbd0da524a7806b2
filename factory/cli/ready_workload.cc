#include "factory/cli/ready_workload.h"

#include <fmt/format.h>

#include "factory/sbom/recipe_origin.h"

namespace kiln {

ReadyWorkload::ReadyWorkload(const RecipeBook& recipes, const std::string& name, FileSystem& files) {
  const Recipe* found = recipes.find(Kind::workload, name);
  if (found == nullptr)
    throw Error(ExitCode::usage, "there is no workload '" + name + "'",
                did_you_mean(name, recipes.names(Kind::workload)));
  recipe = *found;
  for (const auto& [path, file] : recipe.files) files.write_output(folder.path() / path, file.bytes);
  recipe.folder = folder.path();
}

Digest workload_sum(const Recipe& workload) {
  Hasher hasher;
  for (const auto& [path, file] : workload.files) hasher.update(path + "\n" + Digest::of(file.bytes).hex());
  return hasher.finish();
}

std::string measured_by(const RecipeBook& recipes, Invocation& invocation) {
  std::string by = KILN_VERSION;
  const auto origin = sbom::find_origin(recipes, invocation.runner, invocation.child_environment());
  for (const sbom::RecipeRepository& repository : origin.repositories)
    by += fmt::format(", recipes of {}{}", repository.commit.substr(0, 12),
                      repository.modified ? " with changes" : "");
  return by;
}

}  // namespace kiln
