// Paths of a container, on the machine that it is mounted on.
#pragma once

#include <filesystem>
#include <string>

#include "factory/base/effects.h"

namespace kiln {

// The place of an absolute `path` of a container below `root`, with the symbolic links on the way followed
// inside `root`; the last name is not followed. Throws Error(images_failed) when links go round in circles.
fs::path resolve_inside(const fs::path& root, const std::string& path);

}  // namespace kiln
