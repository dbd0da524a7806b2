// Limits of single steps: those of a recipe, for steps that it knows to be long or large, and those of a site
// for a component.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "factory/base/effects.h"

namespace kiln {

class JsonNode;

// Of each, nullopt: not stated. Zero is no limit.
struct OwnLimits {
  std::optional<std::chrono::seconds> wall;
  std::optional<std::chrono::seconds> silence;
  std::optional<std::uint64_t> log_bytes;
  std::optional<std::uint64_t> memory;  // bytes
  bool operator==(const OwnLimits&) const = default;
};

// {"wall": "12h", "silence": "2h", "log": "1GiB", "memory": "64GiB"}, of which the keys are checked by the
// caller. Throws Error(input).
OwnLimits read_own_limits(const JsonNode& node);

// `limits`, except for the statements of `own`.
CommandLimits replaced(CommandLimits limits, const OwnLimits& own);
// `limits`, and more where `own` asks for more: a recipe does not know why a site has less for a step than it
// would take, but it knows what its steps need.
CommandLimits widened(CommandLimits limits, const OwnLimits& own);

}  // namespace kiln
