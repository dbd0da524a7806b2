// A question to a registry, with an end: asked again where that helps, given up where nothing comes any more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/site/site.h"

namespace kiln {

// How long to wait before a registry is asked again.
inline constexpr double kLongestWait = 300;  // seconds, for a registry that says when to come back

// Seconds before the next try, after `tries` of them: 1, 2, 4 … 30, and up to half of that less, so that
// processes that failed together do not retry together.
double backoff(int tries);

// Seconds that a Retry-After asks for (RFC 9110, 10.2.3: a number, or a date in any of the three forms of
// 5.6.7); 0 for a date that is over; nullopt without one, and for a time before now, which is a mistake.
std::optional<double> seconds_until(const std::string& retry_after, std::int64_t now);

// How far a pull is.
struct PullState {
  std::string image;        // as its user named it
  std::uint64_t bytes = 0;  // that have arrived
  double rate = 0;          // of them in a second, since the last time
  std::string waits;        // "503 Service Unavailable; try 2 of 6 in 1.3 s"; "" while it runs
  bool ended = false;       // well or not
};

// "12.3 MB, 4.5 MB/s", or what it waits for.
std::string text_of(const PullState& state);

// Sleeps; throws Error(interrupted) as soon as kiln is told to end.
void wait_unless_interrupted(std::chrono::milliseconds time);

// How registries are asked. `environment`: of skopeo; its REGISTRY_AUTH_FILE, CONTAINERS_REGISTRIES_CONF and
// proxies are honoured. REQUIRES: `runner` and `clock` outlive this.
struct Skopeo {
  CommandRunner& runner;
  const Clock& clock;
  std::map<std::string, std::string> environment;
  PullLimits limits = {};
  std::function<void(const PullState&)> tell = {};  // twice a second, at each wait and at the end
  std::function<void(std::chrono::milliseconds)> wait = wait_unless_interrupted;
};

struct RegistryCall {
  std::vector<std::string> arguments;  // of skopeo
  std::string action;                  // "cannot pull debian:13": how its errors begin
  std::string image;
  fs::path layout = {};  // where what comes is written; "": it is printed
  fs::path log = {};     // gets what skopeo says, and each wait; "": none
};

// Asks until there is an answer. Transient failures (500, 502, 503, 504, 429, broken connections, silence)
// are retried after a time that doubles and that differs between waiting processes, or after the time of a
// Retry-After. Complete blobs in `layout` are not fetched again. Throws Error(network), with the failure and
// the number of tries, when limits or tries are used up, and Error(interrupted). Every other failure is in
// the result, for throw_registry_error.
CommandResult ask_registry(const RegistryCall& call, const Skopeo& skopeo);

// skopeo, which knows registries, their logins and certificates: how it is called, and what its failures
// mean.

// Why it may go well at another time.
struct Setback {
  std::string what;                   // "503 Service Unavailable"
  std::optional<double> retry_after;  // seconds, where the registry says when
};

// Set while skopeo sleeps after a 429. `now`: UTC seconds, for a Retry-After that is a date.
std::optional<Setback> too_many_requests(std::string_view said, std::int64_t now);

// `action` is the beginning of the message: "cannot pull docker.io/library/debian:13". Throws Error(input)
// for a missing image, Error(network) for a registry that cannot be reached or refuses. REQUIRES: the result
// is not ok.
[[noreturn]] void throw_registry_error(const std::string& action, const CommandResult& result);

}  // namespace kiln
