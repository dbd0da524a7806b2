#include "factory/distribution/url.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "factory/base/error.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kSchemeEnd = "://";

struct UrlParts {
  std::string scheme, authority;  // in lower case
  std::string_view rest;          // the path and what follows, from its '/' or '?' on
};

bool is_scheme(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(text, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
         });
}

bool is_absolute(std::string_view text) {
  const std::size_t end = text.find(kSchemeEnd);
  return end != std::string_view::npos && is_scheme(text.substr(0, end));
}

UrlParts parts_of(std::string_view url) {
  if (!is_absolute(url)) return {};
  const std::size_t end = url.find(kSchemeEnd);
  const std::size_t from = end + kSchemeEnd.size();
  const std::size_t to = std::min(url.find_first_of("/?#", from), url.size());
  return {lower_case(url.substr(0, end)), lower_case(url.substr(from, to - from)), url.substr(to)};
}

// Where the port begins in an authority: after the last colon that is not in an IPv6 address.
std::size_t port_colon(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  return colon == std::string_view::npos || authority.find(']', colon) != std::string_view::npos
             ? authority.size()
             : colon;
}

std::string port_in(const UrlParts& url) {
  const std::size_t colon = port_colon(url.authority);
  if (colon + 1 < url.authority.size()) return url.authority.substr(colon + 1);
  if (url.scheme == "https") return "443";
  return url.scheme == "http" ? "80" : "";
}

std::string host_in(const UrlParts& url) {
  const std::size_t user = url.authority.rfind('@');
  std::string_view host = std::string_view(url.authority).substr(0, port_colon(url.authority));
  if (user != std::string::npos) host.remove_prefix(user + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return std::string(host);
}

bool is_local_v4(std::uint32_t address) {
  const std::uint32_t first = address >> 24;
  return first == 127 || first == 0 || address >> 16 == 0xA9FE;
}

bool is_local_v6(const std::array<std::uint8_t, 16>& bytes) {
  const bool is_mapped = std::all_of(bytes.begin(), bytes.begin() + 10, [](auto b) { return b == 0; }) &&
                         bytes[10] == 0xFF && bytes[11] == 0xFF;
  if (is_mapped) {
    std::uint32_t address = 0;
    for (std::size_t i = 12; i < 16; ++i) address = address << 8 | bytes[i];
    return is_local_v4(address);
  }
  const bool is_low = std::all_of(bytes.begin(), bytes.begin() + 15, [](auto b) { return b == 0; });
  if (is_low && bytes[15] <= 1) return true;
  return bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
}

}  // namespace

std::string resolved_url(std::string_view base, std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  if (is_absolute(reference)) return std::string(reference);
  const UrlParts from = parts_of(base);
  const std::string scheme = from.scheme + (from.scheme.empty() ? "" : ":");
  if (reference.starts_with("//")) return scheme + std::string(reference);
  const std::string origin = std::string(base.substr(0, base.size() - from.rest.size()));
  if (reference.starts_with('/')) return origin + std::string(reference);
  const std::string_view path = from.rest.substr(0, from.rest.find_first_of("?#"));
  if (reference.empty()) return origin + std::string(from.rest.substr(0, from.rest.find('#')));
  if (reference.starts_with('?')) return origin + std::string(path) + std::string(reference);
  const std::size_t slash = path.rfind('/');
  const std::string_view folder = slash == std::string_view::npos ? "/" : path.substr(0, slash + 1);
  return origin + std::string(folder) + std::string(reference);
}

bool is_same_origin(std::string_view one, std::string_view other) {
  const UrlParts a = parts_of(one), b = parts_of(other);
  if (a.scheme.empty() || contains(a.authority + b.authority, '@')) return false;
  return a.scheme == b.scheme && host_in(a) == host_in(b) && port_in(a) == port_in(b);
}

std::string host_of_url(std::string_view url) { return host_in(parts_of(url)); }

std::string port_of_url(std::string_view url) { return port_in(parts_of(url)); }

bool is_local_host(std::string_view host) {
  std::string name = lower_case(host.substr(0, host.find('%')));  // an IPv6 address's zone
  while (name.ends_with('.')) name.pop_back();
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  std::array<std::uint8_t, 16> bytes{};
  if (::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1) return is_local_v6(bytes);
  in_addr address{};
  return ::inet_aton(name.c_str(), &address) != 0 && is_local_v4(ntohl(address.s_addr));
}

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("'{}' is no registry: {}", text, what),
              "for example registry.site:5000/ai; http:// in front for one without TLS");
}

bool is_host(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view name = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos)
      return false;
  }
  return !name.empty() && std::ranges::all_of(name, [](char c) {
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
