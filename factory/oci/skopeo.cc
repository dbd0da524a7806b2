#include "factory/oci/skopeo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"
#include "factory/oci/registry_call.h"

namespace kiln {
namespace {

template <typename Words>
const char* find_any(const std::string& text, const Words& words) {
  for (const char* word : words)
    if (contains(text, word)) return word;
  return nullptr;
}

bool contains_any(const std::string& text, std::initializer_list<const char*> words) {
  return find_any(text, words) != nullptr;
}

// As net/http names statuses, and errors of Go's network.
constexpr std::array kBusy = {"429 Too Many Requests", "500 Internal Server Error", "502 Bad Gateway",
                              "503 Service Unavailable", "504 Gateway Timeout"};
// "invalid status code from registry 503 (Service Unavailable)"
constexpr std::array kBusyStatus = {"429 (Too Many", "500 (Internal", "502 (Bad", "503 (Service",
                                    "504 (Gateway"};
// The second line is what a registry that is being restarted, and its resolver, say; that a name is not known
// ("no such host") is not among them.
constexpr std::array kBroken = {"connection refused",   "network is unreachable",
                                "no route to host",     "Temporary failure in name resolution",
                                "server misbehaving",   "connection reset by peer",
                                "unexpected EOF",       "broken pipe",
                                "i/o timeout",          "TLS handshake timeout",
                                "connection timed out", "GOAWAY",
                                "INTERNAL_ERROR",       "server closed idle connection",
                                "toomanyrequests"};

// skopeo logs `time="…" level=fatal msg="…"`: the message alone, its quotes as they were.
std::string message_of(const std::string& line) {
  constexpr std::string_view kMark = " msg=\"";
  std::size_t start = line.find(kMark);
  if (start == std::string::npos) return line;
  std::string message;
  for (std::size_t i = start + kMark.size(); i < line.size() && line[i] != '"'; ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    message += line[i];
  }
  return message;
}

}  // namespace

Command skopeo_command(const std::vector<std::string>& arguments,
                       const std::map<std::string, std::string>& environment) {
  Command command;
  command.argv = {"skopeo", "--debug"};
  auto registries = environment.find("CONTAINERS_REGISTRIES_CONF");
  if (registries != environment.end() && !registries->second.empty())
    command.argv.insert(command.argv.end(), {"--registries-conf", registries->second});
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = environment;
  return command;
}

std::optional<Setback> setback_in(const std::string& said) {
  const std::string last = message_of(last_lines(said, 1));
  if (const char* status = find_any(last, kBusy)) return Setback{status, {}};
  if (find_any(last, kBusyStatus) != nullptr || find_any(last, kBroken) != nullptr) return Setback{last, {}};
  if (last.ends_with(": EOF")) return Setback{last, {}};  // closed before an answer
  return std::nullopt;
}

std::optional<Setback> too_many_requests(std::string_view said, std::int64_t now) {
  constexpr std::string_view kHeader = "Detected 'Retry-After' header \\\"";
  if (!contains(said, "Too many requests to ")) return std::nullopt;
  Setback setback{"429 Too Many Requests", {}};
  if (std::size_t start = said.rfind(kHeader); start != std::string_view::npos) {
    start += kHeader.size();
    setback.retry_after = seconds_until(std::string(said.substr(start, said.find('\\', start) - start)), now);
  }
  return setback;
}

std::string without_debug(const std::string& said) {
  std::string rest;
  for (std::size_t start = 0; start < said.size();) {
    const std::size_t end = std::min(said.find('\n', start), said.size() - 1) + 1;
    const std::string_view line = std::string_view(said).substr(start, end - start);
    if (!line.starts_with("time=\"") || !contains(line, " level=debug ")) rest += line;
    start = end;
  }
  return rest;
}

void throw_registry_error(const std::string& action, const CommandResult& result) {
  std::string what = fmt::format("{}: {}", action, message_of(last_lines(result.tail, 1)));
  const std::string& said = result.tail;
  if (contains_any(said, {"no space left on device", "disk quota exceeded"}))
    throw Error(ExitCode::store, what, "the disk is full: with room, the same command goes on");
  if (contains_any(said, {"manifest unknown", "name unknown", "no such file or directory", "not found in"}))
    throw Error(ExitCode::input, what, "check the image reference");
  if (contains_any(said, {"unauthorized", "authentication required", "denied", "rejected by policy"}))
    throw Error(ExitCode::network, what, "log in with `skopeo login`, or see /etc/containers/policy.json");
  if (contains_any(said, {"server gave HTTP response to HTTPS client"}))
    throw Error(ExitCode::network, what,
                "a registry without TLS is named in registries.conf with insecure = true "
                "($CONTAINERS_REGISTRIES_CONF)");
  throw Error(ExitCode::network, what);
}

}  // namespace kiln
