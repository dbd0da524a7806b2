// Programs of the machine that say what it has: scontrol, sacctmgr, nvidia-smi.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/cli/invocation.h"

namespace kiln {

// What a program prints on stdout. nullopt: there is no such program, it failed, or it took over 20 s.
std::optional<std::string> answer_of_program(std::vector<std::string> argv, Invocation& invocation);

}  // namespace kiln
