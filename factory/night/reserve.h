// Room that a night keeps for itself: on a disk that others have filled, or that the night before has, there
// must still be a place for its lease, its garbage collection and its report.
#pragma once

#include <cstdint>
#include <filesystem>

namespace kiln {

// Of the lease, the index's journal, and the report of a night of 10,000 images.
constexpr std::uint64_t kReserve = std::uint64_t{16} << 20;

// Removes `file` where its disk has less room than it takes; true when it was there. A disk whose room is not
// known counts as roomy.
bool give_up_reserve(const std::filesystem::path& file);

// Makes it where it is not whole: of bytes that no file system can pack smaller. Where there is no room for
// it, or no right, there is none: that is no error.
void keep_reserve(const std::filesystem::path& file);

}  // namespace kiln
