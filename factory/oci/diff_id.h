#pragma once

#include <filesystem>

#include "factory/base/digest.h"

namespace kiln {

// The diff_id of a layer file: the digest of what it holds once decompressed (gzip, zstd or nothing). Throws
// Error(store).
Digest diff_id_of(const std::filesystem::path& layer);

}  // namespace kiln
