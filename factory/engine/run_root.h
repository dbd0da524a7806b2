// A run root of few characters: Podman takes none of more than 50 (libpod, runtime.go), as sockets lie below
// it, and a state folder may lie as deep as it likes. So it lies outside of the store, and the store's file
// `run-root` has its path. It goes with the store (engine_session.h), or with the machine's next start.
#pragma once

#include <map>
#include <optional>

#include "factory/base/effects.h"

namespace kiln {

// The store's own; made, for us alone, where there is none. `environment`: XDG_RUNTIME_DIR.
// Throws Error(store).
fs::path make_run_root(const fs::path& store, FileSystem& files,
                       const std::map<std::string, std::string>& environment);

// Where the store says that it is, if a folder of ours is there that is of this store.
std::optional<fs::path> run_root_of(const fs::path& store, const FileSystem& files);

}  // namespace kiln
