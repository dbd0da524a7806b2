// The lockfile as commands that plan use it: found beside the matrix, checked against what the plan needs.
#pragma once

#include <optional>

#include "factory/cli/invocation.h"
#include "factory/plan/lock_update.h"
#include "factory/recipe/lockfile.h"

namespace kiln {

// Throws Error(input) for a file that is not there or is no lockfile.
Lockfile read_lockfile_at(const fs::path& file, const FileSystem& files);

// The one that --lockfile names, else the one beside the matrix; nullopt without one. Throws Error(locked)
// when there is none and --locked asks for it.
std::optional<Lockfile> find_lockfile(const fs::path& matrix, const Invocation& invocation);

// What is needed beyond the lockfile: warnings, or with --locked an error each and Error(locked).
void check_lock(const LockNeeds& needs, const Lockfile& lock, const std::string& matrix,
                Invocation& invocation);

}  // namespace kiln
