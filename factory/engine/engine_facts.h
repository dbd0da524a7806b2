// The engines that there are, and what people need to know before they choose one; docs/isolation.md says
// more.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"

namespace kiln {

struct EngineFacts {
  std::string_view name;       // of the program, and in the site file
  std::string_view package;    // Debian's
  std::string_view least;      // version
  std::string_view isolation;  // what a step shares with the machine
  std::string_view fault;      // known, and what kiln does about it; "" = none
  // Another program that does, where that is the only one; "" = none.
  std::string_view stand_in = "";
  // Engines of one family make the same bits of a step. "" = that of buildah, podman and docker, of which
  // nothing stands in keys; the name of any other does (ResolveInput).
  std::string_view family = "";
};

const std::vector<EngineFacts>& engine_facts();

// Of an engine that there is, else "".
std::string_view engine_family(std::string_view engine);

// The engine's program, or what stands in for it; nullopt where neither is installed.
std::optional<std::string> program_of(const EngineFacts& engine, const CommandRunner& runner);

// Throws Error(usage) for an engine that there is not, Error(tool_missing) for one that is not installed,
// with what to do.
void need_engine(const std::string& name, const CommandRunner& runner);

}  // namespace kiln
