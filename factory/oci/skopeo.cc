#include "oci/skopeo.h"

#include <fmt/format.h>

#include "base/text.h"

namespace kiln {
namespace {

bool contains_any(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (text.find(word) != std::string::npos) return true;
  return false;
}

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
  command.argv = {"skopeo"};
  auto registries = environment.find("CONTAINERS_REGISTRIES_CONF");
  if (registries != environment.end() && !registries->second.empty())
    command.argv.insert(command.argv.end(), {"--registries-conf", registries->second});
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = environment;
  return command;
}

void throw_registry_error(const std::string& action, const CommandResult& result) {
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  if (result.end == CommandEnd::wall_limit || result.end == CommandEnd::silence_limit)
    throw Error(ExitCode::network, fmt::format("{}: the registry does not answer", action));
  std::string what = fmt::format("{}: {}", action, message_of(last_lines(result.tail, 1)));
  const std::string& said = result.tail;
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
