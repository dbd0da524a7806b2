// A user's folder as a tar archive whose bytes depend on its files only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kiln {

// Applications are programs: data sets belong on the machine's storage, which jobs mount.
inline constexpr std::uint64_t kMostArchive = 64u << 20;

// Folders, files and symbolic links, sorted by name; owner root, modes 0755 and 0644, times 1980-01-01.
// `.git` and `__pycache__` are left out, because they change with every use, and so is the folder `but`.
// Throws Error(input) for a missing or empty folder, for an entry that is no folder, file or link, for one
// that cannot be read or kept in a layer, and for more than kMostArchive bytes.
std::string folder_archive(const std::filesystem::path& folder, const std::filesystem::path& but = {});

}  // namespace kiln
