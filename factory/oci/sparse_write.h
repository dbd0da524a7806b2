// Writes of bytes whose zeros take no room on disk.
#pragma once

#include <string_view>

namespace kiln {

// Writes `bytes` at the place where `file` is, and leaves holes where whole blocks of 4 KiB are zeros.
// Returns errno, 0 when all went well. REQUIRES: finish_sparse() follows the last one.
int write_sparse(int file, std::string_view bytes);
// Makes the file end where it is. Returns errno, 0 when all went well.
int finish_sparse(int file);

}  // namespace kiln
