// What to do about an error of the system.
#pragma once

#include <string>

namespace kiln {

// For a file that cannot be made, written or renamed; `number` is errno's. "": nothing that could be said.
std::string hint_for(int number);

}  // namespace kiln
