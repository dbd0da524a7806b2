// Files into a container's mounted tree, for engines that leave it to us.
#pragma once

#include "factory/engine/engine.h"

namespace kiln {

// Unpacks a root file system at `tree`, with owners, modes and extended attributes. Throws Error(store).
void unpack_archive(const fs::path& tar, const fs::path& tree, const EngineSetup& setup);

// Copies the absolute path of one tree to the same path of another; links on the way are followed inside
// each. Throws Error(images_failed) for a path that is not there, Error(store).
void copy_between(const fs::path& from, const fs::path& to, const std::string& path, const fs::path& log,
                  const EngineSetup& setup);

}  // namespace kiln
