// By what an engine's store is known to be where it was made, and as it was left.
#pragma once

#include <filesystem>
#include <string>

namespace kiln {

// Of the folder itself: it stays the same when the folder is moved within its file system, and is another one
// for a copy, whose files may have lost owners, modes and attributes on the way. "" where it is missing.
std::string store_mark(const std::filesystem::path& store);

}  // namespace kiln
