// skopeo, which knows registries, their logins and certificates: how it is called, and what its failures
// mean.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"

namespace kiln {

// `skopeo ARGUMENTS…` in this environment, which says on stderr what it does: too_many_requests() reads it.
// $CONTAINERS_REGISTRIES_CONF, which podman reads by itself, is handed over as an option: skopeo 1.9 does not
// read it.
Command skopeo_command(const std::vector<std::string>& arguments,
                       const std::map<std::string, std::string>& environment);

// Why it may go well at another time.
struct Setback {
  std::string what;                   // "503 Service Unavailable"
  std::optional<double> retry_after;  // seconds, where the registry says when
};

// What passes, by the last line of a failed skopeo: a server that is busy or failing, a connection that
// broke.
std::optional<Setback> setback_in(const std::string& said);

// Set while skopeo sleeps after a 429. `now`: UTC seconds, for a Retry-After that is a date.
std::optional<Setback> too_many_requests(std::string_view said, std::int64_t now);

// Without skopeo's remarks on what it does.
std::string without_debug(const std::string& said);

// `action` says what was tried: "cannot pull docker.io/library/debian:13". Throws Error(input) for an image
// that is not there, Error(network) for a registry that cannot be reached or refuses. REQUIRES: the
// result is not ok.
[[noreturn]] void throw_registry_error(const std::string& action, const CommandResult& result);

}  // namespace kiln
