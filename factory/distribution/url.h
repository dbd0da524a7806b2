// Addresses as registries write them (RFC 3986). Only for registry_client.cc, registry_answer.cc and http.cc.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// `reference` (absolute, `//host/…`, `/path`, `?query` or relative to the last part of the path), seen from
// the address `base`; without its fragment.
std::string resolved_url(std::string_view base, std::string_view reference);

// The same scheme, host and port; capitals and a default port that is written or not make no difference.
// False where either names a user.
bool is_same_origin(std::string_view one, std::string_view other);

// In lower case, without port and brackets; "" for no address.
std::string host_of_url(std::string_view url);
// As written, or the scheme's; "" for another scheme without one.
std::string port_of_url(std::string_view url);

// Whether an IP address (in any notation that inet_aton(3) reads), or the name localhost, is this machine's
// own or of its link (169.254.0.0/16, fe80::/10), where cloud machines find their credentials.
bool is_local_host(std::string_view host);

// Where images are published: `[https://]HOST[:PORT][/PATH]`. Repositories lie below PATH.
struct RegistryAddress {
  bool secure = true;  // false: http://, for a registry of this machine or a test
  std::string host;    // with its port
  std::string path;    // "" or "ai/images"

  // Throws Error(usage): what is wrong with it.
  static RegistryAddress parse(std::string_view text);
  // `ai/images/pytorch` for pytorch: the name that the registry knows it by.
  std::string repository(std::string_view name) const;
  // `registry.site:5000/ai/images`: the part of a reference before the repository's name.
  std::string text() const { return path.empty() ? host : host + "/" + path; }
  std::string url() const { return (secure ? "https://" : "http://") + host; }
};

}  // namespace kiln
