// The files of a workload, put in a folder where containers find them.
#pragma once

#include <string>

#include "factory/base/digest.h"
#include "factory/os/temporary_folder.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// Throws Error(usage) when there is no such workload.
const Recipe& workload_named(const RecipeBook& recipes, const std::string& name);

// Digest of the workload's files: BenchRun::workload_files.
Digest workload_sum(const Recipe& workload);

// With its files, shared ones among them, in a folder that goes with it.
struct ReadyWorkload {
  // Throws Error(usage) when there is no such workload.
  ReadyWorkload(const RecipeBook& recipes, const std::string& name, FileSystem& files);
  ReadyWorkload(Recipe made, FileSystem& files);
  Digest sum() const { return workload_sum(recipe); }  // of its files

  TemporaryFolder folder;
  Recipe recipe;
};

}  // namespace kiln
