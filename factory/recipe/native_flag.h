// Flags that mean the machine that builds.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// The first word of `text` that asks for the build machine's own processor or GPU (-march=native, -xHost, …),
// "" when there is none: what it means depends on where it is built.
std::string native_flag(std::string_view text);

}  // namespace kiln
