// The engines that there are, and what people need to know before they choose one; docs/isolation.md says
// more.
#pragma once

#include <string_view>
#include <vector>

#include "base/effects.h"

namespace kiln {

struct EngineFacts {
  std::string_view name;       // of the program, and in the site file
  std::string_view package;    // Debian's
  std::string_view least;      // version
  std::string_view isolation;  // what a step shares with the machine
  std::string_view fault;      // known, and what kiln does about it; "" = none
};

const std::vector<EngineFacts>& engine_facts();

// Throws Error(usage) for an engine that there is not, Error(tool_missing) for one that is not installed,
// with what to do.
void need_engine(const std::string& name, const CommandRunner& runner);

}  // namespace kiln
