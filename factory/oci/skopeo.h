// skopeo, which knows registries, their logins and certificates: how it is called, and what its failures
// mean.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/effects.h"

namespace kiln {

// `skopeo ARGUMENTS…` in this environment. $CONTAINERS_REGISTRIES_CONF, which podman reads by itself, is
// handed over as an option: skopeo 1.9 does not read it.
Command skopeo_command(const std::vector<std::string>& arguments,
                       const std::map<std::string, std::string>& environment);

// `action` says what was tried: "cannot pull docker.io/library/debian:13". Throws Error(input) for an image
// that is not there, Error(network) for a registry that cannot be reached or refuses, Error(timeout),
// Error(interrupted). REQUIRES: the result is not ok.
[[noreturn]] void throw_registry_error(const std::string& action, const CommandResult& result);

}  // namespace kiln
