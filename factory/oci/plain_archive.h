// Archives of images as `docker save | gzip` makes them. Only for image_source.cc.
#pragma once

#include <memory>

#include "factory/oci/blob.h"

namespace kiln {

// The file itself, or, of a compressed one (gzip, zstd, xz, bzip2), what it unfolds to: in a file without a
// name below $TMPDIR, which goes with the process. Throws Error(input) for damaged input and for more bytes
// than a layer may have, and Error(store) without room.
std::unique_ptr<ReadOnlyFile> open_archive(const fs::path& path);

}  // namespace kiln
