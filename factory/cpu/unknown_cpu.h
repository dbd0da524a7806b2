// What is said of a processor that archspec does not have. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/cpu/microarchitecture.h"

namespace kiln {

// The nearest that archspec has: of a processor's code name, or of a compiler's word for it, the newest
// microarchitecture whose code it runs ("archspec's nearest is 'sapphirerapids'"); of a misspelt name "did
// you mean …". "" when nothing is near. `others`: names besides archspec's that are known.
std::string hint_for_unknown_cpu(std::string_view name, const Microarchitectures& cpus,
                                 const std::vector<std::string>& others = {});

}  // namespace kiln
