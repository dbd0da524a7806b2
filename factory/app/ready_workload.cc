#include "factory/app/ready_workload.h"

#include "factory/base/text.h"

namespace kiln {

const Recipe& workload_named(const RecipeBook& recipes, const std::string& name) {
  if (const Recipe* found = recipes.find(Kind::workload, name)) return *found;
  throw Error(ExitCode::usage, "there is no workload '" + name + "'",
              did_you_mean(name, recipes.names(Kind::workload)));
}

Digest workload_sum(const Recipe& workload) {
  Hasher hasher;
  for (const auto& [path, file] : workload.files) hasher.update(path + "\n" + Digest::of(file.bytes).hex());
  return hasher.finish();
}

ReadyWorkload::ReadyWorkload(const RecipeBook& recipes, const std::string& name, FileSystem& files)
    : ReadyWorkload(workload_named(recipes, name), files) {}

ReadyWorkload::ReadyWorkload(Recipe made, FileSystem& files) : recipe(std::move(made)) {
  for (const auto& [path, file] : recipe.files) files.write_output(folder.path() / path, file.bytes);
  recipe.folder = folder.path();
}

}  // namespace kiln
