#include "factory/distribution/credentials.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

std::vector<fs::path> places(const std::map<std::string, std::string>& environment) {
  auto value = [&](const char* name) { return value_or(environment, name); };
  std::vector<fs::path> files;
  const std::string runtime = value("XDG_RUNTIME_DIR");
  if (const std::string named = value("REGISTRY_AUTH_FILE"); !named.empty())
    files.emplace_back(named);
  else if (!runtime.empty())
    files.push_back(fs::path(runtime) / "containers/auth.json");
  else
    files.emplace_back(fmt::format("/run/containers/{}/auth.json", ::getuid()));
  const std::string home = value("HOME");
  if (const std::string config = value("XDG_CONFIG_HOME"); !config.empty())
    files.push_back(fs::path(config) / "containers/auth.json");
  else if (!home.empty())
    files.push_back(fs::path(home) / ".config/containers/auth.json");
  if (const std::string docker = value("DOCKER_CONFIG"); !docker.empty())
    files.push_back(fs::path(docker) / "config.json");
  else if (!home.empty())
    files.push_back(fs::path(home) / ".docker/config.json");
  return files;
}

// "HOST/a/b", "HOST/a", "HOST" for the repository a/b.
std::vector<std::string> names_for(const std::string& host, const std::string& repository) {
  std::vector<std::string> names;
  for (std::string path = repository; !path.empty();
       path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/')))
    names.push_back(host + "/" + path);
  names.push_back(host);
  return names;
}

std::string canonical_host(std::string_view host) {
  const std::string name = lower_case(host);
  return name == "docker.io" || name == "registry-1.docker.io" ? "index.docker.io" : name;
}

// Docker's programs have named registries by address: https://HOST, https://HOST/v1/.
bool is_address_of(std::string_view key, const std::string& host) {
  const std::size_t start = key.find("://");
  if (start != std::string_view::npos) key.remove_prefix(start + 3);
  const std::size_t slash = key.find('/');
  if (start == std::string_view::npos && slash != std::string_view::npos) return false;  // of a path there
  return canonical_host(key.substr(0, slash)) == canonical_host(host);
}

// The longest name first, then the addresses of the host.
std::vector<JsonNode> entries_for(const JsonNode& auths, const std::string& host,
                                  const std::string& repository) {
  std::vector<JsonNode> entries;
  for (const std::string& name : names_for(host, repository))
    if (auto entry = auths.find(name)) entries.push_back(*entry);
  for (const auto& [key, entry] : auths.members())
    if (is_address_of(key, host)) entries.push_back(entry);
  return entries;
}

// A parser's message shows a piece of what it read.
JsonNode parse_silently(const std::string& text, const std::string& file) {
  try {
    return JsonDocument::parse(text, file).root();
  } catch (const Error& error) {
    throw Error(ExitCode::input, error.where(), "not valid JSON");
  }
}

// docker-credential-helpers' protocol: the host on stdin, a document on stdout.
std::optional<Credentials> from_helper(const std::string& helper, const std::string& host,
                                       const std::map<std::string, std::string>& environment,
                                       CommandRunner& runner) {
  Command command;
  command.argv = {"/bin/sh", "-c", "printf %s \"$2\" | \"$1\" get", "sh", "docker-credential-" + helper,
                  host};
  command.environment = environment;
  command.capture_stdout = true;
  command.limits.wall = std::chrono::seconds(60);
  const CommandResult result = runner.run(command);
  const std::string name = "docker-credential-" + helper;
  if (!result.ok()) {
    if (contains(result.output + result.tail, "credentials not found")) return std::nullopt;
    throw Error(ExitCode::network, fmt::format("{} gives no login for {}", name, host),
                "run it by hand: `echo " + host + " | " + name + " get`");
  }
  const JsonNode root = parse_silently(result.output, name);
  Credentials found{root.at("Username").string(), root.at("Secret").string(), "", name};
  if (found.user == "<token>") return Credentials{"", "", found.password, name};
  return found;
}

std::optional<Credentials> from_entry(const JsonNode& entry, const fs::path& file) {
  Credentials found;
  found.from = file.string();
  if (auto token = entry.find("identitytoken")) found.identity_token = token->string();
  auto auth = entry.find("auth");
  if (auth && !auth->string().empty()) {
    const auto pair = from_base64(auth->string());
    const std::size_t colon = pair ? pair->find(':') : std::string::npos;
    if (colon == std::string::npos) auth->fail("expected 'user:password' in base64");
    found.user = pair->substr(0, colon);
    found.password = pair->substr(colon + 1);
    while (found.password.ends_with('\0')) found.password.pop_back();
  }
  if (found.user.empty() && found.identity_token.empty()) return std::nullopt;
  return found;
}

}  // namespace

std::optional<Credentials> find_credentials(const std::string& host, const std::string& repository,
                                            const std::map<std::string, std::string>& environment,
                                            const FileSystem& files, CommandRunner& runner) {
  for (const fs::path& file : places(environment)) {
    const auto text = files.read(file, 1u << 20);
    if (!text) continue;
    const JsonNode root = parse_silently(*text, file.string());
    if (auto helpers = root.find("credHelpers"))
      if (auto helper = helpers->find(host))
        if (auto found = from_helper(helper->name(), host, environment, runner)) return found;
    auto auths = root.find("auths");
    if (!auths) continue;
    for (const JsonNode& entry : entries_for(*auths, host, repository))
      if (auto found = from_entry(entry, file)) return found;
  }
  return std::nullopt;
}

}  // namespace kiln
