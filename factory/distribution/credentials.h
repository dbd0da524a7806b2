// Logins for registries, from the files of skopeo, podman and Docker (containers-auth.json(5)) and their
// helpers. Secrets appear in no message, log or argument.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "factory/base/effects.h"

namespace kiln {

struct Credentials {
  std::string user;
  std::string password;
  std::string identity_token;  // in their place: for a token server
  std::string from;            // the file, or the helper: for messages
};

// For `host` and `repository` (as the registry knows it). Looked for as containers/image does:
// $REGISTRY_AUTH_FILE, else $XDG_RUNTIME_DIR/containers/auth.json (without the variable /run/containers/UID),
// then $XDG_CONFIG_HOME/containers/auth.json, then $DOCKER_CONFIG/config.json; the first file that knows the
// host wins, and in it the longest name, then an address of the host ("https://HOST/v1/"). nullopt: no file
// names this host. Throws Error(input) for an invalid file, and Error(network) for a helper that fails.
std::optional<Credentials> find_credentials(const std::string& host, const std::string& repository,
                                            const std::map<std::string, std::string>& environment,
                                            const FileSystem& files, CommandRunner& runner);

}  // namespace kiln
