// Names that no other process makes.
#pragma once

#include <string>

namespace kiln {

// For containers, and for files and folders that are made aside: `<process id>-<8 hex digits, the kernel's>`.
std::string unique_name();

// This machine's, as gethostname(2) says it; "localhost" when it has none.
std::string host_name();

}  // namespace kiln
