// A command that calls apt-get, apt or aptitude.
#pragma once

#include <string>
#include <vector>

#include "factory/lint/unit.h"

namespace kiln::lint {

struct AptCall {
  const ShellCommand* command;
  Call call;
  const ShellToken* verb;  // "install"

  // What is asked for, as written: "cmake", "cmake=3.16*", "./a.deb", "$PACKAGES".
  std::vector<const ShellToken*> packages() const;
};

std::vector<AptCall> apt_calls(const ScriptUnit& unit);

}  // namespace kiln::lint
