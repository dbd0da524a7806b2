// Files that the user names for a command's output, and streams for its input.
#pragma once

#include <string>
#include <string_view>

#include "factory/base/effects.h"

namespace kiln {

// Replaces a regular file whole, and the one that a symbolic link leads to. Writes to a pipe, a device or a
// descriptor (/dev/stdout). Throws Error(store).
void write_named(const fs::path& path, std::string_view bytes, FileSystem& files);
// Throws Error(usage) for a folder: before the work, not after it. "" is no file that is named.
void refuse_folder(const fs::path& path, const std::string& option);
// For a file that is not written in order. Throws Error(usage) if the path exists and is not a regular file.
void need_regular(const fs::path& path, const std::string& option);

// `-`, /dev/stdin, or a shell's <(…).
bool is_stream(const std::string& file);
// Makes a stream readable a second time, for a command that begins anew in a user namespace
// (need_root_for_steps()). Does nothing for other files. Throws Error(store).
void keep_readable(const std::string& file);

}  // namespace kiln
