// The lockfile as the last night left it, for checkouts that are fresh every night. There the updated file is
// lost, and an entry that moves once in seven days would move every night.
//
//   locks/<matrix>.<digest of the lockfile that it was made of>.json   the lockfile
#pragma once

#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/state/state.h"

namespace kiln {

// The lockfile that the last night made of `checked_out` ("" = there is none); nullopt when it was made of
// another one, which was replaced since. Throws Error(input, store) for a file that cannot be read.
std::optional<std::string> last_lockfile(const FileSystem& files, const StatePaths& state,
                                         const std::string& matrix, const std::string& checked_out);

// Keeps `made`, and nothing that was made of other lockfiles of this matrix. Throws Error(store).
void keep_lockfile(FileSystem& files, const StatePaths& state, const std::string& matrix,
                   const std::string& checked_out, const std::string& made);

}  // namespace kiln
