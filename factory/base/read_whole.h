// Files into memory: kind and size are known before the first byte is read, so that no name of a device, a
// pipe or a disk image can take all memory or wait for ever.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

// The whole file; nullopt when absent. Throws Error(input) for anything but a file and for more than `most`
// bytes, Error(store) with the system's reason, Error(interrupted). A descriptor that the caller passed on
// (/dev/stdin, /dev/fd/N: a shell's <(…)) may also be a pipe or a terminal, and is read no further than
// `most`.
std::optional<std::string> read_whole(const std::filesystem::path& path, std::uint64_t most);

// The same piece by piece, none of which is kept; false when absent.
bool read_pieces(const std::filesystem::path& path, std::uint64_t most,
                 const std::function<void(std::string_view piece)>& take);

// The last `most` bytes of a file at most; "" where there is no file. Throws as read_whole.
std::string read_end(const std::filesystem::path& path, std::uint64_t most);

}  // namespace kiln
