// The Python modules of frameworks.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// What a program imports of an application (ImageRecord::application), by any case: "torch" of PyTorch. ""
// for one that kiln knows no module of.
std::string python_module_of(std::string_view application);

}  // namespace kiln
