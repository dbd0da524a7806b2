// Where the library was installed.
#pragma once

#include <filesystem>

namespace kiln {

// `share/kiln` of the prefix that the library lies in (`lib`, `lib64`, `lib/x86_64-linux-gnu`): the tables,
// recipes and targets that it was installed with. Throws Error(tool_missing) when there is none.
std::filesystem::path installed_share();

}  // namespace kiln
