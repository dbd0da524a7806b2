// Lets the users read kiln's files in a state folder that may read the folder itself.
#pragma once

#include "factory/base/effects.h"
#include "factory/state/state.h"

namespace kiln {

// Makes the folder where it is missing, as the umask says; from then on every file and folder that this
// process makes has the permissions that the folder has, for group and others: of a private one (0700) none,
// of a public one (0755) those that readers need, whatever umask a later run has. Throws Error(store).
void follow_permissions(const StatePaths& state);

// Uses of a folder by container engines.
enum class EngineUse {
  keep_trees,  // they keep images there, put overlays together from it and add files of it to images
  mount        // they mount it into containers, and do nothing else
};

// Why container engines can use no file below this path so, as the end of a sentence: "it has ':' in it". ""
// where they can. They separate paths with some characters, and look others up as patterns.
std::string engine_path_trouble(const fs::path& path, EngineUse use);
// Throws Error(usage) where there is trouble. `what`: "the state folder".
void need_engine_path(const fs::path& path, EngineUse use, const std::string& what, const std::string& hint);

// Throws Error(store) if `made`, which this process made in the state folder, is missing: a shared file
// system was unmounted, or its server is away. Later writes would go below an empty mount point.
void need_still_there(const StatePaths& state, const fs::path& made, const FileSystem& files);

}  // namespace kiln
