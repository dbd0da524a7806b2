// Reads a whole SquashFS image with libsquashfs: every folder and inode, and every data block once.
#pragma once

#include "factory/oci/blob.h"
#include "factory/sif/squashfs_tree.h"

namespace kiln::sif {

inline constexpr std::uint32_t kMostSquashfsInodes = 20'000'000;

// Of the image in these bytes of `file`. `jobs` threads decompress; memory holds 32 bytes a block or small
// file. Throws Error(input) for unreadable parts, and for parts that do not decompress to their size.
SquashfsTotals read_squashfs(const ReadOnlyFile& file, std::uint64_t offset, std::uint64_t size,
                             unsigned jobs);

}  // namespace kiln::sif
