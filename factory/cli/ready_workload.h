// A workload of the recipes, ready to be run in images, and who measures with it.
#pragma once

#include <string>

#include "factory/cli/invocation.h"
#include "factory/cli/temporary_folder.h"

namespace kiln {

// Digest of the workload's files: BenchRun::workload_files.
Digest workload_sum(const Recipe& workload);

// With its files, shared ones among them, in a folder that goes with it.
struct ReadyWorkload {
  // Throws Error(usage) when there is no such workload.
  ReadyWorkload(const RecipeBook& recipes, const std::string& name, FileSystem& files);
  Digest sum() const { return workload_sum(recipe); }  // of its files

  TemporaryFolder folder;
  Recipe recipe;
};

// Our version, and the commit that recipes and workloads are of ("with changes" where they differ from it),
// where git knows. Figures without it cannot be made again.
std::string measured_by(const RecipeBook& recipes, Invocation& invocation);

}  // namespace kiln
