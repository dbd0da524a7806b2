#include "factory/distribution/registry_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "factory/base/error.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("'{}' is no registry: {}", text, what),
              "such as registry.site:5000/ai; http:// in front for one without TLS");
}

bool is_host(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view name = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos)
      return false;
  }
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
  });
}

}  // namespace

RegistryAddress RegistryAddress::parse(std::string_view text) {
  RegistryAddress address;
  std::string_view rest = text;
  for (std::string_view scheme : {"https://", "http://", "docker://"}) {
    if (!rest.starts_with(scheme)) continue;
    address.secure = scheme != "http://";
    rest.remove_prefix(scheme.size());
    break;
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t slash = rest.find('/');
  address.host = std::string(rest.substr(0, slash));
  if (!is_host(address.host)) refuse(text, fmt::format("'{}' is no host", address.host));
  if (slash == std::string_view::npos) return address;
  address.path = std::string(rest.substr(slash + 1));
  for (std::string_view component : split(address.path, '/'))
    if (!is_repository_name(component)) refuse(text, fmt::format("'{}' is no part of a path", component));
  return address;
}

std::string RegistryAddress::repository(std::string_view name) const {
  return path.empty() ? std::string(name) : fmt::format("{}/{}", path, name);
}

}  // namespace kiln
